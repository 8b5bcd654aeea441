//! Puts the new content of a file in place: by renaming a finished copy over the file if that keeps its metadata, otherwise
//! by writing into the file.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::open::{FileError, refuse_other_kinds};
use crate::reach::WriteSpot;

/// Maximum number of links followed before a chain is considered a loop.
const MAX_LINKS: usize = 40;

/// New content that is written but not visible yet.
pub enum Staged {
    Rename {
        copy: NamedTempFile,
        target: PathBuf,
        executable: bool,
        /// The file has hard links and must not be written in place.
        split: bool,
    },
    /// A rename would split a hard link, change the owner, or is not possible in this folder.
    InPlace { target: PathBuf, executable: bool },
}

/// Returns the path that a write to `path` affects after links are followed, even if the last link dangles.
pub fn target_of(path: &Path) -> Result<PathBuf, FileError> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(FileError::io(path, io::Error::other("too many symbolic links, or links that lead back to themselves")))
}

/// Returns parent folders that do not exist, outermost first.
pub fn missing_parents(target: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        target.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// A new file gets the mode of `mode_of`, if there is one.
pub fn stage(spot: &WriteSpot, content: &[u8], executable: bool, mode_of: Option<&Path>) -> Result<Staged, FileError> {
    let target = spot.way.clone();
    let existing = make_way(&target)?;
    // The location of the other hard links is unknown, so they keep the old content.
    let split = spot.contained && existing.as_ref().is_some_and(platform::has_other_names);
    if !split && existing.as_ref().is_some_and(|metadata| !platform::rename_keeps_everything(metadata)) {
        return Ok(Staged::InPlace { target, executable });
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    let model = mode_of.filter(|_| existing.is_none()).and_then(|path| std::fs::metadata(path).ok());
    let mode = platform::mode_for(existing.as_ref().or(model.as_ref()), executable);
    match finished_copy(folder, content, mode, existing.is_none() && model.is_none()) {
        Ok(copy) => Ok(Staged::Rename { copy, target, executable, split }),
        Err(error) if existing.is_some() && !split && error.kind() == io::ErrorKind::PermissionDenied => {
            Ok(Staged::InPlace { target, executable })
        }
        Err(error) => Err(FileError::io(&target, error)),
    }
}

/// Checks that a file may be written here and returns the metadata of the existing file. Creates missing folders.
pub fn make_way(target: &Path) -> Result<Option<Metadata>, FileError> {
    let io_error = |error| FileError::io(target, error);
    refuse_file_as_folder(target)?;
    match std::fs::symlink_metadata(target) {
        Ok(metadata) => {
            refuse_other_kinds(target, &metadata)?;
            // A read-only file is respected, even if a rename could bypass the permission.
            platform::open_itself(target).map_err(io_error)?;
            Ok(Some(metadata))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = target.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder).map_err(|error| folder_error(folder, error))?;
            Ok(None)
        }
        Err(error) => Err(io_error(error)),
    }
}

/// Makes a file that was written by an editor executable, if it is on disk yet.
pub fn make_executable(target: &Path) -> Result<(), FileError> {
    match platform::open_itself(target).and_then(|file| platform::add_execute(&file)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::io(target, error)),
        _ => Ok(()),
    }
}

/// Refuses a path below a regular file; the error names that file, because it is the obstacle.
pub(crate) fn refuse_file_as_folder(target: &Path) -> Result<(), FileError> {
    let nearest = target.ancestors().skip(1).find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    match nearest {
        Some((path, metadata)) if !metadata.is_dir() => {
            let reason = "is not a folder, so nothing can be created in it\nhint: choose another path, or move it away";
            Err(FileError::Io { path: path.into(), error: io::Error::other(reason) })
        }
        _ => Ok(()),
    }
}

impl Staged {
    /// Makes the content visible and durable. A new file never replaces one that appeared concurrently.
    pub fn place(self, content: &[u8], is_new: bool) -> Result<(), PlaceError> {
        match self {
            Staged::Rename { copy, target, executable, split } => {
                let renamed = if is_new { copy.persist_noclobber(&target) } else { copy.persist(&target) };
                match renamed {
                    Ok(_) => sync_folder(&target),
                    Err(failed) if !is_new && !split && cannot_rename(&failed.error) => {
                        write_in_place(&target, content, executable)?
                    }
                    Err(failed) => {
                        return Err(PlaceError { error: FileError::io(&target, failed.error), torn: false });
                    }
                }
                Ok(())
            }
            Staged::InPlace { target, executable } => write_in_place(&target, content, executable),
        }
    }
}

/// Error of a placement, and whether part of the content has been written.
pub struct PlaceError {
    pub error: FileError,
    pub torn: bool,
}

/// Returns whether a rename failed because of a mount point or the folder's permissions: the file itself may still be
/// writable.
fn cannot_rename(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ResourceBusy};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ResourceBusy)
}

pub(crate) fn folder_error(folder: &Path, error: io::Error) -> FileError {
    let kind = error.kind();
    FileError::Io { path: folder.into(), error: io::Error::new(kind, format!("cannot create this folder: {error}")) }
}

fn finished_copy(folder: &Path, content: &[u8], mode: platform::Mode, is_new: bool) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".omp-").suffix(".tmp");
    platform::create_with(&mut builder, &mode, is_new);
    let mut copy = builder.tempfile_in(folder)?;
    copy.write_all(content)?;
    platform::set_mode(copy.as_file(), &mode, is_new)?;
    copy.as_file().sync_all()?;
    Ok(copy)
}

fn write_in_place(target: &Path, content: &[u8], executable: bool) -> Result<(), PlaceError> {
    let failed = |error, torn| PlaceError { error: FileError::io(target, error), torn };
    let mut file = platform::open_itself(target).map_err(|error| failed(error, false))?;
    let mut write = || {
        // Content is written before the file is truncated, so that a full disk leaves as much as possible.
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
        if executable {
            platform::add_execute(&file)?;
        }
        file.sync_all()
    };
    write().map_err(|error| failed(error, true))
}

fn sync_folder(target: &Path) {
    // Ignores the error of a file system that does not support syncing a folder.
    if let Some(folder) = target.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
}

pub use platform::open_itself;

#[cfg(unix)]
mod platform {
    //! Unix: modes, owners and hard links.

    use std::fs::{File, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    pub struct Mode(u32);

    /// Opens a file for writing. `target` is already resolved, so a link that was put there meanwhile is not followed.
    pub fn open_itself(target: &Path) -> io::Result<File> {
        // Does not block on a pipe that was put there meanwhile.
        let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
        OpenOptions::new().write(true).custom_flags(flags).open(target)
    }

    pub fn rename_keeps_everything(metadata: &Metadata) -> bool {
        metadata.nlink() == 1 && metadata.uid() == nix::unistd::geteuid().as_raw() && same_group(metadata)
    }

    pub fn has_other_names(metadata: &Metadata) -> bool {
        metadata.nlink() > 1
    }

    /// A copy gets the group of the process, so a rename keeps the group only if the file has it already.
    fn same_group(metadata: &Metadata) -> bool {
        metadata.gid() == nix::unistd::getegid().as_raw()
    }

    /// For a new file, the umask of the process still applies.
    pub fn mode_for(existing: Option<&Metadata>, executable: bool) -> Mode {
        let base = existing.map_or(0o666, |metadata| metadata.mode() & 0o7777);
        Mode(if executable { with_execute(base) } else { base })
    }

    pub fn create_with(builder: &mut tempfile::Builder<'_, '_>, mode: &Mode, is_new: bool) {
        if is_new {
            builder.permissions(Permissions::from_mode(mode.0));
        }
    }

    pub fn set_mode(file: &File, mode: &Mode, is_new: bool) -> io::Result<()> {
        if is_new { Ok(()) } else { file.set_permissions(Permissions::from_mode(mode.0)) }
    }

    pub fn add_execute(file: &File) -> io::Result<()> {
        let mode = file.metadata()?.mode() & 0o7777;
        file.set_permissions(Permissions::from_mode(with_execute(mode)))
    }

    fn with_execute(mode: u32) -> u32 {
        mode | ((mode & 0o444) >> 2)
    }
}

#[cfg(not(unix))]
mod platform {
    //! Other systems: only the read-only bit exists, and a read-only file cannot be written to anyway.

    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    pub struct Mode;

    pub fn open_itself(target: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).open(target)
    }

    pub fn rename_keeps_everything(_metadata: &Metadata) -> bool {
        true
    }

    pub fn has_other_names(_metadata: &Metadata) -> bool {
        false
    }

    pub fn mode_for(_existing: Option<&Metadata>, _executable: bool) -> Mode {
        Mode
    }

    pub fn create_with(_builder: &mut tempfile::Builder<'_, '_>, _mode: &Mode, _is_new: bool) {}

    pub fn set_mode(_file: &File, _mode: &Mode, _is_new: bool) -> io::Result<()> {
        Ok(())
    }

    pub fn add_execute(_file: &File) -> io::Result<()> {
        Ok(())
    }
}
