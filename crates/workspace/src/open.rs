//! Opens files of unknown kind: only regular files are read. Other kinds are refused by name and never block.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use omp_types::Denied;

/// Size limit for loading a file whole; larger files are only streamed in ranges.
pub const MAX_WHOLE_FILE: u64 = 16 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("File not found: {0}")]
    NotFound(PathBuf),
    #[error("{0} is a directory, not a file")]
    Directory(PathBuf),
    #[error(
        "{path} is {kind}, not a regular file; it is not opened because reading or writing it may block or act on hardware"
    )]
    Special { path: PathBuf, kind: &'static str },
    #[error("{path} has {} and is too large to load whole (limit {})", omp_stdx::format::bytes(*size), omp_stdx::format::bytes(MAX_WHOLE_FILE))]
    TooLarge { path: PathBuf, size: u64 },
    #[error("{path}: {}", plain_reason(.error))]
    Io { path: PathBuf, error: io::Error },
    /// Holds the path with links resolved.
    #[error("{denied}\nhint: {hint}", denied = .0, hint = denied_hint(.0))]
    Denied(Denied),
}

impl FileError {
    pub fn io(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::NotFound(path.into()),
            io::ErrorKind::IsADirectory => FileError::Directory(path.into()),
            _ => FileError::Io { path: path.into(), error },
        }
    }

    /// Returns the same error with the display form of the path.
    pub fn shown_as(self, display: &str) -> Self {
        let path = PathBuf::from(display);
        match self {
            FileError::NotFound(_) => FileError::NotFound(path),
            FileError::Directory(_) => FileError::Directory(path),
            FileError::Special { kind, .. } => FileError::Special { path, kind },
            FileError::TooLarge { size, .. } => FileError::TooLarge { path, size },
            FileError::Io { error, .. } => FileError::Io { path, error },
            // A denial keeps the resolved path, because that is the one that was denied.
            denied @ FileError::Denied(_) => denied,
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            FileError::NotFound(path) | FileError::Directory(path) => path,
            FileError::Special { path, .. } | FileError::TooLarge { path, .. } | FileError::Io { path, .. } => path,
            FileError::Denied(denied) => denied.path(),
        }
    }

    pub fn is_not_found(&self) -> bool {
        matches!(self, FileError::NotFound(_))
    }
}

/// Kind of file that a path refers to, with links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Special(&'static str),
}

pub fn kind_of(metadata: &Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Special(platform::special_kind(metadata))
    }
}

/// Opens a regular file. The kind is checked before opening, so that opening cannot block, and again on the open file, in
/// case the path was replaced in between.
pub fn open_regular(path: &Path) -> Result<(File, Metadata), FileError> {
    let io_error = |error| FileError::io(path, error);
    refuse_other_kinds(path, &std::fs::metadata(path).map_err(io_error)?)?;
    let file = open_without_waiting(path).map_err(|error| match platform::refused_kind(&error) {
        Some(kind) => FileError::Special { path: path.into(), kind },
        None => io_error(error),
    })?;
    let metadata = file.metadata().map_err(io_error)?;
    refuse_other_kinds(path, &metadata)?;
    Ok((file, metadata))
}

/// Reads a regular file of at most [`MAX_WHOLE_FILE`] bytes.
pub fn read_whole(path: &Path) -> Result<Vec<u8>, FileError> {
    let (file, metadata) = open_regular(path)?;
    read_opened(path, file, &metadata)
}

/// Reads an open file of at most [`MAX_WHOLE_FILE`] bytes.
pub(crate) fn read_opened(path: &Path, file: File, metadata: &Metadata) -> Result<Vec<u8>, FileError> {
    let too_large = |size| FileError::TooLarge { path: path.into(), size };
    if metadata.len() > MAX_WHOLE_FILE {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // The reported size may be wrong (files in /proc) or grow during the read.
    file.take(MAX_WHOLE_FILE + 1).read_to_end(&mut bytes).map_err(|error| FileError::io(path, error))?;
    if bytes.len() as u64 > MAX_WHOLE_FILE { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Like [`read_whole`], with `None` for a file that does not exist.
pub fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match read_whole(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn refuse_other_kinds(path: &Path, metadata: &Metadata) -> Result<(), FileError> {
    match kind_of(metadata) {
        FileKind::File => Ok(()),
        FileKind::Directory => Err(FileError::Directory(path.into())),
        FileKind::Special(kind) => Err(FileError::Special { path: path.into(), kind }),
    }
}

pub(crate) use omp_stdx::plain_file::open_without_waiting;

fn denied_hint(denied: &Denied) -> &'static str {
    match denied {
        Denied::Hidden(_) => "continue without it, or ask the user for what you need from it",
        Denied::Guarded(_) => "tell the user what it should contain; they can change it themselves",
        Denied::Outside(_) => "write inside the workspace; the user can add other folders to containment.writable",
        Denied::Link(_) => "read it by its own path if it is needed; the user can add it to containment.shown",
        Denied::ReadOnly(_) => "tell the user what should be changed; containment.mode decides",
    }
}

fn plain_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull => "no space left on the device\nhint: free some disk space and try again".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        _ => error.to_string(),
    }
}

#[cfg(unix)]
mod platform {
    //! Unix: special files have distinct kinds, and `open` can be asked not to block.

    use std::fs::Metadata;
    use std::io;
    use std::os::unix::fs::FileTypeExt;

    pub fn special_kind(metadata: &Metadata) -> &'static str {
        let kind = metadata.file_type();
        match () {
            () if kind.is_fifo() => "a named pipe (FIFO)",
            () if kind.is_socket() => "a socket",
            () if kind.is_char_device() => "a character device",
            () if kind.is_block_device() => "a block device",
            () => "a special file",
        }
    }

    /// Returns the kind of a file that `open` itself refuses: sockets fail with `ENXIO`.
    pub fn refused_kind(error: &io::Error) -> Option<&'static str> {
        (error.raw_os_error() == Some(nix::errno::Errno::ENXIO as i32)).then_some("a socket")
    }
}

#[cfg(not(unix))]
mod platform {
    //! Other systems: everything that is neither a file nor a folder is treated as a device.

    use std::fs::Metadata;
    use std::io;

    pub fn special_kind(_metadata: &Metadata) -> &'static str {
        "a device"
    }

    pub fn refused_kind(_error: &io::Error) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(read_whole(&file).unwrap(), b"x");
        assert!(matches!(read_whole(folder.path()), Err(FileError::Directory(_))));
        assert!(read_whole(&folder.path().join("b")).unwrap_err().is_not_found());
        assert!(read_whole(&file.join("below")).unwrap_err().is_not_found());
        assert_eq!(read_if_exists(&folder.path().join("b")).unwrap(), None);
    }

    #[test]
    fn files_above_the_limit_are_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        File::create(&path).unwrap().set_len(MAX_WHOLE_FILE + 1).unwrap();
        assert!(matches!(read_whole(&path), Err(FileError::TooLarge { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_sockets_and_devices_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, kind) in [(pipe.as_path(), "pipe"), (&socket, "socket"), (Path::new("/dev/null"), "device")] {
            let error = read_whole(path).unwrap_err().to_string();
            assert!(error.contains(kind), "{error}");
        }
    }
}
