//! Appends entries to a session file, each with one write.
//!
//! After [`SessionWriter::append`] returns, the entry is in the kernel and survives `kill -9`; [`SessionWriter::sync`],
//! called at the end of a turn, makes it survive a power failure. A new session creates no file before its first entry,
//! which is written together with the title line and the header.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::blob::BlobStore;
use crate::entry::{EntryBody, EntryId, EntryPosition, TitleChange};
use crate::error::WriteError;
use crate::header::{SessionHeader, SessionIdentity, VERSION};
use crate::ids::{Ids, hash};
use crate::lock::{LockError, SessionLock};
use crate::platform;
use crate::scan::{FileEnd, Scan};
use crate::stamp;
use crate::tail;
use crate::title::{SLOT_BYTES, TitleSlot, TitleSource, is_slot};

/// Parameters of a new session.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    pub cwd: &'a Path,
    pub now: SystemTime,
    /// The session it was forked from.
    pub parent_session: Option<String>,
}

#[derive(Debug)]
pub struct SessionWriter {
    path: PathBuf,
    header: SessionHeader,
    title: Option<String>,
    blobs: BlobStore,
    ids: Ids,
    leaf: Option<EntryId>,
    file: Option<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    /// Title line and header have been written.
    begun: bool,
    /// The file ends in the middle of a line.
    torn: bool,
    /// Length after our last write; a different length means that another program wrote to the file.
    length: u64,
    folder_synced: bool,
    _lock: SessionLock,
}

/// State of a loaded session that is continued.
pub(crate) struct ResumedFile {
    pub path: PathBuf,
    pub blobs: BlobStore,
    pub header: SessionHeader,
    pub title: Option<String>,
    pub scan: Scan,
    pub file: File,
    pub lock: SessionLock,
}

impl SessionWriter {
    /// Creates a new session in `folder`; nothing is on disk before the first append.
    pub fn create(folder: &Path, blobs: BlobStore, new: NewSession<'_>) -> Self {
        let identity = SessionIdentity::new(new.now);
        let path = identity.path_in(folder);
        let SessionIdentity { id, timestamp } = identity;
        let header = SessionHeader {
            version: VERSION,
            id,
            timestamp,
            cwd: new.cwd.to_string_lossy().into_owned(),
            title: None,
            title_source: None,
            parent_session: new.parent_session,
        };
        Self { path, header, title: None, blobs, ids: Ids::default(), leaf: None, file: None }
    }

    pub(crate) fn resume(resumed: ResumedFile) -> Self {
        let ResumedFile { path, blobs, header, title, scan, file, lock } = resumed;
        let length = file.metadata().map_or(scan.length, |found| found.len());
        let torn = scan.end == FileEnd::NoNewline;
        let file = OpenFile { file, begun: true, torn, length, folder_synced: true, _lock: lock };
        let leaf = scan.leaf_id.map(EntryId::from);
        Self { path, header, title, blobs, ids: scan.ids, leaf, file: Some(file) }
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

    pub fn blobs(&self) -> &BlobStore {
        &self.blobs
    }

    /// Returns the parent of the next entry.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.as_ref()
    }

    /// Continues from another entry, or from the root: the next append starts a branch there. Returns `false` if there is no
    /// such entry.
    pub fn set_leaf(&mut self, leaf: Option<EntryId>) -> bool {
        let known = leaf.as_ref().is_none_or(|id| self.ids.position(hash(id.as_str())).is_some());
        if known {
            self.leaf = leaf;
        }
        known
    }

    /// Appends an entry after the leaf. On an error nothing was added, and the next call tries again.
    pub fn append(&mut self, body: &EntryBody) -> Result<EntryId, WriteError> {
        let body = self
            .blobs
            .externalize(body)
            .map_err(|source| WriteError::Blob { path: self.blobs.dir().to_owned(), source })?;
        let id = self.ids.unused();
        let timestamp = stamp::iso(SystemTime::now());
        let mut lines = self.prelude()?;
        let place =
            EntryPosition { id: &id, parent_id: self.leaf.as_ref().map(EntryId::as_str), timestamp: &timestamp };
        body.write_line(&mut lines, &place)?;
        self.opened()?.add(lines).map_err(|failure| failure.at(&self.path))?;
        self.ids.insert(hash(&id), u32::MAX);
        let id = EntryId::from(id);
        self.leaf = Some(id.clone());
        Ok(id)
    }

    /// Appends the change and overwrites the title line, if the file has one: the only in-place write.
    pub fn set_title(&mut self, title: &str, source: TitleSource) -> Result<EntryId, WriteError> {
        let previous_title = self.title.clone();
        let change = TitleChange { title: title.to_owned(), source, previous_title, trigger: None };
        let id = self.append(&EntryBody::TitleChange(change))?;
        self.title = Some(title.to_owned());
        let slot =
            TitleSlot { title: title.to_owned(), source: Some(source), updated_at: stamp::iso(SystemTime::now()) };
        write_slot(&self.path, &slot).map_err(|source| WriteError::written(&self.path, source))?;
        Ok(id)
    }

    /// Makes everything appended so far survive a power failure.
    pub fn sync(&mut self) -> Result<(), WriteError> {
        let Some(open) = &mut self.file else { return Ok(()) };
        let mut synced = durable(&open.file);
        if let (true, false, Some(folder)) = (synced.is_ok(), open.folder_synced, self.path.parent()) {
            synced = durable_folder(folder);
            open.folder_synced = synced.is_ok();
        }
        synced.map_err(|source| WriteError::written(&self.path, source))
    }

    /// Returns the lines before the first entry.
    fn prelude(&self) -> Result<Vec<u8>, WriteError> {
        if self.file.as_ref().is_some_and(|open| open.begun) {
            return Ok(Vec::new());
        }
        let updated_at = self.header.timestamp.clone();
        let slot = TitleSlot { title: String::new(), source: None, updated_at };
        Ok((slot.to_line() + &self.header.to_line()?).into_bytes())
    }

    fn opened(&mut self) -> Result<&mut OpenFile, WriteError> {
        let open = match self.file.take() {
            Some(open) => open,
            None => OpenFile::create(&self.path)?,
        };
        Ok(self.file.insert(open))
    }
}

impl Drop for SessionWriter {
    /// Removes the empty file of a session whose first entry did not fit on the disk.
    fn drop(&mut self) {
        if let Some(open) = &self.file
            && !open.begun
            && open.file.metadata().is_ok_and(|found| found.len() == 0)
        {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Why lines were not added.
enum Failure {
    Deleted,
    Io(std::io::Error),
}

impl Failure {
    fn at(self, path: &Path) -> WriteError {
        match self {
            Failure::Deleted => WriteError::Deleted(path.to_owned()),
            Failure::Io(source) => WriteError::written(path, source),
        }
    }
}

impl OpenFile {
    fn create(path: &Path) -> Result<Self, WriteError> {
        let not_created = |source| WriteError::NotCreated { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            platform::create_private_folder(folder).map_err(not_created)?;
        }
        let lock = SessionLock::acquire(path).map_err(|error| match error {
            LockError::Held(holder) => WriteError::InUse { path: path.to_owned(), pid: holder.pid, holder },
            LockError::Io(source) => not_created(source),
        })?;
        let file = platform::private_file().create_new(true).read(true).append(true).open(path).map_err(not_created)?;
        Ok(Self { file, begun: false, torn: false, length: 0, folder_synced: false, _lock: lock })
    }

    fn add(&mut self, mut lines: Vec<u8>) -> Result<(), Failure> {
        let found = self.file.metadata().map_err(Failure::Io)?;
        if platform::is_deleted(&found) {
            return Err(Failure::Deleted);
        }
        if found.len() != self.length {
            self.torn = tail::ends_torn(&self.file).map_err(Failure::Io)?;
        }
        if self.torn {
            lines.insert(0, b'\n');
        }
        let added = tail::add_whole(&self.file, &lines, |file, bytes| file.write(bytes));
        self.length = self.file.metadata().map_or(self.length, |found| found.len());
        match added {
            Ok(()) => {
                (self.begun, self.torn) = (true, false);
                Ok(())
            }
            Err(failed) => {
                self.torn |= failed.left_torn;
                Err(Failure::Io(failed.error))
            }
        }
    }
}

/// Uses a separate handle, because one opened for appending cannot write elsewhere.
fn write_slot(path: &Path, slot: &TitleSlot) -> std::io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut first = [0; SLOT_BYTES];
    let has_slot = std::io::Read::read_exact(&mut file, &mut first).is_ok() && is_slot(&first);
    if has_slot {
        file.rewind()?;
        file.write_all(slot.to_line().as_bytes())?;
    }
    Ok(())
}

fn durable(file: &File) -> std::io::Result<()> {
    #[cfg(test)]
    tests::SYNCED.with_borrow_mut(|synced| synced.push("file"));
    file.sync_data()
}

fn durable_folder(folder: &Path) -> std::io::Result<()> {
    #[cfg(test)]
    tests::SYNCED.with_borrow_mut(|synced| synced.push("folder"));
    platform::sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::entry::Custom;

    thread_local! {
        pub(super) static SYNCED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    /// The policy of `docs/session-format.md`: an append never waits for the disk, the end of a turn does once.
    #[test]
    fn only_the_end_of_a_turn_waits_for_the_disk() {
        let temp = tempfile::tempdir().unwrap();
        let new = NewSession { cwd: temp.path(), now: SystemTime::now(), parent_session: None };
        let mut writer = SessionWriter::create(temp.path(), BlobStore::new(temp.path()), new);
        let synced = || SYNCED.take();
        writer.sync().unwrap();
        assert!(synced().is_empty(), "there is nothing on disk yet");
        let note = EntryBody::Custom(Custom { custom_type: "t".into(), data: None });
        writer.append(&note).unwrap();
        writer.append(&note).unwrap();
        assert!(synced().is_empty());
        writer.sync().unwrap();
        assert_eq!(synced(), ["file", "folder"], "a new file's name is made durable too");
        writer.append(&note).unwrap();
        writer.sync().unwrap();
        assert_eq!(synced(), ["file"]);
    }
}
