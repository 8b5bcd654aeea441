//! `trust.json` in the agent folder: the trusted folders and their items.
//!
//! A file that cannot be read, or that others may write, trusts nothing. Every change reads the file again first, so that
//! changes of another omp process are not lost.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::decision::pins;
use super::folder::{Identity, identity};
use super::item::Item;
use crate::save::lock;

const FILE: &str = "trust.json";
const VERSION: u32 = 1;
const MOST_FOLDERS: usize = 10_000;
/// Limits the items of one folder.
const MOST_PINS: usize = 5_000;

#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}\nhint: {hint}")]
pub struct TrustError {
    what: String,
    why: String,
    hint: &'static str,
}

/// The folders that the user trusts.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    file: PathBuf,
    folders: BTreeMap<String, Record>,
    warning: Option<String>,
}

/// A folder as listed by `omp trust list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFolder {
    pub path: PathBuf,
    /// Seconds since 1970.
    pub since: u64,
    pub items: usize,
    /// Whether the trusted folder still exists at its path.
    pub is_there: bool,
}

#[derive(Serialize, Deserialize)]
struct Page {
    version: u32,
    folders: BTreeMap<String, Record>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    identity: Identity,
    since: u64,
    /// Hash of each item, by its id.
    items: BTreeMap<String, String>,
}

impl Trust {
    pub fn load(agent: &Path) -> Self {
        let file = agent.join(FILE);
        match read(&file) {
            Ok(folders) => Self { file, folders, warning: None },
            Err(why) => {
                let warning = format!(
                    "nothing is trusted: {} cannot be used: {why}\nhint: move it away and trust your folders again",
                    file.display()
                );
                Self { file, folders: BTreeMap::new(), warning: Some(warning) }
            }
        }
    }

    /// Returns the problem of the file, if any.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Returns the path to which an unusable file is renamed when a folder is trusted again.
    pub fn set_aside(&self) -> PathBuf {
        self.file.with_extension("json.damaged")
    }

    pub fn folders(&self) -> Vec<TrustedFolder> {
        let told = |(path, record): (&String, &Record)| TrustedFolder {
            path: PathBuf::from(path),
            since: record.since,
            items: record.items.len(),
            is_there: identity(Path::new(path)) == Some(record.identity),
        };
        self.folders.iter().map(told).collect()
    }

    /// Returns the trusted items of a folder, by its real path.
    pub(super) fn pins(&self, root: &Path) -> Option<&BTreeMap<String, String>> {
        let record = self.folders.get(root.to_str()?)?;
        (identity(root) == Some(record.identity)).then_some(&record.items)
    }

    /// Trusts a folder, by its real path, with the current state of these items.
    pub fn add(&mut self, root: &Path, items: &[Item]) -> Result<(), TrustError> {
        let failed = |why: &str, hint| TrustError {
            what: format!("{} cannot be trusted", root.display()),
            why: why.to_owned(),
            hint,
        };
        let path = root.to_str().ok_or_else(|| failed("its name is not UTF-8", "rename the folder"))?;
        let identity = identity(root).ok_or_else(|| failed("it is not a folder", "give a folder that exists"))?;
        let mut new = pins(items);
        self.change(move |folders| {
            // Items trusted from another working folder in the same folder stay.
            let known = folders.get(path).filter(|record| record.identity == identity);
            for (id, hash) in known.map(|record| record.items.clone()).unwrap_or_default() {
                if new.len() < MOST_PINS {
                    new.entry(id).or_insert(hash);
                }
            }
            folders.insert(path.to_owned(), Record { identity, since: now(), items: new });
            true
        })
        .map(drop)
    }

    /// Returns `false` if the folder was not trusted.
    pub fn remove(&mut self, root: &Path) -> Result<bool, TrustError> {
        let path = root.to_string_lossy().into_owned();
        self.change(move |folders| folders.remove(&path).is_some())
    }

    /// Reads the file again, changes it, and writes it if anything changed.
    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, Record>) -> bool) -> Result<bool, TrustError> {
        let hint = "check that the folder exists and is writable";
        let what = format!("cannot change {}", self.file.display());
        let failed = |why: String| TrustError { what: what.clone(), why, hint };
        let io_failed = |error: io::Error| failed(error.to_string());
        let folder = self.file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(io_failed)?;
        let _alone = lock::take(&self.file);
        let mut folders = match read(&self.file) {
            Ok(folders) => folders,
            // The unusable file is kept for inspection.
            Err(_) => {
                std::fs::rename(&self.file, self.set_aside()).map_err(io_failed)?;
                BTreeMap::new()
            }
        };
        let changed = change(&mut folders);
        if folders.len() > MOST_FOLDERS {
            return Err(failed(format!("more than {MOST_FOLDERS} folders are trusted")));
        }
        if changed {
            write_page(&self.file, &Page { version: VERSION, folders: folders.clone() }).map_err(io_failed)?;
        }
        self.folders = folders;
        self.warning = None;
        Ok(changed)
    }
}

fn read(file: &Path) -> Result<BTreeMap<String, Record>, String> {
    let Some(text) = crate::settings::read_plain_file(file)? else { return Ok(BTreeMap::new()) };
    if others_may_write(file) {
        return Err("other users can write to it".to_owned());
    }
    let page: Page = serde_json::from_str(&text).map_err(|error| match error.is_data() {
        true => format!("it is damaged (line {}, column {})", error.line(), error.column()),
        false => error.to_string(),
    })?;
    match page.version {
        VERSION => Ok(page.folders),
        other => Err(format!("it has version {other}, but this omp reads version {VERSION}")),
    }
}

/// Writes a temporary file and renames it. Readable only by the user.
pub(super) fn write_page(file: &Path, page: &impl Serialize) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(serde_json::to_string_pretty(page).map_err(io::Error::other)?.as_bytes())?;
    new.write_all(b"\n")?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

#[cfg(unix)]
pub(super) fn others_may_write(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let ours = nix::unistd::geteuid().as_raw();
    // The owner can write the file, or let others write it, at any time.
    let is_foreign = |owner: u32| owner != ours && owner != 0;
    std::fs::metadata(file).is_ok_and(|found| found.mode() & 0o022 != 0 || is_foreign(found.uid()))
}

#[cfg(not(unix))]
pub(super) fn others_may_write(_file: &Path) -> bool {
    false
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}
