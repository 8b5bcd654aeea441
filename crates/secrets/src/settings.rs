//! The setting of this crate.

use omp_types::{Setting, SettingKind};

/// What is hidden from whom is the user's to say, not a repository's.
pub const SETTINGS: &[Setting] = &[Setting::new(
    "Approval",
    "secrets.enabled",
    SettingKind::Bool,
    "false",
    "hides secrets of the environment and of secrets.yml from the model",
)
.by_user()];
