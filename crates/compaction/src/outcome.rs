//! Results of a compaction, for front ends and hooks.

use omp_stdx::format::grouped;
use omp_store::{Compaction, EntryId};
use serde_json::Value;

/// Why the conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionReason {
    /// Requested by the user.
    Manual,
    /// The context window is nearly full.
    Threshold,
    /// The provider refused the conversation as too long.
    Overflow,
    /// An answer was cut off for lack of context space.
    Incomplete,
    /// The session has been idle for a while.
    Idle,
}

impl CompactionReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
            Self::Incomplete => "incomplete",
            Self::Idle => "idle",
        }
    }

    /// Formats a failure in the wording that clients know.
    pub(crate) fn failed(self, why: &str) -> String {
        match self {
            Self::Manual => why.to_owned(),
            Self::Overflow => format!("Context overflow recovery failed: {why}"),
            Self::Incomplete => format!("Incomplete response recovery failed: {why}"),
            Self::Threshold | Self::Idle => format!("Auto-compaction failed: {why}"),
        }
    }
}

/// A completed compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    pub summary: String,
    pub short_summary: Option<String>,
    pub first_kept_entry_id: String,
    pub tokens_before: u64,
    pub details: Option<Value>,
    pub preserve_data: Option<Value>,
    pub survived: Survived,
}

/// What is left of the conversation, for checking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survived {
    /// The entry in the file.
    pub entry: Option<EntryId>,
    pub tokens_after: u64,
    pub summarized_messages: usize,
    pub kept_messages: usize,
    /// The user's messages among the removed ones, verbatim.
    pub ledger: Vec<String>,
    pub read_files: Vec<String>,
    pub modified_files: Vec<String>,
    /// URL of the removed messages.
    pub evicted: Option<String>,
}

impl Compacted {
    pub(crate) fn of(entry: &Compaction, survived: Survived) -> Self {
        Self {
            summary: entry.summary.clone(),
            short_summary: entry.short_summary.clone(),
            first_kept_entry_id: entry.first_kept_entry_id.clone(),
            tokens_before: entry.tokens_before,
            details: entry.details.clone(),
            preserve_data: entry.preserve_data.clone(),
            survived,
        }
    }

    /// Describes what survived in a few lines.
    pub fn told(&self) -> String {
        let Survived { tokens_after, summarized_messages, kept_messages, .. } = self.survived;
        let mut lines = vec![
            format!("Compacted: about {} tokens before, {} after.", grouped(self.tokens_before), grouped(tokens_after)),
            format!("{summarized_messages} messages summarized, {kept_messages} kept."),
        ];
        lines.extend(self.short_summary.as_ref().map(|short| format!("About: {short}")));
        lines.extend(self.survivors());
        lines.push("`/compact edit` shows or changes the summary.".to_owned());
        lines.join("\n")
    }

    /// Message for the user after the summary was replaced by hand.
    pub fn told_corrected(&self) -> String {
        let mut lines = vec!["Summary updated; the model sees the new one from now on.".to_owned()];
        lines.extend(self.survivors());
        lines.join("\n")
    }

    fn survivors(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(list("Kept word for word", "of your messages", &self.survived.ledger));
        lines.extend(list("Changed", "files", &self.survived.modified_files));
        lines.extend(list("Read", "files", &self.survived.read_files));
        lines.extend(self.survived.evicted.as_ref().map(|url| format!("Removed messages: {url}")));
        lines
    }
}

/// Shows only the start of a long list.
fn list(what: &str, noun: &str, items: &[String]) -> Option<String> {
    const SHOWN: usize = 8;
    const WIDTH: usize = 100;
    if items.is_empty() {
        return None;
    }
    let mut text = format!("{what}: {} {noun}", items.len());
    for item in items.iter().take(SHOWN) {
        let line = item.lines().next().unwrap_or_default();
        let cut: String = line.chars().take(WIDTH).collect();
        let dots = if cut.len() < item.len() { "…" } else { "" };
        text.push_str(&format!("\n  {cut}{dots}"));
    }
    if items.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", items.len() - SHOWN));
    }
    Some(text)
}

/// Why there is no compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionFailure {
    Aborted,
    /// There is nothing to do, or it would not pay.
    Skipped(String),
    Failed(String),
}

impl CompactionFailure {
    /// Message for the requester.
    pub fn told(&self) -> String {
        match self {
            CompactionFailure::Aborted => "Compaction cancelled".to_owned(),
            CompactionFailure::Skipped(why) | CompactionFailure::Failed(why) => why.clone(),
        }
    }
}
