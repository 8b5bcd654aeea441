//! Errors of a model's answer, classified by the possible reaction.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    pub kind: ErrorKind,
    /// One sentence for the user, without secrets.
    pub message: String,
    /// The delay that the server requested.
    pub retry_after: Option<Duration>,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A missing or invalid key, or a key without permission.
    Auth,
    RateLimit,
    /// The server is overloaded or failing; trying later may help.
    Overloaded,
    ContextOverflow,
    /// The request itself was refused; sending it again cannot help.
    BadRequest,
    /// The connection could not be made, broke or stalled.
    Network,
    /// The answer was not a valid stream: empty, truncated or malformed.
    Protocol,
    /// The provider ended the answer for safety or policy reasons.
    Refused,
}

impl ErrorKind {
    pub fn retryable(self) -> bool {
        matches!(self, ErrorKind::RateLimit | ErrorKind::Overloaded | ErrorKind::Network | ErrorKind::Protocol)
    }
}

impl ModelError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, status: None }
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}
