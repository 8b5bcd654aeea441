//! The objects of a repository: packs, which are kept open, and loose objects.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Decompress;
use omp_stdx::plain_file;

use super::pack::Pack;
use super::repository::Repository;
use super::{LARGEST_BLOB, ObjectKind, Oid};
use crate::limit::UndoLimit;

/// Maximum number of packs kept open, the largest first: each takes two file descriptors.
const MOST_PACKS: usize = 32;
/// Number of objects looked up between two checks of the time limit.
const AT_ONCE: usize = 512;
const MOST_THREADS: usize = 4;

pub(crate) struct GitObjects {
    folders: Vec<PathBuf>,
    packs: Mutex<Vec<Arc<Pack>>>,
}

impl GitObjects {
    pub fn open(folders: Vec<PathBuf>) -> Self {
        let objects = Self { folders, packs: Mutex::default() };
        objects.refresh();
        objects
    }

    /// Opens the objects of the repository that contains a folder.
    pub fn around(workspace: &Path) -> Option<Self> {
        Repository::around(workspace).map(|repository| Self::open(repository.objects))
    }

    /// Opens new packs. Open packs stay open, even if their files are removed.
    pub fn refresh(&self) {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let known: BTreeSet<OsString> = packs.iter().map(|pack| pack.name.clone()).collect();
        let mut found: Vec<(u64, PathBuf)> = Vec::new();
        for folder in &self.folders {
            for entry in fs::read_dir(folder.join("pack")).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|extension| extension == "idx") && !known.contains(&entry.file_name()) {
                    found.push((entry.metadata().map_or(0, |metadata| metadata.len()), path));
                }
            }
        }
        found.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        let room = MOST_PACKS.saturating_sub(packs.len());
        packs.extend(found.into_iter().take(room).filter_map(|(_, path)| Pack::open(&path)).map(Arc::new));
    }

    fn packs(&self) -> Vec<Arc<Pack>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns which objects are in an open pack with the given size. The IDs must be sorted.
    pub fn held(&self, oids: &[Oid], sizes: &[u64], limit: &UndoLimit) -> Vec<bool> {
        let mut held = vec![false; oids.len()];
        let mut places: Vec<(usize, u64, usize)> = Vec::new();
        let packs = self.packs();
        let mut seen = vec![false; oids.len()];
        for (number, pack) in packs.iter().enumerate() {
            pack.find_all(oids, |at, offset| {
                if !std::mem::replace(&mut seen[at], true) {
                    places.push((number, offset, at));
                }
            });
        }
        // Sorted by position on disk.
        places.sort_unstable();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut inflate = Decompress::new(true);
            let mut same = Vec::new();
            while !limit.is_over() {
                let from = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                let Some(piece) = places.get(from..places.len().min(from + AT_ONCE)).filter(|piece| !piece.is_empty())
                else {
                    break;
                };
                for (pack, offset, at) in piece {
                    if packs[*pack].size(*offset, &mut inflate) == Some(sizes[*at]) {
                        same.push(*at);
                    }
                }
            }
            same
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let is_few = places.len() <= 2 * AT_ONCE;
        let found: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).filter(|_| !is_few).map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().filter_map(|other| other.join().ok()).chain([own]).collect()
        });
        found.into_iter().flatten().for_each(|at| held[at] = true);
        held
    }

    pub fn has(&self, oid: &Oid) -> bool {
        self.packs().iter().any(|pack| pack.find(oid).is_some()) || self.loose(oid).is_some()
    }

    /// Returns the content of a blob, verified against its ID. Checks for new packs if it is not found.
    pub fn blob(&self, oid: &Oid) -> Option<Vec<u8>> {
        self.object(oid, LARGEST_BLOB).filter(|(kind, _)| *kind == ObjectKind::Blob).map(|(_, content)| content)
    }

    /// Returns an object of any kind, verified against its ID.
    pub fn object(&self, oid: &Oid, largest: u64) -> Option<(ObjectKind, Vec<u8>)> {
        let in_packs = || self.packs().iter().find_map(|pack| pack.read(pack.find(oid)?, largest));
        let found = in_packs().or_else(|| self.loose_object(oid, largest)).or_else(|| {
            self.refresh();
            in_packs()
        });
        found.filter(|(kind, content)| Oid::of(*kind, content) == *oid)
    }

    fn loose(&self, oid: &Oid) -> Option<File> {
        let hex: String = oid.0.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folders.iter().find_map(|folder| {
            let found = plain_file::open(&folder.join(&hex[..2]).join(&hex[2..]));
            found.ok().map(|(file, _)| file)
        })
    }

    fn loose_object(&self, oid: &Oid, largest: u64) -> Option<(ObjectKind, Vec<u8>)> {
        let mut content = Vec::new();
        let mut stream = flate2::read::ZlibDecoder::new(self.loose(oid)?).take(largest + 64);
        stream.read_to_end(&mut content).ok()?;
        let end = content.iter().take(64).position(|byte| *byte == 0)?;
        let (kind, size) = std::str::from_utf8(&content[..end]).ok()?.split_once(' ')?;
        let (kind, size) = (ObjectKind::named(kind)?, size.parse::<usize>().ok()?);
        content.drain(..=end);
        (content.len() == size).then_some((kind, content))
    }
}
