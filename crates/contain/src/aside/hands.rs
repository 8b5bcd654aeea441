//! Renames and creates files by handles that follow no links, so that a folder swapped for a link meanwhile has no effect.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

use super::shelf::Shelf;

/// The suffix of files set aside if there is no shelf, with a number if the name is taken.
pub(super) const SUFFIX: &str = "set-aside";
/// Maximum names tried, and maximum files of a folder that are scanned.
pub(super) const MOST: usize = 1_000;

/// A file, folder or link to be recreated.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make<'a> {
    Folder,
    File(&'a [u8]),
    Link(&'a Path),
}

/// Renames `inner`, or the first link or file on the way to it: onto the shelf, or within its folder if there is no shelf
/// or it is on another disk. `None` if it no longer exists.
pub(super) fn rename_in(root: &Path, inner: &Path, shelf: Option<&Shelf>) -> Option<(PathBuf, Option<PathBuf>)> {
    let mut folder = open_root(root).ok()?;
    let mut path = root.to_owned();
    let mut names = inner.iter().peekable();
    while let Some(name) = names.next() {
        let kind = kind(&fstatat(&folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?);
        if kind == SFlag::S_IFDIR && names.peek().is_some() {
            folder = open_in(&folder, name).ok()?;
            path.push(name);
            continue;
        }
        let shelved = shelf.and_then(|shelf| shelf.put(&folder, name));
        let to = shelved.or_else(|| rename_beside(&folder, name, kind).map(|free| path.join(free)));
        return Some((path.join(name), to));
    }
    None
}

fn rename_beside(folder: &OwnedFd, name: &OsStr, kind: SFlag) -> Option<OsString> {
    let free = free_name(folder, name, kind != SFlag::S_IFDIR);
    renameat(folder, name, folder, free.as_os_str()).ok().map(|()| free)
}

/// Moves `inner` from one folder to another; its parent folders must exist in the target.
#[cfg(target_os = "linux")]
pub(super) fn carry(from: &Path, to: &Path, inner: &Path) -> io::Result<()> {
    let name = inner.file_name().ok_or(Errno::EINVAL)?;
    let folder = |root: &Path| {
        let way = inner.parent().into_iter().flatten();
        way.fold(open_root(root), |folder, name| open_in(&folder?, name))
    };
    Ok(renameat(folder(from)?, name, folder(to)?, name)?)
}

/// A file that was replaced by another.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct CameOut {
    folder: OwnedFd,
    name: OsString,
    pub(super) path: PathBuf,
}

#[cfg(target_os = "linux")]
impl CameOut {
    /// `None` if it is not text, or is longer than `longest`.
    pub(super) fn text(&self, longest: u64) -> Option<String> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.folder, self.name.as_os_str(), flags, Mode::empty()).ok()?);
        let data = file.metadata().ok().filter(|data| data.is_file() && data.len() <= longest)?;
        let mut text = String::with_capacity(usize::try_from(data.len()).ok()?);
        file.take(longest).read_to_string(&mut text).ok().map(|_| text)
    }

    pub(super) fn remove(self) {
        // A leftover file does no harm.
        let _ = unlinkat(&self.folder, self.name.as_os_str(), UnlinkatFlags::NoRemoveDir);
    }
}

/// Atomically replaces `inner` by a file with these bytes. Returns the previous file.
#[cfg(target_os = "linux")]
pub(super) fn swap_in(
    root: &Path,
    inner: &Path,
    bytes: &[u8],
    mode: u32,
    shelf: Option<&Shelf>,
) -> io::Result<CameOut> {
    use nix::fcntl::{RenameFlags, renameat2};
    let name = inner.file_name().ok_or(Errno::EINVAL)?;
    let mut folder = open_root(root)?;
    for outer in inner.parent().into_iter().flatten() {
        folder = open_in(&folder, outer)?;
    }
    let swap = |into: OwnedFd, free: OsString, path: PathBuf| {
        make_file(&into, &free, bytes, Mode::from_bits_truncate(mode))?;
        match renameat2(&folder, name, &into, free.as_os_str(), RenameFlags::RENAME_EXCHANGE) {
            Ok(()) => Ok(CameOut { folder: into, name: free, path }),
            Err(error) => {
                let _ = unlinkat(&into, free.as_os_str(), UnlinkatFlags::NoRemoveDir);
                Err(io::Error::from(error))
            }
        }
    };
    let onto = |shelf: &Shelf| {
        let (into, free) = shelf.room_for(name)?;
        let path = shelf.path().join(&free);
        swap(into, free, path)
    };
    if let Some(Ok(out)) = shelf.map(onto) {
        return Ok(out);
    }
    let free = free_name(&folder, name, false);
    let path = root.join(inner).with_file_name(&free);
    swap(folder.try_clone()?, free, path)
}

/// A free name for a file set aside. After a number of them the first is replaced, so that a repeated attempt does not fill
/// the disk.
fn free_name(folder: &OwnedFd, name: &OsStr, may_replace: bool) -> OsString {
    const KEPT: usize = 20;
    let numbered = |number: usize| match number {
        1 => named(name, &format!(".{SUFFIX}")),
        _ => named(name, &format!(".{SUFFIX}-{number}")),
    };
    let kind_of = |new: &OsStr| fstatat(folder, new, AtFlags::AT_SYMLINK_NOFOLLOW).ok().map(|data| kind(&data));
    let most = if may_replace { KEPT } else { MOST };
    if let Some(free) = (1..most).map(numbered).find(|new| kind_of(new).is_none()) {
        return free;
    }
    if may_replace && kind_of(&numbered(1)).is_some_and(|kind| kind != SFlag::S_IFDIR) {
        return numbered(1);
    }
    named(name, &format!(".{SUFFIX}-{}", moment()))
}

pub(super) fn named(name: &OsStr, end: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(end);
    name
}

/// A unique timestamp.
pub(super) fn moment() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// Creates `inner` and its missing parent folders. Fails if the path exists.
pub(super) fn make_in(root: &Path, inner: &Path, what: Make<'_>, mode: u32) -> io::Result<()> {
    let name = inner.file_name().ok_or(Errno::EINVAL)?;
    let mut folder = open_root(root)?;
    for outer in inner.parent().into_iter().flatten() {
        match mkdirat(&folder, outer, Mode::from_bits_truncate(0o755)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = open_in(&folder, outer)?;
    }
    let mode = Mode::from_bits_truncate(mode);
    match what {
        Make::Link(to) => symlinkat(to, &folder, name)?,
        Make::Folder => {
            mkdirat(&folder, name, mode)?;
            fchmod(open_in(&folder, name)?, mode)?;
        }
        Make::File(bytes) => {
            return make_file(&folder, name, bytes, mode);
        }
    }
    Ok(())
}

fn make_file(folder: &OwnedFd, name: &OsStr, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(folder, name, flags, Mode::from_bits_truncate(0o600))?);
    let written = file.write_all(bytes).and_then(|()| Ok(fchmod(&file, mode)?));
    if written.is_err() {
        // A partial file is worse than none.
        let _ = unlinkat(folder, name, UnlinkatFlags::NoRemoveDir);
    }
    written
}

/// Whether the name is one that [`rename_in`] creates.
pub(super) fn is_set_aside(path: &Path) -> bool {
    let end = path.extension().and_then(OsStr::to_str).and_then(|end| end.strip_prefix(SUFFIX));
    end.is_some_and(|number| number.is_empty() || number.strip_prefix('-').is_some_and(is_number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

pub(super) fn open_root(root: &Path) -> nix::Result<OwnedFd> {
    open(root, FOLDER, Mode::empty())
}

pub(super) fn open_in(folder: &OwnedFd, name: &OsStr) -> nix::Result<OwnedFd> {
    openat(folder, name, FOLDER, Mode::empty())
}

fn kind(data: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(data.st_mode) & SFlag::S_IFMT
}
