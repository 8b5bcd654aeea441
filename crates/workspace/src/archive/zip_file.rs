//! Listing and reading zip archives.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::read::{ZipArchive, ZipFileEntry};

use super::unpack::{is_bomb, not_a_file, open};
use super::{ArchiveEntry, ArchiveError, ArchiveListing, MAX_ENTRY, MAX_LISTED, MemberKind, damaged, name, shown};
use crate::reach::FileReach;

pub fn list(path: &Path, reach: &FileReach) -> Result<ArchiveListing, ArchiveError> {
    let zip = open_zip(path, reach)?;
    let listed = zip.len().min(MAX_LISTED);
    let entries = (0..listed).map(|index| entry_of(&zip, index)).collect::<Result<_, _>>();
    Ok(ArchiveListing { entries: entries.map_err(|error| damaged(path, error))?, not_listed: zip.len() - listed })
}

pub fn read(path: &Path, reach: &FileReach, inner: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
    let mut zip = open_zip(path, reach)?;
    let Some(index) = find(&zip, inner) else { return Ok(None) };
    let failed = |error| damaged(path, error);
    let entry = zip.by_index_data(index).map_err(failed)?;
    let (kind, size, packed, encrypted) = (kind_of(&entry), entry.size(), entry.compressed_size(), entry.encrypted());
    match kind {
        MemberKind::File if encrypted => return Err(ArchiveError::Encrypted(inner.into())),
        MemberKind::File if size > MAX_ENTRY => return Err(ArchiveError::EntryTooLarge { path: inner.into(), size }),
        MemberKind::File if is_bomb(packed, size) => return Err(ArchiveError::Bomb(shown(path))),
        MemberKind::File => {}
        MemberKind::Folder => return Ok(None),
        other => return Err(not_a_file(inner, &other)),
    }
    drop(entry);
    let mut bytes = Vec::new();
    let content = zip.by_index(index).map_err(failed)?;
    // The claimed size may be wrong.
    content.take(MAX_ENTRY + 1).read_to_end(&mut bytes).map_err(|error| damaged(path, error))?;
    match bytes.len() as u64 {
        read if read > MAX_ENTRY => Err(ArchiveError::EntryTooLarge { path: inner.into(), size: read }),
        read if is_bomb(packed, read) => Err(ArchiveError::Bomb(shown(path))),
        _ => Ok(Some(bytes)),
    }
}

pub fn open_zip(path: &Path, reach: &FileReach) -> Result<ZipArchive<BufReader<File>>, ArchiveError> {
    let (file, _) = open(path, reach)?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, error))
}

/// Returns the index of the last entry with that name.
pub fn find(zip: &ZipArchive<BufReader<File>>, inner: &str) -> Option<usize> {
    let named = |index: &usize| {
        zip.by_index_data(*index).is_ok_and(|entry| name::reachable(&name_of(&entry)).as_deref() == Some(inner))
    };
    (0..zip.len()).rev().find(named)
}

pub fn name_of(entry: &ZipFileEntry<'_>) -> String {
    match entry.name() {
        Ok(name) => name.into_owned(),
        Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
    }
}

fn entry_of(zip: &ZipArchive<BufReader<File>>, index: usize) -> zip::result::ZipResult<ArchiveEntry> {
    let entry = zip.by_index_data(index)?;
    let name = name_of(&entry);
    let reachable = name::reachable(&name);
    Ok(ArchiveEntry {
        reachable: reachable.is_some(),
        path: reachable.unwrap_or(name),
        kind: kind_of(&entry),
        size: entry.size(),
    })
}

fn kind_of(entry: &ZipFileEntry<'_>) -> MemberKind {
    match () {
        () if entry.is_symlink() => MemberKind::Link(None),
        () if entry.is_dir() => MemberKind::Folder,
        () => MemberKind::File,
    }
}
