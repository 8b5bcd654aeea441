//! The part of a session that a compaction works on: what the model is told now, entry by entry.

use std::sync::Arc;

use omp_store::{EntryId, LoadedSession};
use omp_types::{Message, StopReason, Transcript, text_of};
use serde_json::Value;

use super::cut::Entry;
use super::trigger::as_summary;
use crate::control::Control;
use crate::history;
use crate::prepared::typed_in;

/// Since the last compaction, with what that one kept.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub previous: Option<Previous>,
    pub entries: Vec<Entry>,
    /// Whether the entries stand in a file.
    pub recorded: bool,
}

/// The last compaction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Previous {
    pub summary: String,
    pub short_summary: Option<String>,
    pub first_kept: String,
    pub tokens_before: u64,
    pub details: Option<Value>,
    pub preserve_data: Option<Value>,
}

impl Told {
    /// From the file, where there is one. A problem is a sentence.
    pub fn read(control: &Control, transcript: &Transcript) -> Result<Self, String> {
        let source = control.recorder().source();
        let Some(source) = source else { return Ok(Self::remembered(transcript)) };
        let Some(mut session) = source.load_if_written().map_err(|error| error.to_string())? else {
            return Ok(Self { recorded: true, ..Self::default() });
        };
        let Some(leaf) = &source.leaf else { return Ok(Self { recorded: true, ..Self::default() }) };
        let context =
            session.context_at(leaf).ok_or_else(|| format!("there is no entry `{leaf}` in the session's file"))?;
        let messages = history::prepare(context.messages).map(Arc::new);
        let mut told = Self::of(context.entry_ids.into_iter().zip(messages).collect(), true);
        for entry in told.entries.iter_mut().filter(|entry| matches!(&*entry.message, Message::User(_))) {
            entry.typed = typed_before(&session, &entry.id);
        }
        Ok(told)
    }

    fn remembered(transcript: &Transcript) -> Self {
        let numbered = transcript.messages().iter().enumerate();
        Self::of(numbered.map(|(number, message)| (format!("{number:08x}").into(), message.clone())).collect(), false)
    }

    fn of(mut told: Vec<(EntryId, Arc<Message>)>, recorded: bool) -> Self {
        let first: Vec<Arc<Message>> = told.first().map(|(_, message)| message.clone()).into_iter().collect();
        let previous = Previous::of(&first);
        if previous.is_some() {
            told.remove(0);
        }
        let entries = told.into_iter().filter(|(_, message)| !has_failed(message));
        Self { previous, entries: entries.map(|(id, message)| Entry { id, message, typed: None }).collect(), recorded }
    }

    pub fn messages(&self, range: std::ops::Range<usize>) -> Vec<Arc<Message>> {
        self.entries[range].iter().map(|entry| entry.message.clone()).collect()
    }
}

/// What the user wrote, where the entry before the message tells it.
fn typed_before(session: &LoadedSession, message: &EntryId) -> Option<String> {
    let message = session.entry(message)?;
    let before = session.entry(&message["parentId"].as_str()?.into())?;
    typed_in(&before).map(str::to_owned)
}

/// What failed is not told again, so there is nothing to keep of it.
fn has_failed(message: &Message) -> bool {
    message.as_assistant().is_some_and(|answer| answer.stop_reason == StopReason::Error)
}

impl Previous {
    /// Out of the message that stands for it, which is the first.
    pub fn of(messages: &[Arc<Message>]) -> Option<Self> {
        messages.first().and_then(|message| Self::of_message(message))
    }

    pub fn of_message(message: &Message) -> Option<Self> {
        let told = as_summary(message)?;
        let text = text_of(&told.content);
        let summary = text.split_once("<summary>\n").and_then(|(_, rest)| rest.rsplit_once("\n</summary>"));
        let details = told.details.as_ref();
        let field = |name: &str| details.and_then(|details| details.get(name)).filter(|value| !value.is_null());
        let text_in = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            summary: summary.map_or(text.as_str(), |(summary, _)| summary).to_owned(),
            short_summary: text_in("shortSummary"),
            first_kept: text_in("firstKeptEntryId").unwrap_or_default(),
            tokens_before: field("tokensBefore").and_then(Value::as_u64).unwrap_or_default(),
            details: field("details").cloned(),
            preserve_data: field("preserveData").cloned(),
        })
    }
}
