//! Lists and reads tar archives, compressed or not, in one pass and constant memory.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::tar_stream::{Member, TarStream};
use super::{
    ArchiveEntry, ArchiveError, ArchiveFormat, ArchiveListing, Cancelled, MAX_ENTRY, MAX_LISTED, MAX_UNPACKED,
    MemberKind, damaged, name, shown,
};
use crate::reach::FileReach;

/// Maximum ratio of unpacked to packed bytes, enforced above [`RATIO_MATTERS_FROM`].
pub const MAX_RATIO: u64 = 200;
/// Number of unpacked bytes below which any ratio is accepted.
pub const RATIO_MATTERS_FROM: u64 = 16 * 1024 * 1024;

pub fn list(
    path: &Path,
    reach: &FileReach,
    format: ArchiveFormat,
    cancelled: &Cancelled,
) -> Result<ArchiveListing, ArchiveError> {
    let mut listing = ArchiveListing::default();
    let (file, packed) = open(path, reach)?;
    let mut tar = TarStream::new(Stoppable { inner: unpacked(file, packed, format), cancelled });
    while let Some(member) = tar.next_member().map_err(|error| explain(path, error))? {
        match () {
            () if member.is_global => {}
            () if listing.entries.len() < MAX_LISTED => listing.entries.push(entry_of(member)),
            () => listing.not_listed += 1,
        }
    }
    Ok(listing)
}

pub fn read(
    path: &Path,
    reach: &FileReach,
    format: ArchiveFormat,
    cancelled: &Cancelled,
    inner: &str,
) -> Result<Option<Vec<u8>>, ArchiveError> {
    let failed = |error| explain(path, error);
    let (file, packed) = open(path, reach)?;
    let mut tar = TarStream::new(Stoppable { inner: unpacked(file, packed, format), cancelled });
    let mut found = None;
    while let Some(member) = tar.next_member().map_err(failed)? {
        if member.is_global || name::reachable(&member.name).as_deref() != Some(inner) {
            continue;
        }
        found = Some(match member.kind {
            MemberKind::Folder => None,
            MemberKind::File if member.size > MAX_ENTRY => {
                return Err(ArchiveError::EntryTooLarge { path: inner.into(), size: member.size });
            }
            MemberKind::File => {
                let mut bytes = Vec::new();
                tar.data().read_to_end(&mut bytes).map_err(failed)?;
                Some(bytes)
            }
            other => return Err(not_a_file(inner, &other)),
        });
    }
    Ok(found.flatten())
}

pub fn not_a_file(inner: &str, kind: &MemberKind) -> ArchiveError {
    let what = match kind {
        MemberKind::File | MemberKind::Folder => "a folder".into(),
        MemberKind::Link(None) => "a link (not followed)".into(),
        MemberKind::Link(Some(target)) => format!("a link to '{target}' (not followed)"),
        MemberKind::Other(what) => (*what).into(),
    };
    ArchiveError::NotAFile(inner.into(), what)
}

pub fn open(path: &Path, reach: &FileReach) -> Result<(File, u64), ArchiveError> {
    let (file, metadata) = reach.open_regular(path)?;
    Ok((file, metadata.len()))
}

/// Returns the tar stream inside a file.
pub fn unpacked(file: File, packed: u64, format: ArchiveFormat) -> Box<dyn Read> {
    match format {
        ArchiveFormat::TarGz => {
            Box::new(BoundedUnpack { inner: MultiGzDecoder::new(BufReader::new(file)), packed, unpacked: 0 })
        }
        ArchiveFormat::Tar | ArchiveFormat::Zip => Box::new(BufReader::with_capacity(64 * 1024, file)),
    }
}

/// Ends a stream once it is cancelled.
struct Stoppable<'a> {
    inner: Box<dyn Read>,
    cancelled: &'a Cancelled,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.cancelled.0 {
            Some(cancelled) if cancelled() => Err(io::ErrorKind::TimedOut.into()),
            _ => self.inner.read(buffer),
        }
    }
}

/// Stops a stream whose unpacked size is far larger than its packed size.
struct BoundedUnpack<R> {
    inner: R,
    packed: u64,
    unpacked: u64,
}

impl<R: Read> Read for BoundedUnpack<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.unpacked += count as u64;
        if is_bomb(self.packed, self.unpacked) || self.unpacked > MAX_UNPACKED {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "it unpacks to too much"));
        }
        Ok(count)
    }
}

pub fn is_bomb(packed: u64, unpacked: u64) -> bool {
    unpacked > RATIO_MATTERS_FROM && unpacked / MAX_RATIO > packed
}

pub fn explain(path: &Path, error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::QuotaExceeded => ArchiveError::Bomb(shown(path)),
        io::ErrorKind::TimedOut => ArchiveError::Cancelled(shown(path)),
        _ => damaged(path, error),
    }
}

fn entry_of(member: Member) -> ArchiveEntry {
    let reachable = name::reachable(&member.name);
    ArchiveEntry {
        reachable: reachable.is_some(),
        path: reachable.unwrap_or(member.name),
        kind: member.kind,
        size: member.size,
    }
}
