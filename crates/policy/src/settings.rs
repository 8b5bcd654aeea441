//! The settings for approval.

use omp_types::Setting;
use omp_types::SettingKind::{List, MapOf, OneOf};

/// A project's `tools.approval…` can only be stricter: see [`crate::Policy`].
pub const POLICY_SETTINGS: &[Setting] = &[
    Setting::new(
        "Approval",
        "tools.approvalMode",
        OneOf(&["auto", "ask-writes", "ask-all"]),
        "\"auto\"",
        "Which calls need your approval.",
    )
    .titled("Approval mode")
    .formerly(&[("yolo", "auto"), ("write", "write"), ("always-ask", "ask-all")]),
    Setting::new(
        "",
        "tools.approval",
        MapOf(&["allow", "prompt", "deny"]),
        "",
        "Allow, ask for or deny all calls of a tool, in every mode.",
    )
    .titled("Approval by tool"),
    Setting::new("", "tools.allow", List, "", "Calls that run without approval, such as `bash(git push *)`.")
        .titled("Allowed calls")
        .by_user(),
    Setting::new("", "tools.ask", List, "", "Calls that need your approval in every mode.")
        .titled("Calls that need approval"),
    Setting::new("", "tools.deny", List, "", "Calls that never run.").titled("Denied calls"),
];
