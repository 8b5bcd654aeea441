//! Leaves blocks out of requests that a provider refuses, so that one bad image never ends a conversation.
//!
//! A refused request is retried without the block that the refusal points at. If it points at none, the likely blocks are
//! left out in growing numbers, newest first, because the provider has accepted the earlier ones before. If the retry
//! succeeds, the blocks stay left out and this is recorded in the file, which keeps the blocks themselves; if not, they are
//! put back. All other bytes of the request stay the same.

mod clue;
mod suspect;
#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_agent::{AgentEvent, RunEnd, Stop};
use omp_store::Custom;
use omp_types::{AssistantMessage, ErrorKind, Message, ModelError, Transcript};
use serde_json::{Value, json};

use super::{SessionCx, SessionFeature};
use crate::event::SessionEvent;
use crate::resumed::Resumed;
use crate::spending::BreakCause;

use clue::Clues;
use suspect::{Key, Kind, Suspect, described, suspects, without};

/// Type of the entries that record left-out blocks.
pub const QUARANTINE_ENTRY: &str = "quarantine";

/// Requests spent on finding out what a provider refuses.
const MAX_TRIES: u32 = 4;
/// How many blocks are left out at once if the refusal does not identify one.
const STEPS: [usize; 4] = [1, 4, 16, usize::MAX];

/// Blocks were left out because a provider refused them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// Short descriptions of the blocks.
    pub blocks: Vec<String>,
    /// The error message of the provider.
    pub reason: String,
}

impl fmt::Display for Quarantined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, reason } = self;
        write!(f, "no longer sent to the model, but kept in the session file: {} (reason: {reason})", blocks.join("; "))
    }
}

#[derive(Default)]
pub(super) struct Quarantine(Mutex<Blocks>);

impl Quarantine {
    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFeature for Quarantine {
    fn resume(&self, _cx: &SessionCx, resumed: &Resumed) {
        *self.blocks() = Blocks::restored(&resumed.quarantined);
    }

    /// An answer shows that the provider accepted the request, so the blocks stay left out.
    fn hear_event(&self, cx: &SessionCx, event: &AgentEvent) -> Result<Vec<SessionEvent>, Stop> {
        let AgentEvent::MessageEnd { message } = event else { return Ok(Vec::new()) };
        if message.as_assistant().is_none_or(AssistantMessage::failed) {
            return Ok(Vec::new());
        }
        let Some((told, entry)) = self.blocks().confirm() else { return Ok(Vec::new()) };
        cx.note(entry).map_err(|error| Stop(error.to_string()))?;
        Ok(vec![SessionEvent::Quarantined(told)])
    }

    fn after_refusal(
        &self,
        cx: &SessionCx,
        error: &ModelError,
        refused: &Transcript,
        written: &dyn Fn() -> Option<Value>,
    ) -> Option<Transcript> {
        let changed = self.blocks().next(error, refused, written)?;
        cx.control.spending().expect(BreakCause::Quarantine);
        Some(changed)
    }

    fn end_run(&self, _end: &RunEnd) -> Option<Transcript> {
        self.blocks().give_up()
    }

    fn as_sent(&self, message: Message) -> Message {
        self.blocks().as_sent(message)
    }
}

/// The blocks left out of a conversation.
#[derive(Default)]
struct Blocks {
    held: HashSet<Key>,
    search: Option<Search>,
}

/// The search for the block that the provider refuses.
struct Search {
    /// The conversation before anything was tried.
    original: Vec<Arc<Message>>,
    /// The first refusal is reported to the user; the latest one guides the search.
    reason: String,
    refusal: Option<String>,
    /// Sets of blocks to leave out, in the order to try.
    sets: VecDeque<Vec<Culprit>>,
    tried: Vec<Culprit>,
    /// Blocks that were certainly refused: leaving them out led to a different refusal.
    proven: Vec<Culprit>,
    tries_left: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Culprit {
    key: Key,
    what: String,
}

impl Blocks {
    /// Restores the blocks that earlier runs of the session left out, from their entries.
    pub fn restored<'a>(entries: impl IntoIterator<Item = &'a Value>) -> Self {
        let blocks = entries.into_iter().filter_map(|entry| entry.get("blocks")?.as_array()).flatten();
        let held = blocks.filter_map(|block| block.get("key")?.as_str()).map(Key::from).collect();
        Self { held, search: None }
    }

    /// Converts messages to the form in which they may be sent.
    pub fn transcript(&self, messages: impl IntoIterator<Item = Message>) -> Transcript {
        Transcript::repair(messages.into_iter().map(|message| self.as_sent(message)))
    }

    fn as_sent(&self, message: Message) -> Message {
        if self.held.is_empty() {
            return message;
        }
        without(&message, |block| self.held.contains(&Key::of(block))).unwrap_or(message)
    }

    /// The conversation to try after a refusal, or `None` if nothing is left to try. `written` is the refused request as it
    /// was sent.
    pub fn next(
        &mut self,
        error: &ModelError,
        refused: &Transcript,
        written: impl FnOnce() -> Option<Value>,
    ) -> Option<Transcript> {
        // Other errors of this kind are about an address or a model, never about a block.
        if error.kind != ErrorKind::BadRequest || !matches!(error.status, Some(400 | 422)) {
            return None;
        }
        let search = self.search.get_or_insert_with(|| Search::new(refused, &error.message));
        search.advance(error, refused, written).then(|| {
            let tried = search.proven.iter().chain(&search.tried).map(|culprit| culprit.key.clone());
            let held = self.held.iter().cloned().chain(tried).collect();
            Self { held, search: None }.transcript(search.original.iter().map(|message| Message::clone(message)))
        })
    }

    /// The provider accepted a request, so the blocks stay left out. Returns the event for front ends and the entry for the
    /// file.
    pub fn confirm(&mut self) -> Option<(Quarantined, Custom)> {
        let Search { reason, tried, proven, .. } = self.search.take()?;
        let culprits: Vec<Culprit> = proven.into_iter().chain(tried).collect();
        if culprits.is_empty() {
            return None;
        }
        let blocks = culprits.iter().map(|culprit| json!({"key": culprit.key.as_str(), "what": culprit.what}));
        let data = json!({"blocks": blocks.collect::<Vec<_>>(), "reason": reason});
        let entry = Custom { custom_type: QUARANTINE_ENTRY.to_owned(), data: Some(data) };
        let (keys, blocks): (Vec<_>, Vec<_>) = culprits.into_iter().map(|culprit| (culprit.key, culprit.what)).unzip();
        self.held.extend(keys);
        Some((Quarantined { blocks, reason }, entry))
    }

    /// Ends a search without success. Returns the original conversation if there was a search.
    pub fn give_up(&mut self) -> Option<Transcript> {
        let search = self.search.take()?;
        Some(self.transcript(search.original.iter().map(|message| Message::clone(message))))
    }
}

impl Search {
    fn new(refused: &Transcript, reason: &str) -> Self {
        Self {
            original: refused.messages().to_vec(),
            reason: reason.to_owned(),
            refusal: None,
            sets: VecDeque::new(),
            tried: Vec::new(),
            proven: Vec::new(),
            tries_left: MAX_TRIES,
        }
    }

    /// Selects the next blocks to leave out; `false` if there is nothing more to try.
    fn advance(&mut self, error: &ModelError, refused: &Transcript, written: impl FnOnce() -> Option<Value>) -> bool {
        if self.refusal.as_ref() != Some(&error.message) {
            // The refusal has changed, so the blocks that were left out were one of its causes.
            self.proven.append(&mut self.tried);
            self.refusal = Some(error.message.clone());
            self.sets = plan(&error.message, refused.messages(), written().as_ref());
        }
        self.tried.clear();
        let next = self.sets.pop_front().filter(|_| self.tries_left > 0);
        self.tries_left = self.tries_left.saturating_sub(1);
        next.map(|set| self.tried = set).is_some()
    }
}

/// The sets of blocks to leave out, in the order to try.
fn plan(refusal: &str, messages: &[Arc<Message>], written: Option<&Value>) -> VecDeque<Vec<Culprit>> {
    let clues = Clues::read(refusal);
    let prompt = messages.iter().rposition(|message| matches!(**message, Message::User(_)));
    // The latest text of the user is never left out silently: the error asks them to rephrase it.
    let may_go = |suspect: &Suspect<'_>| suspect.kind != Kind::Text || Some(suspect.message) < prompt;
    let all: Vec<Suspect<'_>> = suspects(messages).filter(may_go).collect();
    let likely = |suspect: &&Suspect<'_>| match clues.kinds.as_slice() {
        [] => matches!(suspect.kind, Kind::Image | Kind::Thinking),
        kinds => kinds.contains(&suspect.kind),
    };
    let mut sets = VecDeque::new();
    let accused = accused(&clues, &all, written);
    let narrowed: Vec<_> = accused.iter().copied().filter(likely).collect();
    add(&mut sets, if narrowed.is_empty() { &accused } else { &narrowed });
    if !clues.kinds.is_empty() || !clues.names_a_place() {
        let guesses: Vec<_> = all.iter().filter(likely).collect();
        for step in STEPS {
            add(&mut sets, &guesses[..guesses.len().min(step)]);
        }
    }
    sets
}

/// The blocks that the refusal names, or else those at the path it names.
fn accused<'a>(clues: &Clues, all: &'a [Suspect<'a>], written: Option<&Value>) -> Vec<&'a Suspect<'a>> {
    let named: Vec<_> = all.iter().filter(|suspect| clues.name(suspect)).collect();
    if !named.is_empty() {
        return named;
    }
    let there: Vec<_> = all.iter().filter(|suspect| clues.point_at(suspect, written)).collect();
    let beyond_text: Vec<_> = there.iter().copied().filter(|suspect| suspect.kind != Kind::Text).collect();
    if beyond_text.is_empty() { there } else { beyond_text }
}

fn add(sets: &mut VecDeque<Vec<Culprit>>, suspects: &[&Suspect<'_>]) {
    let mut set: Vec<Culprit> = Vec::new();
    for suspect in suspects {
        let culprit = Culprit { key: Key::of(suspect.block), what: described(suspect.block) };
        if !set.contains(&culprit) {
            set.push(culprit);
        }
    }
    if !set.is_empty() && !sets.contains(&set) {
        sets.push_back(set);
    }
}
