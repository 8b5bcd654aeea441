//! The settings of this crate.

use omp_types::{Setting, SettingKind};

/// Only the user decides what is hidden, not a repository.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "Approval",
        "secrets.environment",
        SettingKind::Bool,
        "true",
        "Hide credentials of the environment from the model, session files and exports; commands still get them.",
    )
    .titled("Hide environment credentials")
    .by_user(),
    Setting::new(
        "Approval",
        "secrets.enabled",
        SettingKind::Bool,
        "false",
        "Hide the values that secrets.yml lists from the model.",
    )
    .titled("Hide secrets")
    .by_user(),
];
