//! File access of discovery: lists folders once, reads files with a size limit and caches them between runs.
//!
//! A repository is not trusted: links out of it are not followed, and a pipe is never opened.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use super::Level;
use super::disk::{Disk, Failed, Found, Look, MAX_ENTRIES, Named, Version};
use super::front_matter::{self, Document};

const MAX_WARNINGS: usize = 50;
const MAX_CACHED_FILES: usize = 4_096;
const MAX_CACHED_BYTES: usize = 16 << 20;

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Limit {
    /// A longer file is rejected.
    Whole(usize),
    /// A longer file is truncated.
    Cut(usize),
}

impl Limit {
    fn bytes(self) -> usize {
        let (Limit::Whole(bytes) | Limit::Cut(bytes)) = self;
        bytes
    }
}

/// The content of a file.
pub(crate) struct Content {
    pub text: String,
    /// The number of omitted bytes.
    pub cut: u64,
    /// Some of it was invalid UTF-8 and was replaced by `\u{fffd}`.
    garbled: bool,
    document: OnceLock<Document>,
}

impl Content {
    pub fn document(&self) -> &Document {
        self.document.get_or_init(|| front_matter::parse(&self.text))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub name: String,
    pub kind: EntryKind,
    pub is_link: bool,
}

/// The disk during one discovery.
pub(crate) struct Files {
    pub disk: Disk,
    /// The resolved folder that project links must not leave.
    boundary: Option<PathBuf>,
    /// The same folder as it was given.
    root: PathBuf,
    // Keyed by the bytes of the path: hashing a path by component costs more than listing a small folder.
    listings: HashMap<OsString, Rc<[Entry]>>,
    inside: HashMap<OsString, bool>,
    warnings: Vec<String>,
}

impl Files {
    pub fn new(project_root: &Path) -> Self {
        Self::on(Disk::plain(), project_root)
    }

    pub fn on(disk: Disk, project_root: &Path) -> Self {
        Self {
            boundary: disk.real(project_root),
            disk,
            root: project_root.to_owned(),
            listings: HashMap::new(),
            inside: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Lists a folder sorted by name, without hidden entries. Empty if the folder does not exist.
    pub fn list(&mut self, folder: &Path, level: Level) -> Rc<[Entry]> {
        if let Some(known) = self.listings.get(folder.as_os_str()) {
            return known.clone();
        }
        let entries: Rc<[Entry]> = self.read_folder(folder, level).into();
        self.listings.insert(folder.as_os_str().to_owned(), entries.clone());
        entries
    }

    /// Reads a text file; returns `None` if it does not exist or may not be read, and warns in the latter case.
    pub fn read(&mut self, path: &Path, level: Level, limit: Limit) -> Option<Arc<Content>> {
        match self.try_read(path, level, limit) {
            Ok(content) => {
                if content.as_ref().is_some_and(|content| content.garbled) {
                    self.warn(format!("{} is not valid UTF-8: some characters are lost", path.display()));
                }
                content
            }
            Err(problem) => {
                self.warn(format!("{} was not read: {problem}", path.display()));
                None
            }
        }
    }

    /// Adds a warning for the user; further ones are dropped if there are many.
    pub fn warn(&mut self, sentence: String) {
        match self.warnings.len() {
            MAX_WARNINGS => {
                self.warnings.push("more problems are not listed; `omp config sources` lists what was found".to_owned())
            }
            count if count > MAX_WARNINGS => {}
            // A file may be read under two names.
            _ if self.warnings.contains(&sentence) => {}
            _ => self.warnings.push(sentence),
        }
    }

    pub fn warning_count(&self) -> usize {
        self.warnings.len()
    }

    /// Removes the warnings after the first `since`.
    pub fn forget_warnings(&mut self, since: usize) {
        self.warnings.truncate(since);
    }

    pub fn into_warnings(self) -> Vec<String> {
        self.into_warnings_and_disk().0
    }

    pub fn into_warnings_and_disk(self) -> (Vec<String>, Disk) {
        (self.warnings, self.disk)
    }

    fn read_folder(&mut self, folder: &Path, level: Level) -> Vec<Entry> {
        let listed = match self.disk.list(folder) {
            Ok(listed) => listed,
            Err(Failed { is_absent: true, .. }) => return Vec::new(),
            Err(Failed { text, .. }) => {
                self.warn(format!("{} was not read: {text}", folder.display()));
                return Vec::new();
            }
        };
        if level == Level::Project && !self.folder_is_inside(folder) {
            self.warn(format!("{} was not read: it links to a folder outside the project", folder.display()));
            return Vec::new();
        }
        let mut entries = Vec::new();
        for (name, named) in &listed.entries {
            let path = folder.join(name);
            let name = match name.to_str() {
                Some(name) if name.starts_with('.') => continue,
                Some(name) => name.to_owned(),
                None => {
                    self.warn(format!("{} was not read: its name is not UTF-8", path.display()));
                    continue;
                }
            };
            if let Some((kind, is_link)) = self.kind(&path, *named, level) {
                entries.push(Entry { name, kind, is_link });
            }
        }
        if listed.is_cut {
            self.warn(format!("{} has more than {MAX_ENTRIES} entries; the rest is ignored", folder.display()));
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }

    /// A link counts as its target, unless it leads out of the project.
    fn kind(&mut self, path: &Path, named: Named, level: Level) -> Option<(EntryKind, bool)> {
        let (found, is_link) = match named {
            Named::File => return Some((EntryKind::File, false)),
            Named::Folder => return Some((EntryKind::Folder, false)),
            Named::Other => (Found::Other, false),
            Named::Unknown => return None,
            Named::Link => match self.disk.look(path).found {
                Ok(found) => (found, true),
                Err(Failed { is_absent: true, .. }) => return None,
                Err(Failed { text, .. }) => {
                    self.warn(format!("{} was not read: {text}", path.display()));
                    return None;
                }
            },
        };
        if is_link && level == Level::Project && !self.stays_inside(path) {
            self.warn(format!("{} was not read: it links to a place outside the project", path.display()));
            return None;
        }
        match found {
            Found::Folder => Some((EntryKind::Folder, is_link)),
            Found::File(_) => Some((EntryKind::File, is_link)),
            Found::Other => {
                self.warn(format!("{} was not read: it is not a regular file", path.display()));
                None
            }
        }
    }

    /// Like [`Files::read`], but leaves the warning to the caller.
    pub fn try_read(&mut self, path: &Path, level: Level, limit: Limit) -> Result<Option<Arc<Content>>, String> {
        let look = self.disk.look(path);
        let found = match look.found {
            Ok(found) => found,
            Err(Failed { is_absent: true, .. }) => return Ok(None),
            Err(Failed { text, .. }) => return Err(text.to_string()),
        };
        if level == Level::Project {
            let inside = match path.parent() {
                Some(folder) if !look.is_link => self.folder_is_inside(folder),
                _ => self.stays_inside(path),
            };
            if !inside {
                return Err("it links to a file outside the project".to_owned());
            }
        }
        let Found::File(version) = found else { return Err("it is not a regular file".to_owned()) };
        self.disk.read(path, limit, version).map(Some)
    }

    fn folder_is_inside(&mut self, folder: &Path) -> bool {
        if let Some(known) = self.inside.get(folder.as_os_str()) {
            return *known;
        }
        let inside = match folder.parent() {
            _ if folder == self.root => self.boundary.is_some(),
            // A plain folder is inside its parent, whose location is known, so the whole path need not be resolved.
            Some(above) if folder.starts_with(&self.root) && self.is_plain_folder(folder) => {
                self.folder_is_inside(above)
            }
            _ => self.stays_inside(folder),
        };
        self.inside.insert(folder.as_os_str().to_owned(), inside);
        inside
    }

    pub fn stays_inside(&self, path: &Path) -> bool {
        match (self.disk.real(path), &self.boundary) {
            (Some(real), Some(boundary)) => real.starts_with(boundary),
            _ => false,
        }
    }

    fn is_plain_folder(&self, path: &Path) -> bool {
        let below = path.components().all(|part| part != Component::ParentDir);
        let look = || self.disk.look(path);
        below && matches!(look(), Look { is_link: false, found: Ok(Found::Folder) })
    }
}

#[derive(Default)]
struct Cache {
    files: HashMap<(OsString, Limit), Known>,
    bytes: usize,
}

struct Known {
    modified: SystemTime,
    size: u64,
    content: Arc<Content>,
}

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// Returns the cached file if it has not changed.
pub(super) fn remembered(path: &Path, version: Version, limit: Limit) -> Result<Arc<Content>, String> {
    let key = (path.as_os_str().to_owned(), limit);
    let Version { size, modified } = version;
    if let Some(known) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).files.get(&key)
        && Some(known.modified) == modified
        && known.size == size
    {
        return Ok(known.content.clone());
    }
    let content = Arc::new(read_capped(path, size, limit)?);
    // A file written a moment ago may be written again within the same clock tick.
    let settled = |modified: &SystemTime| modified.elapsed().is_ok_and(|age| age > Duration::from_secs(1));
    if let Some(modified) = modified.filter(settled) {
        remember(key, Known { modified, size, content: content.clone() });
    }
    Ok(content)
}

fn remember(key: (OsString, Limit), known: Known) {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.files.len() >= MAX_CACHED_FILES || cache.bytes + known.content.text.len() > MAX_CACHED_BYTES {
        *cache = Cache::default();
    }
    cache.bytes += known.content.text.len();
    if let Some(old) = cache.files.insert(key, known) {
        cache.bytes -= old.content.text.len();
    }
}

fn read_capped(path: &Path, size: u64, limit: Limit) -> Result<Content, String> {
    if let Limit::Whole(most) = limit
        && size > most as u64
    {
        return Err(format!("it has more than {} kB", most >> 10));
    }
    let mut bytes = Vec::with_capacity((size as usize).min(limit.bytes()) + 1);
    let (file, _) = omp_stdx::plain_file::open(path).map_err(|error| error.to_string())?;
    file.take(limit.bytes() as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err("it is not text".to_owned());
    }
    let cut = size.saturating_sub(bytes.len() as u64);
    let (text, garbled) = decoded(bytes, cut > 0);
    Ok(Content { text, cut, garbled, document: OnceLock::new() })
}

/// Returns the text and whether some of it was invalid. A character split by the truncation does not count.
fn decoded(bytes: Vec<u8>, is_cut: bool) -> (String, bool) {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return (text, false),
        Err(error) => error,
    };
    let (valid, at_the_end) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_none());
    let mut bytes = error.into_bytes();
    if is_cut && at_the_end {
        bytes.truncate(valid);
        return decoded(bytes, false);
    }
    (String::from_utf8_lossy(&bytes).into_owned(), true)
}
