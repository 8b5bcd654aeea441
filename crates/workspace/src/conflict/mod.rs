//! Merge conflicts that were found when reading files: numbered, shown side by side, resolved one by one or all at once.

use std::ops::Range;
use std::path::{Path, PathBuf};

mod content;
mod markers;
mod uri;

pub use content::{Directives, resolve};
pub use uri::{ConflictId, ConflictUri, Side};

use crate::text_file::TextFile;
use markers::{ConflictBlock, find_blocks};

/// Maximum number of conflicts remembered; the oldest are dropped first.
const MAX_CONFLICTS: usize = 1000;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// One block from `<<<<<<<` to `>>>>>>>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub id: u32,
    pub path: PathBuf,
    /// The path in display form.
    pub display: String,
    /// First line of the block, counted from 0.
    start: usize,
    block: ConflictBlock,
    /// The whole block, including its markers.
    bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConflictError {
    #[error("{0}")]
    Uri(String),
    #[error(
        "Conflict #{0} not found. Conflict ids are given when `read` shows a file with conflict markers; read the file again to get a current one."
    )]
    Unknown(u32),
    #[error(
        "Conflict #{id} no longer present in '{display}': its marker block is not there as it was read, or is there more than once. The file changed meanwhile; read it again to get current ids."
    )]
    Gone { id: u32, display: String },
    #[error("Conflict #{0} has no base section (2-way merge). `@base` is only valid for diff3 conflicts.")]
    NoBase(u32),
    #[error("{0}")]
    Directives(String),
}

/// The conflicts of one session.
#[derive(Debug, Default)]
pub struct Conflicts {
    known: Vec<Conflict>,
    last_id: u32,
}

impl Conflicts {
    /// Scans the current content of a file and returns its conflicts in order. Known blocks keep their numbers; blocks that
    /// no longer exist are forgotten.
    pub fn register(&mut self, path: &Path, display: &str, file: &TextFile) -> Vec<Conflict> {
        let mut old = self.take_of(path);
        let mut current = Vec::new();
        for block in find_blocks(file) {
            let bytes = block.bytes(file).to_vec();
            let known = old.iter().position(|conflict| conflict.bytes == bytes).map(|at| old.remove(at));
            let id = known.map_or_else(|| self.next_id(), |conflict| conflict.id);
            current.push(Conflict {
                id,
                path: path.into(),
                display: display.into(),
                start: block.lines.start,
                block,
                bytes,
            });
        }
        self.known.extend(current.iter().cloned());
        self.shrink();
        current
    }

    /// Updates the known conflicts of a file after a write. New conflicts get no numbers.
    pub fn follow(&mut self, path: &Path, file: &TextFile) {
        let mut blocks = find_blocks(file);
        for mut conflict in self.take_of(path) {
            if let Some(at) = blocks.iter().position(|block| block.bytes(file) == conflict.bytes) {
                let block = blocks.remove(at);
                conflict.start = block.lines.start;
                conflict.block = block;
                self.known.push(conflict);
            }
        }
    }

    pub fn forget(&mut self, ids: &[u32]) {
        self.known.retain(|conflict| !ids.contains(&conflict.id));
    }

    pub fn get(&self, id: u32) -> Result<&Conflict, ConflictError> {
        self.known.iter().find(|conflict| conflict.id == id).ok_or(ConflictError::Unknown(id))
    }

    /// Returns all conflicts, ordered by number.
    pub fn all(&self) -> Vec<Conflict> {
        let mut all = self.known.clone();
        all.sort_by_key(|conflict| conflict.id);
        all
    }

    /// Removes and returns the conflicts of a file, in file order.
    fn take_of(&mut self, path: &Path) -> Vec<Conflict> {
        let (mut taken, kept): (Vec<_>, Vec<_>) = self.known.drain(..).partition(|conflict| conflict.path == path);
        self.known = kept;
        taken.sort_by_key(|conflict| conflict.start);
        taken
    }

    fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn shrink(&mut self) {
        let size = |known: &[Conflict]| known.iter().map(|conflict| conflict.bytes.len()).sum::<usize>();
        while self.known.len() > MAX_CONFLICTS || size(&self.known) > MAX_BYTES {
            self.known.remove(0);
        }
    }
}

impl Conflict {
    /// Returns the first and last line of the block, counted from 1 and inclusive.
    pub fn lines(&self) -> (usize, usize) {
        (self.start + 1, self.start + self.block.lines.len())
    }

    pub fn has_base(&self) -> bool {
        self.block.base.is_some()
    }

    /// Returns the lines of one side, or the whole block with its markers, and the number of the first line (counted from
    /// 1).
    pub fn text(&self, side: Option<Side>) -> Result<(usize, String), ConflictError> {
        let lines = match side {
            None => self.block.lines.clone(),
            Some(side) => self.side_lines(side)?,
        };
        let bytes = match side {
            None => &self.bytes[..],
            Some(side) => self.side_bytes(side)?,
        };
        Ok((lines.start + 1, String::from_utf8_lossy(bytes).into_owned()))
    }

    pub(super) fn side_bytes(&self, side: Side) -> Result<&[u8], ConflictError> {
        let lines = self.side_lines(side)?;
        let file = TextFile::parse(&self.bytes[..]);
        let first = self.block.lines.start;
        Ok(&self.bytes[file.line_start(lines.start - first)..file.line_start(lines.end - first)])
    }

    fn side_lines(&self, side: Side) -> Result<Range<usize>, ConflictError> {
        match side {
            Side::Ours => Ok(self.block.ours.clone()),
            Side::Theirs => Ok(self.block.theirs.clone()),
            Side::Base => self.block.base.clone().ok_or(ConflictError::NoBase(self.id)),
        }
    }
}

#[cfg(test)]
mod tests;
