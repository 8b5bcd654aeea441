//! Creates new sessions from existing ones: a fork copies everything, a branch only the path to one entry. The source is
//! only read, so another program may write to it at the same time.
//!
//! Entries are copied as bytes, including damaged and unknown ones. A copy is written under a temporary name, synced and
//! renamed, so that it is complete or absent.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::artifact::copy_artifacts;
use crate::context::ancestors;
use crate::entry::{EntryBody, EntryId, EntryPosition, Label};
use crate::error::CopyError;
use crate::header::{SessionHeader, SessionIdentity, VERSION};
use crate::ids::{Ids, hash};
use crate::open::LoadedSession;
use crate::platform;
use crate::scan::FileEnd;
use crate::stamp;
use crate::title::TitleSlot;

/// Destination folder and working folder of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyTo<'a> {
    pub folder: &'a Path,
    pub cwd: &'a Path,
    pub now: SystemTime,
}

/// A session that was copied from another.
#[derive(Clone, Debug, PartialEq)]
pub struct CopiedSession {
    pub path: PathBuf,
    pub id: String,
    /// Messages about artifacts that could not be copied.
    pub warnings: Vec<String>,
}

impl LoadedSession {
    /// Copies the whole session under a new ID, including its artifacts.
    pub fn fork(&self, to: CopyTo<'_>) -> Result<CopiedSession, CopyError> {
        let identity = SessionIdentity::new(to.now);
        let mut header = self.header_for(&identity, to.cwd, self.id());
        // The prompt cache of providers stays under the first session's ID.
        header.entry("providerPromptCacheKey").or_insert_with(|| self.id().into());
        self.copy(&identity, to, header, |out| self.copy_entries(out))
    }

    /// Copies the path from the root to an entry into a new session, with the labels of its entries.
    pub fn branch(&self, leaf: &EntryId, to: CopyTo<'_>) -> Result<CopiedSession, CopyError> {
        let position = self.scan.ids.position(hash(leaf.as_str())).ok_or_else(|| CopyError::NoEntry(leaf.clone()))?;
        let mut path: Vec<u32> = ancestors(&self.scan, Some(position)).collect();
        path.reverse();
        let identity = SessionIdentity::new(to.now);
        let header = self.header_for(&identity, to.cwd, &self.path.to_string_lossy());
        self.copy(&identity, to, header, |out| self.copy_path(&path, leaf, out))
    }

    /// Creates a session of the current version whose entries are rewritten.
    pub(crate) fn copy_as(
        &self,
        to: CopyTo<'_>,
        entries: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<CopiedSession, CopyError> {
        let identity = SessionIdentity::new(to.now);
        let mut header = self.header_for(&identity, to.cwd, self.id());
        header.insert("version".into(), VERSION.into());
        self.copy(&identity, to, header, entries)
    }

    /// Copies everything after title line and header, except a truncated last line.
    pub(crate) fn copy_entries(&self, out: &mut dyn Write) -> io::Result<()> {
        let end = match self.scan.end {
            FileEnd::Torn { start } => start,
            FileEnd::Whole | FileEnd::NoNewline => self.scan.length,
        };
        let mut left_out: Vec<_> = [&self.scan.title_line, &self.scan.header_line].into_iter().flatten().collect();
        left_out.sort_by_key(|range| range.start);
        let mut from = 0;
        for range in left_out {
            self.copy_bytes(from, range.start.min(end), out)?;
            from = range.end;
        }
        self.copy_bytes(from, end, out)?;
        if self.scan.end == FileEnd::NoNewline { out.write_all(b"\n") } else { Ok(()) }
    }

    fn copy_path(&self, path: &[u32], leaf: &EntryId, out: &mut dyn Write) -> io::Result<()> {
        let mut ids = Ids::default();
        for position in path {
            let spot = &self.scan.spots[*position as usize];
            ids.insert(spot.id_hash, *position);
            self.copy_bytes(spot.offset, spot.offset + u64::from(spot.len), out)?;
            out.write_all(b"\n")?;
        }
        let told = self.labels_among(path.iter().copied());
        let mut parent = leaf.clone();
        let timestamp = stamp::iso(SystemTime::now());
        for (target, label) in self.labels() {
            let missing = ids.position(hash(target.as_str())).is_some() && told.get(&target) != Some(&label);
            if missing {
                let id = ids.unused();
                ids.insert(hash(&id), u32::MAX);
                let body = EntryBody::Label(Label { target_id: target.as_str().to_owned(), label: Some(label) });
                let mut line = Vec::new();
                let place = EntryPosition { id: &id, parent_id: Some(parent.as_str()), timestamp: &timestamp };
                body.write_line(&mut line, &place).map_err(io::Error::other)?;
                out.write_all(&line)?;
                parent = id.into();
            }
        }
        Ok(())
    }

    fn copy_bytes(&self, from: u64, to: u64, out: &mut dyn Write) -> io::Result<()> {
        let len = to.saturating_sub(from);
        let mut handle = &self.file;
        handle.seek(SeekFrom::Start(from))?;
        let copied = io::copy(&mut handle.take(len), out)?;
        if copied == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn header_for(&self, identity: &SessionIdentity, cwd: &Path, parent: &str) -> Map<String, Value> {
        let mut header = self.raw_header();
        header.insert("id".into(), identity.id.as_str().into());
        header.insert("timestamp".into(), identity.timestamp.as_str().into());
        header.insert("cwd".into(), cwd.to_string_lossy().into());
        header.insert("parentSession".into(), parent.into());
        // Previous paths of the old file do not apply to the new one.
        header.shift_remove("previousSessionFiles");
        header
    }

    /// Returns the header with all its keys, including unknown ones.
    pub(crate) fn raw_header(&self) -> Map<String, Value> {
        let read = self.scan.header_line.as_ref().and_then(|range| {
            let mut bytes = Vec::new();
            self.copy_bytes(range.start, range.end, &mut bytes).ok()?;
            serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()
        });
        read.unwrap_or_else(|| header_fields(self.header()))
    }

    /// Returns the title line unchanged; empty if the file has none.
    pub(crate) fn raw_title_line(&self) -> String {
        let line = self.scan.title_line.as_ref().and_then(|range| {
            let mut bytes = Vec::new();
            self.copy_bytes(range.start, range.end, &mut bytes).ok()?;
            String::from_utf8(bytes).ok()
        });
        line.unwrap_or_default()
    }

    fn copy(
        &self,
        identity: &SessionIdentity,
        to: CopyTo<'_>,
        header: Map<String, Value>,
        entries: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<CopiedSession, CopyError> {
        let path = identity.path_in(to.folder);
        let updated_at = identity.timestamp.clone();
        let title = self.title().unwrap_or_default().to_owned();
        let slot = TitleSlot { title, source: self.title_source(), updated_at };
        let not_written = |source| CopyError::NotWritten { path: path.clone(), source };
        platform::create_private_folder(to.folder).map_err(not_written)?;
        let artifacts = path.with_extension("");
        let warnings = copy_artifacts(&self.path.with_extension(""), &artifacts);
        let written = write_session(&path, &slot.to_line(), &header, entries);
        if let Err(source) = written {
            // The folder name contains an ID that no other session has.
            let _ = std::fs::remove_dir_all(&artifacts);
            return Err(not_written(source));
        }
        Ok(CopiedSession { path, id: identity.id.clone(), warnings })
    }
}

/// Writes a session file from its parts: under a temporary name, synced, then renamed to its final name, which must not
/// exist.
pub(crate) fn write_session(
    path: &Path,
    title_line: &str,
    header: &Map<String, Value>,
    entries: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let side = tempfile::Builder::new().prefix(".copy-").tempfile_in(folder)?;
    let mut out = BufWriter::with_capacity(256 * 1024, side.as_file());
    out.write_all(title_line.as_bytes())?;
    serde_json::to_writer(&mut out, header)?;
    out.write_all(b"\n")?;
    entries(&mut out)?;
    out.flush()?;
    drop(out);
    side.as_file().sync_all()?;
    side.persist_noclobber(path).map_err(|error| error.error)?;
    platform::sync_folder(folder)
}

fn header_fields(header: &SessionHeader) -> Map<String, Value> {
    header.to_line().ok().and_then(|line| serde_json::from_str(&line).ok()).unwrap_or_default()
}
