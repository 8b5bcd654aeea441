//! One pass over a session file that finds where each entry is and whom it follows, without parsing entries.
//!
//! Memory is bounded by the number of entries, not by their size: 32 bytes each plus a table of ids. An entry's parent
//! is always an earlier one, whatever the file says, so the tree has no cycles by construction.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use serde::de::IgnoredAny;

use crate::header::{SessionHeader, VERSION};
use crate::ids::{Ids, hash};
use crate::lines::{CHUNK, LONGEST_LINE, Line, for_each_line};
use crate::problem::{Damage, Report};
use crate::skim::{Fault, Field, Head, skim};
use crate::title::TitleSlot;
use crate::window::Window;

const ROOT: u32 = u32::MAX;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where an entry is and whom it follows.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub offset: u64,
    pub id_hash: u64,
    parent: u32,
    /// Without the newline; longer lines than can be counted are longer than can be loaded too.
    pub len: u32,
    /// Counted from 1.
    pub line: u32,
    pub kind: Kind,
}

/// The kinds that matter for the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Message,
    ModelChange,
    ThinkingLevelChange,
    Compaction,
    BranchSummary,
    CustomMessage,
    TitleChange,
    Label,
    ResetBoundary,
    /// Known, and of no interest to the model.
    Bookkeeping,
    Unknown,
}

/// How the file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    /// The last line is a whole entry, only its newline is missing.
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
    pub end: End,
    pub length: u64,
    pub leaf_id: Option<String>,
    /// Where title line and header are, newlines included.
    pub title_line: Option<Range<u64>>,
    pub header_line: Option<Range<u64>>,
    unplaced: Vec<Unplaced>,
}

/// An entry whose parent had not been seen when it was met.
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
            end: End::Whole,
            length: 0,
            leaf_id: None,
            title_line: None,
            header_line: None,
            unplaced: Vec::new(),
        };
        let (length, lines) = for_each_line(file, |line| scan.take(&line))?;
        scan.length = length;
        scan.recheck_long_tail(file, lines)?;
        scan.explain_unplaced();
        if scan.header.is_none() && scan.length > 0 {
            scan.report.add(None, Damage::NoHeader);
        }
        Ok(scan)
    }

    pub fn header_or_guess(&self, path: &Path) -> SessionHeader {
        self.header.clone().unwrap_or_else(|| SessionHeader::from_file_name(path))
    }

    fn take(&mut self, line: &Line<'_>) {
        let bytes = if line.number == 1 { without_mark(line.bytes) } else { line.bytes };
        if line.ended && bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if !line.ended && !is_whole_json(bytes) {
            self.end = End::Torn { start: line.offset };
            self.report.add(line.number, Damage::TornTail { bytes: line.len });
            return;
        }
        if !line.ended {
            self.end = End::NoNewline;
        }
        match skim(bytes) {
            Ok(head) => self.place(&head, bytes, line),
            Err(Fault::Unfinished) if line.len > bytes.len() as u64 => {
                self.report.add(line.number, Damage::TooLong { bytes: line.len });
            }
            Err(_) => self.report.add(line.number, Damage::NotAnEntry),
        }
    }

    /// A last line that was too long to hold may be whole after all.
    fn recheck_long_tail(&mut self, file: &File, number: u32) -> io::Result<()> {
        let End::Torn { start } = self.end else { return Ok(()) };
        let len = self.length - start;
        if len < CHUNK as u64 || len > LONGEST_LINE as u64 {
            return Ok(());
        }
        let mut window = Window::new(file);
        let bytes = window.read(start, len as usize)?;
        if is_whole_json(bytes) {
            self.end = End::Whole;
            self.report.problems.retain(|problem| !matches!(problem.damage, Damage::TornTail { .. }));
            self.take(&Line { bytes, offset: start, len, number, ended: false });
        }
        Ok(())
    }

    fn place(&mut self, head: &Head<'_>, bytes: &[u8], line: &Line<'_>) {
        match head.kind.text() {
            None => self.report.add(line.number, Damage::NotAnEntry),
            Some("title") if self.header.is_none() && self.spots.is_empty() => self.take_title(bytes, line),
            Some("session") => self.take_header(bytes, line),
            Some(name) => {
                let kind = Kind::named(name);
                if kind == Kind::Unknown {
                    self.report.add(line.number, Damage::UnknownKind(name.to_owned()));
                }
                self.take_entry(kind, head, line);
            }
        }
    }

    fn take_title(&mut self, bytes: &[u8], line: &Line<'_>) {
        match serde_json::from_slice(bytes) {
            Ok(title) => {
                self.title = Some(title);
                self.title_line = Some(line.range());
            }
            Err(_) => self.report.add(line.number, Damage::BadTitle),
        }
    }

    fn take_header(&mut self, bytes: &[u8], line: &Line<'_>) {
        if self.header.is_some() {
            self.report.add(line.number, Damage::SecondHeader);
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(header) => {
                self.header = Some(header);
                self.header_line = Some(line.range());
            }
            Err(error) => self.report.add(line.number, Damage::BadHeader(error.to_string())),
        }
    }

    fn take_entry(&mut self, kind: Kind, head: &Head<'_>, line: &Line<'_>) {
        let Ok(position) = u32::try_from(self.spots.len()) else { return };
        let version = self.header.as_ref().map_or(VERSION, |header| header.version);
        if head.id.text().is_none() && version > 1 {
            self.report.add(line.number, Damage::NoId);
        }
        let id = head.id.text().map_or_else(|| Cow::Owned(implied_id(position)), Cow::Borrowed);
        let parent = self.parent_of(&id, head, line);
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

    /// An entry whose parent is unknown follows the entry before it in the file: that way nothing said earlier is lost.
    fn parent_of(&mut self, id: &str, head: &Head<'_>, line: &Line<'_>) -> u32 {
        let previous = self.spots.len().checked_sub(1).map_or(ROOT, |last| last as u32);
        let parent = match &head.parent {
            Field::Null => return ROOT,
            Field::Absent => return previous,
            Field::Text(parent) if Some(parent.as_ref()) == self.leaf_id.as_deref() => return previous,
            Field::Text(parent) => parent.as_ref(),
            Field::Other => "(not a name)",
        };
        if let Some(position) = self.ids.position(hash(parent)) {
            return position;
        }
        if self.report.is_full() || self.unplaced.len() >= crate::problem::MOST {
            self.report.further += 1;
        } else {
            self.unplaced.push(Unplaced { line: line.number, id: id.to_owned(), parent: parent.to_owned() });
        }
        previous
    }

    fn explain_unplaced(&mut self) {
        for Unplaced { line, id, parent } in std::mem::take(&mut self.unplaced) {
            let comes_later = self.ids.position(hash(&parent)).is_some();
            let damage =
                if comes_later { Damage::LaterParent { id, parent } } else { Damage::MissingParent { id, parent } };
            self.report.add(line, damage);
        }
    }
}

impl Kind {
    pub fn named(name: &str) -> Self {
        match name {
            "message" => Kind::Message,
            "model_change" => Kind::ModelChange,
            "thinking_level_change" => Kind::ThinkingLevelChange,
            "compaction" => Kind::Compaction,
            "branch_summary" => Kind::BranchSummary,
            "custom_message" => Kind::CustomMessage,
            "title_change" => Kind::TitleChange,
            "label" => Kind::Label,
            "reset_boundary" => Kind::ResetBoundary,
            "custom"
            | "mode_change"
            | "session_init"
            | "ttsr_injection"
            | "service_tier_change"
            | "mcp_tool_selection"
            | "credential_pin" => Kind::Bookkeeping,
            _ => Kind::Unknown,
        }
    }
}

/// Entries of version 1 have no ids. Theirs follow from their position, which never changes in an append-only file, so
/// a later entry may name one as its parent.
pub(crate) fn implied_id(position: u32) -> String {
    format!("v1-{position}")
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

fn is_whole_json(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}
