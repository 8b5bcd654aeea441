//! Settings of git, which commands may write: git replaces the file, so no mount can keep it. The keys that run something
//! are compared with what they were before, and put back.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omp_stdx::plain_file;
use omp_types::AccessMap;

use super::hands::{self, Make};
use super::repositories::{folders_of_git, inner_repositories};
use super::shelf::Shelf;
use super::{Asides, LONGEST, Maps, WantedName, WatchedTree, entries, is_within, lock};
use crate::git_config::{self, ConfigFilePlace, ConfigVerdict};
use crate::kept::{Deed, SetAside};

const NAMES: [&str; 2] = ["config", "config.worktree"];
/// Files of one session.
const MOST_FILES: usize = 4_000;
/// Times have a grain: what was changed this short a time before it was read is read again.
const GRAIN: Duration = Duration::from_millis(100);

/// As they were before anything ran, by their paths.
#[derive(Debug, Default)]
pub(super) struct GitSettings(BTreeMap<PathBuf, SettingsFile>);

#[derive(Clone, Debug)]
struct SettingsFile {
    /// Without one there was no file.
    text: Option<Arc<str>>,
    /// Tells that nothing has changed since.
    stamp: Option<Stamp>,
    mode: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    numbers: (u64, u64, u64),
    changed: (i64, i64),
}

impl GitSettings {
    /// Reads them before a tree starts. What is known stays where other trees run. Returns those that are kept by their
    /// keys; the others cannot be read, and are kept as a whole.
    pub(super) fn survey(&mut self, map: &AccessMap, others_run: bool) -> Vec<PathBuf> {
        let files = files_of(map);
        if !others_run {
            self.0.retain(|path, _| files.contains(path));
        }
        let mut kept = Vec::new();
        for file in files {
            if let Some(known) = self.0.get(&file)
                && (others_run || known.stamp.is_some_and(|stamp| stamp_of(&file) == Some(stamp)))
            {
                kept.push(file);
                continue;
            }
            if let Some(known) = SettingsFile::read(&file).filter(|_| self.0.len() < MOST_FILES) {
                self.0.insert(file.clone(), known);
                kept.push(file);
            } else {
                self.0.remove(&file);
            }
        }
        kept
    }
}

impl SettingsFile {
    const NONE: Self = Self { text: None, stamp: None, mode: 0o644 };

    /// `None` where it is no file, or none that git could read.
    fn read(file: &Path) -> Option<Self> {
        let Ok(data) = file.symlink_metadata() else { return Some(Self::NONE) };
        // Taken before it is read, so that what is written meanwhile is seen.
        let stamp = stamp_of(file);
        let text = text_of(file).filter(|text| data.is_file() && git_config::is_readable(text))?;
        Some(Self { text: Some(text.into()), stamp, mode: data.mode() & 0o777 })
    }
}

impl Asides {
    /// The second says whether to put back what was removed; while something goes on it may be half of a change.
    pub(super) fn look_at_settings(&self, trees: &[Arc<WatchedTree>], maps: &Maps, has_ended: bool) {
        let mut settings = lock(&self.settings);
        let mut found = Vec::new();
        for (file, known) in &mut settings.0 {
            found.extend(look_at(file, known, maps, has_ended));
        }
        // Wherever they are, also where commands may write what they like.
        for file in trees.iter().flat_map(|tree| tree.new_settings()) {
            if !settings.0.contains_key(&file) {
                found.extend(look_at(&file, &mut SettingsFile::NONE.clone(), maps, has_ended));
            }
        }
        drop(settings);
        self.tell(found);
    }
}

impl WatchedTree {
    /// Of worktrees and of repositories within that were not there when it began.
    fn new_settings(&self) -> Vec<PathBuf> {
        let inner = inner_repositories(&self.map);
        let inner = inner.iter().filter(|inner| !self.knows(inner));
        let mut files: Vec<PathBuf> = inner.map(|inner| inner.real_folder().join(NAMES[0])).collect();
        files.extend(folders_of_git(&self.map).flat_map(of_worktrees));
        files.retain(|file| is_within(file, &self.map));
        files
    }

    #[cfg(target_os = "linux")]
    pub(super) fn wanted_settings(&self) -> Vec<WantedName> {
        let folders = folders_of_git(&self.map).filter(|folder| is_within(folder, &self.map));
        folders.flat_map(|folder| NAMES.map(|name| (folder.to_owned(), Some(name.into())))).collect()
    }
}

/// Of every folder of git's that commands may write to.
fn files_of(map: &AccessMap) -> Vec<PathBuf> {
    let folders = folders_of_git(map).filter(|folder| is_within(folder, map));
    let files = folders.flat_map(|folder| {
        let own = NAMES.map(|name| folder.join(name));
        own.into_iter().chain(of_worktrees(folder))
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files.dedup();
    files
}

fn of_worktrees(folder: &Path) -> Vec<PathBuf> {
    entries(&folder.join("worktrees")).into_iter().map(|worktree| worktree.join(NAMES[1])).collect()
}

fn look_at(file: &Path, known: &mut SettingsFile, maps: &Maps, has_ended: bool) -> Option<SetAside> {
    let (data, stamp) = (file.symlink_metadata().ok(), stamp_of(file));
    // A repository that has gone needs no settings, and a link in its place is not gone into.
    let folder = file.parent()?;
    let is_in_place = || omp_stdx::real_path::existing(folder).is_some_and(|real| real == folder && real.is_dir());
    if (data.is_none() && (known.text.is_none() || !has_ended)) || !is_in_place() {
        return None;
    }
    let is_file = data.as_ref().is_some_and(|data| data.is_file());
    if is_file && stamp.is_some() && known.stamp == stamp {
        return None;
    }
    // As with everything that is guarded, a folder around it does not free it.
    if maps.all.iter().any(|map| map.writable.iter().any(|free| free == file)) {
        *known = SettingsFile::read(file).unwrap_or(SettingsFile::NONE);
        return None;
    }
    let root = maps.root_of(file)?;
    let roots = maps.roots();
    let place = ConfigFilePlace { folder, roots: &roots };
    let now = if is_file { text_of(file) } else { None };
    let (text, keys) = match judged(known, now.as_deref(), &place) {
        ConfigVerdict::Fine => {
            // What was judged, not what may be there by now.
            *known = SettingsFile { text: now.map(Arc::from), stamp, mode: known.mode };
            return None;
        }
        ConfigVerdict::Mended(text, keys) => (Some(text), keys),
        ConfigVerdict::Hostile => (known.text.as_deref().map(str::to_owned), Vec::new()),
    };
    let deed = match (&data, &known.text) {
        (None, _) => Deed::Removed,
        (_, None) => Deed::Made,
        _ => Deed::Changed,
    };
    let mode = data.as_ref().filter(|_| is_file).map_or(known.mode, |data| data.mode() & 0o777);
    let inner = file.strip_prefix(&root).ok()?;
    let shelf = maps.shelf_of(file);
    let mut mending = Mending { root: &root, inner, shelf: shelf.as_ref(), mode, known, place, keys };
    let (to, written) = match text {
        // Also a link or a folder in its place: git finds nothing missing in between.
        Some(text) if data.is_some() => mending.replace(text),
        text => mending.renamed(text),
    };
    let (keys, put_back) = (mending.keys, written.is_some());
    if let Some(written) = written {
        *known = SettingsFile { text: Some(written.into()), stamp: None, mode };
    }
    Some(SetAside { path: file.to_owned(), deed, to, put_back, in_git: false, keys })
}

fn judged(known: &SettingsFile, now: Option<&str>, place: &ConfigFilePlace<'_>) -> ConfigVerdict {
    let before = known.text.as_deref().unwrap_or_default();
    now.map_or(ConfigVerdict::Hostile, |now| git_config::judge(before, now, place))
}

/// One file that is put in order.
struct Mending<'a> {
    root: &'a Path,
    inner: &'a Path,
    shelf: Option<&'a Shelf>,
    mode: u32,
    known: &'a SettingsFile,
    place: ConfigFilePlace<'a>,
    keys: Vec<String>,
}

impl Mending<'_> {
    /// In one step, so that git always finds a file. Should git have written it in that very moment, what it wrote is what
    /// came out, and is judged instead.
    #[cfg(target_os = "linux")]
    fn replace(&mut self, mut text: String) -> (Option<PathBuf>, Option<String>) {
        const TRIES: usize = 8;
        let mut kept: Option<PathBuf> = None;
        for _ in 0..TRIES {
            let Ok(out) = hands::swap_in(self.root, self.inner, text.as_bytes(), self.mode, self.shelf) else {
                return self.renamed(Some(text));
            };
            let came_out = out.text(LONGEST);
            let wanted = match judged(self.known, came_out.as_deref(), &self.place) {
                ConfigVerdict::Fine => came_out.unwrap_or_default(),
                ConfigVerdict::Mended(text, keys) => {
                    self.keys = keys;
                    text
                }
                ConfigVerdict::Hostile => self.known.text.as_deref().unwrap_or_default().to_owned(),
            };
            if kept.is_some() {
                // What came out this time is of this loop, or the newest that git has written; the first is the attempt.
                out.remove();
            } else {
                kept = Some(out.path);
            }
            if wanted == text {
                break;
            }
            text = wanted;
        }
        (kept, Some(text))
    }

    #[cfg(not(target_os = "linux"))]
    fn replace(&mut self, text: String) -> (Option<PathBuf>, Option<String>) {
        self.renamed(Some(text))
    }

    /// Where it is now, and what was written in its place.
    fn renamed(&self, text: Option<String>) -> (Option<PathBuf>, Option<String>) {
        let to = hands::rename_in(self.root, self.inner, self.shelf).and_then(|(_, to)| to);
        let is_made =
            |text: &String| hands::make_in(self.root, self.inner, Make::File(text.as_bytes()), self.mode).is_ok();
        (to, text.filter(is_made))
    }
}

fn text_of(file: &Path) -> Option<String> {
    plain_file::read_itself(file, LONGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// `None` where the file is so young that it could change again and look the same.
fn stamp_of(file: &Path) -> Option<Stamp> {
    let data = file.symlink_metadata().ok().filter(|data| data.is_file())?;
    let changed = UNIX_EPOCH + Duration::new(data.ctime().try_into().ok()?, data.ctime_nsec().try_into().ok()?);
    let is_old = SystemTime::now().duration_since(changed).is_ok_and(|age| age > GRAIN);
    let numbers = (data.dev(), data.ino(), data.len());
    is_old.then_some(Stamp { numbers, changed: (data.ctime(), data.ctime_nsec()) })
}

impl Maps {
    fn roots(&self) -> Vec<PathBuf> {
        self.all.iter().flat_map(|map| map.writable.iter().chain([&map.workspace])).cloned().collect()
    }
}
