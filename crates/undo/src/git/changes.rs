//! Counts the files that differ from the last commit, as `git status` does: staged, unstaged and untracked ones.
//!
//! Git is not run, because a repository's configuration can name programs that git would run.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use ignore::gitignore::Gitignore;
use omp_stdx::plain_file;

use super::index::{RawEntry, number};
use super::refs::head_commit;
use super::repository::Repository;
use super::{GitObjects, ObjectKind, Oid};
use crate::ignored::{self, Ignored};

/// Size limit of the index.
const LARGEST_INDEX: u64 = 64 << 20;
/// Size limit of a commit or tree.
const LARGEST_OBJECT: u64 = 8 << 20;
/// Larger files with other times count as changed without a comparison.
const LARGEST_COMPARED: u64 = 8 << 20;
/// Number of entries between two checks of the time limit.
const LOOKS: usize = 64;
/// Maximum depth of folders.
const DEEPEST: usize = 100;
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
const GITLINK: u32 = 0o160_000;

/// Numbers of files; `None` if unknown, for example for lack of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GitCounts {
    pub unstaged: Option<usize>,
    pub staged: Option<usize>,
    pub untracked: Option<usize>,
}

/// Counts repeatedly. What was staged is compared only if the index or the commit has changed.
#[derive(Debug, Default)]
pub struct GitCounter {
    staged: Mutex<Option<(StagedKey, usize)>>,
}

/// The index and the commit of a comparison.
#[derive(Debug, PartialEq, Eq)]
struct StagedKey {
    index: PathBuf,
    written: i64,
    size: u64,
    commit: Option<Oid>,
}

impl GitCounter {
    /// Counts the changes in the repository that contains a folder, in at most this time.
    pub fn count(&self, folder: &Path, patience: Duration) -> GitCounts {
        let until = Instant::now() + patience;
        let Some(repository) = Repository::around(folder) else { return GitCounts::default() };
        let Some(tracked) = Tracked::read(&repository) else { return GitCounts::default() };
        let is_over = || Instant::now() >= until;
        GitCounts {
            unstaged: tracked.unstaged(&repository.root, &is_over),
            staged: self.staged(&repository, &tracked, &is_over),
            untracked: tracked.untracked(&repository, &is_over),
        }
    }

    fn staged(&self, repository: &Repository, tracked: &Tracked, is_over: &dyn Fn() -> bool) -> Option<usize> {
        let commit = head_commit(&repository.git, &repository.common);
        let index = repository.git.join("index");
        let key = StagedKey { index, written: tracked.written, size: tracked.size, commit };
        let mut known = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = known.as_ref().filter(|(of, _)| *of == key) {
            return Some(*count);
        }
        let count = match commit {
            Some(commit) => tracked.staged(commit, &GitObjects::open(repository.objects.clone()), is_over)?,
            None => tracked.files.iter().filter(|file| !file.entry.is_only_intended()).count(),
        };
        *known = Some((key, count));
        Some(count)
    }
}

struct TrackedFile {
    path: Vec<u8>,
    entry: RawEntry,
}

/// The index, sorted by path.
struct Tracked {
    files: Vec<TrackedFile>,
    /// When the index was written, and its size.
    written: i64,
    size: u64,
    /// The tree of the whole index, if git has written one.
    tree: Option<Oid>,
}

impl Tracked {
    /// Returns an empty list if there is no index yet, `None` for one that cannot be read.
    fn read(repository: &Repository) -> Option<Self> {
        let path = repository.git.join("index");
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(_) => return Some(Self { files: Vec::new(), written: 0, size: 0, tree: None }),
        };
        let bytes = plain_file::read(&path, LARGEST_INDEX).ok()?;
        Self::parse(&bytes, nanoseconds(&found)?, found.len())
    }

    fn parse(bytes: &[u8], written: i64, size: u64) -> Option<Self> {
        let (head, version, count) = (bytes.get(..4)?, number(bytes, 4)?, number(bytes, 8)? as usize);
        if head != b"DIRC" || !matches!(version, 2..=4) {
            return None;
        }
        let mut files = Vec::new();
        let (mut at, mut path) = (12, Vec::new());
        for _ in 0..count {
            let (entry, taken) = RawEntry::parse(bytes.get(at..)?, version, &mut path)?;
            files.push(TrackedFile { path: path.clone(), entry });
            at += taken;
        }
        let mut rest = bytes.get(at..bytes.len().checked_sub(20)?)?;
        let mut tree = None;
        while rest.len() >= 8 {
            let content = rest.get(8..8 + number(rest, 4)? as usize)?;
            // Extensions with lowercase names change the meaning of entries: a split or a sparse index.
            if rest[0].is_ascii_lowercase() {
                return None;
            }
            if &rest[..4] == b"TREE" {
                tree = root_tree(content);
            }
            rest = &rest[8 + content.len()..];
        }
        Some(Self { files, written, size, tree })
    }

    fn unstaged(&self, root: &Path, is_over: &dyn Fn() -> bool) -> Option<usize> {
        let mut changed: Vec<&[u8]> = Vec::new();
        for some in self.files.chunks(LOOKS) {
            if is_over() {
                return None;
            }
            changed.extend(some.iter().filter(|file| self.is_changed(file, root)).map(|file| file.path.as_slice()));
        }
        // A conflicted file has one entry per side.
        changed.dedup();
        Some(changed.len())
    }

    fn is_changed(&self, file: &TrackedFile, root: &Path) -> bool {
        let entry = &file.entry;
        if entry.stage() != 0 || entry.is_only_intended() {
            return true;
        }
        let Some(path) = path_of(&file.path) else { return false };
        if entry.is_assumed_valid() || entry.is_sparse() || entry.mode & KIND == GITLINK {
            return false;
        }
        let path = root.join(path);
        let Ok(found) = fs::symlink_metadata(&path) else { return true };
        if found.is_symlink() != (entry.mode & KIND == LINK) || found.is_dir() || found.len() as u32 != entry.size {
            return true;
        }
        let same_time = nanoseconds(&found).is_some_and(|time| is_time(entry.mtime, time));
        if same_time && entry.mtime < self.written {
            return false;
        }
        content(&path, &found).is_none_or(|content| Oid::of_blob(&content) != entry.oid)
    }

    fn staged(&self, commit: Oid, objects: &GitObjects, is_over: &dyn Fn() -> bool) -> Option<usize> {
        let (kind, text) = objects.object(&commit, LARGEST_OBJECT)?;
        let line = text.split(|byte| *byte == b'\n').next().filter(|_| kind == ObjectKind::Commit)?;
        let tree = Oid::from_hex(line.strip_prefix(b"tree ")?)?;
        if self.tree == Some(tree) {
            return Some(0);
        }
        let mut files: Vec<&TrackedFile> = self.files.iter().filter(|file| !file.entry.is_only_intended()).collect();
        // A conflicted file has one entry per side. It is unstaged, whatever the commit has.
        files.dedup_by(|one, other| one.path == other.path);
        Comparison { objects, is_over }.differing(tree, 0, &files, 0)
    }

    fn untracked(&self, repository: &Repository, is_over: &dyn Fn() -> bool) -> Option<usize> {
        let exclude = plain_file::read(&repository.common.join("info/exclude"), ignored::LARGEST).unwrap_or_default();
        let (global, _) = Gitignore::global();
        let rules = Ignored::default().and(&repository.root, &String::from_utf8_lossy(&exclude));
        let search = UntrackedSearch { tracked: self, root: &repository.root, global: &global, is_over };
        search.below(&repository.root, &mut Vec::new(), &rules, 0)
    }

    fn has(&self, path: &[u8]) -> bool {
        self.files.binary_search_by(|file| file.path.as_slice().cmp(path)).is_ok()
    }

    fn has_below(&self, folder: &[u8]) -> bool {
        let first = self.files.partition_point(|file| file.path.as_slice() < folder);
        let mut after = self.files[first..].iter().map(|file| file.path.as_slice());
        // Other names may sort between a folder and its files: `a`, `a-b`, `a/b`.
        after.by_ref().take_while(|path| path.starts_with(folder)).any(|path| path.get(folder.len()) == Some(&b'/'))
    }
}

/// Compares the index with a tree.
struct Comparison<'a> {
    objects: &'a GitObjects,
    is_over: &'a dyn Fn() -> bool,
}

impl Comparison<'_> {
    /// Counts the files that only one side has, or that differ. All files lie in the folder; `skip` is the length of its
    /// path.
    fn differing(&self, tree: Oid, skip: usize, files: &[&TrackedFile], depth: usize) -> Option<usize> {
        if (self.is_over)() || depth > DEEPEST {
            return None;
        }
        let (_, bytes) = self.objects.object(&tree, LARGEST_OBJECT).filter(|(kind, _)| *kind == ObjectKind::Tree)?;
        let (mut count, mut met) = (0, 0);
        // The files are sorted, so those of a name and those below it are found by bisection.
        let first = |path: &[u8]| files.partition_point(|file| file.path.get(skip..).unwrap_or_default() < path);
        for (mode, name, oid) in tree_entries(&bytes)? {
            if mode & KIND == FOLDER {
                let below = &files[first(&[name, b"/"].concat())..first(&[name, b"0"].concat())];
                met += settled(below);
                count += self.differing(oid, skip + name.len() + 1, below, depth + 1)?;
                continue;
            }
            let same = files.get(first(name)).filter(|file| file.path.get(skip..) == Some(name));
            met += same.map_or(0, |file| usize::from(file.entry.stage() == 0));
            let is_same =
                |file: &&TrackedFile| file.entry.stage() != 0 || (file.entry.oid == oid && file.entry.mode == mode);
            count += usize::from(!same.is_some_and(is_same));
        }
        Some(count + settled(files).saturating_sub(met))
    }
}

/// Counts the files without a conflict.
fn settled(files: &[&TrackedFile]) -> usize {
    files.iter().filter(|file| file.entry.stage() == 0).count()
}

/// Returns mode, name and id of each entry.
fn tree_entries(mut tree: &[u8]) -> Option<Vec<(u32, &[u8], Oid)>> {
    let mut entries = Vec::new();
    while !tree.is_empty() {
        let end = tree.iter().position(|byte| *byte == 0)?;
        let (head, rest) = (&tree[..end], &tree[end + 1..]);
        let (oid, rest) = rest.split_first_chunk::<20>()?;
        let space = head.iter().position(|byte| *byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&head[..space]).ok()?, 8).ok()?;
        entries.push((mode, &head[space + 1..], Oid(*oid)));
        tree = rest;
    }
    Some(entries)
}

struct UntrackedSearch<'a> {
    tracked: &'a Tracked,
    root: &'a Path,
    global: &'a Gitignore,
    is_over: &'a dyn Fn() -> bool,
}

impl UntrackedSearch<'_> {
    /// Counts untracked files below a folder that has tracked ones; an untracked folder counts once.
    fn below(&self, folder: &Path, path: &mut Vec<u8>, rules: &Ignored, depth: usize) -> Option<usize> {
        if (self.is_over)() || depth > DEEPEST {
            return None;
        }
        let rules = self.rules_in(folder, rules);
        let mut count = 0;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let inner = entry.path();
            if name == ".git" || self.is_ignored(&inner, kind.is_dir(), &rules) {
                continue;
            }
            let length = path.len();
            if length > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_encoded_bytes());
            count += match kind.is_dir() {
                // A submodule is tracked like a file.
                _ if self.tracked.has(path) => 0,
                true if self.tracked.has_below(path) => self.below(&inner, path, &rules, depth + 1)?,
                true => usize::from(self.holds_files(&inner, &rules, depth + 1)?),
                false => 1,
            };
            path.truncate(length);
        }
        Some(count)
    }

    /// Returns whether a folder has a file that is not ignored.
    fn holds_files(&self, folder: &Path, rules: &Ignored, depth: usize) -> Option<bool> {
        if (self.is_over)() || depth > DEEPEST {
            return None;
        }
        if folder.join(".git").exists() {
            return Some(true);
        }
        let rules = self.rules_in(folder, rules);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let inner = entry.path();
            if self.is_ignored(&inner, kind.is_dir(), &rules) {
                continue;
            }
            if !kind.is_dir() || self.holds_files(&inner, &rules, depth + 1)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn rules_in(&self, folder: &Path, rules: &Ignored) -> Ignored {
        match plain_file::read(&folder.join(".gitignore"), ignored::LARGEST) {
            Ok(text) => rules.and(folder, &String::from_utf8_lossy(&text)),
            Err(_) => rules.clone(),
        }
    }

    fn is_ignored(&self, path: &Path, is_folder: bool, rules: &Ignored) -> bool {
        let inner = path.strip_prefix(self.root).unwrap_or(path);
        rules.names(path, is_folder) || self.global.matched(inner, is_folder).is_ignore()
    }
}

/// Returns the path of an entry, unless it leaves the repository.
fn path_of(path: &[u8]) -> Option<PathBuf> {
    let path = PathBuf::from(std::str::from_utf8(path).ok()?);
    path.components().all(|part| matches!(part, std::path::Component::Normal(_))).then_some(path)
}

/// Returns the tree of the whole index from its `TREE` extension, if it is valid.
fn root_tree(content: &[u8]) -> Option<Oid> {
    let rest = content.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let is_valid = !rest.starts_with(b"-");
    Some(Oid(rest.get(end + 1..end + 21)?.try_into().ok()?)).filter(|_| is_valid)
}

fn nanoseconds(found: &Metadata) -> Option<i64> {
    i64::try_from(found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// Some versions of git keep whole seconds only.
fn is_time(indexed: i64, found: i64) -> bool {
    const SECOND: i64 = 1_000_000_000;
    indexed == found || (indexed % SECOND == 0 && indexed / SECOND == found / SECOND)
}

/// Returns what git would store for a file.
fn content(path: &Path, found: &Metadata) -> Option<Vec<u8>> {
    if found.is_symlink() {
        return Some(fs::read_link(path).ok()?.as_os_str().as_encoded_bytes().to_vec());
    }
    plain_file::read(path, LARGEST_COMPARED).ok()
}
