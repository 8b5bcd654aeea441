//! Replaces or adds one entry: a new archive is written next to the old one and renamed over it. Every other entry is copied
//! byte for byte, including headers.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};
use tempfile::NamedTempFile;

use super::tar_stream::{BLOCK, TarStream, padding_of};
use super::unpack::{explain, unpacked};
use super::{Archive, index};
use super::{ArchiveEntry, ArchiveError, ArchiveFormat, MAX_REWRITE, MemberKind, name, shown, zip_rewrite};
use crate::open::FileError;
use crate::reach::FileReach;

/// Readable by everyone, writable by the owner.
pub const NEW_ENTRY_MODE: u32 = 0o644;

/// Writes one entry and creates the archive and its folder if necessary. Returns the entry's path in the archive.
pub fn write_entry(
    path: &Path,
    reach: &FileReach,
    format: ArchiveFormat,
    inner: &str,
    content: &[u8],
) -> Result<String, ArchiveError> {
    let inner = name::target_path(inner)?;
    // Reports special files under the requested name.
    existing(path, reach)?;
    // A link to an archive is kept: its target is replaced.
    let spot = reach.spot(path)?;
    let path = spot.way.clone();
    let old = existing(&path, reach)?;
    if old.is_some() {
        refuse_clash(&Archive::new(&path, format).within(reach), &inner)?;
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| FileError::io(folder, error))?;
    let io_error = |error| ArchiveError::File(FileError::io(&path, error));
    let mut copy = new_file(folder, old.as_ref()).map_err(io_error)?;
    let mut output = BufWriter::new(copy.as_file_mut());
    match format {
        ArchiveFormat::Zip => zip_rewrite::rewrite(&path, reach, old.is_some(), &inner, content, &mut output)?,
        ArchiveFormat::Tar => rewrite_tar((&path, reach), format, old.is_some(), &inner, content, &mut output)?,
        ArchiveFormat::TarGz => {
            let mut packer = GzEncoder::new(&mut output, Compression::default());
            rewrite_tar((&path, reach), format, old.is_some(), &inner, content, &mut packer)?;
            packer.finish().map_err(io_error)?;
        }
    }
    output.flush().map_err(io_error)?;
    drop(output);
    put_in_place(copy, path, old.as_ref())?;
    Ok(inner)
}

fn existing(path: &Path, reach: &FileReach) -> Result<Option<Metadata>, ArchiveError> {
    match reach.open_regular(path) {
        Ok((_, metadata)) if metadata.len() > MAX_REWRITE => {
            let why = format!(
                "it has {}, more than the limit of {}\nhint: use a shell command",
                omp_stdx::format::bytes(metadata.len()),
                omp_stdx::format::bytes(MAX_REWRITE)
            );
            Err(ArchiveError::NotRewritable(shown(path), why))
        }
        Ok((_, metadata)) if metadata.permissions().readonly() => {
            Err(ArchiveError::NotRewritable(shown(path), "it is read-only".into()))
        }
        Ok((_, metadata)) => Ok(Some(metadata)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a write that would turn a folder or link into a file, or add a second file that some file systems treat as the
/// same.
fn refuse_clash(archive: &Archive, inner: &str) -> Result<(), ArchiveError> {
    let listing = archive.list()?;
    if listing.not_listed > 0 {
        let why = format!("it has more than {} entries", super::MAX_LISTED);
        return Err(ArchiveError::NotRewritable(shown(archive.path()), why));
    }
    if index::folder_of(&listing, inner).is_some() {
        return Err(ArchiveError::FolderTarget);
    }
    let reachable = || listing.entries.iter().filter(|entry| entry.reachable);
    if let Some(same) = reachable().rfind(|entry| entry.path == inner) {
        return match &same.kind {
            MemberKind::File => Ok(()),
            other => Err(super::unpack::not_a_file(inner, other)),
        };
    }
    let is_parent = |entry: &&ArchiveEntry| {
        entry.kind != MemberKind::Folder && inner.strip_prefix(&entry.path).is_some_and(|rest| rest.starts_with('/'))
    };
    if let Some(parent) = reachable().find(is_parent) {
        let why = format!("'{}' is not a folder in it, so it cannot contain anything", parent.path);
        return Err(ArchiveError::NotRewritable(shown(archive.path()), why));
    }
    let key = name::folded(inner);
    match reachable().find(|entry| name::folded(&entry.path) == key) {
        Some(entry) => Err(ArchiveError::SameWhenFolded { wanted: inner.into(), existing: entry.path.clone() }),
        None => Ok(()),
    }
}

fn rewrite_tar(
    (path, reach): (&Path, &FileReach),
    format: ArchiveFormat,
    exists: bool,
    inner: &str,
    content: &[u8],
    output: &mut dyn Write,
) -> Result<(), ArchiveError> {
    let write_error = |error| ArchiveError::File(FileError::io(path, error));
    let last = if exists { last_of_name(path, reach, format, inner)? } else { None };
    if exists {
        let (file, metadata) = reach.open_regular(path)?;
        let mut tar = TarStream::new(unpacked(file, metadata.len(), format));
        let mut number = 0;
        while let Some(member) = tar.next_member().map_err(|error| explain(path, error))? {
            if last.is_some_and(|last| last == number) {
                new_member(output, &member.name, member.mode.unwrap_or(NEW_ENTRY_MODE), content)
                    .map_err(write_error)?;
            } else {
                output.write_all(&member.head).map_err(write_error)?;
                tar.copy_data(output).map_err(|error| explain(path, error))?;
            }
            number += 1;
        }
    }
    if last.is_none() {
        new_member(output, inner, NEW_ENTRY_MODE, content).map_err(write_error)?;
    }
    output.write_all(&[0; 2 * BLOCK]).map_err(write_error)
}

/// Finds the member with the given name: the last one if there are several.
fn last_of_name(
    path: &Path,
    reach: &FileReach,
    format: ArchiveFormat,
    inner: &str,
) -> Result<Option<usize>, ArchiveError> {
    let (file, metadata) = reach.open_regular(path)?;
    let mut tar = TarStream::new(unpacked(file, metadata.len(), format));
    let (mut number, mut last) = (0, None);
    while let Some(member) = tar.next_member().map_err(|error| explain(path, error))? {
        if !member.is_global && name::reachable(&member.name).as_deref() == Some(inner) {
            last = Some(number);
        }
        number += 1;
    }
    Ok(last)
}

fn new_member(output: &mut dyn Write, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    if name.len() > 100 {
        let mut long = Header::new_gnu();
        long.set_entry_type(EntryType::GNULongName);
        write_member(output, long, "././@LongLink", &[name.as_bytes(), b"\0"].concat())?;
    }
    header.set_mode(mode & 0o7777);
    header.set_mtime(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()));
    let mut end = name.len().min(100);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    write_member(output, header, &name[..end], content)
}

/// The name is not checked here: it was checked by the caller or was in the archive before.
fn write_member(output: &mut dyn Write, mut header: Header, name: &str, data: &[u8]) -> io::Result<()> {
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_size(data.len() as u64);
    header.set_cksum();
    output.write_all(header.as_bytes())?;
    output.write_all(data)?;
    output.write_all(&vec![0; padding_of(data.len() as u64) as usize])
}

fn new_file(folder: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".omp-").suffix(".tmp");
    let mode = platform::mode_of_new(old);
    if let Some(mode) = &mode {
        builder.permissions(mode.clone());
    }
    let copy = builder.tempfile_in(folder)?;
    if let Some(old) = old {
        copy.as_file().set_permissions(old.permissions())?;
    }
    Ok(copy)
}

pub(super) fn put_in_place(copy: NamedTempFile, path: PathBuf, old: Option<&Metadata>) -> Result<(), ArchiveError> {
    let io_error = |error| ArchiveError::File(FileError::io(&path, error));
    copy.as_file().sync_all().map_err(io_error)?;
    let now = std::fs::metadata(&path).ok();
    if !same_file(old, now.as_ref()) {
        return Err(ArchiveError::Changed(shown(&path)));
    }
    let renamed: Result<File, _> = if old.is_none() { copy.persist_noclobber(&path) } else { copy.persist(&path) };
    renamed.map(drop).map_err(|failed| io_error(failed.error))
}

fn same_file(old: Option<&Metadata>, now: Option<&Metadata>) -> bool {
    match (old, now) {
        (None, None) => true,
        (Some(old), Some(now)) => {
            old.len() == now.len()
                && old.modified().ok() == now.modified().ok()
                && platform::identity(old) == platform::identity(now)
        }
        _ => false,
    }
}

#[cfg(unix)]
mod platform {
    //! Unix: a new archive gets the default mode of new files, and files are identified by device and inode.

    use std::fs::{Metadata, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Distinguishes files of the same size and time.
    pub fn identity(metadata: &Metadata) -> (u64, u64) {
        (metadata.dev(), metadata.ino())
    }

    pub fn mode_of_new(old: Option<&Metadata>) -> Option<Permissions> {
        old.is_none().then(|| Permissions::from_mode(0o666))
    }
}

#[cfg(not(unix))]
mod platform {
    //! Other systems: no modes, and no file identity.

    use std::fs::{Metadata, Permissions};

    pub fn identity(_metadata: &Metadata) -> (u64, u64) {
        (0, 0)
    }

    pub fn mode_of_new(_old: Option<&Metadata>) -> Option<Permissions> {
        None
    }
}
