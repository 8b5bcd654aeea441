//! Errors that stop an operation. Each states the problem, the reason, and a remedy.

use std::io;
use std::path::PathBuf;

use crate::entry::EntryId;
use crate::lock::Holder;

/// A session could not be opened or written to.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot open session {}: no such file\nhint: `omp --resume` without a value lists this folder's sessions", .0.display())]
    NotFound(PathBuf),
    #[error("cannot open session {}: it is not a regular file\nhint: give the path of a .jsonl session file", .0.display())]
    NotAFile(PathBuf),
    #[error("cannot read session {}: {source}\nhint: check that the file and its folder belong to you", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not a session file: no line of it is a session header or entry\nhint: nothing was changed; give the path of a .jsonl session file", .0.display())]
    NotASession(PathBuf),
    #[error("session {} is in use by {holder}\nhint: close it there, or start a new session", path.display())]
    InUse { path: PathBuf, pid: Option<u32>, holder: Holder },
    #[error("session {} has format version {version}, this omp writes version 3\nhint: it can be read but not continued; update omp", path.display())]
    Newer { path: PathBuf, version: u64 },
    #[error("session {} was changed by another program while it was being opened\nhint: try again", .0.display())]
    Changed(PathBuf),
    #[error("cannot continue session {}: {source}\nhint: check free space and that the file and its folder are writable", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
}

/// An entry was not saved. The session stays usable: the next append tries again.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("cannot save to session {}: the disk is full\nhint: free some space; the session continues", .0.display())]
    DiskFull(PathBuf),
    #[error("cannot create session {}: {source}\nhint: check that the folder is writable, choose another with --session-dir, or use --no-session", path.display())]
    NotCreated { path: PathBuf, source: io::Error },
    #[error("cannot save to session {}: {source}\nhint: check that the disk is there and writable", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
    #[error("cannot save to session {}: the file was deleted\nhint: start a new session", .0.display())]
    Deleted(PathBuf),
    #[error("session {} is in use by {holder}\nhint: close it there, or start a new session", path.display())]
    InUse { path: PathBuf, pid: Option<u32>, holder: Holder },
    #[error("cannot save an image to {}: {source}\nhint: check free space and that the folder is writable", path.display())]
    Blob { path: PathBuf, source: io::Error },
    #[error("cannot save an entry: {0}\nhint: this is a bug in omp; please report it")]
    Encoding(#[from] serde_json::Error),
}

/// A session could not be copied or moved; the source is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("the session has no entry {0}\nhint: `/tree` shows the entries it has")]
    NoEntry(EntryId),
    #[error("cannot write session {}: {source}\nhint: check free space and that the folder is writable; the original session was not changed", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
}

/// A session could not be moved and stays where it was.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("session {} is in use by {holder}\nhint: close it there and try again", path.display())]
    InUse { path: PathBuf, holder: Holder },
    #[error("{} already exists\nhint: nothing was moved; rename or remove it first", .0.display())]
    Taken(PathBuf),
    #[error("cannot move {} to {}: {source}\nhint: nothing was changed; check that both folders are writable", from.display(), to.display())]
    NotMoved { from: PathBuf, to: PathBuf, source: io::Error },
}

/// `--resume <id|path>` did not identify a single session.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("no session id starts with `{0}`\nhint: `omp --resume` without a value lists this folder's sessions")]
    NoMatch(String),
    #[error("several session ids start with `{prefix}`: {}\nhint: give more of the id", matches.join(", "))]
    Ambiguous { prefix: String, matches: Vec<String> },
    #[error("cannot read the sessions folder {}: {source}\nhint: check that it belongs to you", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

impl WriteError {
    pub(crate) fn written(path: &std::path::Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::DiskFull(path)
            }
            _ => Self::NotWritten { path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_a_hint() {
        let error = WriteError::written("/s.jsonl".as_ref(), io::ErrorKind::StorageFull.into());
        assert_eq!(
            error.to_string(),
            "cannot save to session /s.jsonl: the disk is full\nhint: free some space; the session continues"
        );
    }
}
