//! Cache of session metadata, so that a listing need not open every file.
//!
//! A row is valid while the file has the same length and modification time. An index that is missing, damaged or from
//! another version is rebuilt. Two programs may write it at once; the last one wins and nothing is lost.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::list::{SessionFile, SessionInfo};

/// An index with another version is rebuilt.
const VERSION: u32 = 2;
const MOST_ROWS: usize = 50_000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) struct Index {
    file: PathBuf,
    rows: HashMap<PathBuf, Row>,
    changed: bool,
    /// Number of rows used by this listing; the others may belong to removed files.
    used: usize,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    path: PathBuf,
    /// Nanoseconds since the epoch.
    modified: u64,
    bytes: u64,
    /// `None` for a file that is not a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Told>,
    #[serde(skip)]
    used: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Told {
    id: String,
    cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<String>,
}

impl Index {
    pub fn load(file: PathBuf) -> Self {
        let content = read(&file).filter(|content| content.version == VERSION);
        let rows = content.map(|content| content.rows).unwrap_or_default();
        let rows = rows.into_iter().take(MOST_ROWS).map(|row| (row.path.clone(), row)).collect();
        Self { file, rows, changed: false, used: 0 }
    }

    /// Returns `None` if the file is not a session.
    pub fn look_up(&mut self, candidate: SessionFile) -> Option<SessionInfo> {
        let modified = nanoseconds(candidate.modified);
        if let Some(row) = self.rows.get_mut(&candidate.path)
            && (row.modified, row.bytes) == (modified, candidate.bytes)
        {
            self.used += usize::from(!row.used);
            row.used = true;
            return row.told.clone().map(|told| told.into_info(candidate));
        }
        let (path, bytes) = (candidate.path.clone(), candidate.bytes);
        let info = candidate.look_into();
        let told = info.as_ref().map(Told::of);
        let replaced = self.rows.insert(path.clone(), Row { path, modified, bytes, told, used: true });
        self.used += usize::from(!replaced.is_some_and(|row| row.used));
        self.changed = true;
        info
    }

    /// Writes the index. A complete listing also removes rows of files that no longer exist. A write error only makes the
    /// next listing slower.
    pub fn save(mut self, complete: bool) {
        if complete && self.used < self.rows.len() {
            self.rows.retain(|_, row| row.used);
            self.changed = true;
        }
        if self.changed {
            let _ = self.write();
        }
    }

    fn write(self) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let side = tempfile::Builder::new().prefix(".index-").tempfile_in(folder)?;
        let mut rows: Vec<Row> = self.rows.into_values().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.modified));
        rows.truncate(MOST_ROWS);
        let mut out = BufWriter::new(side.as_file());
        serde_json::to_writer(&mut out, &Content { version: VERSION, rows })?;
        out.flush()?;
        drop(out);
        side.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Told {
    fn of(info: &SessionInfo) -> Self {
        Self {
            id: info.id.clone(),
            cwd: info.cwd.clone(),
            title: info.title.clone(),
            first: info.first_message.clone(),
        }
    }

    fn into_info(self, candidate: SessionFile) -> SessionInfo {
        let SessionFile { path, modified, bytes } = candidate;
        SessionInfo { path, id: self.id, title: self.title, cwd: self.cwd, modified, bytes, first_message: self.first }
    }
}

fn read(file: &Path) -> Option<Content> {
    let metadata = std::fs::metadata(file).ok().filter(|found| found.is_file() && found.len() <= MOST_BYTES)?;
    let mut text = Vec::with_capacity(metadata.len() as usize);
    File::open(file).ok()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
