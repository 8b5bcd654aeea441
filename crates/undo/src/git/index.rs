//! Git's index: the tracked files, their contents, and their metadata at the last comparison.

use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use omp_stdx::plain_file;

use super::Oid;
use crate::limit::UndoLimit;
use crate::node::Stat;

/// Size limit of the index: about 4,000,000 files.
const LARGEST: u64 = 512 << 20;
/// Number of entries between two checks of the time limit.
const LOOKS: usize = 4_096;
/// Size of the stat data (times, device, owner, size) in front of the object ID.
const STAT: usize = 40;
const OID: usize = 20;
const REGULAR: u32 = 0o100_000;
const KIND: u32 = 0o170_000;
const EXECUTABLE: u32 = 0o100;
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
/// In the extended flags: not checked out, and added without content.
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
/// A file may have been written after the comparison and still have the same times.
const SLACK: i64 = 50_000_000;
const WHOLE_SECOND: i64 = 1_000_000_000;

pub(crate) struct IndexEntry {
    start: u32,
    length: u32,
    ctime: i64,
    mtime: i64,
    inode: u32,
    size: u32,
    pub oid: Oid,
    pub is_executable: bool,
}

impl IndexEntry {
    /// Returns whether a file with this metadata is the one that git compared. Returns false if the index has only part of
    /// the metadata.
    pub fn is(&self, stat: &Stat) -> bool {
        self.mtime == stat.mtime
            && self.ctime == stat.ctime
            && self.size == stat.size as u32
            && self.inode == stat.inode as u32
    }
}

/// An entry of any kind, without its path.
pub(super) struct RawEntry {
    pub ctime: i64,
    pub mtime: i64,
    pub inode: u32,
    pub size: u32,
    pub mode: u32,
    pub oid: Oid,
    flags: u16,
    extended: u16,
}

impl RawEntry {
    /// Parses one entry and returns its size in bytes. The path is that of the entry before, and becomes its own.
    pub fn parse(bytes: &[u8], version: u32, path: &mut Vec<u8>) -> Option<(Self, usize)> {
        let short = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let flags = short(STAT + OID)?;
        let mut name = STAT + OID + 2;
        let mut extended = 0;
        if flags & EXTENDED != 0 {
            extended = short(name)?;
            name += 2;
        }
        let taken = match version {
            4 => {
                let (cut, length) = offset_number(bytes.get(name..)?)?;
                path.truncate(path.len().checked_sub(usize::try_from(cut).ok()?)?);
                name += length;
                let end = bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
                path.extend_from_slice(&bytes[name..name + end]);
                name + end + 1
            }
            _ => {
                let end = bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
                path.clear();
                path.extend_from_slice(&bytes[name..name + end]);
                // Padded with one to eight zeros to a multiple of eight.
                (name + end + 8) & !7
            }
        };
        let time = |at: usize| Some(i64::from(number(bytes, at)?) * WHOLE_SECOND + i64::from(number(bytes, at + 4)?));
        let entry = Self {
            ctime: time(0)?,
            mtime: time(8)?,
            inode: number(bytes, 20)?,
            size: number(bytes, 36)?,
            mode: number(bytes, 24)?,
            oid: Oid(bytes.get(STAT..STAT + OID)?.try_into().ok()?),
            flags,
            extended,
        };
        Some((entry, taken))
    }

    /// The side of a conflict; 0 if there is none.
    pub fn stage(&self) -> u16 {
        (self.flags & STAGE) >> 12
    }

    pub fn is_assumed_valid(&self) -> bool {
        self.flags & ASSUME_VALID != 0
    }

    /// Whether the file is not checked out on purpose.
    pub fn is_sparse(&self) -> bool {
        self.extended & SKIP_WORKTREE != 0
    }

    /// Whether the file was added without its content.
    pub fn is_only_intended(&self) -> bool {
        self.extended & INTENT_TO_ADD != 0
    }
}

/// Tracked regular files, by path.
pub(super) struct GitIndex {
    names: Vec<u8>,
    entries: Vec<IndexEntry>,
    /// Modification time of the index.
    written: i64,
    attribute_files: Vec<Vec<u8>>,
}

impl GitIndex {
    /// Reads the files below the prefix, with the prefix removed. Returns `None` if the index is unreadable or invalid.
    pub fn read(path: &Path, prefix: &[u8], limit: &UndoLimit) -> Option<Self> {
        let (file, metadata) = plain_file::open(path).ok()?;
        if metadata.len() > LARGEST {
            return None;
        }
        let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()? + 1);
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Self::parse(&bytes, prefix, i64::try_from(since.as_nanos()).ok()?, limit)
    }

    fn parse(bytes: &[u8], prefix: &[u8], written: i64, limit: &UndoLimit) -> Option<Self> {
        let (head, version, count) = (bytes.get(..4)?, number(bytes, 4)?, number(bytes, 8)? as usize);
        if head != b"DIRC" || !matches!(version, 2..=4) {
            return None;
        }
        // Minimum size of an entry.
        let room = count.min(bytes.len() / (STAT + OID));
        let mut index =
            Self { names: Vec::new(), entries: Vec::with_capacity(room), written, attribute_files: Vec::new() };
        let mut at = 12;
        let mut path = Vec::new();
        for number in 0..count {
            if number % LOOKS == LOOKS - 1 && limit.is_over() {
                return None;
            }
            at += index.take(bytes.get(at..)?, version, prefix, &mut path)?;
        }
        // Extensions with lowercase names change the meaning of entries: a split or a sparse index.
        let mut rest = bytes.get(at..bytes.len().checked_sub(OID)?)?;
        while rest.len() >= 8 {
            let length = number(rest, 4)? as usize;
            if rest[0].is_ascii_lowercase() && &rest[..4] != b"sdir" {
                return None;
            }
            rest = rest.get(8 + length..)?;
        }
        Some(index)
    }

    /// Parses one entry and returns its size in bytes.
    fn take(&mut self, bytes: &[u8], version: u32, prefix: &[u8], path: &mut Vec<u8>) -> Option<usize> {
        let (raw, taken) = RawEntry::parse(bytes, version, path)?;
        if path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes") {
            self.attribute_files.push(path.clone());
        }
        let is_known = !raw.is_assumed_valid() && raw.stage() == 0 && !raw.is_sparse() && !raw.is_only_intended();
        let is_plain = raw.mode & KIND == REGULAR;
        if let Some(inner) = path.strip_prefix(prefix).filter(|_| is_known && is_plain) {
            let start = u32::try_from(self.names.len()).ok()?;
            self.names.extend_from_slice(inner);
            self.entries.push(IndexEntry {
                start,
                length: u32::try_from(inner.len()).ok()?,
                ctime: raw.ctime,
                mtime: raw.mtime,
                inode: raw.inode,
                size: raw.size,
                oid: raw.oid,
                is_executable: raw.mode & EXECUTABLE != 0,
            });
        }
        Some(taken)
    }

    /// Returns whether the file was so old when the index was written that a later write must have changed its times.
    pub fn is_settled(&self, stat: &Stat) -> bool {
        let slack = if stat.ctime % WHOLE_SECOND == 0 { 2 * WHOLE_SECOND } else { SLACK };
        stat.ctime.max(stat.mtime).saturating_add(slack) < self.written
    }

    /// Attribute files of the whole repository, including those outside the prefix.
    pub fn attribute_files(&self) -> &[Vec<u8>] {
        &self.attribute_files
    }

    pub fn folder(&self, path: &[u8]) -> Slice<'_> {
        let mut all = Slice { names: &self.names, entries: &self.entries, skip: 0 };
        if !path.is_empty() {
            let first = all.entries.partition_point(|entry| all.name(entry).cmp_in(path, b'/').is_lt());
            let last = all.entries.partition_point(|entry| all.name(entry).cmp_in(path, b'/' + 1).is_lt());
            all = Slice { entries: &all.entries[first..last], skip: path.len() + 1, ..all };
        }
        all
    }
}

trait CompareIn {
    /// Compares with the path followed by one byte.
    fn cmp_in(&self, path: &[u8], end: u8) -> std::cmp::Ordering;
}

impl CompareIn for [u8] {
    fn cmp_in(&self, path: &[u8], end: u8) -> std::cmp::Ordering {
        let begin = &self[..self.len().min(path.len())];
        begin.cmp(path).then_with(|| self[path.len()..].cmp(&[end]))
    }
}

/// The index entries below a folder.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    names: &'a [u8],
    entries: &'a [IndexEntry],
    skip: usize,
}

impl<'a> Slice<'a> {
    fn name(&self, entry: &IndexEntry) -> &'a [u8] {
        self.names.get(entry.start as usize..(entry.start + entry.length) as usize).unwrap_or_default()
    }

    /// Iterates with paths from the root.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a IndexEntry)> {
        let slice = *self;
        slice.entries.iter().map(move |entry| (slice.name(entry), entry))
    }

    pub fn get(&self, name: &[u8]) -> Option<&'a IndexEntry> {
        let inner = |entry: &IndexEntry| self.name(entry).get(self.skip..).unwrap_or_default();
        let at = self.entries.binary_search_by(|entry| inner(entry).cmp(name)).ok()?;
        self.entries.get(at)
    }
}

pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Parses the variable-length offset of a delta base and returns its size in bytes.
pub(super) fn offset_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = u64::from(*bytes.first()? & 0x7f);
    let mut at = 0;
    while bytes.get(at)? & 0x80 != 0 {
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)? | u64::from(*bytes.get(at)? & 0x7f);
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an index of version 2 with dummy entries.
    fn index(entries: u32) -> Vec<u8> {
        let mut bytes = [&b"DIRC"[..], &2_u32.to_be_bytes(), &entries.to_be_bytes()].concat();
        for number in 0..entries {
            let mut entry = vec![0; STAT + OID + 2];
            entry[24..28].copy_from_slice(&(REGULAR | 0o644).to_be_bytes());
            entry.extend_from_slice(format!("{number:08}").as_bytes());
            entry.resize((entry.len() + 8) & !7, 0);
            bytes.extend(entry);
        }
        bytes.extend([0; OID]);
        bytes
    }

    #[test]
    fn a_large_index_is_read_only_while_there_is_time() {
        let over = UndoLimit { until: Some(std::time::Instant::now()), ..UndoLimit::default() };
        for (entries, limit, expect) in
            [(10, &over, Some(10)), (9_000, &over, None), (9_000, &UndoLimit::default(), Some(9_000))]
        {
            let read = GitIndex::parse(&index(entries), b"", 0, limit);
            assert_eq!(read.map(|index| index.entries.len()), expect);
        }
    }
}
