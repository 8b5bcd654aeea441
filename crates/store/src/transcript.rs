//! The transcript of a session for users: everything on a branch in order, including what a compaction or a reset hides from
//! the model. Entries are read on demand, so that showing the last page costs one page.

use std::ops::Range;

use omp_types::{CustomMessage, Message};

use crate::context::{ancestors, id_in, read_line};
use crate::entry::{Compaction, EntryId};
use crate::ids::hash;
use crate::message;
use crate::open::LoadedSession;
use crate::problem::{Damage, FileProblem};
use crate::scan::ContextEntryKind;
use crate::window::Window;

/// Positions of the messages of a branch; four bytes per message.
#[derive(Debug)]
pub struct StoredTranscript<'a> {
    session: &'a LoadedSession,
    path: Vec<u32>,
}

/// A message and its entry. Summaries are program messages at the position where they were made.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptMessage {
    pub id: EntryId,
    pub message: Message,
}

impl LoadedSession {
    /// Returns all messages on the path to `leaf`, or to the last entry.
    pub fn transcript(&self, leaf: Option<&EntryId>) -> Option<StoredTranscript<'_>> {
        let leaf = self.leaf_position(leaf)?;
        let told = |position: &u32| self.scan.spots[*position as usize].kind.is_told();
        let mut path: Vec<u32> = ancestors(&self.scan, leaf).filter(told).collect();
        path.reverse();
        Some(StoredTranscript { session: self, path })
    }

    /// Returns the messages from one entry to another, inclusive. Returns `None` unless the first is an ancestor of the
    /// last.
    pub fn span(&self, first: &EntryId, last: &EntryId) -> Option<StoredTranscript<'_>> {
        let first = self.scan.ids.position(hash(first.as_str()))?;
        let last = self.scan.ids.position(hash(last.as_str()))?;
        // Parents precede their children, so an entry before `first` cannot lead to it.
        let mut path: Vec<u32> = ancestors(&self.scan, Some(last)).take_while(|position| *position >= first).collect();
        path.reverse();
        if path.first() != Some(&first) {
            return None;
        }
        path.retain(|position| self.scan.spots[*position as usize].kind.is_told());
        Some(StoredTranscript { session: self, path })
    }

    /// Returns the first of the entries directly before this one that are not sent to the model, such as a model change, so
    /// that they are kept together with it. Returns the entry itself if there are none.
    pub fn with_facts_before(&self, id: &EntryId) -> EntryId {
        let Some(position) = self.scan.ids.position(hash(id.as_str())) else { return id.clone() };
        let before = ancestors(&self.scan, Some(position)).skip(1);
        let facts = before.take_while(|position| !self.scan.spots[*position as usize].kind.is_told());
        let Some(earliest) = facts.last() else { return id.clone() };
        let mut window = Window::new(&self.file);
        let line = read_line(&mut window, &self.scan.spots[earliest as usize]);
        line.map_or_else(|_| id.clone(), |(line, _)| id_in(&line, earliest))
    }

    /// Returns the outer `None` for an unknown ID, the inner one for a session without entries.
    pub(crate) fn leaf_position(&self, leaf: Option<&EntryId>) -> Option<Option<u32>> {
        match leaf {
            Some(leaf) => self.scan.ids.position(hash(leaf.as_str())).map(Some),
            None => Some(self.scan.spots.len().checked_sub(1).map(|last| last as u32)),
        }
    }
}

impl StoredTranscript<'_> {
    pub fn len(&self) -> usize {
        self.path.len()
    }

    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// Reads a range of messages, counted from the start; positions beyond the end are ignored. Problems are returned
    /// separately.
    pub fn read(&self, range: Range<usize>) -> (Vec<TranscriptMessage>, Vec<FileProblem>) {
        let range = range.start.min(self.len())..range.end.min(self.len());
        let mut window = Window::new(&self.session.file);
        let (mut told, mut problems) = (Vec::new(), Vec::new());
        for position in self.path.get(range).unwrap_or_default() {
            match self.told(*position, &mut window, &mut problems) {
                Ok(one) => told.push(one),
                Err(damage) => problems.push(self.problem(*position, damage)),
            }
        }
        (told, problems)
    }

    fn told(
        &self,
        position: u32,
        window: &mut Window<'_>,
        problems: &mut Vec<FileProblem>,
    ) -> Result<TranscriptMessage, Damage> {
        let spot = &self.session.scan.spots[position as usize];
        let (line, damage) = read_line(window, spot)?;
        problems.extend(damage.map(|damage| self.problem(position, damage)));
        let unparsable = |error: serde_json::Error| Damage::Unparsable { why: error.to_string(), recovered: 0 };
        let mut message = match spot.kind {
            ContextEntryKind::CustomMessage => message::of_custom_message(&line).map_err(unparsable)?.0,
            ContextEntryKind::BranchSummary => message::of_branch_summary(&line).map_err(unparsable)?,
            ContextEntryKind::Compaction => {
                let compaction: Compaction = serde_json::from_str(&line).map_err(unparsable)?;
                message::of_compaction(&compaction, &line)
            }
            ContextEntryKind::ResetBoundary => reset(),
            _ => message::of_message_entry(&line).map_err(unparsable)?.0,
        };
        let lost = self.session.blobs.rehydrate(&mut message);
        problems.extend(lost.into_iter().map(|damage| self.problem(position, damage)));
        Ok(TranscriptMessage { id: id_in(&line, position), message })
    }

    fn problem(&self, position: u32, damage: Damage) -> FileProblem {
        FileProblem { line: Some(self.session.scan.spots[position as usize].line), damage }
    }
}

impl ContextEntryKind {
    fn is_told(self) -> bool {
        matches!(
            self,
            ContextEntryKind::Message
                | ContextEntryKind::CustomMessage
                | ContextEntryKind::BranchSummary
                | ContextEntryKind::Compaction
                | ContextEntryKind::ResetBoundary
        )
    }
}

fn reset() -> Message {
    Message::Custom(CustomMessage {
        custom_type: "resetBoundary".to_owned(),
        content: Vec::new(),
        display: true,
        details: None,
        timestamp: 0,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::SystemTime;

    use omp_types::UserMessage;

    use super::*;
    use crate::{BlobStore, EntryBody, ModeChange, NewSession, SessionWriter};

    struct Stage {
        temp: tempfile::TempDir,
        writer: SessionWriter,
    }

    impl Stage {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let new = NewSession { cwd: temp.path(), now: SystemTime::now(), parent_session: None };
            let writer = SessionWriter::create(temp.path(), BlobStore::new(temp.path()), new);
            Self { temp, writer }
        }

        fn say(&mut self, text: &str) -> EntryId {
            self.writer.append(&EntryBody::Message(Arc::new(Message::User(UserMessage::text(text))))).unwrap()
        }

        fn fact(&mut self) -> EntryId {
            self.writer.append(&EntryBody::ModeChange(ModeChange { mode: "plan".into(), data: None })).unwrap()
        }

        fn load(&self) -> LoadedSession {
            LoadedSession::open(self.writer.path(), BlobStore::new(self.temp.path())).unwrap()
        }
    }

    fn ids(span: Option<StoredTranscript<'_>>) -> Option<Vec<EntryId>> {
        span.map(|span| span.read(0..span.len()).0.into_iter().map(|told| told.id).collect())
    }

    #[test]
    fn a_span_is_what_was_said_between_two_entries_of_one_branch() {
        let mut stage = Stage::new();
        let (a, fact, b) = (stage.say("a"), stage.fact(), stage.say("b"));
        let c = stage.say("c");
        stage.writer.set_leaf(Some(a.clone()));
        let other = stage.say("other");
        let session = stage.load();
        let nobody = EntryId::from("nobody");
        for (first, last, expect) in [
            (&a, &c, Some(vec![&a, &b, &c])),
            (&b, &b, Some(vec![&b])),
            (&fact, &b, Some(vec![&b])),
            (&a, &other, Some(vec![&a, &other])),
            (&b, &other, None),
            (&c, &a, None),
            (&nobody, &c, None),
            (&a, &nobody, None),
        ] {
            let expect = expect.map(|expect| expect.into_iter().cloned().collect::<Vec<_>>());
            assert_eq!(ids(session.span(first, last)), expect, "{first}..{last}");
        }
    }

    #[test]
    fn facts_before_an_entry_are_kept_with_it() {
        let mut stage = Stage::new();
        let (a, fact) = (stage.say("a"), stage.fact());
        let (_, b) = (stage.fact(), stage.say("b"));
        let c = stage.say("c");
        let session = stage.load();
        assert_eq!(session.with_facts_before(&b), fact);
        assert_eq!(session.with_facts_before(&c), c);
        assert_eq!(session.with_facts_before(&a), a);
        assert_eq!(session.with_facts_before(&"nobody".into()), "nobody".into());
    }
}
