//! What a session is doing, as far as commands have to know: whether it works, what was asked, how full its context is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_types::{AssistantMessage, Message};
use serde_json::Value;
use tokio::sync::watch;

/// Prompts whose ids are remembered for a late error.
const MAX_IDS: usize = 64;

#[derive(Default)]
pub struct Activity {
    /// Prompts that were sent and have not ended.
    working: watch::Sender<usize>,
    facts: Mutex<Facts>,
}

#[derive(Default)]
struct Facts {
    /// Who asked, for errors that come late: id and command.
    asked: VecDeque<(Option<Value>, &'static str)>,
    last_answer: Option<LastAnswer>,
    /// How often the conversation has become another one.
    moves: u64,
}

/// What the newest answer tells about the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastAnswer {
    pub prompt_tokens: u64,
    pub output_tokens: u64,
    /// Milliseconds.
    pub duration: Option<f64>,
}

impl Activity {
    /// A prompt is about to be sent.
    pub fn asked(&self, id: Option<Value>, command: &'static str) {
        let mut facts = self.lock();
        if facts.asked.len() >= MAX_IDS {
            facts.asked.pop_front();
        }
        facts.asked.push_back((id, command));
        drop(facts);
        self.working.send_modify(|count| *count += 1);
    }

    /// A run has begun; perhaps one that no prompt has asked for.
    pub fn begun(&self) {
        self.working.send_if_modified(|count| {
            let unasked = *count == 0;
            *count += usize::from(unasked);
            unasked
        });
    }

    /// A run has ended for good.
    pub fn ended(&self) {
        self.working.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Who asked for the run that is over.
    pub fn settled(&self) -> (Option<Value>, &'static str) {
        self.lock().asked.pop_front().unwrap_or((None, "prompt"))
    }

    pub fn works(&self) -> bool {
        *self.working.borrow() > 0
    }

    pub async fn until_idle(&self) {
        // The sender lives in `self`, so this ends only by what it waits for.
        let _ = self.working.subscribe().wait_for(|count| *count == 0).await;
    }

    pub fn heard(&self, message: &Message) {
        if let Some(answer) = message.as_assistant().and_then(told) {
            self.lock().last_answer = Some(answer);
        }
    }

    /// The conversation is another one now.
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
