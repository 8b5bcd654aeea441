//! Handles requests and notifications of the other side.

use std::error::Error;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::peer::Peer;
use crate::responder::IncomingRequest;

/// An [`crate::RpcError`] is sent unchanged; any other error becomes an internal error with its text.
pub type HandlerError = Box<dyn Error + Send + Sync>;

pub type HandlerFuture = BoxFuture<'static, Result<Value, HandlerError>>;

/// The methods offered to the other side. Requests run concurrently, notifications one after the other in order of arrival.
///
/// All methods are called in order of arrival, before the next message is read, so they must not block.
pub trait Handler: Send + Sync + 'static {
    /// May take a request to answer it through its responder, at any time; returns a request that [`Handler::request`] should
    /// handle. For handlers that do something after the response, or that end a cancelled request themselves.
    fn take_request(&self, _peer: &Peer, request: IncomingRequest) -> Option<IncomingRequest> {
        Some(request)
    }

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
