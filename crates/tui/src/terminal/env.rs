//! The environment variables that identify the terminal. The caller passes them in; nothing here reads the process
//! environment.

use std::collections::BTreeMap;

use crate::screen::Size;

/// The variables that are read; all others are dropped.
const VARIABLES: &[&str] = &[
    "ALACRITTY_WINDOW_ID",
    "CMUX_SURFACE_ID",
    "CMUX_WORKSPACE_ID",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "GHOSTTY_RESOURCES_DIR",
    "ITERM_SESSION_ID",
    "KITTY_WINDOW_ID",
    "LINES",
    "NO_COLOR",
    "PI_FORCE_HYPERLINKS",
    "PI_FORCE_IMAGE_PROTOCOL",
    "PI_FORCE_SYNC_OUTPUT",
    "PI_KITTY_PLACEHOLDERS",
    "PI_NOTIFICATIONS",
    "PI_NO_HYPERLINKS",
    "PI_NO_KITTY_PLACEHOLDERS",
    "PI_NO_SYNC_OUTPUT",
    "PI_TUI_SYNC_OUTPUT",
    "SSH_CONNECTION",
    "STY",
    "TERM",
    "TERM_FEATURES",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "VSCODE_PID",
    "WEZTERM_PANE",
    "WSL_DISTRO_NAME",
    "WT_SESSION",
    "ZELLIJ",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalEnv {
    values: BTreeMap<&'static str, String>,
}

impl TerminalEnv {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns `TERM` in lower case.
    pub(super) fn term(&self) -> String {
        self.get("TERM").unwrap_or_default().to_ascii_lowercase()
    }

    /// Returns the size for a terminal that does not report one.
    pub(super) fn size(&self) -> Size {
        let number = |name, otherwise| {
            let set = self.get(name).and_then(|value| value.trim().parse().ok());
            set.filter(|number| *number > 0).unwrap_or(otherwise)
        };
        Size { width: number("COLUMNS", 80), height: number("LINES", 24) }
    }
}

/// Collects from a whole environment; an empty value counts as unset.
impl<K: AsRef<str>, V: Into<String>> FromIterator<(K, V)> for TerminalEnv {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let known = |name: &str| VARIABLES.binary_search(&name).ok().map(|at| VARIABLES[at]);
        let values = pairs.into_iter().filter_map(|(name, value)| Some((known(name.as_ref())?, value.into())));
        Self { values: values.filter(|(_, value)| !value.is_empty()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_sorted_and_declared() {
        assert!(VARIABLES.windows(2).all(|pair| pair[0] < pair[1]));
        for name in VARIABLES {
            assert!(
                omp_types::ENV_VARS.iter().any(|var| var.name == *name),
                "{name} is not in crates/types/src/env.rs"
            );
        }
    }

    #[test]
    fn sizes() {
        for (columns, lines, expected) in
            [("120", "40", (120, 40)), ("", "", (80, 24)), ("0", "-3", (80, 24)), ("x", " 9 ", (80, 9))]
        {
            let size = TerminalEnv::from_iter([("COLUMNS", columns), ("LINES", lines)]).size();
            assert_eq!((size.width, size.height), expected);
        }
    }
}
