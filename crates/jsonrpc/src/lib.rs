//! One peer implementation for the protocols of servers behind pipes: JSON-RPC as used by MCP and LSP, and DAP.
//!
//! A [`Connection`] reads and writes over any pair of streams and provides [`Peer`] handles for requests and notifications;
//! a [`ServerProcess`] is a connection over the standard streams of a child process that it starts and ends. A [`Protocol`]
//! consists of a [`Dialect`] and a [`Framing`], which are independent of connections. Nothing here depends on the meaning of
//! a method.

mod backoff;
mod child;
mod connection;
mod dialect;
mod error;
mod framing;
mod handler;
mod inbox;
mod message;
mod outbox;
mod peer;
mod progress;
mod protocol;
mod responder;
mod shared;
mod tail;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use backoff::{Backoff, RestartPolicy};
pub use child::{Death, Polite, ServerProcess, ShutdownLimits};
pub use connection::Connection;
pub use dialect::{Dap, Dialect, JsonRpc};
pub use error::{ConnectionEnd, Error};
pub use framing::{FrameDecoder, FrameLimits, Framing, FramingError, MessageFrame, encode};
pub use handler::{Handler, HandlerError, HandlerFuture};
pub use message::{Id, Incoming, InvalidMessage, Outgoing, RpcError, UnreadableInput};
pub use peer::{OutgoingCall, Peer};
pub use progress::RequestProgress;
pub use protocol::{ConnectionLimits, Protocol};
pub use responder::{IncomingRequest, Responder};
pub use shared::Oddities;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
