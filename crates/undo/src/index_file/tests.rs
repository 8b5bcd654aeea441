//! Tests: the loaded state is the saved one, regardless of other writers and truncation.

use std::sync::Arc;

use super::*;
use crate::node::{LinkTarget, Node, NodeRecord, Stat, Uncovered};
use crate::rel_path::RelPath;
use crate::tree::{Names, REST};

/// A deterministic generator, so that failures are reproducible.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn record(&mut self) -> NodeRecord {
        let mode = [0, 0o644, 0o7777][self.next(3)];
        let node = match self.next(4) {
            0 => Node::Folder { mode },
            1 => Node::File { mode, size: self.0, hash: Digest::of(&self.0.to_le_bytes()) },
            2 => Node::Link { target: LinkTarget(b"to \xff/\n"[..self.next(7)].into()) },
            _ => Node::Uncovered { why: Uncovered::ALL[self.next(Uncovered::ALL.len())] },
        };
        let time = [0, -1, i64::MIN, i64::MAX, 1_700_000_000_123_456_789][self.next(5)];
        let stat = Stat { size: self.0 >> self.next(64), mtime: time, ctime: -time.max(0), inode: self.0, mode };
        NodeRecord { stat, read_at: time, node }
    }

    /// Returns a tree in which some names are added, removed and changed.
    fn change(&mut self, tree: &WorkspaceTree) -> WorkspaceTree {
        let mut tree = tree.clone();
        for _ in 0..=self.next(4) {
            let folder = RelPath::from_bytes([&b""[..], b"a", b"a/b", b"\xfe x"][self.next(4)]).unwrap();
            if self.next(8) == 0 && tree.folders.len() > 1 {
                tree.folders.remove(&folder);
                continue;
            }
            let names = Arc::make_mut(tree.folders.entry(folder).or_default());
            for _ in 0..self.next(6) {
                let name = [REST, b"one", b"two", b"\xff", b"four", b"five\n"][self.next(6)];
                match (names.binary_search_by(|(other, _)| (**other).cmp(name)), self.next(3)) {
                    (Ok(at), 0) => drop(names.remove(at)),
                    (Ok(at), _) => names[at].1 = self.record(),
                    (Err(at), _) => names.insert(at, (name.into(), self.record())),
                }
            }
        }
        tree
    }
}

fn all(tree: &WorkspaceTree) -> Vec<(RelPath, Names)> {
    tree.folders.iter().map(|(folder, names)| (folder.clone(), (**names).clone())).collect()
}

#[track_caller]
fn holds(place: &Path, tree: &WorkspaceTree) {
    assert_eq!(all(&load(place).unwrap()), all(tree));
}

#[test]
fn what_was_saved_last_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(0x5eed_0001);
    for round in 0..50 {
        let place = folder.path().join(format!("{round}"));
        let mut index = IndexFile::new(place.clone());
        assert!(index.load().is_none());
        let mut tree = WorkspaceTree::default();
        for _ in 0..40 {
            let next = random.change(&tree);
            if random.next(4) == 0 {
                // Another process has scanned the same workspace: it knew the saved state and never interferes.
                let mut other = IndexFile::new(place.clone());
                let known = other.load().unwrap_or_default();
                let theirs = random.change(&known);
                other.save(&known, &theirs).unwrap();
                drop(Some(other).filter(|_| random.next(2) == 0));
            }
            let is_other = all(&next) != all(&tree);
            index.save(&tree, &next).unwrap();
            if is_other {
                holds(&place, &next);
            }
            tree = next;
            if random.next(6) == 0 {
                index = IndexFile::new(place.clone());
                tree = index.load().unwrap();
            }
        }
    }
}

#[test]
fn what_was_cut_off_is_as_it_was_before() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let mut random = Random(0x5eed_0002);
    let mut index = IndexFile::new(place.clone());
    let mut states: Vec<(u64, WorkspaceTree)> = vec![(0, WorkspaceTree::default())];
    for _ in 0..4 {
        let known = states.last().unwrap().1.clone();
        let next = random.change(&known);
        index.save(&known, &next).unwrap();
        states.push((place.metadata().unwrap().len(), next));
    }
    drop(index);
    let bytes = fs::read(&place).unwrap();
    for length in 0..=bytes.len() {
        let mut cut = bytes[..length].to_vec();
        for is_damaged in [false, true] {
            if is_damaged && length > 0 {
                cut[length - 1] ^= 0x10;
            }
            fs::write(&place, &cut).unwrap();
            let whole = length as u64 - u64::from(is_damaged && length > 0);
            let expect = states.iter().rev().find(|(end, _)| *end <= whole).map(|(_, tree)| tree).unwrap();
            let mut index = IndexFile::new(place.clone());
            let Some(found) = index.load() else {
                assert!(expect.folders.is_empty(), "{length}");
                continue;
            };
            assert_eq!(all(&found), all(expect), "{length}");
            // Continues from the loaded state.
            let next = random.change(&found);
            index.save(&found, &next).unwrap();
            if all(&next) != all(&found) {
                holds(&place, &next);
            }
        }
    }
}

fn large() -> WorkspaceTree {
    let record = |number: usize| NodeRecord {
        stat: Stat { size: 900, mtime: 1, ctime: 1, inode: number as u64, mode: 0o644 },
        read_at: i64::MAX,
        node: Node::File { mode: 0o644, size: 900, hash: Digest::of(&number.to_le_bytes()) },
    };
    let names =
        |folder: usize| (0..200).map(move |name| (format!("{name:05}").as_bytes().into(), record(folder + name)));
    let folder = |number: usize| (RelPath::from_bytes(format!("d{number}").as_bytes()).unwrap(), number);
    WorkspaceTree { folders: (0..20).map(folder).map(|(path, at)| (path, Arc::new(names(at).collect()))).collect() }
}

#[test]
fn a_small_change_of_a_large_tree_is_a_small_write_and_the_file_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let length = || place.metadata().unwrap().len();
    let mut random = Random(0x5eed_0003);
    let mut index = IndexFile::new(place.clone());
    let mut tree = large();
    index.save(&WorkspaceTree::default(), &tree).unwrap();
    let whole = length();
    assert!(whole / 4_000 < 100, "{whole} bytes for 4,000 names");
    index.save(&tree, &tree.clone()).unwrap();
    assert_eq!(length(), whole, "nothing has changed");
    let (mut rewritten, mut before) = (0, whole);
    for number in 0..30_000_usize {
        let path = RelPath::from_bytes(format!("d{}", number % 20).as_bytes()).unwrap();
        let name = format!("{:05}", number % 200);
        let record = random.record();
        if number % 2 == 0 {
            let mut next = tree.clone();
            next.set(&path, name.as_bytes(), record);
            index.save(&tree, &next).unwrap();
            tree = next;
        } else {
            tree.set(&path, name.as_bytes(), record.clone());
            index.note(&[(path, name.as_bytes().into(), record)], &tree).unwrap();
        }
        let now = length();
        assert!(now <= whole + whole / 2 + LEAST_ROOM, "{now}");
        match now.checked_sub(before) {
            Some(added) => assert!(added < 300, "{added}"),
            None => rewritten += 1,
        }
        before = now;
    }
    assert!((1..10).contains(&rewritten), "{rewritten}");
    holds(&place, &tree);
}

/// The collector of another workspace may remove the file, and another process may replace it.
#[test]
fn a_file_that_is_not_ours_any_more_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let mut index = IndexFile::new(place.clone());
    let mut random = Random(0x5eed_0004);
    let mut tree = random.change(&WorkspaceTree::default());
    index.save(&WorkspaceTree::default(), &tree).unwrap();
    for how in 0..3 {
        match how {
            0 => fs::remove_file(&place).unwrap(),
            1 => drop(IndexFile::new(place.clone()).save(&WorkspaceTree::default(), &large())),
            _ => fs::rename(&place, folder.path().join("elsewhere")).unwrap(),
        }
        let mut next = tree.clone();
        next.folders.insert(RelPath::from_bytes(format!("new{how}").as_bytes()).unwrap(), Arc::default());
        index.save(&tree, &next).unwrap();
        holds(&place, &next);
        tree = next;
    }
}
