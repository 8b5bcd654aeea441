//! The handle of a connection: sends requests and notifications, and cancels requests.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::error::{ConnectionEnd, Error};
use crate::message::Outgoing;
use crate::outbox::Unsent;
use crate::progress::{self, ProgressSender, RequestProgress};
use crate::shared::{ConnectionState, Oddities, PendingRequest};

/// The other side of a connection. Clones refer to the same one; none of them keeps the connection open.
#[derive(Clone)]
pub struct Peer {
    pub(crate) shared: Arc<ConnectionState>,
}

/// A request with its time limit and cancellation.
#[derive(Debug)]
pub struct OutgoingCall {
    method: String,
    params: Value,
    limit: Option<Duration>,
    cancel: CancellationToken,
    progress: Option<ProgressSender>,
}

impl OutgoingCall {
    /// `null` parameters are omitted.
    pub fn new(method: impl Into<String>, params: Value) -> Self {
        let (limit, cancel, progress) = (None, CancellationToken::new(), None);
        Self { method: method.into(), params, limit, cancel, progress }
    }

    /// Overrides the connection's time limit.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Cancels the request when `cancel` is cancelled. Dropping the future does so as well.
    pub fn cancelled_by(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Requests progress reports from the other side.
    pub fn with_progress(mut self) -> (Self, RequestProgress) {
        let (sender, progress) = progress::channel();
        self.progress = Some(sender);
        (self, progress)
    }
}

impl Peer {
    /// Sends a request and waits for the response, within the connection's time limit.
    pub async fn request(&self, method: impl Into<String>, params: Value) -> Result<Value, Error> {
        self.call(OutgoingCall::new(method, params)).await
    }

    /// Sends a request and waits for the response. On a timeout, a cancelled token or a dropped future, the request is
    /// cancelled with the protocol's message.
    pub async fn call(&self, call: OutgoingCall) -> Result<Value, Error> {
        let OutgoingCall { method, params, limit, cancel, progress } = call;
        let limit = limit.unwrap_or(self.shared.protocol.limits.request);
        let mut in_flight = InFlight::new(self.shared.clone(), method);
        let waited = tokio::select! {
            biased;
            () = cancel.cancelled() => CallWait::Cancelled,
            answer = timeout(limit, self.exchange(&in_flight, params, progress)) => answer.map_or(CallWait::TooLong, CallWait::Answered),
        };
        let method = in_flight.method.clone();
        match waited {
            CallWait::Answered(answer) => answer,
            CallWait::Cancelled => {
                in_flight.reason = "cancelled";
                Err(Error::Cancelled { method })
            }
            CallWait::TooLong if in_flight.was_sent() => {
                in_flight.reason = "timed out";
                Err(Error::TimedOut { method, limit })
            }
            CallWait::TooLong => Err(Error::NotRead { method, limit }),
        }
    }

    /// Sends a notification; waits only until it is queued.
    pub async fn notify(&self, method: impl Into<String>, params: Value) -> Result<(), Error> {
        let (method, limit) = (method.into(), self.shared.protocol.limits.write);
        let message = Outgoing::Notification { method: method.clone(), params };
        match timeout(limit, self.shared.outbox.send(message)).await {
            Ok(sent) => sent.map_err(|unsent| self.explain(method, unsent)),
            Err(_) => Err(Error::NotRead { method, limit }),
        }
    }

    /// Sends a request whose response is ignored. Does not wait: if the queue is full, it is sent later by a task.
    pub fn post(&self, method: impl Into<String>, params: Value) {
        self.shared.send_soon(Outgoing::Request { method: method.into(), params });
    }

    /// Waits until nothing more can be read. A half-open connection can still be written to then.
    pub async fn input_ended(&self) {
        self.shared.input_ended.cancelled().await;
    }

    /// Whether the other side is notified of cancelled requests. Enabled by default, except in DAP: there it must be enabled
    /// for adapters with the capability `supportsCancelRequest`, because others may hang.
    pub fn allow_cancel(&self, allowed: bool) {
        self.shared.may_cancel.store(allowed, Ordering::Relaxed);
    }

    /// Sends nothing more and closes the writing side; incoming messages are still read.
    pub fn finish_writing(&self) {
        self.shared.outbox.close();
    }

    /// Waits for the end of the connection.
    pub async fn ended(&self) -> ConnectionEnd {
        self.shared.ended.cancelled().await;
        self.end_or_ours()
    }

    /// Returns how the connection ended, if it did.
    pub fn end(&self) -> Option<ConnectionEnd> {
        self.shared.how_it_ended()
    }

    /// Returns the unexpected input of the connection.
    pub fn oddities(&self) -> Oddities {
        self.shared.oddities()
    }

    async fn exchange(
        &self,
        in_flight: &InFlight,
        params: Value,
        progress: Option<ProgressSender>,
    ) -> Result<Value, Error> {
        let (answer, answered) = oneshot::channel();
        let wants_progress = progress.is_some();
        let message = Outgoing::Request { method: in_flight.method.clone(), params };
        let stamp = |number: i64, message: &mut Outgoing| match message {
            Outgoing::Request { params, .. } if wants_progress => {
                self.shared.protocol.dialect.ask_for_progress(number, params);
            }
            _ => {}
        };
        let before = |number| {
            in_flight.number.get_or_init(|| number);
            self.shared.register(number, PendingRequest { answer, progress });
        };
        let sent = self.shared.outbox.send_numbered(message, stamp, before).await;
        sent.map_err(|unsent| self.explain(in_flight.method.clone(), unsent))?;
        match answered.await {
            Ok(answer) => answer.map_err(|error| Error::Refused { method: in_flight.method.clone(), error }),
            Err(_) => Err(Error::Ended { method: in_flight.method.clone(), end: self.end_or_ours() }),
        }
    }

    fn explain(&self, method: String, unsent: Unsent) -> Error {
        match unsent {
            Unsent::TooLong { bytes } => {
                Error::TooLong { method, bytes, limit: self.shared.protocol.limits.frames.message_bytes }
            }
            Unsent::Full => Error::NotRead { method, limit: Duration::ZERO },
            Unsent::Closed => Error::Ended { method, end: self.end_or_ours() },
        }
    }

    /// Returns the end of the connection, or that this side has stopped writing.
    fn end_or_ours(&self) -> ConnectionEnd {
        self.end().unwrap_or(ConnectionEnd::OurSide)
    }
}

enum CallWait {
    Answered(Result<Value, Error>),
    Cancelled,
    TooLong,
}

/// A request in progress. It is cancelled if it is dropped before the response.
struct InFlight {
    shared: Arc<ConnectionState>,
    method: String,
    /// Set when it is sent.
    number: OnceLock<i64>,
    reason: &'static str,
}

impl InFlight {
    fn new(shared: Arc<ConnectionState>, method: String) -> Self {
        Self { shared, method, number: OnceLock::new(), reason: "no longer needed" }
    }

    fn was_sent(&self) -> bool {
        self.number.get().is_some()
    }

    fn send_cancel(&self, number: i64) {
        if let Some(cancel) = self.shared.protocol.dialect.cancel(number, &self.method, self.reason) {
            // There are at most as many of these as requests in progress, which are limited.
            self.shared.send_soon(cancel);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(number) = self.number.get().copied()
            && self.shared.forget(number)
            && self.shared.may_cancel()
        {
            self.send_cancel(number);
        }
    }
}
