//! The settings for hooks.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Map};

/// A project's `hooks` run only if it is trusted, so it may declare them.
pub const SETTINGS: &[Setting] = &[
    Setting::new("", "hooks", Map, "", "Shell commands that run on events such as tool calls, prompts and sessions.")
        .titled("Hooks"),
    Setting::new("Approval", "disableAllHooks", Bool, "false", "Run no hooks, not even your own.")
        .titled("Disable all hooks")
        .by_user(),
];
