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
        let name = name.to_str()?;
        let new = (1..MOST).map(|number| if number == 1 { SUFFIX.to_owned() } else { format!("{SUFFIX}-{number}") });
        let mut new = new.map(|suffix| format!("{name}.{suffix}"));
        let free = new.find(|new| fstatat(&folder, new.as_str(), AtFlags::AT_SYMLINK_NOFOLLOW).is_err())?;
        let renamed = renameat(&folder, name, &folder, free.as_str()).is_ok();
        return Some((path.join(name), renamed.then(|| path.join(free))));
    }
    None
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
            let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let mut file = std::fs::File::from(openat(&folder, name, flags, Mode::from_bits_truncate(0o600))?);
            let written = file.write_all(bytes).and_then(|()| Ok(fchmod(&file, mode)?));
            if let Err(error) = written {
                // Half of it is worse than nothing.
                let _ = unlinkat(&folder, name, UnlinkatFlags::NoRemoveDir);
                return Err(error);
            }
        }
    }
    Ok(())
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
