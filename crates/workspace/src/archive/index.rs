//! Folders of an archive, including those that exist only as part of file names.

use std::collections::BTreeMap;

use super::{ArchiveEntry, ArchiveListing, MemberKind};

/// The direct children of one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveFolder {
    /// Sorted by name.
    pub children: Vec<ArchiveChild>,
    /// Number of entries in the whole archive whose names lead out of it; they cannot be opened.
    pub unreachable: usize,
    /// Number of entries that were counted but not listed.
    pub not_listed: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveChild {
    pub name: String,
    pub kind: MemberKind,
    /// For a folder, the sum of its files.
    pub size: u64,
    /// Number of files below a folder; 1 for anything else.
    pub files: usize,
}

/// Returns `None` if no entry is that folder or lies in it. The root always exists.
pub fn folder_of(listing: &ArchiveListing, folder: &str) -> Option<ArchiveFolder> {
    let mut children: BTreeMap<&str, ArchiveChild> = BTreeMap::new();
    let mut exists = folder.is_empty();
    for entry in listing.entries.iter().filter(|entry| entry.reachable) {
        let Some(below) = below(&entry.path, folder) else { continue };
        exists |= !below.is_empty() || entry.kind == MemberKind::Folder;
        if !below.is_empty() {
            add(&mut children, below, entry);
        }
    }
    let unreachable = listing.entries.iter().filter(|entry| !entry.reachable).count();
    let children = children.into_values().collect();
    exists.then_some(ArchiveFolder { children, unreachable, not_listed: listing.not_listed })
}

/// Returns the part of `path` below `folder`: empty for the folder itself, `None` for paths outside it.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(folder)?;
    // `app` is not the folder of `app-evil/x`.
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn add<'a>(children: &mut BTreeMap<&'a str, ArchiveChild>, below: &'a str, entry: &ArchiveEntry) {
    match below.split_once('/') {
        None if entry.kind == MemberKind::Folder => {
            children.entry(below).or_insert_with(|| folder_child(below));
        }
        // If several entries have the same name, the last one counts.
        None => {
            let child = ArchiveChild { name: below.into(), kind: entry.kind.clone(), size: entry.size, files: 1 };
            children.insert(below, child);
        }
        Some((name, _)) => {
            let child = children.entry(name).or_insert_with(|| folder_child(name));
            if entry.kind != MemberKind::Folder {
                child.size = child.size.saturating_add(entry.size);
                child.files += 1;
            }
        }
    }
}

fn folder_child(name: &str) -> ArchiveChild {
    ArchiveChild { name: name.into(), kind: MemberKind::Folder, size: 0, files: 0 }
}
