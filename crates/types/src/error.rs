//! Why a model's answer failed, sorted by what can be done about it.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    pub kind: ErrorKind,
    /// One sentence for the user, without secrets.
    pub message: String,
    /// What the server asked us to wait.
    pub retry_after: Option<Duration>,
    /// HTTP status, when there was an answer.
    pub status: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No key, a wrong key, or a key without the right.
    Auth,
    RateLimit,
    /// The server is overloaded or failing; trying later may help.
    Overloaded,
    ContextOverflow,
    /// The request itself was refused; sending it again cannot help.
    BadRequest,
    /// The connection could not be made, broke or stalled.
    Network,
    /// The answer was not the stream it had to be: empty, cut off, malformed.
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
