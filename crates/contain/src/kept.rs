//! Resources that must live as long as any process of a contained tree.

use std::path::PathBuf;

use tokio_util::task::AbortOnDropHandle;

#[cfg(unix)]
use crate::aside::TreeWatch;
use crate::caches::InUse;

/// To be dropped when the tree has ended.
#[derive(Debug, Default)]
pub struct TreeGuard {
    /// Scans for what the kernel could not prevent.
    #[cfg(unix)]
    pub(crate) _watch: Option<TreeWatch>,
    /// Serves the proxy connection of the tree.
    pub(crate) way_out: Option<AbortOnDropHandle<()>>,
    /// The cache folders created for it.
    pub(crate) caches: Option<InUse>,
}

/// A change by a command that the kernel could not prevent, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    pub deed: Deed,
    /// The new name of what was created or changed; `None` if it could not be renamed, or did not exist.
    pub to: Option<PathBuf>,
    /// Whether the earlier state is restored.
    pub put_back: bool,
    /// Whether it is a tracked file whose version was in no commit reachable when the session began.
    pub in_git: bool,
    /// For git settings: only these keys were put back, and the rest of the change was kept.
    pub keys: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Made,
    Changed,
    Removed,
    /// There is more than can be watched.
    Unwatched,
}
