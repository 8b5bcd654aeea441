//! Finds the nested repositories in a git index: git enters each of them whenever it reports changes, and applies its
//! configuration there.
//!
//! The index is read as a stream, because one that a command has written may have any size.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use omp_stdx::plain_file;

/// Maximum in one repository; further ones are ignored.
const MOST: usize = 1_000;
/// A longer name is not a valid file name.
const LONGEST_NAME: u64 = 64 * 1024;
/// Times, device, owner and size come before the hash.
const STAT: usize = 40;
const MODE_AT: usize = 24;
const GITLINK: u32 = 0o160_000;
const EXTENDED: u16 = 0x4000;

/// The folders, relative to the top of the work tree. An invalid index has none.
pub(crate) fn of(git: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut indexes = vec![git.join("index")];
    // With a split index, most entries are in another file.
    let files = std::fs::read_dir(git).into_iter().flatten().flatten();
    let shared = files.filter(|file| file.file_name().to_string_lossy().starts_with("sharedindex."));
    indexes.extend(shared.take(MOST).map(|file| file.path()));
    for index in indexes {
        found.extend(of_index(&index));
    }
    found.sort();
    found.dedup();
    found
}

/// Cached as long as the file is the same, because it is read around every command.
fn of_index(index: &Path) -> Vec<PathBuf> {
    type Known = HashMap<PathBuf, (LinkStamp, Vec<PathBuf>)>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    const MOST_KNOWN: usize = 64;
    let Some(stamp) = index.symlink_metadata().ok().map(|found| stamp(&found)) else { return Vec::new() };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, links)) = known.get(index)
        && *of == stamp
    {
        return links.clone();
    }
    // The hash is SHA-1 or SHA-256; parsing with the wrong size soon fails.
    let read = |hash| plain_file::open(index).ok().and_then(|(file, _)| names(file, hash));
    let links = read(20).or_else(|| read(32)).unwrap_or_default();
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    // A newer file could change again with the same metadata.
    if stamp.changed.elapsed().is_ok_and(|age| age > YOUNG) {
        known.insert(index.to_owned(), (stamp, links.clone()));
    }
    links
}

const YOUNG: Duration = Duration::from_millis(100);

#[derive(PartialEq, Eq)]
struct LinkStamp {
    /// Zero if there are none.
    numbers: (u64, u64),
    size: u64,
    changed: SystemTime,
}

#[cfg(unix)]
fn stamp(found: &Metadata) -> LinkStamp {
    use std::os::unix::fs::MetadataExt;
    let since =
        Duration::new(found.ctime().try_into().unwrap_or_default(), found.ctime_nsec().try_into().unwrap_or_default());
    LinkStamp { numbers: (found.dev(), found.ino()), size: found.size(), changed: SystemTime::UNIX_EPOCH + since }
}

#[cfg(not(unix))]
fn stamp(found: &Metadata) -> LinkStamp {
    LinkStamp { numbers: (0, 0), size: found.len(), changed: found.modified().unwrap_or(SystemTime::UNIX_EPOCH) }
}

fn names(file: File, hash: usize) -> Option<Vec<PathBuf>> {
    let mut index = BufReader::new(file);
    let mut head = [0; 12];
    index.read_exact(&mut head).ok()?;
    let (version, count) = (number(&head[4..8])?, number(&head[8..])?);
    if &head[..4] != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let (mut found, mut name) = (Vec::new(), Vec::new());
    let mut fixed = vec![0; STAT + hash + 2];
    for _ in 0..count {
        index.read_exact(&mut fixed).ok()?;
        let flags = u16::from_be_bytes([fixed[STAT + hash], fixed[STAT + hash + 1]]);
        let mut taken = fixed.len();
        if flags & EXTENDED != 0 {
            index.read_exact(&mut [0; 2]).ok()?;
            taken += 2;
        }
        // Version 4 gives the number of bytes to remove from the previous name.
        let kept = if version == 4 { name.len().checked_sub(varint(&mut index)?)? } else { 0 };
        name.truncate(kept);
        let length = index.by_ref().take(LONGEST_NAME).read_until(0, &mut name).ok()?;
        name.pop().filter(|last| *last == 0)?;
        let told = usize::from(flags & 0x0fff);
        if told != name.len().min(0x0fff) {
            return None;
        }
        // Padded by one to eight zeros to a multiple of eight.
        if version != 4 {
            let rest = ((taken + length + 7) & !7) - (taken + length);
            index.read_exact(&mut [0; 8][..rest]).ok()?;
        }
        if number(&fixed[MODE_AT..MODE_AT + 4])? == GITLINK && found.len() < MOST {
            found.extend(folder(&name));
        }
    }
    Some(found)
}

/// A path that points outside was not written by git.
fn folder(name: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    let path = PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name));
    #[cfg(not(unix))]
    let path = PathBuf::from(String::from_utf8_lossy(name).into_owned());
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    (inside && !name.is_empty()).then_some(path)
}

/// Git's encoding of offsets: seven bits per byte, and each further byte adds one.
fn varint(index: &mut impl Read) -> Option<usize> {
    let mut value = 0_usize;
    for at in 0..5 {
        let mut byte = [0];
        index.read_exact(&mut byte).ok()?;
        value = (value << 7) | usize::from(byte[0] & 0x7f);
        if byte[0] & 0x80 == 0 {
            return Some(value);
        }
        if at == 4 {
            return None;
        }
        value += 1;
    }
    None
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Builds an index in git's format: names with their modes.
    fn index(version: u32, hash: usize, entries: &[(&str, u32)]) -> Vec<u8> {
        let mut bytes = [&b"DIRC"[..], &version.to_be_bytes(), &(entries.len() as u32).to_be_bytes()].concat();
        let mut before = "";
        for (name, mode) in entries {
            let start = bytes.len();
            bytes.extend([0; MODE_AT]);
            bytes.extend(mode.to_be_bytes());
            bytes.extend(vec![7; STAT - MODE_AT - 4 + hash]);
            bytes.extend((name.len() as u16).to_be_bytes());
            if version == 4 {
                let same = name.bytes().zip(before.bytes()).take_while(|(one, other)| one == other).count();
                bytes.push((before.len() - same) as u8);
                bytes.extend(&name.as_bytes()[same..]);
                bytes.push(0);
            } else {
                bytes.extend(name.as_bytes());
                bytes.push(0);
                while !(bytes.len() - start).is_multiple_of(8) {
                    bytes.push(0);
                }
            }
            before = name;
        }
        bytes.extend(vec![0; hash]);
        bytes
    }

    #[test]
    fn repositories_within_are_found_in_every_form_of_an_index() {
        let entries = [("a.txt", 0o100_644), ("lib", GITLINK), ("lib-2/deep", GITLINK), ("../out", GITLINK)];
        for (version, hash) in [(2, 20), (3, 20), (4, 20), (2, 32), (4, 32)] {
            for name in ["index", "sharedindex.0123"] {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join(name), index(version, hash, &entries)).unwrap();
                assert_eq!(of(folder.path()), [Path::new("lib"), Path::new("lib-2/deep")], "{version} {hash} {name}");
            }
        }
    }

    #[test]
    fn what_is_no_index_names_none() {
        let good = index(2, 20, &[("lib", GITLINK)]);
        for bytes in
            [&b""[..], b"DIRC", b"nonsense that is no index", &good[..40], &[&b"XXXX"[..], &good[4..]].concat()]
        {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("index"), bytes).unwrap();
            assert_eq!(of(folder.path()), [""; 0].map(PathBuf::from));
        }
        assert_eq!(of(Path::new("/nowhere")), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_changed_index_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join("index"), index(2, 20, &[(name, GITLINK)])).unwrap();
        for name in ["one", "two", "six"] {
            write(name);
            assert_eq!(of(folder.path()), [Path::new(name)]);
        }
    }
}
