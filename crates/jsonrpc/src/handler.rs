//! Who answers the other side's requests and hears its notifications.

use std::error::Error;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::peer::Peer;

/// An [`crate::RpcError`] is sent as it is; any other error becomes an internal error with its text.
pub type HandlerError = Box<dyn Error + Send + Sync>;

pub type HandlerFuture = BoxFuture<'static, Result<Value, HandlerError>>;

/// What this side can do for the other. Requests are worked on side by side, notifications one after the other in the order in
/// which they came.
pub trait Handler: Send + Sync + 'static {
    /// `None` for a method that is not known. The future is dropped when the other side takes the request back, and when
    /// the connection ends.
    fn request(&self, _peer: &Peer, _method: &str, _params: Value) -> Option<HandlerFuture> {
        None
    }

    /// The next notification waits until the future is done; requests and answers do not.
    fn notification(&self, _peer: &Peer, _method: &str, _params: Value) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Knows no method and hears nothing.
impl Handler for () {}
