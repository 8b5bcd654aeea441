//! One peer for the protocols of servers behind pipes: JSON-RPC as MCP and LSP speak it, and DAP.
//!
//! A [`Connection`] reads and writes over any pair of streams and gives out [`Peer`] handles to ask and to tell; a [`ServerProcess`]
//! is one over the standard streams of a server that it starts and ends. What a [`Protocol`] is made of, a [`Dialect`] and a
//! [`Framing`], knows no connection. Nothing here knows what any method means.

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
pub use message::{Id, Incoming, Outgoing, RpcError};
pub use peer::{OutgoingCall, Peer};
pub use progress::RequestProgress;
pub use protocol::{ConnectionLimits, Protocol};
pub use shared::Oddities;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
