//! The settings for hooks.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Map};

/// A project's `hooks` run only if it is trusted, so it may declare them.
pub const SETTINGS: &[Setting] = &[
    Setting::new("", "hooks", Map, "", "shell commands around calls, prompts and sessions, by event"),
    Setting::new("Approval", "disableAllHooks", Bool, "false", "no hook runs, not even yours").by_user(),
];
