//! The protocol of a connection, and its limits.

use std::sync::Arc;
use std::time::Duration;

use crate::dialect::{Dap, Dialect, JsonRpc};
use crate::framing::{FrameLimits, Framing};

/// A dialect and its framing.
#[derive(Clone)]
pub struct Protocol {
    pub dialect: Arc<dyn Dialect>,
    pub framing: Framing,
    pub limits: ConnectionLimits,
    /// Whether this side may go on writing when the other side has closed its half. See [`crate::Connection::finish`].
    pub is_half_open: bool,
}

/// Size and time limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub frames: FrameLimits,
    /// Default time limit of a request.
    pub request: Duration,
    /// How long a notification waits while the other side does not read.
    pub write: Duration,
    /// Limits on messages waiting to be written, and on their bytes.
    pub outgoing: usize,
    pub outgoing_bytes: usize,
    /// Maximum number of concurrent requests of the other side.
    pub incoming_at_once: usize,
    /// Maximum number of waiting requests of the other side; further ones are refused.
    pub incoming_waiting: usize,
    /// Limit on the bytes of queued and running requests and notifications. While there is no room for a notification,
    /// nothing is read.
    pub incoming_bytes: usize,
    /// Maximum number of unread progress reports per request; older ones are dropped.
    pub progress_reports: usize,
    /// Maximum number of noise lines that are kept for display.
    pub noise_lines: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            frames: FrameLimits::default(),
            request: Duration::from_secs(60),
            write: Duration::from_secs(30),
            outgoing: 256,
            outgoing_bytes: 16 << 20,
            incoming_at_once: 16,
            incoming_waiting: 256,
            incoming_bytes: 128 << 20,
            progress_reports: 64,
            noise_lines: 20,
        }
    }
}

impl Protocol {
    /// Servers of the Model Context Protocol, over stdio.
    pub fn mcp() -> Self {
        Self::new(JsonRpc::Mcp, Framing::Lines)
    }

    /// Language servers.
    pub fn lsp() -> Self {
        Self::new(JsonRpc::Lsp, Framing::ContentLength)
    }

    /// Debug adapters.
    pub fn dap() -> Self {
        Self::new(Dap, Framing::ContentLength)
    }

    /// Other JSON-RPC protocols with one message per line.
    pub fn json_lines() -> Self {
        Self::new(JsonRpc::Plain, Framing::Lines)
    }

    pub fn new(dialect: impl Dialect, framing: Framing) -> Self {
        Self { dialect: Arc::new(dialect), framing, limits: ConnectionLimits::default(), is_half_open: false }
    }

    /// Goes on writing when the other side has closed its half.
    pub fn half_open(mut self) -> Self {
        self.is_half_open = true;
        self
    }

    pub fn with_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }
}
