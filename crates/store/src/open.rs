//! A session loaded from its file: opening changes nothing; then its context can be read or it can be continued.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::blob::BlobStore;
use crate::context::{self, Context, read_line};
use crate::entry::EntryId;
use crate::error::OpenError;
use crate::header::{SessionHeader, VERSION};
use crate::ids::hash;
use crate::lock::{LockError, SessionLock};
use crate::platform;
use crate::problem::{Damage, Report};
use crate::scan::{ContextEntryKind, FileEnd, Scan};
use crate::tail;
use crate::title::{self, TitleSource};
use crate::window::Window;
use crate::writer::{ResumedFile, SessionWriter};

/// Entries stay in the file; only their positions are in memory.
#[derive(Debug)]
pub struct LoadedSession {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) scan: Scan,
    pub(crate) blobs: BlobStore,
    header: SessionHeader,
    title: Option<String>,
    title_source: Option<TitleSource>,
    report: Report,
}

impl LoadedSession {
    /// Opens a session for reading. Damage is not an error: see [`LoadedSession::report`].
    pub fn open(path: &Path, blobs: BlobStore) -> Result<Self, OpenError> {
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound(path.to_owned()),
            _ => OpenError::Unreadable { path: path.to_owned(), source },
        };
        // Checked before opening, because opening a pipe would block.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(OpenError::NotAFile(path.to_owned()));
        }
        let file = File::open(path).map_err(unreadable)?;
        let mut scan = Scan::file(&file).map_err(unreadable)?;
        if scan.header.is_none() && scan.spots.is_empty() {
            return Err(OpenError::NotASession(path.to_owned()));
        }
        let header = scan.header_or_guess(path);
        let report = std::mem::take(&mut scan.report);
        let mut session =
            Self { path: path.to_owned(), file, scan, blobs, header, title: None, title_source: None, report };
        (session.title, session.title_source) = session.current_title();
        Ok(session)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    pub fn id(&self) -> &str {
        &self.header.id
    }

    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns who set the title.
    pub fn title_source(&self) -> Option<TitleSource> {
        self.title_source
    }

    pub fn entry_count(&self) -> usize {
        self.scan.spots.len()
    }

    /// Returns the problems found so far; reading the context may add more.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the conversation up to the last entry of the file.
    pub fn context(&mut self) -> Context {
        let leaf = self.scan.spots.len().checked_sub(1).map(|last| last as u32);
        self.context_of(leaf)
    }

    /// Returns the conversation up to another entry, or `None` if there is no such entry.
    pub fn context_at(&mut self, leaf: &EntryId) -> Option<Context> {
        let position = self.scan.ids.position(hash(leaf.as_str()))?;
        Some(self.context_of(Some(position)))
    }

    /// Returns an entry with all its fields, as stored in the file.
    pub fn entry(&self, id: &EntryId) -> Option<Value> {
        let position = self.scan.ids.position(hash(id.as_str()))?;
        let (line, _) = read_line(&mut Window::new(&self.file), &self.scan.spots[position as usize]).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Continues this session for writing. Nothing was changed before; now a torn last line is moved to a file next to the
    /// session. The second part of the result lists all problems so far, including that one.
    pub fn into_writer(self) -> Result<(SessionWriter, Report), OpenError> {
        let Self { path, scan, blobs, header, title, mut report, .. } = self;
        if header.version > VERSION {
            return Err(OpenError::Newer { path, version: header.version });
        }
        let not_writable = |source| OpenError::NotWritable { path: path.clone(), source };
        let lock = SessionLock::acquire(&path).map_err(|error| match error {
            LockError::Held(holder) => OpenError::InUse { path: path.clone(), pid: holder.pid, holder },
            LockError::Io(source) => not_writable(source),
        })?;
        let file = platform::private_file().read(true).append(true).open(&path).map_err(not_writable)?;
        let length = file.metadata().map_err(not_writable)?.len();
        let unchanged = length == scan.length && platform::is_named(&self.file, &path).map_err(not_writable)?;
        if !unchanged {
            return Err(OpenError::Changed(path));
        }
        if let FileEnd::Torn { start } = scan.end {
            let to = tail::move_torn(&file, &path, start).map_err(not_writable)?;
            report.problems.retain(|problem| !matches!(problem.damage, Damage::TornTail { .. }));
            report.add(None, Damage::TornTailMoved { bytes: length - start, to });
        }
        let writer = SessionWriter::resume(ResumedFile { path, blobs, header, title, scan, file, lock });
        Ok((writer, report))
    }

    fn context_of(&mut self, leaf: Option<u32>) -> Context {
        let mut report = std::mem::take(&mut self.report);
        let context = context::build(self, leaf, &mut report);
        self.report = report;
        context
    }

    fn current_title(&self) -> (Option<String>, Option<TitleSource>) {
        let changed =
            self.scan.spots.iter().rev().filter(|spot| spot.kind == ContextEntryKind::TitleChange).find_map(|spot| {
                let (line, _) = read_line(&mut Window::new(&self.file), spot).ok()?;
                serde_json::from_str(&line).ok()
            });
        title::current(self.scan.title.as_ref(), changed, Some(&self.header))
    }
}
