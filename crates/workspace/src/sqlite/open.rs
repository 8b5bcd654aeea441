//! Opens a database without writing anything, neither into it nor next to it.
//!
//! A database with a write-ahead log is difficult: opening it normally, even for reading, creates the log and its index. So
//! a database without a log is opened as immutable, one that others have open is read through their index, and one with a
//! log that nobody has open is read from a copy.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::SqliteError;
use crate::open::{FileError, open_regular};

/// Size limit of database and log together for making a copy.
const MAX_COPY: u64 = 256 * 1024 * 1024;
/// Header bytes that show whether there may be a log.
const VERSIONS: std::ops::Range<usize> = 18..20;
const WITH_LOG: u8 = 2;

pub struct OpenedDatabase {
    pub db: Connection,
    /// Describes data that is not visible through this connection.
    pub note: Option<String>,
    /// Deleted after the connection is closed.
    _copy: Option<TempDir>,
}

/// `path` must not contain links: none is followed.
pub fn open_unchanged(path: &Path) -> Result<OpenedDatabase, SqliteError> {
    // SQLite would block forever on a pipe.
    let (mut file, metadata) = open_regular(path)?;
    let mut head = [0; VERSIONS.end];
    let has_head = file.read_exact(&mut head).is_ok();
    drop(file);
    if !has_head || !head[VERSIONS].contains(&WITH_LOG) {
        return opened(path, "");
    }
    let log = beside(path, "-wal");
    let log_size = std::fs::metadata(&log).map_or(0, |log| log.len());
    match () {
        () if log_size == 0 => opened(path, "immutable=1"),
        () if beside(path, "-shm").is_file() => opened(path, "readonly_shm=1"),
        () if metadata.len().saturating_add(log_size) <= MAX_COPY => open_copy(path, &log),
        () => {
            let note = format!(
                "[the last changes, {} in {}, are not shown: reading them would write next to the database; \
                 sqlite3 shows them, through bash]",
                omp_stdx::format::bytes(log_size),
                log.file_name().unwrap_or_default().to_string_lossy()
            );
            Ok(OpenedDatabase { note: Some(note), ..opened(path, "immutable=1")? })
        }
    }
}

fn opened(path: &Path, how: &str) -> Result<OpenedDatabase, SqliteError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = match how {
        "" => Connection::open_with_flags(path, flags & !OpenFlags::SQLITE_OPEN_URI)?,
        how => Connection::open_with_flags(address(path, how), flags)?,
    };
    Ok(OpenedDatabase { db, note: None, _copy: None })
}

fn open_copy(path: &Path, log: &Path) -> Result<OpenedDatabase, SqliteError> {
    let failed = |error| SqliteError::File(FileError::io(path, error));
    let folder = tempfile::tempdir().map_err(failed)?;
    let copy = folder.path().join("copy");
    std::fs::copy(path, &copy).map_err(failed)?;
    std::fs::copy(log, beside(&copy, "-wal")).map_err(failed)?;
    // The copy is private, so SQLite may create an index for its log.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(&copy, flags)?;
    Ok(OpenedDatabase { db, note: None, _copy: Some(folder) })
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Formats a URI such as `file:/a%20b.db?immutable=1`.
fn address(path: &Path, parameters: &str) -> String {
    let mut address = String::from("file:");
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = if cfg!(windows) { bytes.strip_prefix(br"\\?\").unwrap_or(bytes) } else { bytes };
    if cfg!(windows) {
        address.push_str("///");
    }
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            b':' if cfg!(windows) => address.push(':'),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("{address}?{parameters}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn addresses() {
        assert_eq!(address(Path::new("/a b?c%/é#.db"), "x=1"), "file:/a%20b%3Fc%25/%C3%A9%23.db?x=1");
    }
}
