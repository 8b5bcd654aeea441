//! What the handles and the tasks of one connection have in common: requests that wait, and how it ended.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::error::ConnectionEnd;
use crate::lock;
use crate::message::{Id, RpcError};
use crate::outbox::{Outbox, OutboxReader};
use crate::progress::ProgressSender;
use crate::protocol::Protocol;

pub(crate) struct ConnectionState {
    pub(crate) protocol: Protocol,
    pub(crate) outbox: Outbox,
    pub(crate) may_cancel: AtomicBool,
    pub(crate) ended: CancellationToken,
    waiting: Mutex<OpenRequests>,
    oddities: Mutex<Oddities>,
}

#[derive(Default)]
struct OpenRequests {
    requests: HashMap<i64, PendingRequest>,
    end: Option<ConnectionEnd>,
}

/// A request of ours that has not been answered.
pub(crate) struct PendingRequest {
    pub(crate) answer: oneshot::Sender<Result<Value, RpcError>>,
    pub(crate) progress: Option<ProgressSender>,
}

/// What came that should not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// The first lines that were no messages, shortened.
    pub noise: Vec<String>,
    /// How many there were.
    pub noise_count: u64,
    /// Answers to requests that nobody waits for: late, or never made.
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
            waiting: Mutex::default(),
            oddities: Mutex::default(),
        };
        (shared, queue)
    }

    /// Waits for the answer to `number`, unless there can be none any more.
    pub(crate) fn register(&self, number: i64, pending: PendingRequest) {
        let mut waiting = lock(&self.waiting);
        if waiting.end.is_none() {
            waiting.requests.insert(number, pending);
        }
    }

    /// Whether it was still waiting.
    pub(crate) fn forget(&self, number: i64) -> bool {
        lock(&self.waiting).requests.remove(&number).is_some()
    }

    pub(crate) fn answer(&self, id: &Id, result: Result<Value, RpcError>) {
        let pending = id.number().and_then(|number| lock(&self.waiting).requests.remove(&number));
        match pending {
            // Whoever asked may have gone this moment.
            Some(pending) => drop(pending.answer.send(result)),
            None => self.ignored(id, result),
        }
    }

    /// An error without an id tells of a message that the other side could not read.
    fn ignored(&self, id: &Id, result: Result<Value, RpcError>) {
        lock(&self.oddities).ignored_responses += 1;
        if let (Id::Null, Err(error)) = (id, result) {
            self.noise(format!("an error without a request: {error}"));
        }
    }

    /// Whether somebody wants to hear of it.
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

    /// Every request that waits fails now, and every later one. Only the first end counts.
    pub(crate) fn end(&self, end: ConnectionEnd) {
        let requests = {
            let mut waiting = lock(&self.waiting);
            waiting.end.get_or_insert(end);
            std::mem::take(&mut waiting.requests)
        };
        self.outbox.close();
        self.ended.cancel();
        drop(requests);
    }

    pub(crate) fn how_it_ended(&self) -> Option<ConnectionEnd> {
        lock(&self.waiting).end.clone()
    }

    pub(crate) fn may_cancel(&self) -> bool {
        self.may_cancel.load(Ordering::Relaxed)
    }
}
