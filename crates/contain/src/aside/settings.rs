//! Git settings that commands may write: git replaces the file, so no mount can protect it. Keys that run something are
//! compared with their earlier values and put back.

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
/// Maximum files of one session.
const MOST_FILES: usize = 4_000;
/// File times have a limited resolution: a file that was changed this shortly before it was read is read again.
const GRAIN: Duration = Duration::from_millis(100);

/// The settings before anything ran, by path.
#[derive(Debug, Default)]
pub(super) struct GitSettings(BTreeMap<PathBuf, SettingsFile>);

#[derive(Clone, Debug)]
struct SettingsFile {
    /// `None` if there was no file.
    text: Option<Arc<str>>,
    /// Shows that nothing has changed since.
    stamp: Option<Stamp>,
    mode: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    numbers: (u64, u64, u64),
    changed: (i64, i64),
}

impl GitSettings {
    /// Reads them before a tree starts. If other trees run, the known state is kept. Returns the files that are protected
    /// by key; the others cannot be parsed, and are protected as a whole.
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

    /// `None` if it is not a file, or not one that git could read.
    fn read(file: &Path) -> Option<Self> {
        let Ok(data) = file.symlink_metadata() else { return Some(Self::NONE) };
        // Taken before the file is read, so that a concurrent write is detected.
        let stamp = stamp_of(file);
        let text = text_of(file).filter(|text| data.is_file() && git_config::is_readable(text))?;
        Some(Self { text: Some(text.into()), stamp, mode: data.mode() & 0o777 })
    }
}

impl Asides {
    /// `has_ended` says whether to restore removed files; during an operation a removal may be half of a change.
    pub(super) fn look_at_settings(&self, trees: &[Arc<WatchedTree>], maps: &Maps, has_ended: bool) {
        let mut settings = lock(&self.settings);
        let mut found = Vec::new();
        for (file, known) in &mut settings.0 {
            found.extend(look_at(file, known, maps, has_ended));
        }
        // Wherever they are, including in freely writable folders.
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
    /// The settings of worktrees and nested repositories that did not exist when the tree started.
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

/// The settings of every git folder that commands may write to.
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
    // A removed repository needs no settings, and a link in its place is not followed.
    let folder = file.parent()?;
    let is_in_place = || omp_stdx::real_path::existing(folder).is_some_and(|real| real == folder && real.is_dir());
    if (data.is_none() && (known.text.is_none() || !has_ended)) || !is_in_place() {
        return None;
    }
    let is_file = data.as_ref().is_some_and(|data| data.is_file());
    if is_file && stamp.is_some() && known.stamp == stamp {
        return None;
    }
    // As with every guarded path, opening its parent folder does not open it.
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
            // Records the text that was checked, not what may be there by now.
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
        // This also replaces a link or a folder, so that git never finds the file missing.
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

/// The repair of one file.
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
    /// Replaces the file atomically, so that git always finds one. If git has written it at the same moment, its text is
    /// what was swapped out, and is checked instead.
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
                // The text swapped out this time is from this loop, or the newest that git has written; the first one is
                // the attempt to report.
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

    /// Where the file is now, and what was written in its place.
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

/// `None` if the file is so new that it could change again with the same metadata.
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
