//! A snapshot of a workspace, folder by folder: unchanged folders are shared between snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::node::{Node, NodeRecord, Uncovered};
use crate::rel_path::RelPath;

/// The entries of one folder, by name.
pub(crate) type Names = Vec<(Box<[u8]>, NodeRecord)>;

#[derive(Clone, Default)]
pub(crate) struct WorkspaceTree {
    pub folders: BTreeMap<RelPath, Arc<Names>>,
}

/// The change of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChange {
    pub path: RelPath,
    pub before: Option<Node>,
    pub after: Option<Node>,
}

impl TreeChange {
    pub(crate) fn reversed(self) -> Self {
        Self { path: self.path, before: self.after, after: self.before }
    }
}

impl WorkspaceTree {
    pub fn get(&self, path: &RelPath) -> Option<&NodeRecord> {
        let (_, name) = path.split();
        named(self.folders.get(&path.parent())?, name)
    }

    /// Returns existing nodes that are not covered, by path.
    pub fn uncovered(&self) -> impl Iterator<Item = (RelPath, Uncovered)> + '_ {
        self.uncovered_names().map(|(folder, name, why)| (uncovered_path(folder, name, why), why))
    }

    /// Returns nodes that are not covered by folder and name, which avoids building many paths.
    pub fn uncovered_names(&self) -> impl Iterator<Item = (&RelPath, &[u8], Uncovered)> + '_ {
        self.folders.iter().flat_map(|(folder, names)| {
            names.iter().filter_map(move |(name, record)| match record.node {
                Node::Uncovered { why } => Some((folder, &**name, why)),
                _ => None,
            })
        })
    }

    /// Replaces an existing record.
    pub fn set(&mut self, folder: &RelPath, name: &[u8], record: NodeRecord) {
        let Some(names) = self.folders.get_mut(folder) else { return };
        let Ok(at) = names.binary_search_by(|(other, _)| (**other).cmp(name)) else { return };
        Arc::make_mut(names)[at].1 = record;
    }

    /// Inserts or replaces a record in a known folder.
    pub fn put(&mut self, folder: &RelPath, name: &[u8], record: NodeRecord) {
        let Some(names) = self.folders.get_mut(folder).map(Arc::make_mut) else { return };
        match names.binary_search_by(|(other, _)| (**other).cmp(name)) {
            Ok(at) => names[at].1 = record,
            Err(at) => names.insert(at, (name.into(), record)),
        }
    }

    pub fn entries(&self) -> usize {
        self.folders.values().map(|names| names.len()).sum()
    }

    pub fn records(&self) -> impl Iterator<Item = &NodeRecord> {
        self.folders.values().flat_map(|names| names.iter().map(|(_, record)| record))
    }

    /// Returns the changes by path. Entries of a folder that one side does not cover count as unchanged.
    pub fn changes_to(&self, later: &WorkspaceTree) -> Vec<TreeChange> {
        let mut changes = Vec::new();
        for (folder, before) in &self.folders {
            match later.folders.get(folder) {
                Some(after) if Arc::ptr_eq(before, after) => {}
                Some(after) => compare(folder, before, after, &mut changes),
                None if later.hides(folder) => {}
                None => compare(folder, before, &[], &mut changes),
            }
        }
        for (folder, after) in &later.folders {
            if !self.folders.contains_key(folder) && !self.hides(folder) {
                compare(folder, &[], after, &mut changes);
            }
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes
    }

    /// Returns whether the folder or a parent may exist without being covered.
    fn hides(&self, folder: &RelPath) -> bool {
        self.is_behind(folder, Uncovered::may_be_folder)
    }

    /// Returns whether parts of the workspace were not scanned for lack of time.
    pub fn is_cut(&self) -> bool {
        let is_cut = |why| matches!(why, Uncovered::TooSlow | Uncovered::Rest);
        self.records().any(|record| matches!(record.node, Node::Uncovered { why } if is_cut(why)))
    }

    /// Returns whether the path was not scanned for lack of time, so that its state is unknown.
    pub fn is_unseen(&self, path: &RelPath) -> bool {
        self.is_behind(path, |why| why == Uncovered::TooSlow)
    }

    /// Returns whether the path or a parent is not covered for a matching reason, or was beyond the scanned part of a
    /// folder.
    fn is_behind(&self, path: &RelPath, is_meant: impl Fn(Uncovered) -> bool) -> bool {
        let mut path = path.clone();
        while !path.as_bytes().is_empty() {
            let parent = path.parent();
            let is_hidden = match self.get(&path) {
                Some(record) => matches!(record.node, Node::Uncovered { why } if is_meant(why)),
                None => self.folders.get(&parent).is_some_and(|names| is_partial(names)),
            };
            if is_hidden {
                return true;
            }
            path = parent;
        }
        false
    }
}

/// Returns the path to report; the placeholder for the rest of a folder is reported as the folder.
pub(crate) fn uncovered_path(folder: &RelPath, name: &[u8], why: Uncovered) -> RelPath {
    if why == Uncovered::Rest { folder.clone() } else { folder.join(name) }
}

pub(crate) fn named<'a>(names: &'a Names, name: &[u8]) -> Option<&'a NodeRecord> {
    let at = names.binary_search_by(|(other, _)| (**other).cmp(name)).ok()?;
    names.get(at).map(|(_, record)| record)
}

/// The placeholder name that comes first in a folder that was only partly scanned.
pub(crate) const REST: &[u8] = b"";

pub(crate) fn is_partial(names: &[(Box<[u8]>, NodeRecord)]) -> bool {
    names.first().is_some_and(|(name, _)| **name == *REST)
}

fn compare(
    folder: &RelPath,
    before: &[(Box<[u8]>, NodeRecord)],
    after: &[(Box<[u8]>, NodeRecord)],
    into: &mut Vec<TreeChange>,
) {
    let was_partial = is_partial(before);
    let is_partial = is_partial(after);
    let (mut left, mut right) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let old = if order.is_le() { left.next() } else { None };
        let new = if order.is_ge() { right.next() } else { None };
        let Some((name, _)) = old.or(new) else { return };
        // An entry that was not scanned may have existed before, or may still exist.
        let is_unknown = (old.is_none() && was_partial) || (new.is_none() && is_partial) || **name == *REST;
        let (old, new) = (old.map(|(_, record)| record), new.map(|(_, record)| record));
        if !is_unknown && is_change(old, new) {
            let before = old.map(|record| if record.is_not_yet() { NO_TIME } else { record.node.clone() });
            into.push(TreeChange { path: folder.join(name), before, after: new.map(|record| record.node.clone()) });
        }
    }
}

const NO_TIME: Node = Node::Uncovered { why: Uncovered::NoTime };

fn is_change(old: Option<&NodeRecord>, new: Option<&NodeRecord>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return true };
    let why = |record: &NodeRecord| match record.node {
        Node::Uncovered { why } => Some(why),
        _ => None,
    };
    match (why(old), why(new)) {
        // With the same times the file is unchanged, whether it is copied by now or not.
        (Some(Uncovered::NotYet), _) if old.stat == new.stat && !old.is_racy() => false,
        (Some(Uncovered::NotYet), _) => true,
        (Some(Uncovered::TooSlow), _) if new.node.is_folder() => false,
        (_, Some(Uncovered::TooSlow)) if old.node.is_folder() => false,
        _ => old.node != new.node,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Stat;

    fn record(ctime: i64, node: Node) -> NodeRecord {
        NodeRecord { stat: Stat { ctime, ..Stat::default() }, read_at: i64::MAX, node }
    }

    fn tree(entries: &[(&[u8], NodeRecord)]) -> WorkspaceTree {
        let names = entries.iter().map(|(name, record)| ((*name).into(), record.clone())).collect();
        WorkspaceTree { folders: [(RelPath::root(), Arc::new(names))].into() }
    }

    const fn uncovered(why: Uncovered) -> Node {
        Node::Uncovered { why }
    }

    fn file(mark: u8) -> Node {
        Node::File { mode: 0o644, size: 1, hash: crate::Digest::of(&[mark]) }
    }

    #[test]
    fn what_was_not_copied_in_time_is_a_change_only_if_it_was_changed() {
        let not_yet = record(1, uncovered(Uncovered::NotYet));
        let young = NodeRecord { read_at: 1, ..not_yet.clone() };
        let rest = (REST, record(0, uncovered(Uncovered::Rest)));
        type Row<'a> = (&'a str, WorkspaceTree, WorkspaceTree, Vec<(Option<Node>, Option<Node>)>);
        let rows: Vec<Row> = vec![
            ("copied since", tree(&[(b"a", not_yet.clone())]), tree(&[(b"a", record(1, file(1)))]), vec![]),
            (
                "changed",
                tree(&[(b"a", not_yet.clone())]),
                tree(&[(b"a", record(2, file(1)))]),
                vec![(Some(NO_TIME), Some(file(1)))],
            ),
            (
                "perhaps changed",
                tree(&[(b"a", young)]),
                tree(&[(b"a", record(1, file(1)))]),
                vec![(Some(NO_TIME), Some(file(1)))],
            ),
            ("removed", tree(&[(b"a", not_yet.clone())]), tree(&[]), vec![(Some(NO_TIME), None)]),
            ("a new one", tree(&[]), tree(&[(b"a", not_yet)]), vec![(None, Some(uncovered(Uncovered::NotYet)))]),
            (
                "not looked at before",
                tree(std::slice::from_ref(&rest)),
                tree(&[rest.clone(), (b"a", record(1, file(1)))]),
                vec![],
            ),
            ("not looked at now", tree(&[(b"a", record(1, file(1)))]), tree(std::slice::from_ref(&rest)), vec![]),
            (
                "changed in a part",
                tree(&[rest.clone(), (b"a", record(1, file(1)))]),
                tree(&[rest, (b"a", record(2, file(2)))]),
                vec![(Some(file(1)), Some(file(2)))],
            ),
        ];
        for (what, before, after, expect) in rows {
            let changes: Vec<_> = before.changes_to(&after).into_iter().map(|it| (it.before, it.after)).collect();
            assert_eq!(changes, expect, "{what}");
        }
    }
}
