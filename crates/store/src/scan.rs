//! Finds the position and parent of each entry in one pass over a session file, without parsing entries.
//!
//! Memory is bounded by the number of entries, not by their size: 32 bytes each plus a table of IDs. An entry's parent is
//! always an earlier one, whatever the file says, so the tree has no cycles by construction.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use serde::de::IgnoredAny;

use crate::header::{SessionHeader, VERSION};
use crate::ids::{Ids, hash};
use crate::lines::{CHUNK, LONGEST_LINE, StoredLine, for_each_line};
use crate::mend;
use crate::problem::{Damage, Report};
use crate::skim::{EntryHead, SkimFault, SkimmedField, skim};
use crate::title::{SLOT_BYTES, TitleSlot};
use crate::window::Window;

const ROOT: u32 = u32::MAX;
const TITLE_START: &[u8] = br#"{"type":"title""#;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Position and parent of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub offset: u64,
    pub id_hash: u64,
    parent: u32,
    /// Without the newline; a line whose length overflows this is also too long to load.
    pub len: u32,
    /// Counted from 1.
    pub line: u32,
    pub kind: ContextEntryKind,
}

/// The entry kinds that matter for the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextEntryKind {
    Message,
    ModelChange,
    ThinkingLevelChange,
    Compaction,
    BranchSummary,
    CustomMessage,
    TitleChange,
    Label,
    ResetBoundary,
    ModeChange,
    TtsrInjection,
    /// A known kind that is not sent to the model.
    Bookkeeping,
    Unknown,
}

/// State of the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEnd {
    Whole,
    /// The last line is a complete entry without its newline.
    NoNewline,
    Torn {
        start: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Scan {
    pub header: Option<SessionHeader>,
    pub title: Option<TitleSlot>,
    pub spots: Vec<Spot>,
    pub ids: Ids,
    pub report: Report,
    pub end: FileEnd,
    pub length: u64,
    pub leaf_id: Option<String>,
    /// Byte ranges of title line and header, including newlines.
    pub title_line: Option<Range<u64>>,
    pub header_line: Option<Range<u64>>,
    notes: Notes,
}

/// State of the pass that prevents reporting the same damage twice.
#[derive(Debug, Default)]
struct Notes {
    unplaced: Vec<Unplaced>,
    /// Lines that are not entries: offset, length, number.
    fragments: Vec<(u64, u64, u32)>,
    /// Replacements for IDs that are missing from the file.
    stand_ins: HashMap<u64, u32>,
    /// The previous entry lost its ID, so a missing parent of the next one is not reported.
    name_lost: bool,
    /// Damage before the first entry has been reported.
    head_damaged: bool,
}

/// An entry whose parent had not been seen when it was read.
#[derive(Debug)]
struct Unplaced {
    line: u32,
    id: String,
    parent: String,
}

impl Spot {
    pub fn parent(&self) -> Option<u32> {
        (self.parent != ROOT).then_some(self.parent)
    }
}

impl Scan {
    pub fn file(file: &File) -> io::Result<Self> {
        let mut scan = Self {
            header: None,
            title: None,
            spots: Vec::new(),
            ids: Ids::default(),
            report: Report::default(),
            end: FileEnd::Whole,
            length: 0,
            leaf_id: None,
            title_line: None,
            header_line: None,
            notes: Notes::default(),
        };
        let (length, lines) = for_each_line(file, |line| scan.take(&line))?;
        scan.length = length;
        scan.recheck_long_tail(file, lines)?;
        scan.rejoin_broken_lines(file)?;
        scan.explain_unplaced();
        if scan.header.is_none() && scan.length > 0 && !scan.notes.head_damaged {
            scan.report.add(None, Damage::NoHeader);
        }
        Ok(scan)
    }

    pub fn header_or_guess(&self, path: &Path) -> SessionHeader {
        self.header.clone().unwrap_or_else(|| SessionHeader::from_file_name(path))
    }

    fn take(&mut self, line: &StoredLine<'_>) {
        let bytes = if line.number == 1 { without_mark(line.bytes) } else { line.bytes };
        if line.ended && bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if !line.ended && !is_whole_json(bytes) {
            if !self.take_pieces(bytes, line) {
                self.end = FileEnd::Torn { start: line.offset };
                self.report.add(line.number, Damage::TornTail { bytes: line.len });
            }
            return;
        }
        if !line.ended {
            self.end = FileEnd::NoNewline;
        }
        match skim(bytes) {
            Ok(head) if may_be_several(&head, bytes) && self.take_pieces(bytes, line) => {}
            Ok(head) => self.place(&head, bytes, line),
            Err(SkimFault::Unfinished) if line.len > bytes.len() as u64 => {
                self.report.add(line.number, Damage::TooLong { bytes: line.len });
            }
            Err(_) => self.take_fragment(bytes, line),
        }
    }

    /// Handles a damaged newline that joins two lines or follows the last one. Returns whether the line was of that kind.
    fn take_pieces(&mut self, bytes: &[u8], line: &StoredLine<'_>) -> bool {
        if line.len > line.bytes.len() as u64 {
            return false;
        }
        let pieces = mend::pieces(bytes);
        if !pieces.first().is_some_and(|first| first.end < bytes.len() && skim(&bytes[first.clone()]).is_ok()) {
            return false;
        }
        if pieces.len() > 1 {
            self.report.add(line.number, Damage::RanTogether { lines: pieces.len() });
        } else if line.ended {
            return false;
        } else {
            let why = "its line break is damaged".to_owned();
            self.report.add(line.number, Damage::Unparsable { why, recovered: 1 });
        }
        if !line.ended {
            self.end = FileEnd::NoNewline;
        }
        let start = line.offset + (line.bytes.len() - bytes.len()) as u64;
        for piece in pieces {
            let bytes = &bytes[piece.clone()];
            let (offset, len) = (start + piece.start as u64, piece.len() as u64);
            let part = StoredLine { bytes, offset, len, number: line.number, ended: line.ended };
            match skim(bytes) {
                // A title line here cannot be overwritten in place, so it would never change again.
                Ok(head) if head.kind.text() == Some("title") => self.notes.head_damaged = true,
                Ok(head) => self.place(&head, bytes, &part),
                Err(_) => self.notes.name_lost = true,
            }
        }
        true
    }

    fn take_fragment(&mut self, bytes: &[u8], line: &StoredLine<'_>) {
        if self.header.is_none() && self.spots.is_empty() {
            let title = bytes.starts_with(TITLE_START) || (line.number == 1 && line.len + 1 == SLOT_BYTES as u64);
            self.tell_damaged_head(line.number, if title { Damage::BadTitle } else { Damage::NoHeader });
            return;
        }
        self.report.add(line.number, Damage::NotAnEntry);
        self.notes.name_lost = true;
        if self.notes.fragments.len() < crate::problem::MOST {
            self.notes.fragments.push((line.offset, line.len, line.number));
        }
    }

    /// Reports damage of title line and header only once, because later problems follow from the first.
    fn tell_damaged_head(&mut self, line: u32, damage: Damage) {
        let follows = self.notes.head_damaged && matches!(damage, Damage::NoHeader);
        self.notes.head_damaged = true;
        if !follows {
            self.report.add(line, damage);
        }
    }

    /// Rejoins two fragments of an entry that a byte changed to a newline has split.
    fn rejoin_broken_lines(&mut self, file: &File) -> io::Result<()> {
        let fragments = std::mem::take(&mut self.notes.fragments);
        let mut window = Window::new(file);
        let mut before: Option<(u64, u64)> = None;
        for (offset, len, number) in fragments {
            let owner = self.spots.partition_point(|spot| spot.offset < offset).checked_sub(1);
            let owner = owner.filter(|at| self.spots[*at].offset + u64::from(self.spots[*at].len) + 1 == offset);
            let half = before.filter(|(start, len)| start + len + 1 == offset).map(|(start, _)| start);
            before = Some((offset, len));
            let Some(start) = owner.map(|at| self.spots[at].offset).or(half) else { continue };
            let whole = offset + len - start;
            if whole > LONGEST_LINE as u64 || !is_whole_json(&without_breaks(window.read(start, whole as usize)?)) {
                continue;
            }
            self.report.problems.retain(|p| !(p.line == Some(number) && p.damage == Damage::NotAnEntry));
            if let Some(at) = owner {
                self.spots[at].len = whole as u32;
                self.report.add(self.spots[at].line, Damage::BrokenLine);
            }
        }
        Ok(())
    }

    /// Checks whether a last line that was too long to hold is complete.
    fn recheck_long_tail(&mut self, file: &File, number: u32) -> io::Result<()> {
        let FileEnd::Torn { start } = self.end else { return Ok(()) };
        let len = self.length - start;
        if len < CHUNK as u64 || len > LONGEST_LINE as u64 {
            return Ok(());
        }
        let mut window = Window::new(file);
        let bytes = window.read(start, len as usize)?;
        if is_whole_json(bytes) {
            self.end = FileEnd::Whole;
            self.report.problems.retain(|problem| !matches!(problem.damage, Damage::TornTail { .. }));
            self.take(&StoredLine { bytes, offset: start, len, number, ended: false });
        }
        Ok(())
    }

    fn place(&mut self, head: &EntryHead<'_>, bytes: &[u8], line: &StoredLine<'_>) {
        match head.kind.text() {
            Some("session") => self.take_header(bytes, line),
            kind if self.header.is_none() && self.spots.is_empty() && head.parent == SkimmedField::Absent => {
                self.take_first_lines(kind, bytes, line);
            }
            None => self.take_fragment(bytes, line),
            Some(name) => {
                let kind = ContextEntryKind::named(name);
                if kind == ContextEntryKind::Unknown {
                    self.report.add(line.number, Damage::UnknownKind(name.to_owned()));
                }
                self.take_entry(kind, head, line);
            }
        }
    }

    /// Only the title line precedes the header. A first line with another type may be one of them, damaged, or an entry of a
    /// file that lost its start.
    fn take_first_lines(&mut self, kind: Option<&str>, bytes: &[u8], line: &StoredLine<'_>) {
        if kind == Some("title") {
            match serde_json::from_slice(bytes) {
                Ok(title) => {
                    self.title = Some(title);
                    self.title_line = Some(line.range());
                }
                Err(_) => self.tell_damaged_head(line.number, Damage::BadTitle),
            }
        } else if line.number == 1 && line.len + 1 == SLOT_BYTES as u64 {
            self.tell_damaged_head(line.number, Damage::BadTitle);
        } else if let Ok(header) = serde_json::from_slice::<SessionHeader>(bytes)
            && kind.is_none_or(|kind| ContextEntryKind::named(kind) == ContextEntryKind::Unknown)
            && !header.cwd.is_empty()
        {
            self.header = Some(header);
            self.header_line = Some(line.range());
            self.report.add(line.number, Damage::BadHeader("its type is missing".into()));
        } else {
            match kind.map(ContextEntryKind::named) {
                Some(kind) if kind != ContextEntryKind::Unknown => {
                    self.take_entry(kind, &skim(bytes).unwrap_or_default(), line)
                }
                _ => self.take_fragment(bytes, line),
            }
        }
    }

    fn take_header(&mut self, bytes: &[u8], line: &StoredLine<'_>) {
        if self.header.is_some() {
            self.report.add(line.number, Damage::SecondHeader);
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(header) => {
                self.header = Some(header);
                self.header_line = Some(line.range());
            }
            Err(error) => {
                self.notes.head_damaged = true;
                self.report.add(line.number, Damage::BadHeader(error.to_string()));
            }
        }
    }

    fn take_entry(&mut self, kind: ContextEntryKind, head: &EntryHead<'_>, line: &StoredLine<'_>) {
        let Ok(position) = u32::try_from(self.spots.len()) else { return };
        let version = self.header.as_ref().map_or(VERSION, |header| header.version);
        let nameless = head.id.text().is_none() && version > 1;
        if nameless {
            self.report.add(line.number, Damage::NoId);
        } else if head.parent == SkimmedField::Absent && version > 1 {
            self.report.add(line.number, Damage::NoParent);
        }
        let id = head.id.text().map_or_else(|| Cow::Owned(implied_id(position)), Cow::Borrowed);
        let parent = self.parent_of(&id, head, line);
        self.notes.name_lost = nameless;
        let id_hash = hash(&id);
        if self.ids.insert(id_hash, position).is_some() {
            self.report.add(line.number, Damage::DuplicateId(id.to_string()));
        }
        let len = u32::try_from(line.len).unwrap_or(u32::MAX);
        self.spots.push(Spot { offset: line.offset, id_hash, parent, len, line: line.number, kind });
        let leaf = self.leaf_id.get_or_insert_default();
        leaf.clear();
        leaf.push_str(&id);
    }

    /// An entry with an unknown parent becomes a child of the previous entry in the file, so that no earlier message is
    /// lost.
    fn parent_of(&mut self, id: &str, head: &EntryHead<'_>, line: &StoredLine<'_>) -> u32 {
        let previous = self.spots.len().checked_sub(1).map_or(ROOT, |last| last as u32);
        let parent = match &head.parent {
            SkimmedField::Null => return ROOT,
            SkimmedField::Absent => return previous,
            SkimmedField::Text(parent) if Some(parent.as_ref()) == self.leaf_id.as_deref() => return previous,
            SkimmedField::Text(parent) => parent.as_ref(),
            SkimmedField::Other => "(not a string)",
        };
        if let Some(position) = self.position_of(hash(parent)) {
            return position;
        }
        let place = mend::near(parent, &self.ids).unwrap_or(previous);
        self.notes.stand_ins.insert(hash(parent), place);
        if self.notes.name_lost {
            return place;
        }
        if self.report.is_full() || self.notes.unplaced.len() >= crate::problem::MOST {
            self.report.further += 1;
        } else {
            self.notes.unplaced.push(Unplaced { line: line.number, id: id.to_owned(), parent: parent.to_owned() });
        }
        place
    }

    /// Returns the position of an ID, or of its replacement if it is missing.
    pub fn position_of(&self, id: u64) -> Option<u32> {
        self.ids.position(id).or_else(|| self.notes.stand_ins.get(&id).copied())
    }

    fn explain_unplaced(&mut self) {
        for Unplaced { line, id, parent } in std::mem::take(&mut self.notes.unplaced) {
            let comes_later = self.ids.position(hash(&parent)).is_some();
            let damage =
                if comes_later { Damage::LaterParent { id, parent } } else { Damage::MissingParent { id, parent } };
            self.report.add(line, damage);
        }
    }
}

impl ContextEntryKind {
    pub fn named(name: &str) -> Self {
        match name {
            "message" => ContextEntryKind::Message,
            "model_change" => ContextEntryKind::ModelChange,
            "thinking_level_change" => ContextEntryKind::ThinkingLevelChange,
            "compaction" => ContextEntryKind::Compaction,
            "branch_summary" => ContextEntryKind::BranchSummary,
            "custom_message" => ContextEntryKind::CustomMessage,
            "title_change" => ContextEntryKind::TitleChange,
            "label" => ContextEntryKind::Label,
            "reset_boundary" => ContextEntryKind::ResetBoundary,
            "mode_change" => ContextEntryKind::ModeChange,
            "ttsr_injection" => ContextEntryKind::TtsrInjection,
            "custom" | "session_init" | "service_tier_change" | "mcp_tool_selection" | "credential_pin" => {
                ContextEntryKind::Bookkeeping
            }
            _ => ContextEntryKind::Unknown,
        }
    }
}

/// Entries of version 1 have no IDs. Their IDs are derived from the position, which never changes in an append-only file, so
/// that later entries can refer to them.
pub(crate) fn implied_id(position: u32) -> String {
    format!("v1-{position}")
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Only lines that cannot be a single entry are checked in detail.
fn may_be_several(head: &EntryHead<'_>, bytes: &[u8]) -> bool {
    match head.kind.text() {
        Some("title" | "session") => !is_whole_json(bytes),
        _ => mend::names_two_parents(bytes),
    }
}

/// Removes newlines, which are not valid inside a JSON string.
pub(crate) fn without_breaks(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if *byte == b'\n' { b'?' } else { *byte }).collect()
}

fn is_whole_json(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}
