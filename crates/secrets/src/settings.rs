//! The setting of this crate.

use omp_types::{Setting, SettingKind};

/// Whether more is hidden than the credentials that omp itself holds.
pub const ENABLED: &str = "secrets.enabled";

/// What is hidden from whom is the user's to say, not a repository's.
pub const SETTINGS: &[Setting] = &[Setting::new(
    "Approval",
    ENABLED,
    SettingKind::Bool,
    "false",
    "hides secrets of the environment and of secrets.yml from the model",
)
.by_user()];
