//! The settings of containment. A project cannot change them.

use omp_types::{ListItem, SERVICES, Setting, SettingKind};

pub const MODES: &[&str] = &["off", "read-only", "workspace-write"];
pub const NETWORKS: &[&str] = &["on", "off", "allowlist"];
pub const WORKSPACES: &[&str] = &["repository", "folder"];

pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "Approval",
        "containment.mode",
        SettingKind::OneOf(MODES),
        "\"workspace-write\"",
        "Where commands may write: anywhere (off), nowhere (read-only), or in the workspace, temp folder and caches.",
    )
    .titled("Sandbox")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.network",
        SettingKind::OneOf(NETWORKS),
        "\"on\"",
        "Which hosts commands can reach: all, none, or those in containment.hosts.",
    )
    .titled("Network access")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.hosts",
        SettingKind::ListOf(ListItem::Text),
        "[]",
        "Hosts that commands can reach if containment.network is `allowlist`.",
    )
    .titled("Allowed hosts")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.writable",
        SettingKind::ListOf(ListItem::Path),
        "[]",
        "Additional folders that commands may write to.",
    )
    .titled("Writable folders")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.workspace",
        SettingKind::OneOf(WORKSPACES),
        "\"repository\"",
        "In a subfolder of a repository, use the whole repository or only that folder as the workspace.",
    )
    .titled("Workspace")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.hidden",
        SettingKind::ListOf(ListItem::Path),
        "[]",
        "Additional paths that commands cannot read.",
    )
    .titled("Hidden paths")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.shown",
        SettingKind::ListOf(ListItem::Path),
        "[]",
        "Paths that commands and file tools may read although they are hidden or outside the workspace behind a link.",
    )
    .titled("Readable paths")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.editorTerminals",
        SettingKind::Bool,
        "false",
        "Run the model's commands in the editor's terminals, without a sandbox.",
    )
    .titled("Use the editor's terminals")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.signing",
        SettingKind::Bool,
        "true",
        "Sign the model's commits and tags with your key if git is set up to; commands never see the key.",
    )
    .titled("Sign commits")
    .by_user(),
    Setting::new(
        "Approval",
        "containment.sockets",
        SettingKind::ListOf(ListItem::WordOrPath(SERVICES)),
        "[]",
        "Services (ssh-agent, gpg-agent, docker, …) and socket paths that commands may use outside the sandbox.",
    )
    .titled("Reachable services")
    .by_user(),
];
