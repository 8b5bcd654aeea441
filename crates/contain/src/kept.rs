//! What has to last as long as anything of a contained tree runs.

use std::path::PathBuf;

use tokio_util::task::AbortOnDropHandle;

#[cfg(unix)]
use crate::aside::TreeWatch;
use crate::caches::InUse;

/// Dropped when the tree has ended.
#[derive(Debug, Default)]
pub struct TreeGuard {
    /// Looks for what the kernel could not prevent.
    #[cfg(unix)]
    pub(crate) _watch: Option<TreeWatch>,
    /// Serves the way out of the tree.
    pub(crate) way_out: Option<AbortOnDropHandle<()>>,
    /// Folders that were made for it.
    pub(crate) caches: Option<InUse>,
}

/// What a command did that the kernel could not prevent, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    pub deed: Deed,
    /// The name that what it has made or changed has now; without one it could not be renamed, or was not there.
    pub to: Option<PathBuf>,
    /// It is as it was before.
    pub put_back: bool,
    /// It is judged by what git has, and was as in no commit that could be reached when the session began.
    pub in_git: bool,
    /// Of settings of git: only these keys were put back, and the rest of the change was kept.
    pub keys: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Made,
    Changed,
    Removed,
    /// None: there is more than can be looked after.
    Unwatched,
}
