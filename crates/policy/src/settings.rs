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
        "which calls need your approval",
    )
    .formerly(&[("yolo", "auto"), ("write", "write"), ("always-ask", "ask-all")]),
    Setting::new("", "tools.approval", MapOf(&["allow", "prompt", "deny"]), "", "rule for one tool, in every mode"),
    Setting::new("", "tools.allow", List, "", "calls that run without a question, as `bash(git push *)`").by_user(),
    Setting::new("", "tools.ask", List, "", "calls that are asked about in every mode"),
    Setting::new("", "tools.deny", List, "", "calls that never run"),
];
