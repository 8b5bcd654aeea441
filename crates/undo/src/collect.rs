//! Keeps the store within its quota: drops the oldest turns, then removes unreferenced objects.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::folder::disk_use;
use crate::index_file;
use crate::node::Node;
use crate::objects::{Objects, packs};
use crate::packed;
use crate::records::Records;
use crate::turn::digests;

/// Minimum age of an object to remove: another process may have written it before its index refers to it.
const GRACE: Duration = Duration::from_secs(3600);
/// Number of turns that are dropped at once.
const AT_ONCE: usize = 8;

/// Data that is never dropped.
pub(crate) struct KeptObjects<'a> {
    /// The current turn.
    pub turn: Option<&'a str>,
    /// The workspace's own index.
    pub index: &'a Path,
    pub indexes: &'a Path,
}

/// Result of a collection. Sizes are disk usage in whole blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    pub bytes_before: u64,
    pub bytes_after: u64,
    pub turns_forgotten: usize,
}

pub(crate) fn collect(
    objects: &Objects,
    records: &Records,
    store: &Path,
    quota: u64,
    keep: &KeptObjects<'_>,
) -> io::Result<Collected> {
    let total = used(store);
    let mut collected = Collected { bytes_before: total, bytes_after: total, turns_forgotten: 0 };
    if total <= quota {
        return Ok(collected);
    }
    let cut_off = SystemTime::now().checked_sub(GRACE);
    let is_young = |age: Option<SystemTime>| age.is_none_or(|age| cut_off.is_none_or(|cut_off| age > cut_off));
    let mut indexes = other_indexes(keep);
    // Objects that only dropped turns referred to: these are certainly not about to be used by another process.
    let mut disowned = HashSet::new();
    loop {
        let named = named(records, keep, &indexes);
        let is_needed = |digest: Option<&crate::Digest>, age: Option<SystemTime>| {
            digest.is_some_and(|digest| named.contains(digest))
                || (is_young(age) && !digest.is_some_and(|digest| disowned.contains(digest)))
        };
        objects.each(|digest, place, metadata| {
            if !is_needed(digest.as_ref(), metadata.modified().ok()) {
                drop(fs::remove_file(place));
            }
        })?;
        clear_packs(&packs(store), is_needed);
        collected.bytes_after = used(store);
        if collected.bytes_after <= quota {
            return Ok(collected);
        }
        let forgotten = forget(records, keep, &mut disowned);
        collected.turns_forgotten += forgotten;
        if forgotten == 0 {
            // The oldest index of another workspace; that workspace is read again on its next use.
            let Some(index) = indexes.pop() else { return Ok(collected) };
            index_file::remove(&index)?;
        }
    }
}

/// Returns the disk usage of a folder and its subfolders.
fn used(folder: &Path) -> u64 {
    let Ok(listed) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| {
        let own = entry.metadata().map_or(0, |metadata| disk_use(&metadata));
        own + if entry.file_type().is_ok_and(|kind| kind.is_dir()) { used(&entry.path()) } else { 0 }
    };
    listed.flatten().map(size).sum()
}

/// Packs that are being written are skipped, and so are those that cannot be rewritten for lack of space.
fn clear_packs(packs: &Path, is_needed: impl Fn(Option<&crate::Digest>, Option<SystemTime>) -> bool) {
    for workspace in fs::read_dir(packs).into_iter().flatten().flatten() {
        for list in packed::lists(&workspace.path()) {
            let age = list.with_extension("pack").metadata().and_then(|metadata| metadata.modified()).ok();
            drop(packed::rewrite(&list, |digest| is_needed(Some(digest), age)));
        }
        // Fails, as intended, unless the folder is empty.
        drop(fs::remove_dir(workspace.path()));
    }
}

fn named(records: &Records, keep: &KeptObjects<'_>, indexes: &[PathBuf]) -> HashSet<crate::Digest> {
    let mut named = HashSet::new();
    for (_, turn) in records.turns() {
        named.extend(turn.digests());
    }
    for (_, taken) in records.taken() {
        named.extend(digests(&taken.changes));
    }
    for index in indexes.iter().map(PathBuf::as_path).chain([keep.index]) {
        if let Some(tree) = index_file::load(index) {
            named.extend(tree.records().filter_map(|record| Node::digest(&record.node)));
        }
    }
    named
}

/// Sorted from newest to oldest.
fn other_indexes(keep: &KeptObjects<'_>) -> Vec<PathBuf> {
    let Ok(listed) = fs::read_dir(keep.indexes) else { return Vec::new() };
    let mut indexes: Vec<(SystemTime, PathBuf)> = listed
        .flatten()
        .filter(|entry| entry.path() != keep.index && index_file::is_index(&entry.path()))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    indexes.sort();
    indexes.into_iter().rev().map(|(_, path)| path).collect()
}

/// Drops the oldest turns, and undo records older than the oldest remaining turn.
fn forget(records: &Records, keep: &KeptObjects<'_>, disowned: &mut HashSet<crate::Digest>) -> usize {
    let mut forgotten = 0;
    let turns = records.turns();
    for (place, turn) in turns.iter().filter(|(_, turn)| keep.turn != Some(&turn.id)).take(AT_ONCE) {
        if fs::remove_file(place).is_ok() {
            disowned.extend(turn.digests());
            forgotten += 1;
        }
    }
    let left = records.turns().into_iter().map(|(_, turn)| turn.id).next();
    for (place, taken) in records.taken() {
        if left.as_ref().is_none_or(|left| taken.id < *left) {
            disowned.extend(digests(&taken.changes));
            drop(fs::remove_file(place));
        }
    }
    forgotten
}
