//! The way back to the sender of one request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::dialect::Dialect;
use crate::lock;
use crate::message::{Id, Outgoing, RpcError};
use crate::outbox::Unsent;
use crate::peer::Peer;

/// Requests of the other side that are in progress, with their cancellation tokens.
pub(crate) type OpenRequests = Arc<Mutex<HashMap<Id, CancellationToken>>>;

/// A request of the other side that nobody has handled yet.
pub struct IncomingRequest {
    pub method: String,
    pub params: Value,
    pub responder: Responder,
}

/// Answers one request. A responder that is dropped without an answer responds with an error.
pub struct Responder {
    peer: Peer,
    open_requests: OpenRequests,
    id: Id,
    method: String,
    cancel: CancellationToken,
    is_answered: bool,
    _room: OwnedSemaphorePermit,
}

impl Responder {
    /// Registers the request.
    pub(crate) fn new(
        peer: Peer,
        open_requests: OpenRequests,
        id: Id,
        method: String,
        room: OwnedSemaphorePermit,
    ) -> Self {
        let cancel = CancellationToken::new();
        lock(&open_requests).insert(id.clone(), cancel.clone());
        Self { peer, open_requests, id, method, cancel, is_answered: false, _room: room }
    }

    /// Is cancelled when the other side cancels the request.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Waits until the response is queued, as long as the connection exists.
    pub async fn respond(mut self, result: Result<Value, RpcError>) {
        self.is_answered = true;
        let outbox = &self.peer.shared.outbox;
        let sent = outbox.send_numbered(self.response(result), |_, _| (), |_| self.forget()).await;
        if let Err(Unsent::TooLong { bytes }) = sent {
            let response = self.response(Err(too_long(bytes)));
            // The only possible error is a closed connection, and then nobody waits for the response.
            let _ = outbox.send_numbered(response, |_, _| (), |_| self.forget()).await;
        }
        self.forget();
    }

    /// Responds without waiting; if the queue is full, a task waits for room. The request counts as open until then, so the
    /// number of these tasks is limited.
    pub fn respond_soon(mut self, result: Result<Value, RpcError>) {
        self.is_answered = true;
        match self.peer.shared.outbox.try_send_then(self.response(result.clone()), || self.forget()) {
            Err(Unsent::Full | Unsent::TooLong { .. }) => {
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(self.respond(result));
                }
            }
            _ => self.forget(),
        }
    }

    pub(crate) fn dialect(&self) -> Arc<dyn Dialect> {
        self.peer.shared.protocol.dialect.clone()
    }

    /// Leaves the request without a response.
    pub(crate) fn drop_silently(mut self) {
        self.is_answered = true;
        self.forget();
    }

    fn response(&self, result: Result<Value, RpcError>) -> Outgoing {
        Outgoing::Response { id: self.id.clone(), method: self.method.clone(), result }
    }

    /// The ID may be used again from now on.
    fn forget(&self) {
        lock(&self.open_requests).remove(&self.id);
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        self.forget();
        let error = RpcError::internal("the request was dropped without a response");
        self.peer.shared.send_soon(self.response(Err(error)));
    }
}

fn too_long(bytes: usize) -> RpcError {
    RpcError::internal(format!("the answer takes {bytes} bytes, more than a message may have"))
}
