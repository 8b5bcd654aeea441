//! Opens regular files without blocking and reads them up to a limit.
//!
//! A repository may contain a pipe where a file is expected: opening it normally blocks until a writer comes. Opening a
//! device may have worse effects, so the file type is checked before and after opening.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Follows links. Rejects anything but a regular file.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    is_plain(std::fs::metadata(path)?)?;
    let file = open_without_waiting(path)?;
    // The path may have been replaced meanwhile.
    let metadata = is_plain(file.metadata()?)?;
    Ok((file, metadata))
}

/// Reads the whole file. Rejects a file of more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open(path)?;
    read_opened(file, &metadata, most)
}

fn read_opened(file: File, metadata: &Metadata, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"));
    if metadata.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // The size may be wrong, as in /proc, or grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Like [`read`], but rejects a link, for files that another user could replace by a link.
#[cfg(unix)]
pub fn read_itself(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    use nix::fcntl::OFlag;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
    is_plain(std::fs::symlink_metadata(path)?)?;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    let metadata = is_plain(file.metadata()?)?;
    read_opened(file, &metadata, most)
}

#[cfg(not(unix))]
pub fn read_itself(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    is_plain(std::fs::symlink_metadata(path)?)?;
    read(path, most)
}

/// Reads the whole file as text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Whether this error says that the path is not a regular file.
pub fn is_other_kind(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<OtherKind>())
}

/// Opens any file type for reading, including a pipe without a writer.
#[cfg(unix)]
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    use nix::fcntl::OFlag;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    std::fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

#[cfg(not(unix))]
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[derive(Debug)]
struct OtherKind;

impl std::fmt::Display for OtherKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it is not a regular file")
    }
}

impl std::error::Error for OtherKind {}

fn is_plain(metadata: Metadata) -> io::Result<Metadata> {
    if metadata.is_file() { Ok(metadata) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, OtherKind)) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_of_the_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "four").unwrap();
        assert_eq!(read_text(&file, 4).unwrap(), "four");
        assert_eq!(read(&file, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        std::fs::write(&file, b"\xff").unwrap();
        assert_eq!(read_text(&file, 4).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&folder.path().join("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!is_other_kind(&read(&file, 0).unwrap_err()));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(read(&link, 4).is_ok() && read_itself(&file, 4).is_ok());
        assert!(is_other_kind(&read_itself(&link, 4).unwrap_err()));
    }

    #[test]
    fn nothing_else_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link, folder.path(), Path::new("/dev/zero")] {
            assert!(is_other_kind(&read(path, 4).unwrap_err()), "{path:?}");
            assert!(is_other_kind(&read_itself(path, 4).unwrap_err()), "{path:?}");
        }
        // Simulates a pipe that replaces the file between the two checks.
        assert!(!open_without_waiting(&pipe).unwrap().metadata().unwrap().is_file());
    }
}
