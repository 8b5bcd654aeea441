//! The last known state of a workspace on disk, so that the next session need not read every file again.
//!
//! The file starts with a whole tree; changes are appended, and the file is rewritten when it has grown large. A truncated
//! frame is ignored, and everything before it is used.

mod code;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use code::{IndexReader, encoded, encoded_changes, encoded_records};

use crate::digest::Digest;
use crate::folder::is_same_file;
use crate::objects::{beside, new_file};
use crate::scan::CopiedNode;
use crate::tree::WorkspaceTree;

const MAGIC: &[u8; 8] = b"ompundo2";
/// Minimum number of bytes that may be appended before a rewrite.
const LEAST_ROOM: u64 = 1 << 20;

/// The index file of this workspace. Other processes may use it too: a process that finds the file written by another one
/// rewrites it completely.
pub(crate) struct IndexFile {
    place: PathBuf,
    own: Option<Own>,
    /// The last save failed.
    is_behind: bool,
}

/// A file that no other process appends to, and that holds the state last saved or loaded.
struct Own {
    file: File,
    length: u64,
    /// File length at which everything is rewritten.
    most: u64,
}

impl IndexFile {
    pub fn new(place: PathBuf) -> Self {
        Self { place, own: None, is_behind: false }
    }

    /// Returns `None` if there is no valid state: then every file is read.
    pub fn load(&mut self) -> Option<WorkspaceTree> {
        // Releases our own lock first.
        (self.own, self.is_behind) = (None, false);
        let mut file = OpenOptions::new().read(true).append(true).open(&self.place).ok()?;
        let is_ours = file.try_lock().is_ok();
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).ok()?;
        let (tree, first, whole) = decoded(&bytes)?;
        if is_ours && whole == bytes.len() {
            self.own = Some(Own { file, length: whole as u64, most: most(first as u64) });
        }
        Some(tree)
    }

    /// Saves the difference between the state last saved or loaded (`known`) and the current one.
    pub fn save(&mut self, known: &WorkspaceTree, tree: &WorkspaceTree) -> io::Result<()> {
        if !self.is_behind && !known.folders.is_empty() {
            let changes = encoded_changes(known, tree);
            if changes.is_empty() || (self.is_own() && self.add(&changes)?) {
                return Ok(());
            }
        }
        self.save_all(tree)
    }

    /// Saves changed records of known names, which the tree already contains.
    pub fn note(&mut self, records: &[CopiedNode], tree: &WorkspaceTree) -> io::Result<()> {
        let is_done = records.is_empty() || self.is_behind;
        if is_done || (self.is_own() && self.add(&encoded_records(records))?) {
            return Ok(());
        }
        self.save_all(tree)
    }

    /// Marks the file as outdated: the next save writes everything.
    pub fn fall_behind(&mut self) {
        (self.own, self.is_behind) = (None, true);
    }

    /// Returns whether the state saved last is still there and ours.
    fn is_own(&mut self) -> bool {
        self.own = self.own.take().filter(|own| is_same_file(&own.file, &self.place));
        self.own.is_some()
    }

    /// Returns `false` if the file would grow too large.
    fn add(&mut self, content: &[u8]) -> io::Result<bool> {
        let Some(own) = &mut self.own else { return Ok(false) };
        let length = own.length + (HEAD + content.len()) as u64;
        if length > own.most {
            return Ok(false);
        }
        if let Err(error) = own.file.write_all(&[&head(content), content].concat()) {
            // Removes a partially written frame.
            drop(own.file.set_len(own.length));
            self.fall_behind();
            return Err(error);
        }
        own.length = length;
        Ok(true)
    }

    fn save_all(&mut self, tree: &WorkspaceTree) -> io::Result<()> {
        self.fall_behind();
        let content = encoded(tree);
        let temporary = beside(&self.place);
        drop(fs::remove_file(&temporary));
        let written = new_file(&temporary).and_then(|mut file| {
            file.write_all(&[&MAGIC[..], &head(&content)].concat())?;
            file.write_all(&content)?;
            // If files cannot be locked, everything is written each time.
            let is_ours = file.try_lock().is_ok();
            fs::rename(&temporary, &self.place)?;
            Ok((file, is_ours))
        });
        let (file, is_ours) = written.inspect_err(|_| drop(fs::remove_file(&temporary)))?;
        let length = (MAGIC.len() + HEAD + content.len()) as u64;
        self.own = is_ours.then_some(Own { file, length, most: most(length) });
        self.is_behind = false;
        Ok(())
    }
}

/// Loads the state of any workspace.
pub(crate) fn load(place: &Path) -> Option<WorkspaceTree> {
    decoded(&fs::read(place).ok()?).map(|(tree, ..)| tree)
}

/// Returns whether a file of the folder is an index file.
pub(crate) fn is_index(place: &Path) -> bool {
    place.extension().is_none()
}

pub(crate) fn remove(place: &Path) -> io::Result<()> {
    fs::remove_file(place)
}

fn most(whole: u64) -> u64 {
    whole + (whole / 2).max(LEAST_ROOM)
}

/// Frame header: length and digest of the content.
const HEAD: usize = 8 + 32;

fn head(content: &[u8]) -> Vec<u8> {
    [&(content.len() as u64).to_le_bytes()[..], &Digest::of(content).0].concat()
}

/// Returns the content of the first frame and the rest. Returns `None` if the frame is incomplete or damaged.
fn unframed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let length = u64::from_le_bytes(head[..8].try_into().ok()?);
    let (content, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    (Digest::of(content).0 == head[8..]).then_some((content, rest))
}

/// Returns the tree, the end of its first frame, and the end of all valid data.
fn decoded(bytes: &[u8]) -> Option<(WorkspaceTree, usize, usize)> {
    let mut tree = WorkspaceTree::default();
    let (content, mut rest) = unframed(bytes.strip_prefix(MAGIC)?)?;
    IndexReader(content).apply(&mut tree)?;
    let first = bytes.len() - rest.len();
    while let Some((content, behind)) = unframed(rest) {
        IndexReader(content).apply(&mut tree)?;
        rest = behind;
    }
    Some((tree, first, bytes.len() - rest.len()))
}
