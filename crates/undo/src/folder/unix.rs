//! Uses `openat` and related calls, always with `O_NOFOLLOW`.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat, renameat};
use nix::sys::stat::{FchmodatFlags, FileStat, Mode, SFlag, fchmod, fchmodat, fstat, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

use super::{FolderEntry, FolderEntryKind, FolderNames};
use crate::node::Stat;

const OPEN_FOLDER: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Number of names between two checks of the time limit.
const LOOKS: usize = 1_000;

pub(crate) struct Folder(OwnedFd);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(nix::fcntl::open(path, OPEN_FOLDER, Mode::empty())?))
    }

    pub fn child(&self, name: &[u8]) -> io::Result<Self> {
        match openat(&self.0, OsStr::from_bytes(name), OPEN_FOLDER, Mode::empty()) {
            Ok(handle) => Ok(Self(handle)),
            // A link is not a folder, whatever it points to; systems report this differently.
            Err(Errno::ELOOP | Errno::EMLINK) => Err(Errno::ENOTDIR.into()),
            Err(error) => Err(error.into()),
        }
    }

    pub fn itself(&self) -> io::Result<FolderEntry> {
        Ok(found(&fstat(&self.0)?))
    }

    /// Returns at most `most` names, sorted, as long as there is time. Names that are added concurrently may be missing.
    pub fn names(&self, most: usize, is_over: &dyn Fn() -> bool) -> io::Result<FolderNames> {
        let mut listed = FolderNames::default();
        // A duplicate of the handle shares its position. Listing moves it and ends where it started.
        for (number, entry) in Dir::from_fd(self.0.try_clone()?)?.iter().enumerate() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            listed.is_cut = listed.names.len() >= most || (number % LOOKS == LOOKS - 1 && is_over());
            if listed.is_cut {
                break;
            }
            listed.names.push(name.into());
        }
        listed.names.sort_unstable();
        Ok(listed)
    }

    /// Returns `None` if there is no such entry.
    pub fn look(&self, name: &[u8]) -> io::Result<Option<FolderEntry>> {
        match fstatat(&self.0, OsStr::from_bytes(name), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(found(&stat))),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file for reading. A pipe in place of the file does not block.
    pub fn file(&self, name: &[u8]) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        Ok(openat(&self.0, OsStr::from_bytes(name), flags, Mode::empty())?.into())
    }

    pub fn found_of(file: &File) -> io::Result<FolderEntry> {
        Ok(found(&fstat(file.as_fd())?))
    }

    pub fn is_running(process: i32) -> bool {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), None) != Err(Errno::ESRCH)
    }

    pub fn target(&self, name: &[u8]) -> io::Result<Box<[u8]>> {
        Ok(readlinkat(&self.0, OsStr::from_bytes(name))?.into_vec().into())
    }

    pub fn new_file(&self, name: &[u8]) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.0, OsStr::from_bytes(name), flags, Mode::S_IRUSR | Mode::S_IWUSR)?.into())
    }

    pub fn set_mode_of(file: &File, mode: u32) -> io::Result<()> {
        Ok(fchmod(file.as_fd(), bits(mode))?)
    }

    pub fn set_own_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fchmod(&self.0, bits(mode))?)
    }

    /// Sets the mode of a folder that may not be openable. Never follows a link.
    pub fn set_mode(&self, name: &[u8], mode: u32) -> io::Result<()> {
        if self.look(name)?.is_none_or(|found| found.kind == FolderEntryKind::Link) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let name = OsStr::from_bytes(name);
        match fchmodat(&self.0, name, bits(mode), FchmodatFlags::NoFollowSymlink) {
            Err(Errno::EOPNOTSUPP) => Ok(fchmod(openat(&self.0, name, OPEN_FOLDER, Mode::empty())?, bits(mode))?),
            set => Ok(set?),
        }
    }

    pub fn rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        Ok(renameat(&self.0, OsStr::from_bytes(from), &self.0, OsStr::from_bytes(to))?)
    }

    pub fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        Ok(unlinkat(&self.0, OsStr::from_bytes(name), UnlinkatFlags::NoRemoveDir)?)
    }

    pub fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        Ok(unlinkat(&self.0, OsStr::from_bytes(name), UnlinkatFlags::RemoveDir)?)
    }

    pub fn new_folder(&self, name: &[u8]) -> io::Result<()> {
        Ok(mkdirat(&self.0, OsStr::from_bytes(name), Mode::S_IRWXU)?)
    }

    pub fn new_link(&self, name: &[u8], target: &[u8]) -> io::Result<()> {
        Ok(symlinkat(OsStr::from_bytes(target), &self.0, OsStr::from_bytes(name))?)
    }
}

/// Reads without moving the file position.
pub(crate) fn read_at(file: &File, room: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match std::os::unix::fs::FileExt::read_at(file, room, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Returns whether an open file is the one at this path now.
pub(crate) fn is_same_file(file: &File, path: &Path) -> bool {
    let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), path.symlink_metadata()), (Ok(one), Ok(other)) if identity(&one) == identity(&other))
}

/// Returns the disk usage of a file.
pub(crate) fn disk_use(metadata: &Metadata) -> u64 {
    metadata.blocks() * 512
}

fn found(stat: &FileStat) -> FolderEntry {
    let kind = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFDIR => FolderEntryKind::Folder,
        SFlag::S_IFREG => FolderEntryKind::File,
        SFlag::S_IFLNK => FolderEntryKind::Link,
        _ => FolderEntryKind::Special,
    };
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the types differ between systems")]
    FolderEntry {
        kind,
        stat: Stat {
            size: stat.st_size as u64,
            mtime: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: stat.st_ino as u64,
            mode: u32::from(stat.st_mode) & 0o7777,
        },
        device: stat.st_dev as u64,
    }
}

#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
fn bits(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as nix::libc::mode_t)
}
