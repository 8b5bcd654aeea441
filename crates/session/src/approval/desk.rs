//! Questions to the user: approval of a call, a question of a tool, an address to open. All have one type and are answered
//! by one command.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{Choice, ChoiceOption, Questions};
use omp_policy::{RuleLevel, RuleScope};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::approvals::CallDetails;
use crate::event::SessionEvent;
use crate::outlet::Outlet;
use crate::web_address::WebAddress;

#[derive(Clone, Debug)]
pub struct Question {
    pub id: u64,
    pub kind: QuestionKind,
}

#[derive(Clone, Debug)]
pub enum QuestionKind {
    /// Asks whether this call may run.
    Approve { call_id: String, tool: String, arguments: Arc<Value>, reason: Option<String>, details: Arc<CallDetails> },
    /// Asks the user to choose an option or type another answer. Answered by [`Answer::Text`] or, if several may be chosen,
    /// [`Answer::Choices`].
    Choose(Choice),
    /// Asks whether this address was opened in a browser. Answered by [`Answer::Yes`] once it was.
    OpenUrl { url: WebAddress, reason: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    Text(String),
    /// Labels of the chosen options, plus any text that was typed.
    Choices(Vec<String>),
    /// Allows or denies this call, and adds rules that decide the same for later calls.
    Always {
        level: RuleLevel,
        rules: Vec<String>,
        scope: RuleScope,
    },
}

/// Holds the unanswered questions.
pub(crate) struct Desk {
    outlet: Arc<Outlet>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
}

impl Desk {
    pub fn new(outlet: Arc<Outlet>) -> Self {
        Self { outlet, next: AtomicU64::new(1), waiting: Mutex::default() }
    }

    /// Sends the question and waits for its answer; `None` if the question was dismissed.
    pub async fn put(&self, kind: QuestionKind) -> Option<Answer> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let forget = Forget { desk: self, id };
        self.outlet.send(SessionEvent::Question(Question { id, kind })).await;
        let answer = receiver.await.ok();
        drop(forget);
        answer
    }

    /// Asks the user to open the address; `true` once they have.
    pub async fn have_opened(&self, url: WebAddress, reason: String) -> bool {
        self.put(QuestionKind::OpenUrl { url, reason }).await == Some(Answer::Yes)
    }

    /// Delivers the answer. Answers to unknown or settled questions are ignored.
    pub fn answer(&self, id: u64, answer: Answer) {
        if let Some(sender) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id) {
            // The task that asked may have been cancelled; then the answer is dropped.
            drop(sender.send(answer));
        }
    }
}

/// Removes the question when the task that asked it is dropped.
struct Forget<'a> {
    desk: &'a Desk,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let left = self.desk.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        if left.is_some() {
            self.desk.outlet.offer(SessionEvent::Dismissed { id: self.id });
        }
    }
}

impl Questions for Desk {
    fn ask(&self, question: String, choices: Vec<String>) -> BoxFuture<'_, Option<String>> {
        async move {
            let options = choices.into_iter().map(|label| ChoiceOption { label, description: None }).collect();
            let choice = Choice { question, options, ..Choice::default() };
            self.choose(choice).await?.into_iter().next()
        }
        .boxed()
    }

    fn choose(&self, choice: Choice) -> BoxFuture<'_, Option<Vec<String>>> {
        async move {
            match self.put(QuestionKind::Choose(choice)).await? {
                Answer::Text(text) => Some(vec![text]),
                Answer::Choices(choices) => Some(choices),
                Answer::Yes => Some(vec!["yes".to_owned()]),
                Answer::No | Answer::Always { .. } => None,
            }
        }
        .boxed()
    }
}
