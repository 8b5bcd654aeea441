//! Shared state of the handles and tasks of one connection: pending requests, and how it ended.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::error::ConnectionEnd;
use crate::lock;
use crate::message::{Id, Outgoing, RpcError};
use crate::outbox::{Outbox, OutboxReader, Unsent};
use crate::progress::ProgressSender;
use crate::protocol::Protocol;

pub(crate) struct ConnectionState {
    pub(crate) protocol: Protocol,
    pub(crate) outbox: Outbox,
    pub(crate) may_cancel: AtomicBool,
    pub(crate) ended: CancellationToken,
    /// Cancelled when nothing more will be read.
    pub(crate) input_ended: CancellationToken,
    /// Cancelled when nothing more will be written.
    pub(crate) written: CancellationToken,
    waiting: Mutex<OpenRequests>,
    oddities: Mutex<Oddities>,
}

#[derive(Default)]
struct OpenRequests {
    requests: HashMap<i64, PendingRequest>,
    end: Option<ConnectionEnd>,
}

/// A request of this side that has not been answered.
pub(crate) struct PendingRequest {
    pub(crate) answer: oneshot::Sender<Result<Value, RpcError>>,
    pub(crate) progress: Option<ProgressSender>,
}

/// Unexpected input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// The first lines that were not messages, shortened.
    pub noise: Vec<String>,
    /// The number of such lines.
    pub noise_count: u64,
    /// Number of responses without a pending request: late, or never requested.
    pub ignored_responses: u64,
}

impl ConnectionState {
    pub(crate) fn new(protocol: Protocol) -> (Self, OutboxReader) {
        let (outbox, queue) = Outbox::new(protocol.clone());
        let may_cancel = AtomicBool::new(protocol.dialect.cancels_by_default());
        let shared = Self {
            protocol,
            outbox,
            may_cancel,
            ended: CancellationToken::new(),
            input_ended: CancellationToken::new(),
            written: CancellationToken::new(),
            waiting: Mutex::default(),
            oddities: Mutex::default(),
        };
        (shared, queue)
    }

    /// Sends without waiting; if the queue is full, a task waits for room.
    pub(crate) fn send_soon(self: &Arc<Self>, message: Outgoing) {
        if self.outbox.try_send(message.clone()) != Err(Unsent::Full) {
            return;
        }
        let shared = self.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { timeout(shared.protocol.limits.write, shared.outbox.send(message)).await });
        }
    }

    /// Registers a pending request, unless the connection has ended.
    pub(crate) fn register(&self, number: i64, pending: PendingRequest) {
        let mut waiting = lock(&self.waiting);
        if waiting.end.is_none() {
            waiting.requests.insert(number, pending);
        }
    }

    /// Returns whether it was still pending.
    pub(crate) fn forget(&self, number: i64) -> bool {
        lock(&self.waiting).requests.remove(&number).is_some()
    }

    pub(crate) fn answer(&self, id: &Id, result: Result<Value, RpcError>) {
        let pending = id.number().and_then(|number| lock(&self.waiting).requests.remove(&number));
        match pending {
            // The requester may just have been dropped.
            Some(pending) => drop(pending.answer.send(result)),
            None => self.ignored(id, result),
        }
    }

    /// An error without an ID reports a message that the other side could not parse.
    fn ignored(&self, id: &Id, result: Result<Value, RpcError>) {
        lock(&self.oddities).ignored_responses += 1;
        if let (Id::Null, Err(error)) = (id, result) {
            self.noise(format!("an error without a request: {error}"));
        }
    }

    /// Returns whether the report was requested.
    pub(crate) fn report_progress(&self, token: i64, report: &Value) -> bool {
        let waiting = lock(&self.waiting);
        let sender = waiting.requests.get(&token).and_then(|pending| pending.progress.as_ref());
        if let Some(sender) = sender {
            sender.send(report.clone(), self.protocol.limits.progress_reports);
        }
        sender.is_some()
    }

    pub(crate) fn noise(&self, text: String) {
        let mut oddities = lock(&self.oddities);
        oddities.noise_count += 1;
        if oddities.noise.len() < self.protocol.limits.noise_lines {
            oddities.noise.push(text);
        }
    }

    pub(crate) fn oddities(&self) -> Oddities {
        lock(&self.oddities).clone()
    }

    /// Fails every pending request, and every later one: no response will be read. Only the first end is recorded.
    pub(crate) fn end_input(&self, end: ConnectionEnd) {
        let requests = {
            let mut waiting = lock(&self.waiting);
            waiting.end.get_or_insert(end);
            std::mem::take(&mut waiting.requests)
        };
        self.input_ended.cancel();
        drop(requests);
    }

    /// Ends both directions.
    pub(crate) fn end(&self, end: ConnectionEnd) {
        self.end_input(end);
        self.outbox.close();
        self.ended.cancel();
    }

    pub(crate) fn how_it_ended(&self) -> Option<ConnectionEnd> {
        lock(&self.waiting).end.clone()
    }

    pub(crate) fn may_cancel(&self) -> bool {
        self.may_cancel.load(Ordering::Relaxed)
    }
}
