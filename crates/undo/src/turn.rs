//! The file changes of a turn, call by call, and their net result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::node::Node;
use crate::rel_path::RelPath;
use crate::tree::TreeChange;

/// Everything between two prompts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// IDs sort by time.
    pub id: String,
    pub session: String,
    pub workspace: String,
    /// Short description for lists.
    pub label: String,
    pub steps: Vec<Step>,
    /// Calls that have started and not ended.
    #[serde(default)]
    pub open: Vec<Call>,
    #[serde(default)]
    pub undone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub tool: String,
}

/// The changes between two scans of the workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub by: By,
    /// Several calls if they ran at the same time.
    #[serde(default)]
    pub calls: Vec<Call>,
    pub changes: Vec<TreeChange>,
}

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    Calls,
    /// A background command, between calls.
    Background,
    /// The user or another program, between calls. Never undone.
    Others,
}

/// The net change of several steps at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Net {
    pub before: Option<Node>,
    pub after: Option<Node>,
    /// Somebody else changed the path in between.
    pub is_mixed: bool,
}

impl Turn {
    /// Returns the changes made by the turn itself.
    pub fn changes(&self) -> Vec<TreeChange> {
        let net = net(&self.steps);
        net.into_iter().map(|(path, net)| TreeChange { path, before: net.before, after: net.after }).collect()
    }

    /// Returns the changes of one call, together with calls that ran at the same time.
    pub fn changes_of(&self, call: &str) -> Vec<TreeChange> {
        let steps = self.steps.iter().filter(|step| step.calls.iter().any(|other| other.id == call));
        let net = net(steps);
        net.into_iter().map(|(path, net)| TreeChange { path, before: net.before, after: net.after }).collect()
    }

    pub(crate) fn digests(&self) -> impl Iterator<Item = Digest> + '_ {
        self.steps.iter().flat_map(|step| digests(&step.changes))
    }
}

pub(crate) fn digests(changes: &[TreeChange]) -> impl Iterator<Item = Digest> + '_ {
    changes.iter().flat_map(|change| [&change.before, &change.after]).flatten().filter_map(Node::digest)
}

/// Computes the net changes from the oldest to the newest step. Paths that are back in their original state are left out.
pub(crate) fn net<'a>(steps: impl IntoIterator<Item = &'a Step>) -> BTreeMap<RelPath, Net> {
    let mut paths: BTreeMap<RelPath, Net> = BTreeMap::new();
    for step in steps.into_iter().filter(|step| step.by != By::Others) {
        for change in &step.changes {
            let net = paths.entry(change.path.clone()).or_insert_with(|| Net {
                before: change.before.clone(),
                after: change.before.clone(),
                is_mixed: false,
            });
            net.is_mixed |= net.after != change.before;
            net.after = change.after.clone();
        }
    }
    paths.retain(|_, net| net.before != net.after);
    paths
}
