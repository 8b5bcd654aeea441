//! Errors between two peers, worded so that a user can act.

use std::time::Duration;

use omp_stdx::format;

use crate::child::Death;
use crate::framing::FramingError;
use crate::message::RpcError;

/// Why a request or a notification failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The other side responded with an error.
    #[error("`{method}` failed: {error}")]
    Refused { method: String, error: RpcError },
    #[error(
        "`{method}` was not answered within {}\nhint: the other side may be busy or stuck; try again, or give it more time",
        format::duration(*limit)
    )]
    TimedOut { method: String, limit: Duration },
    #[error("`{method}` was cancelled")]
    Cancelled { method: String },
    #[error(
        "`{method}` could not be sent within {}: the other side does not read\nhint: it may be stuck; start it again",
        format::duration(*limit)
    )]
    NotRead { method: String, limit: Duration },
    #[error(
        "`{method}` was not sent: it takes {}, and a message has at most {}\nhint: send less at once",
        format::bytes(*bytes as u64),
        format::bytes(*limit as u64)
    )]
    TooLong { method: String, bytes: usize, limit: usize },
    /// The connection does not exist or has ended.
    #[error("`{method}` failed: {end}")]
    Ended { method: String, end: ConnectionEnd },
}

/// Why a connection ended.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectionEnd {
    #[error("the other side closed the connection")]
    TheirSide,
    #[error("the connection was closed on this side")]
    OurSide,
    #[error("the connection cannot be read: {0}")]
    Read(String),
    #[error("the connection cannot be written to: {0}")]
    Write(String),
    #[error("the connection was closed: {0}")]
    Framing(#[from] FramingError),
    #[error(
        "the connection was closed: the other side sends requests but does not read the answers\nhint: it may be stuck; start it again"
    )]
    Flooded,
    /// The server behind the connection has exited.
    #[error("{0}")]
    Died(#[from] Death),
}
