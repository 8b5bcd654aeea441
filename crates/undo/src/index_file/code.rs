//! Serialization of trees and their changes.

use std::sync::Arc;

use crate::digest::Digest;
use crate::node::{LinkTarget, Node, NodeRecord, Stat, Uncovered};
use crate::rel_path::RelPath;
use crate::scan::CopiedNode;
use crate::tree::{Names, WorkspaceTree};

/// Tags for the state of a folder.
const GONE: u8 = 0;
const ALL: u8 = 1;
const SOME: u8 = 2;

pub(super) fn encoded(tree: &WorkspaceTree) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tree.entries() * 96);
    for (folder, names) in &tree.folders {
        all(&mut bytes, folder, names);
    }
    bytes
}

/// Returns an empty result if there is no difference.
pub(super) fn encoded_changes(from: &WorkspaceTree, to: &WorkspaceTree) -> Vec<u8> {
    let mut bytes = Vec::new();
    for folder in from.folders.keys().filter(|folder| !to.folders.contains_key(folder)) {
        bytes.push(GONE);
        text(&mut bytes, folder.as_bytes());
    }
    for (folder, after) in &to.folders {
        match from.folders.get(folder) {
            Some(before) if Arc::ptr_eq(before, after) => {}
            Some(before) => some(&mut bytes, folder, &differing(before, after)),
            None => all(&mut bytes, folder, after),
        }
    }
    bytes
}

pub(super) fn encoded_records(records: &[CopiedNode]) -> Vec<u8> {
    let mut sorted: Vec<_> = records.iter().collect();
    sorted.sort_unstable_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    let mut bytes = Vec::new();
    for here in sorted.chunk_by(|one, other| one.0 == other.0) {
        let names: Vec<Differing<'_>> = here.iter().map(|(_, name, record)| (&**name, Some(record))).collect();
        some(&mut bytes, &here[0].0, &names);
    }
    bytes
}

/// A name and its new record; `None` if it was removed.
type Differing<'a> = (&'a [u8], Option<&'a NodeRecord>);

fn differing<'a>(before: &'a Names, after: &'a Names) -> Vec<Differing<'a>> {
    let mut names = Vec::new();
    let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return names,
        };
        let was = if order.is_le() { old.next() } else { None };
        let is = if order.is_ge() { new.next() } else { None };
        match (was, is) {
            (Some((_, was)), Some((_, is))) if was == is => {}
            (_, Some((name, record))) => names.push((&**name, Some(record))),
            (Some((name, _)), None) => names.push((&**name, None)),
            (None, None) => {}
        }
    }
}

fn all(bytes: &mut Vec<u8>, folder: &RelPath, names: &Names) {
    bytes.push(ALL);
    text(bytes, folder.as_bytes());
    number(bytes, names.len() as u64);
    for (name, record) in names {
        text(bytes, name);
        write(bytes, record);
    }
}

fn some(bytes: &mut Vec<u8>, folder: &RelPath, names: &[Differing<'_>]) {
    if names.is_empty() {
        return;
    }
    bytes.push(SOME);
    text(bytes, folder.as_bytes());
    number(bytes, names.len() as u64);
    for (name, record) in names {
        text(bytes, name);
        match record {
            Some(record) => write(bytes, record),
            None => bytes.push(NO_RECORD),
        }
    }
}

const FOLDER: u8 = 0;
const FILE: u8 = 1;
const LINK: u8 = 2;
const UNCOVERED: u8 = 3;
const NO_RECORD: u8 = 4;

fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    number(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Writes a number with seven bits per byte, because most numbers are small.
fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn time(bytes: &mut Vec<u8>, time: i64) {
    bytes.extend_from_slice(&time.to_le_bytes());
}

fn write(bytes: &mut Vec<u8>, record: &NodeRecord) {
    let NodeRecord { stat, read_at, node } = record;
    let kind = match node {
        Node::Folder { .. } => FOLDER,
        Node::File { .. } => FILE,
        Node::Link { .. } => LINK,
        Node::Uncovered { .. } => UNCOVERED,
    };
    bytes.push(kind);
    for value in [stat.size, stat.inode, u64::from(stat.mode)] {
        number(bytes, value);
    }
    for value in [stat.mtime, stat.ctime, *read_at] {
        time(bytes, value);
    }
    match node {
        Node::Folder { mode } => number(bytes, u64::from(*mode)),
        Node::File { mode, size, hash } => {
            number(bytes, u64::from(*mode));
            number(bytes, *size);
            bytes.extend_from_slice(&hash.0);
        }
        Node::Link { target } => text(bytes, &target.0),
        Node::Uncovered { why } => {
            number(bytes, Uncovered::ALL.iter().position(|other| other == why).unwrap_or(0) as u64);
        }
    }
}

pub(super) struct IndexReader<'a>(pub &'a [u8]);

impl<'a> IndexReader<'a> {
    /// Returns `None` if the data is invalid: then the tree must not be used.
    pub fn apply(mut self, tree: &mut WorkspaceTree) -> Option<()> {
        while !self.0.is_empty() {
            let kind = self.byte()?;
            let folder = RelPath::from_bytes(self.text()?)?;
            if kind == GONE {
                tree.folders.remove(&folder)?;
                continue;
            }
            let count = self.number()?;
            let mut names = Vec::new();
            for _ in 0..count {
                names.push((self.text()?.into(), self.record()?));
            }
            let names = match kind {
                ALL => names.into_iter().map(|(name, record)| Some((name, record?))).collect::<Option<Names>>()?,
                SOME => merged(tree.folders.remove(&folder)?, names),
                _ => return None,
            };
            tree.folders.insert(folder, Arc::new(names));
        }
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn time(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn mode(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Returns `Some(None)` for a removed name.
    #[expect(clippy::option_option, reason = "no record can be read, or there is none")]
    fn record(&mut self) -> Option<Option<NodeRecord>> {
        let kind = self.byte()?;
        if kind == NO_RECORD {
            return Some(None);
        }
        let (size, inode, mode) = (self.number()?, self.number()?, self.mode()?);
        let (mtime, ctime, read_at) = (self.time()?, self.time()?, self.time()?);
        let node = match kind {
            FOLDER => Node::Folder { mode: self.mode()? },
            FILE => {
                Node::File { mode: self.mode()?, size: self.number()?, hash: Digest(self.take(32)?.try_into().ok()?) }
            }
            LINK => Node::Link { target: LinkTarget(self.text()?.into()) },
            UNCOVERED => Node::Uncovered { why: *Uncovered::ALL.get(usize::try_from(self.number()?).ok()?)? },
            _ => return None,
        };
        Some(Some(NodeRecord { stat: Stat { size, mtime, ctime, inode, mode }, read_at, node }))
    }
}

/// Merges two lists that are sorted by name.
fn merged(known: Arc<Names>, changed: Vec<(Box<[u8]>, Option<NodeRecord>)>) -> Names {
    let mut names = Names::with_capacity(known.len() + changed.len());
    let mut known = Arc::unwrap_or_clone(known).into_iter().peekable();
    for (name, record) in changed {
        while let Some(before) = known.next_if(|(other, _)| *other < name) {
            names.push(before);
        }
        drop(known.next_if(|(other, _)| *other == name));
        names.extend(record.map(|record| (name, record)));
    }
    names.extend(known);
    names
}
