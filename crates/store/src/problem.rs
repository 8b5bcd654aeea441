//! Problems found in a session file, as sentences for the user.

use std::fmt::{self, Write as _};
use std::path::PathBuf;

/// Maximum number of listed problems; the rest is only counted.
pub(crate) const MOST: usize = 100;

/// All problems found while a session was opened and read. None of them prevented opening.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub problems: Vec<FileProblem>,
    /// Number of problems beyond those listed.
    pub further: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FileProblem {
    /// Line number in the file, counted from 1.
    pub line: Option<u32>,
    pub damage: Damage,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Damage {
    NoHeader,
    BadHeader(String),
    BadTitle,
    SecondHeader,
    NotAnEntry,
    TooLong {
        bytes: u64,
    },
    RanTogether {
        lines: usize,
    },
    BrokenLine,
    NoId,
    NoParent,
    UnknownKind(String),
    DuplicateId(String),
    MissingParent {
        id: String,
        parent: String,
    },
    LaterParent {
        id: String,
        parent: String,
    },
    TornTail {
        bytes: u64,
    },
    TornTailMoved {
        bytes: u64,
        to: PathBuf,
    },
    Unparsable {
        why: String,
        recovered: usize,
    },
    NotUtf8,
    UnknownShape {
        what: String,
        why: String,
    },
    LostFirstKept(String),
    MissingBlob(String),
    DamagedBlob(String),
    Unreadable(String),
    /// A part of another program's session that was not imported.
    NotImported(String),
}

impl Report {
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn add(&mut self, line: impl Into<Option<u32>>, damage: Damage) {
        if self.is_full() {
            self.further += 1;
            return;
        }
        let problem = FileProblem { line: line.into(), damage };
        let same_line = |known: &FileProblem| known.line.is_some() && known.line == problem.line;
        if problem.damage.explains() {
            self.problems.retain(|known| !(same_line(known) && known.damage.is_vague()));
        }
        let told = |known: &FileProblem| same_line(known) && problem.damage == Damage::NotUtf8;
        let known = self.problems.iter().any(|known| *known == problem || told(known));
        if !known {
            self.problems.push(problem);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.problems.len() >= MOST
    }
}

impl Damage {
    /// Returns whether it explains the damage of the line, so that a vaguer problem of the same line is not reported as
    /// well.
    fn explains(&self) -> bool {
        use Damage::{DamagedBlob, LostFirstKept, MissingBlob, UnknownShape, Unparsable};
        matches!(self, Unparsable { .. } | UnknownShape { .. } | LostFirstKept(_) | MissingBlob(_) | DamagedBlob(_))
    }

    fn is_vague(&self) -> bool {
        use Damage::{MissingParent, NoId, NoParent, NotUtf8};
        matches!(self, NotUtf8 | NoId | NoParent | MissingParent { .. })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        if self.further > 0 {
            writeln!(f, "and {} more", self.further)?;
        }
        Ok(())
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        // Names come from a damaged file; control characters are escaped so that a problem is always one line.
        for c in self.damage.to_string().chars() {
            f.write_char(if c.is_control() { '\u{fffd}' } else { c })?;
        }
        Ok(())
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::NoHeader => {
                write!(f, "the session header is missing or damaged; the id was taken from the file name")
            }
            Damage::BadHeader(why) => write!(f, "the session header is damaged ({why}); it was not changed"),
            Damage::BadTitle => write!(f, "the title line cannot be read; it was not changed"),
            Damage::SecondHeader => write!(f, "duplicate session header ignored"),
            Damage::NotAnEntry => write!(f, "not a session entry; it stays in the file but is ignored"),
            Damage::TooLong { bytes } => write!(f, "{bytes} bytes long, too long to load; it stays in the file"),
            Damage::RanTogether { lines } => {
                write!(f, "{lines} lines ran together because of a damaged line break; each was read separately")
            }
            Damage::BrokenLine => {
                write!(f, "a damaged byte broke the line in two; it is read as one, with ? in its place")
            }
            Damage::NoParent => write!(f, "entry without a parent; it was attached to the previous entry"),
            Damage::NoId => write!(f, "entry without an id; it was attached to the previous entry"),
            Damage::UnknownKind(kind) => {
                write!(f, "entry of unknown kind {kind}; it stays in the file but is ignored")
            }
            Damage::DuplicateId(id) => write!(f, "duplicate id {id}; both entries are kept"),
            Damage::MissingParent { id, parent } => {
                write!(f, "the parent {parent} of entry {id} is missing; it was attached to the previous entry")
            }
            Damage::LaterParent { id, parent } => {
                write!(
                    f,
                    "the parent {parent} of entry {id} does not come before it; it was attached to the previous entry"
                )
            }
            Damage::TornTail { bytes } => write!(f, "the last line ({bytes} bytes) is incomplete"),
            Damage::TornTailMoved { bytes, to } => {
                write!(f, "the cut-off last line ({bytes} bytes) was moved to {}", to.display())
            }
            Damage::Unparsable { why, recovered: 0 } => {
                write!(f, "damaged ({why}); it stays in the file but is ignored")
            }
            Damage::Unparsable { why, recovered } => {
                write!(f, "damaged ({why}); {recovered} whole entries in it were recovered")
            }
            Damage::NotUtf8 => write!(f, "contains invalid UTF-8, shown as \u{fffd}"),
            Damage::UnknownShape { what, why } => write!(f, "{what} in an unknown format ({why}); it is kept as it is"),
            Damage::LostFirstKept(id) => {
                write!(
                    f,
                    "the compaction's first kept entry {id} is not on its branch; everything since the previous compaction was kept"
                )
            }
            Damage::MissingBlob(reference) => write!(f, "the image {reference} is missing from the blob store"),
            Damage::DamagedBlob(reference) => write!(f, "the image {reference} is damaged in the blob store"),
            Damage::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Damage::NotImported(why) => write!(f, "not imported unchanged: {why}"),
        }
    }
}
