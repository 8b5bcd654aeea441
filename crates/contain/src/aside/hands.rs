//! Renames and makes things by handles that follow no link: whoever swaps a folder for a link meanwhile leads nowhere.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

/// What such things are called then, with a number where the name is taken.
pub(super) const SUFFIX: &str = "set-aside";
/// Names that are tried, files of a folder that are looked at.
pub(super) const MOST: usize = 1_000;

/// What stood somewhere, as far as it can be made again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Make<'a> {
    Folder,
    File(&'a [u8]),
    Link(&'a Path),
}

/// Renames `inner`, or the first link or file on the way to it, within its folder. `None` when nothing is there any more.
pub(super) fn rename_in(root: &Path, inner: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
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
        let free = free_name(&folder, name.to_str()?, kind != SFlag::S_IFDIR);
        let renamed = renameat(&folder, name, &folder, free.as_str()).is_ok();
        return Some((path.join(name), renamed.then(|| path.join(free))));
    }
    None
}

/// Puts a file with these bytes in the place of `inner`, in one step. Returns where what was there is now.
#[cfg(target_os = "linux")]
pub(super) fn swap_in(root: &Path, inner: &Path, bytes: &[u8], mode: u32) -> io::Result<PathBuf> {
    use nix::fcntl::{RenameFlags, renameat2};
    let name = inner.file_name().ok_or(Errno::EINVAL)?;
    let mut folder = open_root(root)?;
    for outer in inner.parent().into_iter().flatten() {
        folder = open_in(&folder, outer)?;
    }
    let free = free_name(&folder, name.to_str().ok_or(Errno::EINVAL)?, false);
    make_file(&folder, OsStr::new(&free), bytes, Mode::from_bits_truncate(mode))?;
    if let Err(error) = renameat2(&folder, name, &folder, free.as_str(), RenameFlags::RENAME_EXCHANGE) {
        let _ = unlinkat(&folder, free.as_str(), UnlinkatFlags::NoRemoveDir);
        return Err(error.into());
    }
    Ok(root.join(inner).with_file_name(free))
}

/// Whoever makes the same thing again and again does not fill the disk: after some, a file takes the place of the first.
fn free_name(folder: &OwnedFd, name: &str, may_replace: bool) -> String {
    const KEPT: usize = 20;
    let numbered = |number: usize| match number {
        1 => format!("{name}.{SUFFIX}"),
        _ => format!("{name}.{SUFFIX}-{number}"),
    };
    let kind_of = |new: &str| fstatat(folder, new, AtFlags::AT_SYMLINK_NOFOLLOW).ok().map(|data| kind(&data));
    let most = if may_replace { KEPT } else { MOST };
    if let Some(free) = (1..most).map(numbered).find(|new| kind_of(new).is_none()) {
        return free;
    }
    if may_replace && kind_of(&numbered(1)).is_some_and(|kind| kind != SFlag::S_IFDIR) {
        return numbered(1);
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{name}.{SUFFIX}-{}", now.as_nanos())
}

/// Makes `inner`, and the folders around it that are missing. Fails where anything is there.
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
    let mut file = std::fs::File::from(openat(folder, name, flags, Mode::from_bits_truncate(0o600))?);
    let written = file.write_all(bytes).and_then(|()| Ok(fchmod(&file, mode)?));
    if written.is_err() {
        // Half of it is worse than nothing.
        let _ = unlinkat(folder, name, UnlinkatFlags::NoRemoveDir);
    }
    written
}

/// Whether the name is one that [`rename_in`] gives.
pub(super) fn is_set_aside(path: &Path) -> bool {
    let end = path.extension().and_then(OsStr::to_str).and_then(|end| end.strip_prefix(SUFFIX));
    end.is_some_and(|number| number.is_empty() || number.strip_prefix('-').is_some_and(is_number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

fn open_root(root: &Path) -> nix::Result<OwnedFd> {
    open(root, FOLDER, Mode::empty())
}

fn open_in(folder: &OwnedFd, name: &OsStr) -> nix::Result<OwnedFd> {
    openat(folder, name, FOLDER, Mode::empty())
}

fn kind(data: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(data.st_mode) & SFlag::S_IFMT
}
