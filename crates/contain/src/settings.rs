//! The settings of containment. A project cannot change them.

use omp_types::{Setting, SettingKind};

pub const MODES: &[&str] = &["off", "read-only", "workspace-write"];
pub const NETWORKS: &[&str] = &["on", "off", "allowlist"];

pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "Approval",
        "containment.mode",
        SettingKind::OneOf(MODES),
        "\"workspace-write\"",
        "where the model's commands may write: wherever you may, nowhere, or in the workspace, temp folder and caches",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.network",
        SettingKind::OneOf(NETWORKS),
        "\"on\"",
        "what of the network the model's commands reach",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.hosts",
        SettingKind::List,
        "[]",
        "hosts that commands reach with `containment.network: allowlist`",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.writable",
        SettingKind::List,
        "[]",
        "more folders that commands may write to",
    )
    .by_user(),
    Setting::new("Approval", "containment.hidden", SettingKind::List, "[]", "more paths that commands cannot read")
        .by_user(),
    Setting::new(
        "Approval",
        "containment.sockets",
        SettingKind::List,
        "[]",
        "sockets that commands may use although they lead out; ssh-agent stands for that of your agent",
    )
    .by_user(),
];
