//! Reads a repository's index: the files that git tracks and their metadata when git last saw them.

use std::fs::Metadata;
use std::path::{Component, Path};
use std::time::UNIX_EPOCH;

use crate::open::read_whole;

/// Limit on the number of files in an index that is read.
const MOST_FILES: usize = 500_000;
/// Number of files checked between two checks of the time limit.
const LOOKS: usize = 16;
/// Size of the stat data (times, device, owner, size), which precedes the SHA-1 hash and the flags.
const STAT: usize = 40;
const HASH: usize = 20;
const GITLINK: u32 = 0o160_000;
const EXTENDED: u16 = 0x4000;
const ASSUME_VALID: u16 = 0x8000;
const STAGE: u16 = 0x3000;
/// In the extended flags: the file is not checked out.
const SKIP_WORKTREE: u16 = 0x4000;

/// Returns how many tracked files appear changed. Returns `None` for an index that is missing, damaged, too large or of an
/// unsupported kind, and if there was no time to check all files, because a caller is waiting.
pub fn changed(index: &Path, root: &Path, is_over: &dyn Fn() -> bool) -> Option<usize> {
    let bytes = read_whole(index).ok()?;
    let entries = parse(&bytes)?;
    let mut changed: Vec<&str> = Vec::new();
    for some in entries.chunks(LOOKS) {
        if is_over() {
            return None;
        }
        changed.extend(some.iter().filter(|entry| entry.is_changed(root)).map(|entry| entry.path));
    }
    // A conflicted file has one entry per side.
    changed.dedup();
    Some(changed.len())
}

struct IndexedFile<'a> {
    path: &'a str,
    seconds: u32,
    size: u32,
    mode: u32,
    flags: u16,
    extended: u16,
}

impl IndexedFile<'_> {
    fn is_changed(&self, root: &Path) -> bool {
        if self.flags & STAGE != 0 {
            return true;
        }
        let trusted = self.flags & ASSUME_VALID != 0 || self.extended & SKIP_WORKTREE != 0;
        // A path that leaves the repository was not written by git.
        let inside = Path::new(self.path).components().all(|part| matches!(part, Component::Normal(_)));
        if trusted || !inside || self.mode == GITLINK {
            return false;
        }
        match std::fs::symlink_metadata(root.join(self.path)) {
            Ok(found) => found.len() as u32 != self.size || seconds(&found) != Some(self.seconds),
            Err(_) => true,
        }
    }
}

fn seconds(found: &Metadata) -> Option<u32> {
    found.modified().ok()?.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs() as u32)
}

fn parse(bytes: &[u8]) -> Option<Vec<IndexedFile<'_>>> {
    let (head, version, count) = (bytes.get(..4)?, number(bytes, 4)?, number(bytes, 8)? as usize);
    if head != b"DIRC" || !matches!(version, 2 | 3) || count > MOST_FILES {
        return None;
    }
    let mut entries = Vec::with_capacity(count);
    let mut at = 12;
    for _ in 0..count {
        let (entry, length) = entry(bytes.get(at..)?)?;
        entries.push(entry);
        at += length;
    }
    Some(entries)
}

/// Parses an entry and returns it with its size in bytes.
fn entry(bytes: &[u8]) -> Option<(IndexedFile<'_>, usize)> {
    let short = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let flags = short(STAT + HASH)?;
    let mut name = STAT + HASH + 2;
    let mut extended = 0;
    if flags & EXTENDED != 0 {
        extended = short(name)?;
        name += 2;
    }
    let length = bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
    let path = std::str::from_utf8(&bytes[name..name + length]).ok()?;
    let told = usize::from(flags & 0x0fff);
    if length == 0 || told != length.min(0x0fff) {
        return None;
    }
    let entry = IndexedFile {
        path,
        seconds: number(bytes, 8)?,
        mode: number(bytes, 24)?,
        size: number(bytes, 36)?,
        flags,
        extended,
    };
    // Padded with one to eight zeros to a multiple of eight.
    Some((entry, (name + length + 8) & !7))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an index as git writes it.
    fn index(version: u32, entries: &[(&str, &Metadata, u32, u16, u16)]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((entries.len() as u32).to_be_bytes());
        for (path, found, mode, flags, extended) in entries {
            let start = bytes.len();
            let fields = [0, 0, seconds(found).unwrap(), 0, 0, 0, *mode, 0, 0, found.len() as u32];
            bytes.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
            bytes.extend([7; HASH]);
            bytes.extend((flags | path.len().min(0xfff) as u16).to_be_bytes());
            if flags & EXTENDED != 0 {
                bytes.extend(extended.to_be_bytes());
            }
            bytes.extend(path.as_bytes());
            bytes.push(0);
            while !(bytes.len() - start).is_multiple_of(8) {
                bytes.push(0);
            }
        }
        bytes.extend([0; HASH]);
        bytes
    }

    #[test]
    fn changed_files_are_counted() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        for name in ["same", "grown", "gone", "conflict"] {
            std::fs::write(at(name), name).unwrap();
        }
        let found = |name: &str| std::fs::symlink_metadata(at(name)).unwrap();
        let (same, grown, gone, conflict) = (found("same"), found("grown"), found("gone"), found("conflict"));
        let bytes = index(
            3,
            &[
                ("conflict", &conflict, 0o100_644, 0x1000, 0),
                ("conflict", &conflict, 0o100_644, 0x2000, 0),
                ("gone", &gone, 0o100_644, 0, 0),
                ("gone-but-trusted", &gone, 0o100_644, ASSUME_VALID, 0),
                ("grown", &grown, 0o100_644, 0, 0),
                ("module", &gone, GITLINK, 0, 0),
                ("not-checked-out", &gone, 0o100_644, EXTENDED, SKIP_WORKTREE),
                ("same", &same, 0o100_644, 0, 0),
                ("../outside", &gone, 0o100_644, 0, 0),
            ],
        );
        std::fs::write(at("index"), &bytes).unwrap();
        std::fs::remove_file(at("gone")).unwrap();
        std::fs::write(at("grown"), "grown much").unwrap();
        assert_eq!(changed(&at("index"), temp.path(), &|| false), Some(3), "conflict, gone, grown");
    }

    #[test]
    fn what_takes_too_long_is_not_told() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a"), "").unwrap();
        let found = std::fs::metadata(temp.path().join("a")).unwrap();
        let entries: Vec<_> = (0..100).map(|_| ("a", &found, 0o100_644, 0, 0)).collect();
        let path = temp.path().join("index");
        std::fs::write(&path, index(2, &entries)).unwrap();
        let looks = std::cell::Cell::new(0);
        let after = |most: usize| move |looks: &std::cell::Cell<usize>| looks.replace(looks.get() + 1) >= most;
        let (never, soon) = (after(usize::MAX), after(3));
        assert_eq!(changed(&path, temp.path(), &|| never(&looks)), Some(0));
        looks.set(0);
        assert_eq!(changed(&path, temp.path(), &|| soon(&looks)), None);
        assert_eq!(looks.get(), 4, "nothing is looked at after that");
    }

    #[test]
    fn what_is_no_index_tells_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        assert_eq!(changed(&path, temp.path(), &|| false), None);
        let found = std::fs::metadata(temp.path()).unwrap();
        let good = index(2, &[("a", &found, 0o100_644, ASSUME_VALID, 0)]);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        let cases = [
            (good.clone(), Some(0)),
            (index(2, &[]), Some(0)),
            (index(4, &[]), None),
            (with(0, b'X'), None),
            (with(10, 0xff), None),
            (with(11, 0xff), None),
            (with(12 + STAT + HASH + 1, 9), None),
            (good[..30].to_vec(), None),
            (Vec::new(), None),
        ];
        for (number, (bytes, expect)) in cases.into_iter().enumerate() {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(changed(&path, temp.path(), &|| false), expect, "case {number}");
        }
    }
}
