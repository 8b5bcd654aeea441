//! Handles requests and notifications of the other side.

use std::error::Error;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::peer::Peer;

/// An [`crate::RpcError`] is sent unchanged; any other error becomes an internal error with its text.
pub type HandlerError = Box<dyn Error + Send + Sync>;

pub type HandlerFuture = BoxFuture<'static, Result<Value, HandlerError>>;

/// The methods offered to the other side. Requests run concurrently, notifications one after the other in order of arrival.
pub trait Handler: Send + Sync + 'static {
    /// Returns `None` for an unknown method. The future is dropped when the other side cancels the request, and when the
    /// connection ends.
    fn request(&self, _peer: &Peer, _method: &str, _params: Value) -> Option<HandlerFuture> {
        None
    }

    /// The next notification waits until the future is done; requests and responses do not.
    fn notification(&self, _peer: &Peer, _method: &str, _params: Value) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Supports no methods and ignores notifications.
impl Handler for () {}
