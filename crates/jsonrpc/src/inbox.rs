//! Dispatches incoming messages: responses to their requests, the rest to the handler, which never delays a response.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::error::ConnectionEnd;
use crate::framing::{FrameDecoder, MessageFrame};
use crate::handler::{Handler, HandlerError, HandlerFuture};
use crate::lock;
use crate::message::{Id, Incoming, Outgoing, RpcError};
use crate::outbox::{Unsent, permits, room_of};
use crate::peer::Peer;

const READ_BYTES: usize = 64 << 10;
/// Maximum number of queued notifications; their bytes are limited separately.
const NOTIFICATIONS: usize = 4_096;

pub(crate) struct RequestInbox {
    peer: Peer,
    handler: Arc<dyn Handler>,
    /// Requests of the other side by ID, with their cancellation tokens.
    open_requests: Arc<Mutex<HashMap<Id, CancellationToken>>>,
    /// Limits the number of concurrent requests.
    slots: Arc<Semaphore>,
    /// Limits the queued bytes.
    room: Arc<Semaphore>,
    work: JoinSet<()>,
    notifications: mpsc::Sender<ReceivedNotification>,
    notifying: AbortOnDropHandle<()>,
}

struct ReceivedNotification {
    method: String,
    params: Value,
    _room: OwnedSemaphorePermit,
}

impl RequestInbox {
    pub(crate) fn new(peer: Peer, handler: Arc<dyn Handler>) -> Self {
        let limits = peer.shared.protocol.limits;
        let (notifications, queued) = mpsc::channel(NOTIFICATIONS);
        let notifying = AbortOnDropHandle::new(tokio::spawn(run_notifications(peer.clone(), handler.clone(), queued)));
        Self {
            peer,
            handler,
            open_requests: Arc::default(),
            slots: Arc::new(Semaphore::new(limits.incoming_at_once.max(1))),
            room: Arc::new(Semaphore::new(room_of(limits.incoming_bytes))),
            work: JoinSet::new(),
            notifications,
            notifying,
        }
    }

    /// Reads until the end of the stream and returns why it ended.
    pub(crate) async fn read_all(&mut self, mut reader: impl AsyncRead + Unpin) -> ConnectionEnd {
        let protocol = &self.peer.shared.protocol;
        let mut decoder = FrameDecoder::new(protocol.framing, protocol.limits.frames);
        let (mut buffer, mut frames) = (vec![0; READ_BYTES], Vec::new());
        loop {
            let read = match reader.read(&mut buffer).await {
                Ok(read) => read,
                Err(error) => return ConnectionEnd::Read(error.to_string()),
            };
            let cut = match read {
                0 => decoder.finish(&mut frames),
                _ => decoder.push(&buffer[..read], &mut frames),
            };
            for frame in frames.drain(..) {
                if let Err(end) = self.take(frame).await {
                    return end;
                }
            }
            match cut {
                Err(error) => return error.into(),
                Ok(()) if read == 0 => return ConnectionEnd::TheirSide,
                Ok(()) => {}
            }
        }
    }

    /// Ends the inbox: requests of the other side are dropped, queued notifications are still handled.
    pub(crate) async fn finish(mut self) {
        self.work.abort_all();
        drop(self.notifications);
        // The task catches panics of the handler, so its result is irrelevant.
        let _ = self.notifying.await;
    }

    async fn take(&mut self, frame: MessageFrame) -> Result<(), ConnectionEnd> {
        let shared = self.peer.shared.clone();
        let (value, bytes) = match frame {
            MessageFrame::Message { value, bytes } => (value, bytes),
            MessageFrame::Noise(text) => {
                shared.noise(text);
                return Ok(());
            }
        };
        for message in shared.protocol.dialect.read(value) {
            match message {
                Ok(message) => self.dispatch(message, bytes).await?,
                Err(complaint) => shared.noise(complaint),
            }
        }
        Ok(())
    }

    async fn dispatch(&mut self, message: Incoming, bytes: usize) -> Result<(), ConnectionEnd> {
        let shared = &self.peer.shared;
        if let Some(id) = shared.protocol.dialect.cancelled(&message) {
            return self.cancel(&id, message);
        }
        match message {
            Incoming::Response { id, result } => shared.answer(&id, result),
            Incoming::Request { id, method, params } => return self.accept_request(id, method, params, bytes),
            Incoming::Notification { method, params } => {
                let progress = shared.protocol.dialect.progress(&method, &params);
                if !progress.is_some_and(|(token, report)| shared.report_progress(token, report)) {
                    self.queue_notification(method, params, bytes).await;
                }
            }
        }
        Ok(())
    }

    /// Waits for room, so that a slow handler slows down the other side.
    async fn queue_notification(&self, method: String, params: Value, bytes: usize) {
        let permits = permits(bytes, self.peer.shared.protocol.limits.incoming_bytes);
        // Neither semaphore is closed while this exists.
        let Ok(room) = self.room.clone().acquire_many_owned(permits).await else { return };
        let _ = self.notifications.send(ReceivedNotification { method, params, _room: room }).await;
    }

    fn cancel(&self, id: &Id, message: Incoming) -> Result<(), ConnectionEnd> {
        if let Some(cancel) = lock(&self.open_requests).get(id) {
            cancel.cancel();
        }
        match message {
            // If cancellation is a request, it needs a response itself.
            Incoming::Request { id, method, .. } => self.answer_now(id, method, Ok(Value::Null)),
            _ => Ok(()),
        }
    }

    fn accept_request(&mut self, id: Id, method: String, params: Value, bytes: usize) -> Result<(), ConnectionEnd> {
        while self.work.try_join_next().is_some() {}
        let limits = self.peer.shared.protocol.limits;
        let most = limits.incoming_at_once.saturating_add(limits.incoming_waiting);
        let room = self.room.clone().try_acquire_many_owned(permits(bytes, limits.incoming_bytes));
        let Some(room) = room.ok().filter(|_| lock(&self.open_requests).len() < most) else {
            let busy = RpcError::new(RpcError::BUSY, "too many requests at once; ask again later");
            return self.answer_now(id, method, Err(busy));
        };
        let cancel = CancellationToken::new();
        if lock(&self.open_requests).contains_key(&id) {
            let twice = RpcError::new(RpcError::INVALID_REQUEST, "a request with this id is not answered yet");
            return self.answer_now(id, method, Err(twice));
        }
        let Some(answer) = self.begin(&method, params) else {
            let unknown = RpcError::method_not_found(&method);
            return self.answer_now(id, method, Err(unknown));
        };
        lock(&self.open_requests).insert(id.clone(), cancel.clone());
        let job =
            RequestJob { peer: self.peer.clone(), open_requests: self.open_requests.clone(), id, method, _room: room };
        self.work.spawn(job.work(answer, cancel, self.slots.clone()));
        Ok(())
    }

    /// The handler may also panic before it returns a future.
    fn begin(&self, method: &str, params: Value) -> Option<HandlerFuture> {
        let ask = AssertUnwindSafe(|| self.handler.request(&self.peer, method, params));
        std::panic::catch_unwind(ask).unwrap_or_else(|_| Some(Box::pin(std::future::ready(Err(panicked())))))
    }

    /// Does not wait, because nothing may delay reading.
    fn answer_now(&self, id: Id, method: String, result: Result<Value, RpcError>) -> Result<(), ConnectionEnd> {
        match self.peer.shared.outbox.try_send(Outgoing::Response { id, method, result }) {
            Err(Unsent::Full) => Err(ConnectionEnd::Flooded),
            _ => Ok(()),
        }
    }
}

/// A request of the other side that is in progress.
struct RequestJob {
    peer: Peer,
    open_requests: Arc<Mutex<HashMap<Id, CancellationToken>>>,
    id: Id,
    method: String,
    _room: OwnedSemaphorePermit,
}

impl RequestJob {
    async fn work(self, answer: HandlerFuture, cancel: CancellationToken, slots: Arc<Semaphore>) {
        let run = async {
            // The semaphore is never closed.
            let _slot = slots.acquire().await;
            AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
        };
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => self.peer.shared.protocol.dialect.answer_to_cancelled().map(Err),
            result = run => Some(result.map_err(rpc_error)),
        };
        lock(&self.open_requests).remove(&self.id);
        if let Some(result) = result {
            self.reply(result).await;
        }
    }

    /// Waits as long as the connection exists: the number of waiting responses is limited.
    async fn reply(self, result: Result<Value, RpcError>) {
        let outbox = &self.peer.shared.outbox;
        let (id, method) = (self.id.clone(), self.method.clone());
        let sent = outbox.send(Outgoing::Response { id, method, result }).await;
        if let Err(Unsent::TooLong { bytes }) = sent {
            let error = RpcError::internal(format!("the answer takes {bytes} bytes, more than a message may have"));
            let response = Outgoing::Response { id: self.id, method: self.method, result: Err(error) };
            // The only possible error is a closed connection, and then nobody waits for the response.
            let _ = outbox.send(response).await;
        }
    }
}

fn panicked() -> HandlerError {
    "the handler of the request panicked".into()
}

fn rpc_error(error: HandlerError) -> RpcError {
    error.downcast::<RpcError>().map_or_else(RpcError::internal, |error| *error)
}

async fn run_notifications(peer: Peer, handler: Arc<dyn Handler>, mut queued: mpsc::Receiver<ReceivedNotification>) {
    while let Some(ReceivedNotification { method, params, _room }) = queued.recv().await {
        let run = async { handler.notification(&peer, &method, params).await };
        if AssertUnwindSafe(run).catch_unwind().await.is_err() {
            peer.shared.noise(format!("the handler of the notification `{method}` panicked"));
        }
    }
}
