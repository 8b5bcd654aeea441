//! What has to last as long as anything of a contained tree runs.

use std::path::PathBuf;
#[cfg(unix)]
use std::sync::Arc;

use tokio_util::task::AbortOnDropHandle;

#[cfg(unix)]
use crate::aside::Watch;
#[cfg(target_os = "linux")]
use crate::placeholder::Placeholders;

/// Dropped when the tree has ended.
#[derive(Debug, Default)]
pub struct Kept {
    /// Looks for what the kernel could not prevent.
    #[cfg(unix)]
    pub(crate) _watch: Option<Arc<Watch>>,
    /// Stand where something guarded could come into being.
    #[cfg(target_os = "linux")]
    pub(crate) _placeholders: Placeholders,
    /// Serves the way out of the tree.
    pub(crate) way_out: Option<AbortOnDropHandle<()>>,
}

/// Something that a command had made, and its new name; without one it could not be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    pub to: Option<PathBuf>,
}
