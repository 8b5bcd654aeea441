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
        SettingKind::ListOf(ListItem::Text),
        "[]",
        "hosts that commands reach with `containment.network: allowlist`",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.writable",
        SettingKind::ListOf(ListItem::Path),
        "[]",
        "more folders that commands may write to",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.workspace",
        SettingKind::OneOf(WORKSPACES),
        "\"repository\"",
        "what belongs to the workspace where omp is started in a folder of a repository: all of it, or the folder alone",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.hidden",
        SettingKind::ListOf(ListItem::Path),
        "[]",
        "more paths that commands cannot read",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.shown",
        SettingKind::ListOf(ListItem::Path),
        "[]",
        "paths that commands and file tools may read although they are hidden, or only a link in the workspace leads there",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.editorTerminals",
        SettingKind::Bool,
        "false",
        "run the model's commands in the editor's terminals, where nothing contains them",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.signing",
        SettingKind::Bool,
        "true",
        "sign commits and tags of the model's commands with your key, which they do not see, where your git settings ask for it",
    )
    .by_user(),
    Setting::new(
        "Approval",
        "containment.sockets",
        SettingKind::ListOf(ListItem::WordOrPath(SERVICES)),
        "[]",
        "services that commands may use (ssh-agent, gpg-agent, docker, …) and sockets by their paths, although they lead out",
    )
    .by_user(),
];
