//! The model's context of a session: the entries from the leaf back to the last compaction, oldest first.

use std::collections::HashSet;

use omp_types::Message;
use serde::Deserialize;

use crate::entry::{Compaction, EntryId, ModeChange, ThinkingLevelChange, TitleChange, TtsrInjection};
use crate::ids::hash;
use crate::lines::LONGEST_LINE;
use crate::message;
use crate::open::LoadedSession;
use crate::problem::{Damage, Report};
use crate::scan::{ContextEntryKind, Scan, Spot, implied_id, without_breaks};
use crate::skim::{SkimmedField, skim};
use crate::window::Window;

/// Maximum number of pieces of a damaged line that are checked.
const MOST_PIECES: usize = 16;
const ENTRY_START: &[u8] = br#"{"type":""#;

#[derive(Clone, Debug, Default)]
pub struct Context {
    pub messages: Vec<Message>,
    /// The entry of each message; for a summary, its compaction.
    pub entry_ids: Vec<EntryId>,
    /// `provider/model` as last selected on this branch.
    pub model: Option<String>,
    pub thinking_level: Option<String>,
    /// The current mode, such as `plan`.
    pub mode: Option<String>,
    /// Names of the rules that were injected after the model broke them, anywhere on this branch.
    pub injected_rules: Vec<String>,
    pub leaf: Option<EntryId>,
}

pub(crate) fn build(session: &LoadedSession, leaf: Option<u32>, report: &mut Report) -> Context {
    let mut walk = ContextWalk { session, scan: &session.scan, window: Window::new(&session.file), report };
    let leaf_id = leaf.and_then(|leaf| walk.line(leaf).map(|line| id_in(&line, leaf)));
    let mut context = Context { leaf: leaf_id, ..Context::default() };
    let visible = walk.visible(leaf);
    if let Some(summary) = visible.summary {
        context.messages.push(summary.message);
        context.entry_ids.push(summary.id);
    }
    for position in visible.path.into_iter().rev() {
        walk.add(position, &mut context);
    }
    let thinking = walk.latest(leaf, ContextEntryKind::ThinkingLevelChange, |line| {
        serde_json::from_str::<ThinkingLevelChange>(line).ok().map(|change| change.thinking_level)
    });
    context.thinking_level = thinking.flatten();
    let mode = walk.latest(leaf, ContextEntryKind::ModeChange, |line| serde_json::from_str::<ModeChange>(line).ok());
    context.mode = mode.map(|change| change.mode).filter(|mode| mode != "none");
    context.injected_rules = walk.injected_rules(leaf);
    context.model =
        walk.latest(leaf, ContextEntryKind::ModelChange, chosen_model).or_else(|| answering_model(&context.messages));
    context
}

struct ContextWalk<'a> {
    session: &'a LoadedSession,
    scan: &'a Scan,
    window: Window<'a>,
    report: &'a mut Report,
}

/// The part of a branch that is in the context.
#[derive(Default)]
struct Visible {
    summary: Option<SummaryEntry>,
    /// Ordered from newest to oldest.
    path: Vec<u32>,
}

struct SummaryEntry {
    id: EntryId,
    message: Message,
    first_kept: u64,
    first_kept_id: String,
    line: u32,
}

impl ContextWalk<'_> {
    fn visible(&mut self, leaf: Option<u32>) -> Visible {
        let mut visible = Visible::default();
        let mut before_older_compaction = None;
        for position in ancestors(self.scan, leaf) {
            let spot = &self.scan.spots[position as usize];
            match (spot.kind, &visible.summary) {
                (ContextEntryKind::ResetBoundary, _) => return visible,
                (ContextEntryKind::Compaction, None) => visible.summary = self.summary(position),
                (ContextEntryKind::Compaction, Some(_)) => {
                    before_older_compaction.get_or_insert(visible.path.len());
                }
                _ => visible.path.push(position),
            }
            if visible.summary.as_ref().is_some_and(|summary| summary.first_kept == spot.id_hash) {
                return visible;
            }
        }
        if let Some(summary) = &visible.summary {
            self.report.add(summary.line, Damage::LostFirstKept(summary.first_kept_id.clone()));
            visible.path.truncate(before_older_compaction.unwrap_or(usize::MAX));
        }
        visible
    }

    fn summary(&mut self, position: u32) -> Option<SummaryEntry> {
        #[derive(Deserialize)]
        struct FirstVersion {
            #[serde(rename = "firstKeptEntryIndex")]
            index: Option<u32>,
        }
        let line = self.line(position)?;
        let id = id_in(&line, position);
        match serde_json::from_str::<Compaction>(&line) {
            Ok(mut compaction) => {
                // Version 1 counts entries, with the header as number 0.
                if compaction.first_kept_entry_id.is_empty()
                    && let Ok(FirstVersion { index: Some(index) }) = serde_json::from_str(&line)
                {
                    compaction.first_kept_entry_id = implied_id(index.saturating_sub(1));
                }
                let message = message::of_compaction(&compaction, &line);
                let named = hash(&compaction.first_kept_entry_id);
                let first_kept =
                    self.scan.position_of(named).map_or(named, |position| self.scan.spots[position as usize].id_hash);
                let line = self.scan.spots[position as usize].line;
                Some(SummaryEntry { id, message, first_kept, first_kept_id: compaction.first_kept_entry_id, line })
            }
            Err(error) => {
                let why = error.to_string();
                self.report.add(self.scan.spots[position as usize].line, Damage::Unparsable { why, recovered: 0 });
                None
            }
        }
    }

    fn add(&mut self, position: u32, context: &mut Context) {
        let spot = &self.scan.spots[position as usize];
        let (kind, number) = (spot.kind, spot.line);
        let Some(line) = self.line(position) else { return };
        if !matches!(
            kind,
            ContextEntryKind::Message | ContextEntryKind::CustomMessage | ContextEntryKind::BranchSummary
        ) {
            let fault = match kind {
                ContextEntryKind::Unknown => None,
                ContextEntryKind::TitleChange => serde_json::from_str::<TitleChange>(&line).err(),
                _ => serde_json::from_str::<serde::de::IgnoredAny>(&line).err(),
            };
            if let Some(error) = fault {
                self.report.add(number, Damage::Unparsable { why: error.to_string(), recovered: 0 });
            }
            return;
        }
        match self.message(kind, number, &line) {
            Ok(message) => {
                context.messages.push(message);
                context.entry_ids.push(id_in(&line, position));
            }
            Err(error) => self.recover(&line, number, &error, context),
        }
    }

    fn message(&mut self, kind: ContextEntryKind, number: u32, line: &str) -> Result<Message, serde_json::Error> {
        let (mut message, damage) = match kind {
            ContextEntryKind::CustomMessage => message::of_custom_message(line)?,
            ContextEntryKind::BranchSummary => (message::of_branch_summary(line)?, None),
            _ => message::of_message_entry(line)?,
        };
        if let Some(damage) = damage {
            self.report.add(number, damage);
        }
        for damage in self.session.blobs.rehydrate(&mut message) {
            self.report.add(number, damage);
        }
        Ok(message)
    }

    /// Recovers the second entry of a line in which a torn entry and the next one were joined.
    fn recover(&mut self, line: &str, number: u32, error: &serde_json::Error, context: &mut Context) {
        let pieces = whole_entries(line);
        let mut recovered = 0;
        for piece in pieces {
            let Ok(head) = skim(piece.as_bytes()) else { continue };
            let (Some(kind), Some(id)) = (head.kind.text(), head.id.text()) else { continue };
            let kind = ContextEntryKind::named(kind);
            if !matches!(
                kind,
                ContextEntryKind::Message | ContextEntryKind::CustomMessage | ContextEntryKind::BranchSummary
            ) {
                continue;
            }
            if let Ok(message) = self.message(kind, number, piece) {
                context.messages.push(message);
                context.entry_ids.push(id.into());
                recovered += 1;
            }
        }
        self.report.add(number, Damage::Unparsable { why: error.to_string(), recovered });
    }

    fn injected_rules(&mut self, leaf: Option<u32>) -> Vec<String> {
        let scan = self.scan;
        let mut rules: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for position in
            ancestors(scan, leaf).filter(|at| scan.spots[*at as usize].kind == ContextEntryKind::TtsrInjection)
        {
            let entry = self.line(position).and_then(|line| serde_json::from_str::<TtsrInjection>(&line).ok());
            for name in entry.into_iter().flat_map(|entry| entry.injected_rules) {
                if seen.insert(name.clone()) {
                    rules.push(name);
                }
            }
        }
        rules
    }

    /// Returns the value of the latest entry of a kind on the branch; entries without a value are skipped.
    fn latest<T>(&mut self, leaf: Option<u32>, kind: ContextEntryKind, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let scan = self.scan;
        ancestors(scan, leaf)
            .filter(|position| scan.spots[*position as usize].kind == kind)
            .find_map(|position| self.line(position).and_then(|line| read(&line)))
    }

    fn line(&mut self, position: u32) -> Option<String> {
        let spot = &self.scan.spots[position as usize];
        match read_line(&mut self.window, spot) {
            Ok((line, damage)) => {
                if let Some(damage) = damage {
                    self.report.add(spot.line, damage);
                }
                Some(line)
            }
            Err(damage) => {
                self.report.add(spot.line, damage);
                None
            }
        }
    }
}

pub(crate) fn id_in(line: &str, position: u32) -> EntryId {
    let head = skim(line.as_bytes()).unwrap_or_default();
    head.id.text().map_or_else(|| implied_id(position).into(), EntryId::from)
}

/// Reads an entry's text; bytes that are not UTF-8 are replaced, so that the entry is not lost.
pub(crate) fn read_line(window: &mut Window<'_>, spot: &Spot) -> Result<(String, Option<Damage>), Damage> {
    if spot.len as usize > LONGEST_LINE {
        return Err(Damage::TooLong { bytes: u64::from(spot.len) });
    }
    let bytes = window.read(spot.offset, spot.len as usize).map_err(|error| Damage::Unreadable(error.to_string()))?;
    Ok(match std::str::from_utf8(bytes) {
        Ok(line) if line.contains('\n') => (String::from_utf8_lossy(&without_breaks(bytes)).into_owned(), None),
        Ok(line) => (line.to_owned(), None),
        Err(_) => (String::from_utf8_lossy(&without_breaks(bytes)).into_owned(), Some(Damage::NotUtf8)),
    })
}

/// Iterates from an entry up to its root. Parents always precede their children in the file, so this terminates.
pub(crate) fn ancestors(scan: &Scan, leaf: Option<u32>) -> impl Iterator<Item = u32> {
    std::iter::successors(leaf, |position| scan.spots[*position as usize].parent())
}

pub(crate) fn whole_entries(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_PIECES {
        let Some(start) = memchr::memmem::find(&line.as_bytes()[from..], ENTRY_START).map(|at| from + at) else {
            break;
        };
        from = start + 1;
        let mut values = serde_json::Deserializer::from_str(&line[start..]).into_iter::<serde::de::IgnoredAny>();
        if !matches!(values.next(), Some(Ok(_))) {
            continue;
        }
        let piece = &line[start..start + values.byte_offset()];
        // Blocks inside a message look similar, but only entries have a parent.
        if skim(piece.as_bytes()).is_ok_and(|head| head.parent != SkimmedField::Absent) {
            found.push(piece);
            from = start + piece.len();
        }
    }
    found
}

/// Returns the model that the user selected. Changes for other roles, and fallbacks for a failing model, are ignored.
fn chosen_model(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Change {
        role: Option<String>,
        model: Option<String>,
        /// Older files store provider and model separately.
        provider: Option<String>,
        model_id: Option<String>,
    }
    let change: Change = serde_json::from_str(line).ok()?;
    if change.role.is_some_and(|role| role != "default") {
        return None;
    }
    change.model.or_else(|| Some(format!("{}/{}", change.provider?, change.model_id?)))
}

fn answering_model(messages: &[Message]) -> Option<String> {
    let answer = messages.iter().rev().find_map(Message::as_assistant)?;
    Some(format!("{}/{}", answer.provider, answer.model))
}
