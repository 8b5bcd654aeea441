//! Linux and macOS.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Sessions are readable only by their owner, because they hold the conversation.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Open options that create files readable only by their owner.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// Creates `path` and its missing parents; existing folders keep their mode.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Returns the host name, if a file contains it.
pub fn host_name() -> Option<String> {
    let name =
        std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::fs::read_to_string("/etc/hostname"));
    name.ok().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns when a file last changed its content, name or location.
pub(crate) fn changed(file: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(file.ctime()).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Returns the target of standard input on Linux; on other systems the environment identifies the terminal.
pub(crate) fn terminal_device() -> Option<PathBuf> {
    std::fs::read_link("/proc/self/fd/0").ok().filter(|path| path.starts_with("/dev") && io::stdin().is_terminal())
}

/// Returns whether the open file has been deleted.
pub(crate) fn is_deleted(file: &Metadata) -> bool {
    file.nlink() == 0
}

/// Returns whether `path` still refers to this open file.
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok(named.dev() == open.dev() && named.ino() == open.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Syncs a folder: a new file survives a power failure only after its folder is synced.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Removes a lock file while it is locked, so that the next process that opens the path notices.
pub(crate) fn remove_held(path: &Path) {
    let _ = std::fs::remove_file(path);
}
