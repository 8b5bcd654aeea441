//! Sessions that change their place: to another working folder, into the archive and back, into the trash.
//!
//! Everything that belongs to a session goes with it: its artifacts and what was set aside from it. Either all of it
//! arrives or all of it is where it was. A session that somebody writes to is not moved.

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

/// A name in the trash may be taken by an earlier session of the same name.
const MOST_NAMESAKES: usize = 100;
/// Stands between the name of a folder in the trash and the number that tells it from its namesakes.
const NUMBER: &str = "~trash-";

impl SessionsDir {
    /// Moves a session to another working folder and tells its header so. Where it was before stays on record.
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

    /// Undoes [`Self::move_to`]: the session is `back` where it was, with nothing on record. `cwd` is the folder it was
    /// about, as its header had it.
    pub fn move_back(&self, moved: &Path, back: &Path, cwd: &str, blobs: BlobStore) -> Result<(), MoveError> {
        carry(moved, back, blobs, |header| {
            header.insert("cwd".into(), cwd.into());
            if back != moved {
                forget_place(header, back);
            }
        })
    }

    /// Puts a session away. It is no longer listed, but keeps everything.
    pub fn archive(&self, session: &Path) -> Result<PathBuf, MoveError> {
        self.shift(session, &self.archived(), OpenBy::Nobodys)
    }

    /// Brings a session back from the archive or from the trash.
    pub fn unarchive(&self, session: &Path) -> Result<PathBuf, MoveError> {
        let from = if session.starts_with(self.trashed().root()) { self.trashed() } else { self.archived() };
        from.shift(session, self, OpenBy::Nobodys)
    }

    /// Puts a session into the trash, from where it can be brought back until that is cleaned up.
    pub fn trash(&self, session: &Path) -> Result<PathBuf, MoveError> {
        self.shift(session, &self.trashed(), OpenBy::Nobodys)
    }

    /// Puts a session into the trash that this process has open itself and is about to leave.
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

/// Writes a session anew with another header, takes all that belongs to it along, and removes the old file last.
fn carry(
    session: &Path,
    to: &Path,
    blobs: BlobStore,
    change: impl FnOnce(&mut serde_json::Map<String, Value>),
) -> Result<(), MoveError> {
    // Going on with it takes the lock and sets a torn last line aside.
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
        // Written by us, under a name that was free.
        let _ = std::fs::remove_file(to);
        not_moved(error)
    })
}

/// The folder a session in the trash came from.
fn without_number(folder: &str) -> String {
    match folder.rsplit_once(NUMBER) {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.to_owned()
        }
        _ => folder.to_owned(),
    }
}

/// Who may have the session open while it is moved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBy {
    Nobodys,
    Ours,
}

/// Renames a session and all that belongs to it.
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

/// What was moved so far, to be moved back if the rest fails.
#[derive(Default)]
struct Steps {
    done: Vec<(PathBuf, PathBuf)>,
}

impl Steps {
    /// Artifacts, and files set aside from the session.
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
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is in the way", to.display())));
        }
        rename(from, to)?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Undoes everything. What cannot be undone is told with the error.
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

/// Between file systems a copy stands in for the new name; the original goes only once the copy is whole.
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

/// Two working folders can share one folder of sessions; then only the header changes.
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
