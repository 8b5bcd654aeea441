//! Decides what may run in a session: cheap to hold, checked right before anything of a project starts.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::folder::{Identity, identity};
use super::item::Item;
use super::store::Trust;
use crate::discovery::Level;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustState {
    Untrusted,
    Trusted,
    /// Trusted, except for these items, which are new or have changed.
    Changed(Vec<Item>),
}

/// What `--trust` covers: the items of a folder when omp started.
#[derive(Clone, Debug)]
pub struct RunPins {
    root: PathBuf,
    identity: Identity,
    pins: BTreeMap<String, String>,
}

impl RunPins {
    /// Returns `None` if the folder does not exist.
    pub fn of(root: &Path, items: &[Item]) -> Option<Self> {
        Some(Self { root: root.to_owned(), identity: identity(root)?, pins: pins(items) })
    }

    fn fits(&self, root: &Path) -> bool {
        self.root == root && identity(root) == Some(self.identity)
    }
}

/// The decision about one folder.
#[derive(Clone, Debug)]
pub struct TrustDecision {
    root: PathBuf,
    state: TrustState,
    items: Vec<Item>,
    for_run: bool,
    pins: HashMap<String, String>,
}

impl TrustDecision {
    /// `for_run` applies to its own folder only.
    pub fn of(trust: &Trust, root: &Path, items: Vec<Item>, for_run: Option<&RunPins>) -> Self {
        let for_run = for_run.filter(|pins| pins.fits(root));
        let stored = trust.pins(root);
        let mut pinned: HashMap<String, String> = stored.cloned().unwrap_or_default().into_iter().collect();
        pinned.extend(for_run.into_iter().flat_map(|run| run.pins.clone()));
        let mut decision = Self {
            root: root.to_owned(),
            state: TrustState::Untrusted,
            items,
            for_run: for_run.is_some(),
            pins: pinned,
        };
        if stored.is_some() || for_run.is_some() {
            let changed = decision.left_out();
            decision.state = if changed.is_empty() { TrustState::Trusted } else { TrustState::Changed(changed) };
        }
        decision
    }

    /// Returns the folder: the root of the repository, or the working folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn state(&self) -> &TrustState {
        &self.state
    }

    /// Whether the trust is for this run only (`--trust`).
    pub fn is_for_run(&self) -> bool {
        self.for_run
    }

    /// Returns all items of the project that would run.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether the item may run: it belongs to the user, or it is exactly what the user has trusted.
    pub fn may_run(&self, item: &Item) -> bool {
        item.level == Level::User
            || item.hash().is_some_and(|hash| self.pins.get(item.id()).is_some_and(|pin| pin == hash))
    }

    /// Whether the item existed when the folder was trusted and has changed since.
    pub fn is_changed(&self, item: &Item) -> bool {
        !self.may_run(item) && self.pins.contains_key(item.id())
    }

    /// Returns the items that do not run.
    pub fn left_out(&self) -> Vec<Item> {
        self.items.iter().filter(|item| !self.may_run(item)).cloned().collect()
    }
}

pub(super) fn pins(items: &[Item]) -> BTreeMap<String, String> {
    items.iter().filter_map(|item| Some((item.id().to_owned(), item.hash()?.to_owned()))).collect()
}
