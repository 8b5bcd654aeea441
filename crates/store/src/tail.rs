//! The end of a session file: appends a whole line or nothing, and moves a torn line out of the way.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::platform;

/// Error of a failed append.
#[derive(Debug)]
pub(crate) struct NotAdded {
    pub error: io::Error,
    /// Part of the line is still in the file because truncating failed; the next append must start a new line.
    pub left_torn: bool,
}

/// Appends `line` with one write. If it does not fit, the written part is truncated again, so the file is unchanged. `write`
/// is [`File::write`] outside tests.
pub(crate) fn add_whole(
    file: &File,
    line: &[u8],
    mut write: impl FnMut(&mut &File, &[u8]) -> io::Result<usize>,
) -> Result<(), NotAdded> {
    let before = file.metadata().map_err(|error| NotAdded { error, left_torn: false })?.len();
    let mut written = 0;
    let mut handle = file;
    while written < line.len() {
        match write(&mut handle, &line[written..]) {
            Ok(0) => return Err(cut_back(file, before, written, io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(cut_back(file, before, written, error)),
        }
    }
    Ok(())
}

/// Removes only the bytes just written: if the file is longer than that, another program has appended and nothing is
/// removed.
fn cut_back(file: &File, before: u64, written: usize, error: io::Error) -> NotAdded {
    if written == 0 {
        return NotAdded { error, left_torn: false };
    }
    let only_ours = file.metadata().is_ok_and(|now| now.len() == before + written as u64);
    let cut = only_ours && file.set_len(before).is_ok();
    NotAdded { error, left_torn: !cut }
}

/// Returns whether the file ends in the middle of a line. An empty file does not.
pub(crate) fn ends_torn(file: &File) -> io::Result<bool> {
    let mut handle = file;
    if handle.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    handle.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    handle.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Copies everything from `start` into `<session>.torn-<n>`, syncs it, and then truncates the session.
pub(crate) fn move_torn(file: &File, session: &Path, start: u64) -> io::Result<PathBuf> {
    let (mut side, path) = new_side_file(session)?;
    let mut handle = file;
    let copied = handle
        .seek(SeekFrom::Start(start))
        .and_then(|_| io::copy(&mut handle, &mut side))
        .and_then(|_| side.flush())
        .and_then(|()| side.sync_all());
    if let Err(error) = copied {
        let _ = std::fs::remove_file(&path);
        return Err(error);
    }
    file.set_len(start)?;
    Ok(path)
}

fn new_side_file(session: &Path) -> io::Result<(File, PathBuf)> {
    let mut number = 1u32;
    loop {
        let mut name = session.as_os_str().to_owned();
        name.push(format!(".torn-{number}"));
        let path = PathBuf::from(name);
        match platform::private_file().create_new(true).write(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    fn full() -> io::Error {
        io::ErrorKind::StorageFull.into()
    }

    /// Simulates a disk with `room` free bytes.
    fn check(room: usize, line: &str, expect: &str) {
        let temp = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(temp.path(), "before\n").unwrap();
        let file = OpenOptions::new().read(true).append(true).open(temp.path()).unwrap();
        let mut left = room;
        let added = add_whole(&file, line.as_bytes(), |file, bytes| {
            let fits = bytes.len().min(left);
            left -= fits;
            if fits == 0 { Err(full()) } else { file.write(&bytes[..fits]) }
        });
        assert_eq!(added.is_ok(), room >= line.len());
        assert_eq!(std::fs::read_to_string(temp.path()).unwrap(), expect);
    }

    #[test]
    fn a_line_is_added_whole_or_not_at_all() {
        check(100, "line\n", "before\nline\n");
        check(5, "line\n", "before\nline\n");
        check(4, "line\n", "before\n");
        check(1, "line\n", "before\n");
        check(0, "line\n", "before\n");
    }

    #[test]
    fn another_programs_bytes_are_never_cut() {
        let temp = tempfile::NamedTempFile::new().unwrap();
        let file = OpenOptions::new().read(true).append(true).open(temp.path()).unwrap();
        let mut first = true;
        let failed = add_whole(&file, b"line\n", |file, bytes| {
            if !std::mem::take(&mut first) {
                file.write_all(b"theirs\n")?;
                return Err(full());
            }
            file.write(&bytes[..2])
        });
        assert!(failed.unwrap_err().left_torn);
        assert_eq!(std::fs::read_to_string(temp.path()).unwrap(), "litheirs\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_says_so() {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let failed = add_whole(&file, b"line\n", |file, bytes| file.write(bytes)).unwrap_err();
        assert_eq!(failed.error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn torn_bytes_are_kept_aside() {
        let temp = tempfile::tempdir().unwrap();
        let session = temp.path().join("s.jsonl");
        std::fs::write(&session, "whole\nto").unwrap();
        std::fs::write(temp.path().join("s.jsonl.torn-1"), "older").unwrap();
        let file = OpenOptions::new().read(true).append(true).open(&session).unwrap();
        assert!(ends_torn(&file).unwrap());
        let side = move_torn(&file, &session, 6).unwrap();
        assert_eq!(side, temp.path().join("s.jsonl.torn-2"));
        assert_eq!(std::fs::read_to_string(side).unwrap(), "to");
        assert_eq!(std::fs::read_to_string(&session).unwrap(), "whole\n");
        assert!(!ends_torn(&file).unwrap());
    }
}
