//! An in-process model: plays turns, records requests, and waits at a gate so that a test can act in between.

mod gate;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use omp_types::{ErrorKind, Llm, ModelError, ModelStream, Request};
use tokio::sync::watch;

use crate::script::{FaultKind, Script, Turn};
pub use gate::Gate;
use stream::ScriptedStream;

/// Answers the n-th request with the n-th reply.
pub struct ScriptedLlm {
    replies: Vec<Reply>,
    requests: Mutex<Vec<Request>>,
    count: watch::Sender<usize>,
    gate: Option<Gate>,
}

/// One answer.
#[derive(Clone, Debug)]
pub enum Reply {
    Turn(Turn),
    /// Sends the content and then an error instead of an end. The last block is still open at that time.
    Fail {
        partial: Turn,
        error: ModelError,
    },
}

impl ScriptedLlm {
    pub fn new<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        let replies = replies.into_iter().map(Into::into).collect();
        Self { replies, requests: Mutex::default(), count: watch::Sender::new(0), gate: None }
    }

    /// Makes every event wait at the gate.
    pub fn gated(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Returns every request so far: system prompt, tools, messages and the rest.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().clone()
    }

    /// Waits until there were `count` requests.
    pub async fn until_requests(&self, count: usize) -> Vec<Request> {
        // Fails only if the sender is gone, and `self` holds it.
        let _ = self.count.subscribe().wait_for(|so_far| *so_far >= count).await;
        self.requests()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Llm for ScriptedLlm {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let model = request.model.clone();
        let number = {
            let mut requests = self.lock();
            requests.push(request);
            requests.len() - 1
        };
        self.count.send_replace(number + 1);
        let reply = self.replies.get(number).map_or_else(|| Reply::fail(exhausted(number)), Reply::playable);
        Box::new(ScriptedStream::new(&model, reply, number, self.gate.clone()))
    }
}

fn exhausted(number: usize) -> ModelError {
    let message = format!("the script has no reply {}; hint: give the scripted model more turns", number + 1);
    ModelError::new(ErrorKind::BadRequest, message)
}

impl Reply {
    pub fn fail(error: ModelError) -> Self {
        Reply::Fail { partial: Turn::default(), error }
    }

    /// A wire fault cannot be played without a wire; reporting this is better than playing the turn without the fault.
    fn playable(&self) -> Reply {
        match self {
            Reply::Turn(turn) => match turn.fault_for(0).map(|fault| &fault.kind) {
                None => self.clone(),
                Some(FaultKind::TruncatedArguments) => Reply::Turn(turn.under(Some(&FaultKind::TruncatedArguments))),
                Some(kind) => {
                    let message = format!("{kind:?} needs a wire; hint: use `Server`, or `Reply::Fail` here");
                    Reply::fail(ModelError::new(ErrorKind::BadRequest, message))
                }
            },
            Reply::Fail { .. } => self.clone(),
        }
    }
}

impl From<Turn> for Reply {
    fn from(turn: Turn) -> Self {
        Reply::Turn(turn)
    }
}

impl From<ModelError> for Reply {
    fn from(error: ModelError) -> Self {
        Reply::fail(error)
    }
}

impl From<Script> for ScriptedLlm {
    fn from(script: Script) -> Self {
        ScriptedLlm::new(script.turns)
    }
}
