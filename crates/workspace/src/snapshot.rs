//! Snapshots of the file content that the model has seen: a short tag for the content, and the content itself for as long as
//! it is likely to be needed.
//!
//! An edit names the tag that it was made against. If the file has changed since, the snapshot shows where the edited lines
//! have moved.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::text_file::TextFile;

pub const MAX_PATHS: usize = 30;
pub const MAX_SNAPSHOTS_PER_PATH: usize = 4;
pub const MAX_SNAPSHOT_BYTES: usize = 24 * 1024 * 1024;

/// Four hex digits: a hash of a file's text that ignores line endings and trailing blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(u16);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.0)
    }
}

impl FromStr for Tag {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let hex = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| u16::from_str_radix(text, 16).ok()).flatten().map(Tag).ok_or(())
    }
}

/// Computes a tag from lines: the low half of xxHash32, compatible with the reference program.
#[derive(Clone, Debug, Default)]
pub struct TagHasher {
    state: Xxh32,
}

impl TagHasher {
    pub fn line(&mut self, text: &[u8], ends_with_newline: bool) {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
        let end = text.iter().rposition(|byte| !blank(byte)).map_or(0, |last| last + 1);
        self.state.update(&text[..end]);
        if ends_with_newline {
            self.state.update(b"\n");
        }
    }

    pub fn finish(&self) -> Tag {
        Tag(self.state.finish() as u16)
    }
}

/// Content remembered under a tag.
#[derive(Clone, Debug)]
pub enum FileSnapshot {
    Whole(Arc<[u8]>),
    /// Only some lines, by line number (counted from 1).
    Lines(Arc<BTreeMap<usize, String>>),
}

impl FileSnapshot {
    fn size(&self) -> usize {
        match self {
            FileSnapshot::Whole(bytes) => bytes.len(),
            FileSnapshot::Lines(lines) => lines.values().map(|line| line.len() + 32).sum(),
        }
    }
}

/// Recent snapshots of recently seen files. Limits the number of files, the snapshots per file and the bytes.
#[derive(Debug, Default)]
pub struct SnapshotCache {
    /// Ordered by last use, the most recent last.
    files: VecDeque<SeenFile>,
}

#[derive(Debug)]
struct SeenFile {
    path: PathBuf,
    /// Ordered by age, the newest last.
    snapshots: VecDeque<(Tag, FileSnapshot)>,
}

impl SnapshotCache {
    /// Stores a snapshot of a whole file and returns its tag.
    pub fn record(&mut self, path: &Path, file: &TextFile) -> Tag {
        let tag = file.tag();
        if file.bytes().len() <= MAX_SNAPSHOT_BYTES / 4 {
            self.insert(path, tag, FileSnapshot::Whole(file.bytes().clone()));
        }
        tag
    }

    /// Stores single lines of a file whose whole content has `tag`. Earlier lines under the same tag are kept unless one of
    /// them differs.
    pub fn record_lines(&mut self, path: &Path, tag: Tag, lines: impl IntoIterator<Item = (usize, String)>) {
        let known = self.get(path, tag);
        if matches!(known, Some(FileSnapshot::Whole(_))) {
            return;
        }
        let new: BTreeMap<usize, String> = lines.into_iter().collect();
        let merged = match known {
            Some(FileSnapshot::Lines(old))
                if new.iter().all(|(at, text)| old.get(at).is_none_or(|seen| seen == text)) =>
            {
                old.iter().map(|(at, text)| (*at, text.clone())).chain(new).collect()
            }
            _ => new,
        };
        let snapshot = FileSnapshot::Lines(Arc::new(merged));
        if snapshot.size() <= MAX_SNAPSHOT_BYTES / 4 {
            self.insert(path, tag, snapshot);
        }
    }

    pub fn get(&mut self, path: &Path, tag: Tag) -> Option<FileSnapshot> {
        let at = self.files.iter().position(|file| file.path == path)?;
        let file = self.files.remove(at)?;
        let found = file.snapshots.iter().find(|(known, _)| *known == tag).map(|(_, snapshot)| snapshot.clone());
        self.files.push_back(file);
        found
    }

    /// Returns the tag under which this file was last seen.
    pub fn newest(&self, path: &Path) -> Option<Tag> {
        self.files.iter().find(|file| file.path == path)?.snapshots.back().map(|(tag, _)| *tag)
    }

    /// Returns whether any part of this file has been seen under `tag`.
    pub fn has_seen(&mut self, path: &Path, tag: Tag) -> bool {
        self.get(path, tag).is_some()
    }

    fn insert(&mut self, path: &Path, tag: Tag, snapshot: FileSnapshot) {
        let known = self.files.iter().position(|file| file.path == path);
        let mut file = known
            .and_then(|at| self.files.remove(at))
            .unwrap_or_else(|| SeenFile { path: path.to_owned(), snapshots: VecDeque::new() });
        file.snapshots.retain(|(seen, _)| *seen != tag);
        file.snapshots.push_back((tag, snapshot));
        if file.snapshots.len() > MAX_SNAPSHOTS_PER_PATH {
            file.snapshots.pop_front();
        }
        self.files.push_back(file);
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.files.len() > MAX_PATHS {
            self.files.pop_front();
        }
        let mut bytes: usize = self.files.iter().flat_map(|file| &file.snapshots).map(|(_, it)| it.size()).sum();
        while bytes > MAX_SNAPSHOT_BYTES {
            let Some(oldest) = self.files.front_mut() else { return };
            bytes -= oldest.snapshots.pop_front().map_or(0, |(_, snapshot)| snapshot.size());
            if oldest.snapshots.is_empty() {
                self.files.pop_front();
            }
        }
    }
}

/// xxHash32 with seed 0, computed incrementally.
#[derive(Clone, Debug)]
struct Xxh32 {
    lanes: [u32; 4],
    pending: [u8; 16],
    pending_len: usize,
    total: u64,
}

const PRIME: [u32; 5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1];

impl Default for Xxh32 {
    fn default() -> Self {
        let lanes = [PRIME[0].wrapping_add(PRIME[1]), PRIME[1], 0, 0u32.wrapping_sub(PRIME[0])];
        Self { lanes, pending: [0; 16], pending_len: 0, total: 0 }
    }
}

impl Xxh32 {
    fn update(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        while !bytes.is_empty() {
            if self.pending_len == 0 && bytes.len() >= 16 {
                let (stripes, rest) = bytes.as_chunks::<16>();
                stripes.iter().for_each(|stripe| self.stripe(stripe));
                bytes = rest;
                continue;
            }
            let take = bytes.len().min(16 - self.pending_len);
            self.pending[self.pending_len..self.pending_len + take].copy_from_slice(&bytes[..take]);
            self.pending_len += take;
            bytes = &bytes[take..];
            if self.pending_len == 16 {
                let stripe = self.pending;
                self.stripe(&stripe);
                self.pending_len = 0;
            }
        }
    }

    fn stripe(&mut self, stripe: &[u8; 16]) {
        let (words, _) = stripe.as_chunks::<4>();
        for (lane, word) in self.lanes.iter_mut().zip(words) {
            let mixed = lane.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(PRIME[1]));
            *lane = mixed.rotate_left(13).wrapping_mul(PRIME[0]);
        }
    }

    fn finish(&self) -> u32 {
        let [a, b, c, d] = self.lanes;
        let mut hash = if self.total >= 16 {
            let ab = a.rotate_left(1).wrapping_add(b.rotate_left(7));
            ab.wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18))
        } else {
            PRIME[4]
        };
        hash = hash.wrapping_add(self.total as u32);
        let (words, rest) = self.pending[..self.pending_len].as_chunks::<4>();
        for word in words {
            hash = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(PRIME[2]));
            hash = hash.rotate_left(17).wrapping_mul(PRIME[3]);
        }
        for byte in rest {
            hash = hash.wrapping_add(u32::from(*byte).wrapping_mul(PRIME[4]));
            hash = hash.rotate_left(11).wrapping_mul(PRIME[0]);
        }
        hash = (hash ^ (hash >> 15)).wrapping_mul(PRIME[1]);
        hash = (hash ^ (hash >> 13)).wrapping_mul(PRIME[2]);
        hash ^ (hash >> 16)
    }
}

#[cfg(test)]
mod tests;
