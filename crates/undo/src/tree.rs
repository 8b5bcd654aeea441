//! A workspace at one moment, folder by folder: a folder in which nothing changed is shared between two moments.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::node::{Node, Record, Uncovered};
use crate::rel_path::RelPath;

/// What is in one folder, by name.
pub(crate) type Names = Vec<(Box<[u8]>, Record)>;

#[derive(Clone, Default)]
pub(crate) struct Tree {
    pub folders: BTreeMap<RelPath, Arc<Names>>,
}

/// What became of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub path: RelPath,
    pub before: Option<Node>,
    pub after: Option<Node>,
}

impl Change {
    pub(crate) fn reversed(self) -> Self {
        Self { path: self.path, before: self.after, after: self.before }
    }
}

impl Tree {
    pub fn get(&self, path: &RelPath) -> Option<&Record> {
        let (_, name) = path.split();
        named(self.folders.get(&path.parent())?, name)
    }

    /// What is there but not covered, by path.
    pub fn uncovered(&self) -> impl Iterator<Item = (RelPath, Uncovered)> + '_ {
        self.folders.iter().flat_map(|(folder, names)| {
            names.iter().filter_map(move |(name, record)| match record.node {
                Node::Uncovered { why } => Some((folder.join(name), why)),
                _ => None,
            })
        })
    }

    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.folders.values().flat_map(|names| names.iter().map(|(_, record)| record))
    }

    /// By path. What lies in a folder that one side does not cover has not changed, as far as can be told.
    pub fn changes_to(&self, later: &Tree) -> Vec<Change> {
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

    /// Whether the folder, or one that it is in, is there without being covered.
    fn hides(&self, folder: &RelPath) -> bool {
        let mut path = folder.clone();
        while !path.as_bytes().is_empty() {
            if self
                .get(&path)
                .is_some_and(|record| matches!(record.node, Node::Uncovered { why } if why.may_be_folder()))
            {
                return true;
            }
            path = path.parent();
        }
        false
    }
}

pub(crate) fn named<'a>(names: &'a Names, name: &[u8]) -> Option<&'a Record> {
    let at = names.binary_search_by(|(other, _)| (**other).cmp(name)).ok()?;
    names.get(at).map(|(_, record)| record)
}

fn compare(folder: &RelPath, before: &[(Box<[u8]>, Record)], after: &[(Box<[u8]>, Record)], into: &mut Vec<Change>) {
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
        let (old, new) = (old.map(|(_, record)| &record.node), new.map(|(_, record)| &record.node));
        if old != new {
            into.push(Change { path: folder.join(name), before: old.cloned(), after: new.cloned() });
        }
    }
}
