//! Contents that git had at given paths in all commits reachable at one moment.
//!
//! Every object is verified against its ID, from the refs as they were down to the file, so data added later to any git file
//! does not count. Replaced objects, grafts and the commit graph are ignored.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use omp_types::{Past, PastVersion};

use super::index::GitIndex;
use super::refs::tips;
use super::repository::Repository;
use super::{GitObjects, ObjectKind, Oid};
use crate::limit::UndoLimit;

/// Maximum number of commits read; older ones are ignored.
const MOST_COMMITS: usize = 500_000;
/// Size limit of a commit or tree.
const LARGEST: u64 = 8 << 20;
/// Memory limit for cached trees.
const MOST_BYTES: usize = 16 << 20;
/// Maximum number of versions per path.
const MOST_VERSIONS: usize = 20_000;
/// Maximum length of a chain of tags.
const MOST_TAGS: usize = 8;

const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const EXECUTABLE: u32 = 0o100;

/// Git mode and object ID.
type TreeEntry = (u32, Oid);
/// `None` if the path does not exist in the commit.
type CommittedEntry = Option<TreeEntry>;

/// Opens the history of the repository that contains a folder, for these paths and everything below them. Returns `None` if
/// there is no repository with a commit, or its kind is not supported.
pub fn open_past(workspace: &Path, paths: &[PathBuf]) -> Option<Arc<dyn Past>> {
    let repository = Repository::around(workspace)?;
    let tips = tips(&repository.git, &repository.common);
    if tips.is_empty() {
        return None;
    }
    let top = repository.root.canonicalize().ok()?;
    let inner = |path: &PathBuf| bytes_of(path.strip_prefix(&top).ok()?).filter(|path| !path.is_empty());
    let places: Vec<Vec<u8>> = paths.iter().filter_map(inner).collect();
    let index = GitIndex::read(&repository.git.join("index"), b"", &UndoLimit::default())?;
    let mut tracked = BTreeMap::new();
    for place in &places {
        let (top, inside) = (index.folder(b""), index.folder(place));
        let own = top.get(place).map(|entry| (place.as_slice(), entry));
        let all = own.into_iter().chain(inside.iter());
        tracked.extend(all.map(|(path, entry)| (path.to_vec(), (entry.is_executable, entry.oid))));
    }
    let walk = HistoryWalk::new(repository.objects, &tips, places.len());
    Some(Arc::new(GitPast { top, places, tracked, walk: Mutex::new(walk) }))
}

struct GitPast {
    top: PathBuf,
    places: Vec<Vec<u8>>,
    /// Index entries, with paths from the root.
    tracked: BTreeMap<Vec<u8>, (bool, Oid)>,
    walk: Mutex<HistoryWalk>,
}

impl fmt::Debug for GitPast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitPast").field("top", &self.top).finish_non_exhaustive()
    }
}

impl Past for GitPast {
    fn tracks(&self, path: &Path) -> bool {
        let Some(path) = self.inner(path) else { return false };
        // Other names may sort between a path and its children: `a`, `a-b`, `a/b`.
        let after = self.tracked.range(path.clone()..).map(|(tracked, _)| tracked);
        after.take_while(|tracked| tracked.starts_with(&path)).any(|tracked| rest_of(tracked, &path).is_some())
    }

    fn had(&self, path: &Path, version: PastVersion<'_>, until: Instant) -> bool {
        let Some(path) = self.inner(path) else { return false };
        let found = |(at, place): (usize, &Vec<u8>)| Some((at, rest_of(&path, place)?));
        let Some((place, rest)) = self.places.iter().enumerate().filter_map(found).min_by_key(|(_, rest)| rest.len())
        else {
            return false;
        };
        let wanted = WantedVersion::of(version);
        if self
            .tracked
            .get(&path)
            .is_some_and(|(is_executable, oid)| wanted == WantedVersion::File(*oid, *is_executable))
        {
            return true;
        }
        let mut walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = 0;
        loop {
            while let Some(found) = walk.versions[place].get(next).copied() {
                if walk.below(found, rest).is_some_and(|found| wanted.is(found)) {
                    return true;
                }
                next += 1;
            }
            if !walk.step(&self.places, until) {
                return false;
            }
        }
    }
}

impl GitPast {
    /// Returns the path from the repository root.
    fn inner(&self, path: &Path) -> Option<Vec<u8>> {
        bytes_of(path.strip_prefix(&self.top).ok()?)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WantedVersion {
    Nothing,
    Anything,
    Folder,
    File(Oid, bool),
}

impl WantedVersion {
    fn of(version: PastVersion<'_>) -> Self {
        match version {
            PastVersion::Nothing => Self::Nothing,
            PastVersion::Anything => Self::Anything,
            PastVersion::Folder => Self::Folder,
            PastVersion::File { bytes, is_executable } => Self::File(Oid::of_blob(bytes), is_executable),
        }
    }

    fn is(self, found: CommittedEntry) -> bool {
        match (self, found) {
            (Self::Nothing, found) => found.is_none(),
            (Self::Anything, found) => found.is_some(),
            (Self::Folder, found) => found.is_some_and(|(mode, _)| mode & KIND == FOLDER),
            (Self::File(oid, is_executable), Some((mode, found))) => {
                mode & KIND == FILE && found == oid && (mode & EXECUTABLE != 0) == is_executable
            }
            (Self::File(..), None) => false,
        }
    }
}

/// A resumable walk: continues whenever a query is not answered by what was found so far.
struct HistoryWalk {
    folders: Vec<PathBuf>,
    /// Opened on demand.
    objects: Option<GitObjects>,
    waiting: VecDeque<Oid>,
    /// Commits that are queued or were read.
    known: HashSet<Oid>,
    /// Root trees that were read.
    tops: HashSet<Oid>,
    /// The distinct versions found at each path.
    versions: Vec<Vec<CommittedEntry>>,
    seen: Vec<HashSet<CommittedEntry>>,
    trees: HashMap<Oid, Arc<[u8]>>,
    bytes: usize,
}

impl HistoryWalk {
    fn new(folders: Vec<PathBuf>, tips: &[Oid], places: usize) -> Self {
        let mut known = HashSet::new();
        let waiting = tips.iter().filter(|tip| known.insert(**tip)).copied().collect();
        Self {
            folders,
            objects: None,
            waiting,
            known,
            tops: HashSet::new(),
            versions: vec![Vec::new(); places],
            seen: vec![HashSet::new(); places],
            trees: HashMap::new(),
            bytes: 0,
        }
    }

    /// Reads one more commit. Returns `false` if there is none, or no time.
    fn step(&mut self, places: &[Vec<u8>], until: Instant) -> bool {
        if Instant::now() >= until {
            return false;
        }
        let Some(oid) = self.waiting.pop_front() else { return false };
        let Some(text) = self.commit(oid) else { return true };
        for line in text.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty()) {
            if let Some(tree) = line.strip_prefix(b"tree ").and_then(Oid::from_hex) {
                self.look_into(tree, places);
            } else if let Some(parent) = line.strip_prefix(b"parent ").and_then(Oid::from_hex)
                && self.known.len() < MOST_COMMITS
                && self.known.insert(parent)
            {
                self.waiting.push_back(parent);
            }
        }
        true
    }

    fn object(&mut self, oid: Oid) -> Option<(ObjectKind, Vec<u8>)> {
        self.objects.get_or_insert_with(|| GitObjects::open(self.folders.clone())).object(&oid, LARGEST)
    }

    /// Reads a commit, following tags.
    fn commit(&mut self, mut oid: Oid) -> Option<Vec<u8>> {
        for _ in 0..MOST_TAGS {
            let (kind, text) = self.object(oid)?;
            match kind {
                ObjectKind::Commit => return Some(text),
                ObjectKind::Tag => {
                    let line = text.split(|byte| *byte == b'\n').next()?;
                    oid = Oid::from_hex(line.strip_prefix(b"object ")?)?;
                }
                ObjectKind::Tree | ObjectKind::Blob => return None,
            }
        }
        None
    }

    fn look_into(&mut self, tree: Oid, places: &[Vec<u8>]) {
        if !self.tops.insert(tree) {
            return;
        }
        for (at, place) in places.iter().enumerate() {
            // An unreadable commit gives no information, not even that the path is missing.
            let Some(found) = self.below(Some((FOLDER, tree)), place) else { continue };
            if self.versions[at].len() < MOST_VERSIONS && self.seen[at].insert(found) {
                self.versions[at].push(found);
            }
        }
    }

    /// Looks up a path in a tree. Returns `None` if the tree cannot be read.
    fn below(&mut self, mut found: CommittedEntry, path: &[u8]) -> Option<CommittedEntry> {
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            let Some((mode, oid)) = found else { return Some(None) };
            if mode & KIND != FOLDER {
                return Some(None);
            }
            found = entry_of(&self.tree(oid)?, name)?;
        }
        Some(found)
    }

    fn tree(&mut self, oid: Oid) -> Option<Arc<[u8]>> {
        if let Some(tree) = self.trees.get(&oid) {
            return Some(tree.clone());
        }
        let (_, bytes) = self.object(oid).filter(|(kind, _)| *kind == ObjectKind::Tree)?;
        let tree: Arc<[u8]> = bytes.into();
        self.bytes += tree.len();
        if self.bytes > MOST_BYTES {
            self.trees.clear();
            self.bytes = tree.len();
        }
        self.trees.insert(oid, tree.clone());
        Some(tree)
    }
}

/// Returns `None` if the bytes are not a valid tree.
fn entry_of(mut tree: &[u8], name: &[u8]) -> Option<CommittedEntry> {
    while !tree.is_empty() {
        let end = tree.iter().position(|byte| *byte == 0)?;
        let (head, rest) = (&tree[..end], &tree[end + 1..]);
        let (oid, rest) = rest.split_first_chunk::<20>()?;
        let space = head.iter().position(|byte| *byte == b' ')?;
        if &head[space + 1..] == name {
            let mode = u32::from_str_radix(std::str::from_utf8(&head[..space]).ok()?, 8).ok()?;
            return Some(Some((mode, Oid(*oid))));
        }
        tree = rest;
    }
    Some(None)
}

/// Returns the part of a path below a folder, empty for the folder itself; `None` if it is outside.
fn rest_of<'a>(path: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
    match path.strip_prefix(folder)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Returns the path as git stores it.
fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let names: Option<Vec<&[u8]>> = path
        .components()
        .map(|part| match part {
            std::path::Component::Normal(name) => Some(name.as_encoded_bytes()),
            _ => None,
        })
        .collect();
    names.map(|names| names.join(&b'/'))
}
