//! SQLite databases: read without the ability to change them, and written one row at a time.

use std::io::Read;
use std::path::Path;

mod address;
mod look;
mod open;
mod print;
mod schema;
mod selector;
mod stored;
mod write;

pub use address::{DatabaseAddress, locate_database, new_database_address};
pub use look::look;
pub use selector::SqliteSelector;
pub use stored::stored_texts;
pub use write::{RowWrite, write_row};

use crate::open::{FileError, open_regular};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Time to wait for a lock of another process before the database counts as busy.
const BUSY_MILLISECONDS: u64 = 3000;

#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("SQLite database '{0}' not found")]
    NoDatabase(String),
    #[error("SQLite table '{0}' not found{1}")]
    NoTable(String, String),
    #[error("SQLite table '{0}' has no column named '{1}'\nhint: it has {2}")]
    NoColumn(String, String, String),
    #[error("SQLite table '{0}' has a composite primary key; use '?where=' instead")]
    CompositeKey(String),
    #[error("SQLite table '{0}' does not expose ROWID; use '?where=' instead")]
    NoRowId(String),
    #[error("SQLite ROWID must be an integer; got '{0}'")]
    RowIdNotInteger(String),
    #[error("SQLite column '{0}' only accepts JSON scalar values or null")]
    NotScalar(String),
    #[error("SQLite write content must be valid JSON5: {0}")]
    NotJson(String),
    #[error("SQLite write content must be a JSON object")]
    NotObject,
    #[error("SQLite updates require at least one column value")]
    NothingToSet,
    #[error("SQLite deletes require a row key in the path")]
    DeleteWithoutKey,
    #[error("SQLite write paths do not support query parameters")]
    QueryInWrite,
    #[error("SQLite write path must target a table")]
    NoTableNamed,
    #[error("SQLite row writes require a non-empty row key")]
    EmptyKey,
    #[error("{0}")]
    Selector(String),
    #[error("the query was stopped after {} seconds\nhint: narrow it with '?where=', or use a shell command", look::DEADLINE.as_secs())]
    TooSlow,
    #[error("the query was cancelled")]
    Cancelled,
    #[error("the query would change something or reach outside the database, which reading does not allow")]
    NotAllowed,
    #[error("SQLite: {0}")]
    Sqlite(rusqlite::Error),
}

/// Returns whether a regular file starts with the SQLite header.
pub fn is_sqlite(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    open_regular(path).is_ok_and(|(mut file, _)| file.read_exact(&mut start).is_ok() && start == *MAGIC)
}

/// Quotes a name for use in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
