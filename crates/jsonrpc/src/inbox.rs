//! Dispatches incoming messages: responses to their requests, the rest to the handler, which never delays a response.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::error::ConnectionEnd;
use crate::framing::{FrameDecoder, FramingError, MessageFrame};
use crate::handler::{Handler, HandlerError, HandlerFuture};
use crate::lock;
use crate::message::{Id, Incoming, Outgoing, RpcError, UnreadableInput};
use crate::outbox::{Unsent, permits, room_of};
use crate::peer::Peer;
use crate::responder::{IncomingRequest, OpenRequests, Responder};

const READ_BYTES: usize = 64 << 10;
/// Maximum number of queued notifications; their bytes are limited separately.
const NOTIFICATIONS: usize = 4_096;

pub(crate) struct RequestInbox {
    peer: Peer,
    handler: Arc<dyn Handler>,
    /// Requests of the other side by ID, with their cancellation tokens.
    open_requests: OpenRequests,
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
    work: BoxFuture<'static, ()>,
    _room: OwnedSemaphorePermit,
}

impl RequestInbox {
    pub(crate) fn new(peer: Peer, handler: Arc<dyn Handler>) -> Self {
        let limits = peer.shared.protocol.limits;
        let (notifications, queued) = mpsc::channel(NOTIFICATIONS);
        let notifying = AbortOnDropHandle::new(tokio::spawn(run_notifications(peer.clone(), queued)));
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
                let answer = shared.protocol.dialect.answer_to_unreadable(UnreadableInput::NotJson(&text));
                return self.take_invalid(text, answer);
            }
            MessageFrame::TooLong { bytes } => {
                let limit = shared.protocol.limits.frames.message_bytes;
                let answer = shared.protocol.dialect.answer_to_unreadable(UnreadableInput::TooLong { bytes, limit });
                return self.take_invalid(FramingError::MessageTooLong { bytes, limit }.to_string(), answer);
            }
        };
        for message in shared.protocol.dialect.read(value) {
            match message {
                Ok(message) => self.dispatch(message, bytes).await?,
                Err(invalid) => self.take_invalid(invalid.complaint, invalid.answer.map(|answer| *answer))?,
            }
        }
        Ok(())
    }

    fn take_invalid(&self, complaint: String, answer: Option<RpcError>) -> Result<(), ConnectionEnd> {
        self.peer.shared.noise(complaint);
        answer.map_or(Ok(()), |answer| self.answer_now(Id::Null, String::new(), Err(answer)))
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
        let begin = AssertUnwindSafe(|| self.handler.notification(&self.peer, &method, params));
        match std::panic::catch_unwind(begin) {
            Ok(work) => drop(self.notifications.send(ReceivedNotification { method, work, _room: room }).await),
            Err(_) => notification_panicked(&self.peer, &method),
        }
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
            let busy = self.peer.shared.protocol.dialect.answer_to_overload();
            return self.answer_now(id, method, Err(busy));
        };
        if lock(&self.open_requests).contains_key(&id) {
            let twice = RpcError::new(RpcError::INVALID_REQUEST, "a request with this id is not answered yet");
            return self.answer_now(id, method, Err(twice));
        }
        let responder = Responder::new(self.peer.clone(), self.open_requests.clone(), id, method.clone(), room);
        let take =
            AssertUnwindSafe(|| self.handler.take_request(&self.peer, IncomingRequest { method, params, responder }));
        // A request whose handler panics is answered by the drop of its responder.
        let Ok(Some(request)) = std::panic::catch_unwind(take) else { return Ok(()) };
        let IncomingRequest { method, params, responder } = request;
        match self.begin(&method, params) {
            Some(answer) => drop(self.work.spawn(work(responder, answer, self.slots.clone()))),
            None => responder.respond_soon(Err(RpcError::method_not_found(&method))),
        }
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

async fn work(responder: Responder, answer: HandlerFuture, slots: Arc<Semaphore>) {
    let (cancel, dialect) = (responder.cancellation(), responder.dialect());
    let run = async {
        // The semaphore is never closed.
        let _slot = slots.acquire().await;
        AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
    };
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => dialect.answer_to_cancelled().map(Err),
        result = run => Some(result.map_err(rpc_error)),
    };
    match result {
        Some(result) => responder.respond(result).await,
        None => responder.drop_silently(),
    }
}

fn panicked() -> HandlerError {
    "the handler of the request panicked".into()
}

fn rpc_error(error: HandlerError) -> RpcError {
    error.downcast::<RpcError>().map_or_else(RpcError::internal, |error| *error)
}

async fn run_notifications(peer: Peer, mut queued: mpsc::Receiver<ReceivedNotification>) {
    while let Some(ReceivedNotification { method, work, _room }) = queued.recv().await {
        if AssertUnwindSafe(work).catch_unwind().await.is_err() {
            notification_panicked(&peer, &method);
        }
    }
}

fn notification_panicked(peer: &Peer, method: &str) {
    peer.shared.noise(format!("the handler of the notification `{method}` panicked"));
}
