//! What a connection speaks, and its limits.

use std::sync::Arc;
use std::time::Duration;

use crate::dialect::{Dap, Dialect, JsonRpc};
use crate::framing::{FrameLimits, Framing};

/// A dialect in its framing.
#[derive(Clone)]
pub struct Protocol {
    pub dialect: Arc<dyn Dialect>,
    pub framing: Framing,
    pub limits: ConnectionLimits,
}

/// What a connection may hold and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub frames: FrameLimits,
    /// How long a request may take that does not say it itself.
    pub request: Duration,
    /// How long a notification waits while the other side does not read.
    pub write: Duration,
    /// Messages that wait to be written, and their bytes.
    pub outgoing: usize,
    pub outgoing_bytes: usize,
    /// Requests of the other side that are worked on at once.
    pub incoming_at_once: usize,
    /// Requests of the other side that may wait besides; more are refused.
    pub incoming_waiting: usize,
    /// Bytes of requests and notifications that wait or are worked on. While there is no room for a notification, nothing
    /// is read.
    pub incoming_bytes: usize,
    /// Progress reports of one request that nobody has taken yet; older ones make room.
    pub progress_reports: usize,
    /// Lines of noise that are kept to be shown.
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

    /// Whatever else speaks JSON-RPC, a message a line.
    pub fn json_lines() -> Self {
        Self::new(JsonRpc::Plain, Framing::Lines)
    }

    pub fn new(dialect: impl Dialect, framing: Framing) -> Self {
        Self { dialect: Arc::new(dialect), framing, limits: ConnectionLimits::default() }
    }

    pub fn with_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }
}
