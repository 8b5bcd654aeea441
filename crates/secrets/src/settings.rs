//! The settings of this crate.

use omp_types::{Setting, SettingKind};

/// Only the user decides what is hidden, not a repository.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "Approval",
        "secrets.environment",
        SettingKind::Bool,
        "true",
        "hides credentials of the environment from the model, the session file and exports; commands still get them",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "secrets.enabled",
        SettingKind::Bool,
        "false",
        "hides what secrets.yml lists from the model",
    )
    .by_user(),
];
