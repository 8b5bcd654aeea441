//! The state of a session that commands need: whether it works, which prompts were sent, how full its context is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_types::{AssistantMessage, Message};
use serde_json::Value;
use tokio::sync::watch;

/// Caps the prompt ids remembered for late errors.
const MAX_IDS: usize = 64;

#[derive(Default)]
pub struct Activity {
    /// The number of prompts that were sent and have not ended.
    working: watch::Sender<usize>,
    facts: Mutex<Facts>,
}

#[derive(Default)]
struct Facts {
    /// The id and command of each prompt, for late errors.
    asked: VecDeque<(Option<Value>, &'static str)>,
    last_answer: Option<LastAnswer>,
    /// How often the conversation was replaced.
    moves: u64,
}

/// Data of the newest answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastAnswer {
    pub prompt_tokens: u64,
    pub output_tokens: u64,
    /// In milliseconds.
    pub duration: Option<f64>,
}

impl Activity {
    /// Called before a prompt is sent.
    pub fn asked(&self, id: Option<Value>, command: &'static str) {
        let mut facts = self.lock();
        if facts.asked.len() >= MAX_IDS {
            facts.asked.pop_front();
        }
        facts.asked.push_back((id, command));
        drop(facts);
        self.working.send_modify(|count| *count += 1);
    }

    /// Called when a run begins, even without a prompt.
    pub fn begun(&self) {
        self.working.send_if_modified(|count| {
            let unasked = *count == 0;
            *count += usize::from(unasked);
            unasked
        });
    }

    /// Called when a run has ended.
    pub fn ended(&self) {
        self.working.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Returns the id and command of the prompt whose run has ended.
    pub fn settled(&self) -> (Option<Value>, &'static str) {
        self.lock().asked.pop_front().unwrap_or((None, "prompt"))
    }

    pub fn works(&self) -> bool {
        *self.working.borrow() > 0
    }

    pub async fn until_idle(&self) {
        // The sender lives in `self`, so the channel cannot close.
        let _ = self.working.subscribe().wait_for(|count| *count == 0).await;
    }

    pub fn heard(&self, message: &Message) {
        if let Some(answer) = message.as_assistant().and_then(told) {
            self.lock().last_answer = Some(answer);
        }
    }

    /// Called when the conversation was replaced.
    pub fn reread(&self, messages: &[Arc<Message>]) {
        let last = messages.iter().rev().find_map(|message| message.as_assistant().and_then(told));
        let mut facts = self.lock();
        facts.last_answer = last;
        facts.moves += 1;
    }

    pub fn last_answer(&self) -> Option<LastAnswer> {
        self.lock().last_answer
    }

    pub fn moves(&self) -> u64 {
        self.lock().moves
    }

    fn lock(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(answer: &AssistantMessage) -> Option<LastAnswer> {
    let (prompt_tokens, output_tokens) = (answer.usage.prompt_tokens(), answer.usage.output);
    (prompt_tokens > 0).then_some(LastAnswer { prompt_tokens, output_tokens, duration: answer.duration })
}
