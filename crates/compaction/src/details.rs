//! Data that survives a compaction in addition to the summary: as data in the entry's details, as text in its summary.

use omp_types::CallFactSources;
use serde_json::{Map, Value};

use crate::cut::ConversationEntry;
use crate::evicted::{Evicted, Span};
use crate::files::{FileOps, file_operations};
use crate::ledger::Ledger;

/// Tags that each compaction regenerates; the last two are from summaries of earlier versions.
const TAGS: [&str; 4] = ["evicted", "files", "read-files", "modified-files"];
const LEDGER: (&str, &str) = ("<user-said>", "</user-said>");

/// Data that survives verbatim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survivors {
    pub files: FileOps,
    pub ledger: Ledger,
    pub evicted: Evicted,
}

impl Survivors {
    /// Reads the state from the previous compaction of this branch.
    pub fn from_details(details: Option<&Value>) -> Self {
        Self {
            files: FileOps::from_details(details),
            ledger: Ledger::from_details(details),
            evicted: Evicted::from_details(details),
        }
    }

    /// Adds the entries that leave the context now.
    pub fn note(&mut self, leaving: &[ConversationEntry], about: Option<&str>, facts: &CallFactSources) {
        let messages: Vec<_> = leaving.iter().map(|entry| entry.message.clone()).collect();
        self.files.merge(file_operations(&messages, facts));
        self.ledger.note(leaving);
        if let Some(span) = Span::of(leaving, about) {
            self.evicted.add(span);
        }
    }

    pub fn to_details(&self) -> Value {
        let mut details: Map<String, Value> = self.files.to_details();
        if let Value::Object(ledger) = self.ledger.to_details() {
            details.extend(ledger);
        }
        details.insert("evicted".into(), serde_json::to_value(&self.evicted.spans).unwrap_or_default());
        Value::Object(details)
    }
}

/// Composes the summary as it is stored and sent to the model.
pub(crate) fn compose(history: &str, turn_prefix: Option<&str>, survivors: &Survivors) -> String {
    let mut text = history.trim().to_owned();
    if let Some(prefix) = turn_prefix.map(str::trim).filter(|prefix| !prefix.is_empty()) {
        text.push_str("\n\n---\n\n**Turn Context (split turn):**\n\n");
        text.push_str(prefix);
    }
    for part in [survivors.ledger.text(), survivors.evicted.tag(), survivors.files.tag()] {
        if !part.is_empty() {
            text.push_str("\n\n");
            text.push_str(&part);
        }
    }
    text
}

/// Removes the tags that each compaction regenerates from a stored summary.
pub(crate) fn strip_tags(summary: &str) -> String {
    let mut text = summary.to_owned();
    // User text may contain such a tag itself, so the last closing tag counts.
    if let Some(start) = line_start_of(&text, LEDGER.0, 0)
        && let Some(end) = text.rfind(LEDGER.1).filter(|end| *end > start)
    {
        text.replace_range(start..end + LEDGER.1.len(), "");
    }
    for tag in TAGS {
        text = without(&text, &format!("<{tag}>"), &format!("</{tag}>"));
    }
    text.trim().to_owned()
}

fn without(text: &str, open: &str, close: &str) -> String {
    let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
    while let Some(start) = line_start_of(text, open, from)
        && let Some(length) = text[start..].find(close)
    {
        kept.push_str(text[from..start].trim_end());
        from = start + length + close.len();
    }
    kept + &text[from..]
}

/// Returns the position of a line that starts with `tag`, at or after `from`.
fn line_start_of(text: &str, tag: &str, from: usize) -> Option<usize> {
    let found = text[from..].match_indices(tag).map(|(at, _)| from + at);
    found.into_iter().find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, entries};

    fn survivors() -> Survivors {
        let mut lines = vec![Line::User("Mind this:\n</files>\n<evicted>\n</user-said>".into())];
        lines.extend(Line::read("1", "src/a.rs", "text"));
        let mut survivors = Survivors::default();
        survivors.note(&entries(&lines), Some("looked at a.rs"), &crate::sample::facts());
        survivors
    }

    #[test]
    fn a_summary_with_all_that_survives() {
        insta::assert_snapshot!(compose("## Goal\nDone soon.\n", Some("It was reading."), &survivors()), @"
        ## Goal
        Done soon.

        ---

        **Turn Context (split turn):**

        It was reading.

        <user-said>
        What the user said before, word for word, oldest first. It still holds unless the user took it back later.

        [1] Mind this:
        </files>
        <evicted>
        </user-said>
        </user-said>

        <evicted>
        Left out here, kept in full: `read` these addresses, with lines behind them (`:1-200`) where they are long, before you guess or repeat a call.
        history://00000000..00000002 (3 messages): looked at a.rs
        </evicted>

        <files>
        # src/
        a.rs (Read)
        </files>
        ");
    }

    #[test]
    fn what_was_added_is_taken_off_again_whatever_the_user_said() {
        let survivors = survivors();
        let check = |summary: &str, expect: &str| assert_eq!(strip_tags(summary), expect, "{summary}");
        check(&compose("## Goal\nDone.", None, &survivors), "## Goal\nDone.");
        check(&compose("A", Some("B"), &survivors), "A\n\n---\n\n**Turn Context (split turn):**\n\nB");
        check("A\n<read-files>\nx\n</read-files>\n\n<modified-files>\ny\n</modified-files>", "A");
        check("A\n\n<files>\nx\n</files>\nB", "A\nB");
        check("uses `<files>` and </files>", "uses `<files>` and </files>");
        check("<files>\nnever closed", "<files>\nnever closed");
        check("", "");
    }

    #[test]
    fn the_details_come_back() {
        let details = survivors().to_details();
        assert_eq!(Survivors::from_details(Some(&details)).to_details(), details);
        assert!(Survivors::from_details(None).ledger.is_empty());
    }
}
