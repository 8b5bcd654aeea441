//! The state of a session's safeguards, for front ends to show.

use omp_types::{ContainMode, NetworkMode};
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Safeguards {
    /// `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<SandboxState>,
    /// Whether files of the project may run code.
    pub trusted: bool,
    pub undo: UndoState,
}

/// How commands are contained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SandboxState {
    pub mode: ContainMode,
    pub network: NetworkMode,
    /// The name of the sandbox rung in use.
    pub rung: &'static str,
    /// Protections that the mode requires but that are not in force, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Why no command can run at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Whether file changes can be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UndoState {
    pub enabled: bool,
}

impl SandboxState {
    /// A short form for the status bar.
    pub fn in_short(&self) -> String {
        let mode = match self.mode {
            _ if self.refused.is_some() => return "no commands".to_owned(),
            ContainMode::Off => return "no sandbox".to_owned(),
            ContainMode::ReadOnly => "read-only",
            ContainMode::WorkspaceWrite if !self.missing.is_empty() => "partly sandboxed",
            ContainMode::WorkspaceWrite => "sandboxed",
        };
        match self.network {
            NetworkMode::On => mode.to_owned(),
            NetworkMode::Off => format!("{mode}, net off"),
            NetworkMode::Allowlist => format!("{mode}, net allowlist"),
        }
    }

    /// Whether the protection is weaker than the default.
    pub fn is_weak(&self) -> bool {
        self.mode == ContainMode::Off || !self.missing.is_empty() || self.refused.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(contained: SandboxState, expect: &str, is_weak: bool) {
        assert_eq!((contained.in_short().as_str(), contained.is_weak()), (expect, is_weak));
    }

    #[test]
    fn a_few_words_say_how_commands_are_kept() {
        let usual = SandboxState::default;
        check(usual(), "sandboxed", false);
        check(SandboxState { network: NetworkMode::Off, ..usual() }, "sandboxed, net off", false);
        check(SandboxState { network: NetworkMode::Allowlist, ..usual() }, "sandboxed, net allowlist", false);
        check(SandboxState { mode: ContainMode::ReadOnly, ..usual() }, "read-only", false);
        check(SandboxState { missing: vec!["x".into()], ..usual() }, "partly sandboxed", true);
        check(SandboxState { refused: Some("x".into()), ..usual() }, "no commands", true);
        // Without containment the network is not restricted either, whatever the setting.
        let off = SandboxState { mode: ContainMode::Off, network: NetworkMode::Off, ..usual() };
        check(off, "no sandbox", true);
    }
}
