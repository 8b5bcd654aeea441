//! Plans an undo or a redo, and finds what prevents it.

use std::collections::BTreeSet;

use super::{KnownWorkspace, Undo, UndoRequest};
use crate::UndoError;
use crate::node::{Node, Uncovered};
use crate::rel_path::RelPath;
use crate::restore::{AppliedChanges, LeftReason};
use crate::tree::{TreeChange, WorkspaceTree};
use crate::turn::{Net, Turn, net};

impl Undo {
    pub(super) fn plan(&self, state: &mut KnownWorkspace, wanted: &UndoRequest) -> Result<UndoPlan, UndoError> {
        let mut turns = self.standing(state);
        let mut is_whole = true;
        if let Some(path) = &wanted.path {
            turns.retain(|turn| net(&turn.steps).keys().any(|changed| changed.is_in(path)));
            if turns.is_empty() {
                return Err(UndoError::NeverChanged(path.clone()));
            }
            let undone = self.undone_at(path);
            turns.retain(|turn| !undone.contains(&turn.id));
            is_whole = false;
        }
        if wanted.ids.is_empty() {
            match turns.len() {
                0 => return Err(UndoError::NothingToUndo),
                fewer if fewer < wanted.turns => return Err(UndoError::NotSoMany(fewer, wanted.turns)),
                count => drop(turns.drain(..count - wanted.turns)),
            }
        } else {
            turns.retain(|turn| wanted.ids.contains(&turn.id));
        }
        let mut nets = net(turns.iter().flat_map(|turn| &turn.steps));
        if let Some(path) = &wanted.path {
            let all = nets.len();
            // Restored files need the folders that were removed with them.
            let is_gone = |changed: &RelPath| state.tree.as_ref().is_none_or(|tree| tree.get(changed).is_none());
            nets.retain(|changed, net| {
                changed.is_in(path) || (path.is_in(changed) && net.after.is_none() && is_gone(changed))
            });
            is_whole = all == nets.len();
        }
        let insists = Insists { on_changed: wanted.force, on_lost: wanted.force && !wanted.spares_lost };
        let (changes, left) = self.possible(state, nets.into_iter().collect(), insists)?;
        Ok(UndoPlan { turns, changes, left, is_whole })
    }

    /// Returns turns that are not undone except at this path.
    fn undone_at(&self, path: &RelPath) -> BTreeSet<String> {
        let taken = self.records.taken_of(&self.options.session).into_iter().filter(|taken| !taken.redone);
        let parts = taken.filter_map(|taken| taken.part).filter(|(part, _)| path.is_in(part));
        parts.flat_map(|(_, turns)| turns).collect()
    }

    /// Returns which changes can be reverted, and what prevents the others.
    pub(super) fn possible(
        &self,
        state: &mut KnownWorkspace,
        nets: Vec<(RelPath, Net)>,
        insists: Insists,
    ) -> Result<AppliedChanges, UndoError> {
        self.reveal(state, nets.iter().map(|(path, _)| path))?;
        let (mut changes, mut left) = (Vec::new(), Vec::new());
        let empty = WorkspaceTree::default();
        let tree = state.tree.as_ref().unwrap_or(&empty);
        for (path, net) in nets {
            let (net, present) = (self.owned(net), self.own(self.present(tree, &path)));
            if present == net.before {
                continue;
            }
            let lost = match &net.before {
                Some(Node::Uncovered { why }) => Some(why.as_str().to_owned()),
                Some(Node::File { hash, .. }) if !self.scanner.has(hash) => Some(UndoError::Evicted.to_string()),
                _ => None,
            };
            if let Some(why) = lost {
                left.push((path, LeftReason::NotKept(why)));
            } else if !insists.on_lost
                && let Some(why) = lost_for_good(&present)
            {
                left.push((path, LeftReason::Stays(why.as_str().to_owned())));
            } else if !insists.on_changed && (present != net.after || net.is_mixed) {
                left.push((path, LeftReason::Changed));
            } else {
                changes.push(TreeChange { path, before: present, after: net.before });
            }
        }
        Ok((changes, left))
    }

    /// Returns the current node. A file that is identified only by metadata is copied first, because it may be overwritten.
    fn present(&self, tree: &WorkspaceTree, path: &RelPath) -> Option<Node> {
        let record = tree.get(path)?;
        let copied = if record.is_not_yet() { self.scanner.copy(path, record).ok().flatten() } else { None };
        Some(copied.map_or_else(|| record.node.clone(), |copied| copied.node))
    }

    /// Returns the node with its content in the store, so that its digest is unambiguous.
    fn own(&self, mut node: Option<Node>) -> Option<Node> {
        if let Some(Node::File { hash, .. }) = &mut node
            && hash.as_git().is_some()
            && let Ok(content) = self.scanner.content(hash)
            && let Ok(own) = self.scanner.objects.put(&content)
        {
            *hash = own;
        }
        node
    }

    fn owned(&self, net: Net) -> Net {
        Net { before: self.own(net.before), after: self.own(net.after), is_mixed: net.is_mixed }
    }
}

/// Returns why a redo could not restore the current node, for which later changes cannot be detected either. A pipe has no
/// content to lose.
fn lost_for_good(present: &Option<Node>) -> Option<Uncovered> {
    match present {
        Some(Node::Uncovered { why }) if *why != Uncovered::Special => Some(*why),
        _ => None,
    }
}

/// Which nodes are overwritten although they may differ from what the turn left.
#[derive(Clone, Copy)]
pub(super) struct Insists {
    pub on_changed: bool,
    pub on_lost: bool,
}

pub(super) struct UndoPlan {
    turns: Vec<Turn>,
    pub changes: Vec<TreeChange>,
    pub left: Vec<(RelPath, LeftReason)>,
    pub is_whole: bool,
}

impl UndoPlan {
    pub fn ids(&self) -> Vec<String> {
        self.turns.iter().map(|turn| turn.id.clone()).collect()
    }
}
