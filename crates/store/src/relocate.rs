//! Moves sessions: to another working folder, to the archive and back, to the trash.
//!
//! The artifacts of a session and the files set aside from it are moved as well. Either everything is moved or nothing. A
//! session that is being written to is not moved.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::blob::BlobStore;
use crate::copy::write_session;
use crate::error::MoveError;
use crate::folder::SessionsDir;
use crate::lock::{LockError, SessionLock};
use crate::open::LoadedSession;
use crate::platform;

/// Limit on trashed sessions with the same name.
const MOST_NAMESAKES: usize = 100;
/// Separates the name of a folder in the trash from the number that makes it unique.
const NUMBER: &str = "~trash-";

impl SessionsDir {
    /// Moves a session to another working folder and updates its header, which records the previous path.
    pub fn move_to(&self, session: &Path, cwd: &Path, blobs: BlobStore) -> Result<PathBuf, MoveError> {
        let to = self.session_dir_for(cwd).join(session.file_name().unwrap_or_default());
        carry(session, &to, blobs, |header| {
            header.insert("cwd".into(), cwd.to_string_lossy().into());
            if to != session {
                remember_place(header, session);
            }
        })?;
        Ok(to)
    }

    /// Reverts [`Self::move_to`]: the session is moved to `back` and the record of the move is removed. `cwd` is the
    /// original working folder from the header.
    pub fn move_back(&self, moved: &Path, back: &Path, cwd: &str, blobs: BlobStore) -> Result<(), MoveError> {
        carry(moved, back, blobs, |header| {
            header.insert("cwd".into(), cwd.into());
            if back != moved {
                forget_place(header, back);
            }
        })
    }

    /// Moves a session to the archive. It is no longer listed, but keeps all its data.
    pub fn archive(&self, session: &Path) -> Result<PathBuf, MoveError> {
        self.shift(session, &self.archived(), OpenBy::Nobodys)
    }

    /// Restores a session from the archive or the trash.
    pub fn unarchive(&self, session: &Path) -> Result<PathBuf, MoveError> {
        let from = if session.starts_with(self.trashed().root()) { self.trashed() } else { self.archived() };
        from.shift(session, self, OpenBy::Nobodys)
    }

    /// Moves a session to the trash, from which it can be restored until the next cleanup.
    pub fn trash(&self, session: &Path) -> Result<PathBuf, MoveError> {
        self.shift(session, &self.trashed(), OpenBy::Nobodys)
    }

    /// Moves a session to the trash that this process has open and is about to close.
    pub fn trash_own(&self, session: &Path) -> Result<PathBuf, MoveError> {
        self.shift(session, &self.trashed(), OpenBy::Ours)
    }

    fn shift(&self, session: &Path, into: &Self, whose: OpenBy) -> Result<PathBuf, MoveError> {
        let below = session.parent().and_then(|folder| folder.strip_prefix(self.root()).ok());
        let below = without_number(&below.unwrap_or(Path::new("")).to_string_lossy());
        let name = session.file_name().unwrap_or_default();
        let place = |folder: &str| into.root().join(folder).join(name);
        let mut to = place(&below);
        let is_trash = into.root().ends_with("trash/sessions") || into.root().ends_with("trash");
        for number in 1..MOST_NAMESAKES {
            if !is_trash || !(to.exists() || to.with_extension("").exists()) {
                break;
            }
            to = place(&format!("{below}{NUMBER}{number}"));
        }
        relocate(session, &to, whose)?;
        Ok(to)
    }
}

/// Writes a session with a new header to the new path, moves its companion files, and removes the old file last.
fn carry(
    session: &Path,
    to: &Path,
    blobs: BlobStore,
    change: impl FnOnce(&mut serde_json::Map<String, Value>),
) -> Result<(), MoveError> {
    // Opening for writing acquires the lock and sets a torn last line aside.
    let (writer, _) = LoadedSession::open(session, blobs.clone())?.into_writer()?;
    let loaded = LoadedSession::open(session, blobs)?;
    let mut header = loaded.raw_header();
    change(&mut header);
    let title_line = loaded.raw_title_line();
    let entries = |out: &mut dyn io::Write| loaded.copy_entries(out);
    let not_moved = |source| MoveError::NotMoved { from: session.to_owned(), to: to.to_owned(), source };
    if to == session {
        return replace_session(session, &title_line, &header, entries).map_err(not_moved);
    }
    if to.exists() {
        return Err(MoveError::Taken(to.to_owned()));
    }
    platform::create_private_folder(to.parent().unwrap_or(to)).map_err(not_moved)?;
    let mut steps = Steps::default();
    let moved = write_session(to, &title_line, &header, entries)
        .and_then(|()| steps.companions(session, to))
        .and_then(|()| std::fs::remove_file(session));
    drop(writer);
    moved.map_err(|error| {
        let error = steps.back(error);
        // The file was created here, under a name that was free.
        let _ = std::fs::remove_file(to);
        not_moved(error)
    })
}

/// Returns the original folder name of a trashed session.
fn without_number(folder: &str) -> String {
    match folder.rsplit_once(NUMBER) {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.to_owned()
        }
        _ => folder.to_owned(),
    }
}

/// Which process may have the session open during the move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBy {
    Nobodys,
    Ours,
}

/// Renames a session and its companion files.
fn relocate(from: &Path, to: &Path, whose: OpenBy) -> Result<(), MoveError> {
    let not_moved = |source| MoveError::NotMoved { from: from.to_owned(), to: to.to_owned(), source };
    if !from.is_file() {
        return Err(not_moved(io::ErrorKind::NotFound.into()));
    }
    if to.exists() || to.with_extension("").exists() {
        return Err(MoveError::Taken(to.to_owned()));
    }
    let lock = match SessionLock::acquire(from) {
        Ok(lock) => Some(lock),
        Err(LockError::Held(holder)) if whose == OpenBy::Ours && holder.pid == Some(std::process::id()) => None,
        Err(LockError::Held(holder)) => return Err(MoveError::InUse { path: from.to_owned(), holder }),
        Err(LockError::Io(source)) => return Err(not_moved(source)),
    };
    platform::create_private_folder(to.parent().unwrap_or(to)).map_err(not_moved)?;
    let mut steps = Steps::default();
    let moved = steps.companions(from, to).and_then(|()| steps.step(from, to));
    drop(lock);
    moved.map_err(|error| not_moved(steps.back(error)))
}

/// Completed moves, to be reverted if a later one fails.
#[derive(Default)]
struct Steps {
    done: Vec<(PathBuf, PathBuf)>,
}

impl Steps {
    /// Moves artifacts and files set aside from the session.
    fn companions(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(from_name), Some(to_folder)) = (from.file_name(), to.parent()) else { return Ok(()) };
        let prefix = format!("{}.", from_name.to_string_lossy());
        for entry in std::fs::read_dir(from.parent().unwrap_or(Path::new(".")))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let lock = name.ends_with(".lock");
            if name.starts_with(&prefix) && !lock && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                self.step(&entry.path(), &to_folder.join(entry.file_name()))?;
            }
        }
        let artifacts = from.with_extension("");
        if artifacts.is_dir() { self.step(&artifacts, &to.with_extension("")) } else { Ok(()) }
    }

    fn step(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if to.exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} already exists", to.display())));
        }
        rename(from, to)?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Reverts all moves. Moves that cannot be reverted are added to the error.
    fn back(&mut self, error: io::Error) -> io::Error {
        for (from, to) in std::mem::take(&mut self.done).into_iter().rev() {
            if let Err(second) = rename(&to, &from) {
                let text = format!("{error}; and {} could not be moved back: {second}", to.display());
                return io::Error::other(text);
            }
        }
        error
    }
}

/// Renames a file. Between file systems it is copied, and the original is removed after the copy is complete.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        renamed => return renamed,
    }
    if from.is_file() {
        std::fs::copy(from, to)?;
        std::fs::File::open(to)?.sync_all()?;
        return std::fs::remove_file(from);
    }
    match crate::artifact::copy_artifacts(from, to).into_iter().next() {
        Some(failed) => {
            let _ = std::fs::remove_dir_all(to);
            Err(io::Error::other(failed))
        }
        None => std::fs::remove_dir_all(from),
    }
}

fn remember_place(header: &mut serde_json::Map<String, Value>, session: &Path) {
    let place = Value::from(session.to_string_lossy());
    let known = header.entry("previousSessionFiles").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(places) = known
        && !places.contains(&place)
    {
        places.push(place);
    }
}

fn forget_place(header: &mut serde_json::Map<String, Value>, session: &Path) {
    let place = Value::from(session.to_string_lossy());
    let Some(Value::Array(places)) = header.get_mut("previousSessionFiles") else { return };
    places.retain(|known| *known != place);
    if places.is_empty() {
        header.shift_remove("previousSessionFiles");
    }
}

/// Replaces the header in place, if both working folders share one session folder.
fn replace_session(
    path: &Path,
    title_line: &str,
    header: &serde_json::Map<String, Value>,
    entries: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let side = path.with_extension("jsonl.moving");
    write_session(&side, title_line, header, entries)?;
    std::fs::rename(side, path)
}
