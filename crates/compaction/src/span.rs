//! The part of a session that a compaction works on: the current context, entry by entry.

use std::sync::Arc;

use omp_types::{Message, StopReason, Transcript, text_of};
use serde_json::Value;

use crate::cut::ConversationEntry;
use crate::session::CompactionSession;
use crate::trigger::as_summary;

/// The entries since the last compaction, including those it kept.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub previous: Option<Previous>,
    pub entries: Vec<ConversationEntry>,
    /// Whether the entries are in a file.
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
    /// Reads from the file, if there is one. Errors are sentences.
    pub fn read(session: &dyn CompactionSession, transcript: &Transcript) -> Result<Self, String> {
        Ok(Self::from_entries(session.recorded()?, transcript.messages()))
    }

    /// `recorded` are the entries in the file; `messages` are used without one.
    pub fn from_entries(recorded: Option<Vec<ConversationEntry>>, messages: &[Arc<Message>]) -> Self {
        recorded.map_or_else(|| Self::remembered(messages), |entries| Self::of(entries, true))
    }

    fn remembered(messages: &[Arc<Message>]) -> Self {
        let numbered = messages.iter().enumerate();
        let entry = |(number, message): (usize, &Arc<Message>)| ConversationEntry {
            id: format!("{number:08x}").into(),
            message: message.clone(),
            typed: None,
        };
        Self::of(numbered.map(entry).collect(), false)
    }

    fn of(mut entries: Vec<ConversationEntry>, recorded: bool) -> Self {
        let previous = entries.first().and_then(|first| Previous::of_message(&first.message));
        if previous.is_some() {
            entries.remove(0);
        }
        entries.retain(|entry| !has_failed(&entry.message));
        Self { previous, entries, recorded }
    }

    pub fn messages(&self, range: std::ops::Range<usize>) -> Vec<Arc<Message>> {
        self.entries[range].iter().map(|entry| entry.message.clone()).collect()
    }
}

/// Failed answers are not sent again, so nothing of them is kept.
fn has_failed(message: &Message) -> bool {
    message.as_assistant().is_some_and(|answer| answer.stop_reason == StopReason::Error)
}

impl Previous {
    /// Parses the summary message, which is the first one.
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
