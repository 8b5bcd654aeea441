//! `/terminal-setup`: says what to set in the user's terminal so that shift+enter, colours and the clipboard work, and adds
//! it to a file after asking.

use std::path::PathBuf;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Choice, ChoiceOption, Session, SlashCommand, SlashReply};
use omp_stdx::plain_file::read_text;
use omp_types::{Env, vars};

const USAGE: &str = "hint: usage: /terminal-setup [apply]";
const ADD: &str = "Add the lines";
const LEAVE: &str = "Leave the file as it is";
/// Caps a file that is read; settings of terminals are smaller.
const LARGEST: u64 = 1 << 20;
const ANYWHERE: &str = "In every terminal, a backslash before Enter and ctrl+j begin a new line.";

const TMUX: &str = "set -s extended-keys on\nset -as terminal-features 'xterm*:extkeys'\nset -g allow-passthrough on\nset -g focus-events on\nset -s set-clipboard on\n";
const VS_CODE: &str = r#"{ "key": "shift+enter", "command": "workbench.action.terminal.sendSequence", "args": { "text": "\u001b[13;2u" }, "when": "terminalFocus" }"#;
const WEZTERM: &str = "config.enable_kitty_keyboard = true";
const ITERM: &str = "Settings > Profiles > Keys > General: turn on \"Report modifiers using CSI u\"\nSettings > General > Selection: turn on \"Applications in terminal may access clipboard\"";
const APPLE: &str = "Settings > Profiles > Keyboard: turn on \"Use Option as Meta key\", then option+enter begins a new line\nTerminal cannot tell shift+enter from Enter.";
const WINDOWS: &str = r#"{ "command": { "action": "sendInput", "input": "\u001b[13;2u" }, "keys": "shift+enter" }"#;
const JETBRAINS: &str =
    "Settings > Tools > Terminal: turn off \"Override IDE shortcuts\"\nshift+enter is not passed on by this terminal.";

pub struct TerminalSetupCommand {
    pub env: Env,
    pub home: PathBuf,
    /// Whether a user is there to agree to a change of a file.
    pub attended: bool,
}

/// What a terminal or a multiplexer needs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Advice {
    name: &'static str,
    /// What to set; nothing if all works as it is.
    lines: &'static str,
    /// The file for the lines.
    place: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: PathBuf,
    kind: PlaceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceKind {
    /// The lines are added at the end.
    Lines,
    /// The lines are an object of a JSON list.
    JsonList,
    /// The user has to add them by hand.
    ByHand,
}

impl SlashCommand for TerminalSetupCommand {
    fn name(&self) -> &str {
        "terminal-setup"
    }

    fn description(&self) -> &str {
        "Set up your terminal for shift+enter and the clipboard"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[apply]")
    }

    fn takes_long(&self) -> bool {
        self.attended
    }

    fn asks(&self) -> bool {
        self.attended
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let advice = self.advice();
            match arguments {
                "" => Ok(SlashReply::Text(told(&advice))),
                "apply" => self.applied(&advice, session).await.map(SlashReply::Text),
                other => Err(format!("unknown argument `{other}`\n{USAGE}")),
            }
        }
        .boxed()
    }
}

impl TerminalSetupCommand {
    /// Returns advice for the terminal, and for tmux around omp.
    fn advice(&self) -> Vec<Advice> {
        let mut advice = vec![self.terminal()];
        if self.env.get(vars::TMUX).is_some() {
            let place = Place { file: self.tmux_file(), kind: PlaceKind::Lines };
            advice.push(Advice { name: "tmux", lines: TMUX, place: Some(place) });
        }
        if self.env.get(vars::STY).is_some() {
            let lines = "screen passes on neither shift+enter nor the clipboard; tmux does.";
            advice.push(Advice { name: "GNU screen", lines, place: None });
        }
        advice
    }

    fn terminal(&self) -> Advice {
        let is_set = |variable| self.env.get(variable).is_some();
        let program = self.env.get(vars::TERM_PROGRAM).unwrap_or_default().to_lowercase();
        let term = self.env.get(vars::TERM).unwrap_or_default();
        let fine = |name| Advice { name, lines: "", place: None };
        let by_hand =
            |name, lines, file: PathBuf| Advice { name, lines, place: Some(Place { file, kind: PlaceKind::ByHand }) };
        match () {
            () if program == "vscode" => {
                let place = Place { file: self.vs_code_file(), kind: PlaceKind::JsonList };
                Advice { name: "VS Code", lines: VS_CODE, place: Some(place) }
            }
            () if program == "zed" => fine("Zed"),
            () if is_set(vars::KITTY_WINDOW_ID) || term == "xterm-kitty" => fine("kitty"),
            () if program == "ghostty" || is_set(vars::GHOSTTY_RESOURCES_DIR) || term == "xterm-ghostty" => {
                fine("Ghostty")
            }
            () if program == "wezterm" || is_set(vars::WEZTERM_PANE) => {
                by_hand("WezTerm", WEZTERM, self.home.join(".wezterm.lua"))
            }
            () if program == "iterm.app" || is_set(vars::ITERM_SESSION_ID) => {
                Advice { name: "iTerm2", lines: ITERM, place: None }
            }
            () if program == "apple_terminal" => Advice { name: "Terminal", lines: APPLE, place: None },
            () if is_set(vars::WT_SESSION) => Advice { name: "Windows Terminal", lines: WINDOWS, place: None },
            () if self.env.get(vars::TERMINAL_EMULATOR).is_some_and(|name| name.contains("JetBrains")) => {
                Advice { name: "JetBrains", lines: JETBRAINS, place: None }
            }
            () if is_set(vars::ALACRITTY_WINDOW_ID) || term == "alacritty" => fine("Alacritty"),
            () if term.starts_with("foot") => fine("foot"),
            () => fine("unknown terminal"),
        }
    }

    fn tmux_file(&self) -> PathBuf {
        let (own, shared) = (self.home.join(".tmux.conf"), self.home.join(".config/tmux/tmux.conf"));
        if !own.exists() && shared.exists() { shared } else { own }
    }

    fn vs_code_file(&self) -> PathBuf {
        let below = match std::env::consts::OS {
            "macos" => "Library/Application Support/Code/User",
            "windows" => "AppData/Roaming/Code/User",
            _ => ".config/Code/User",
        };
        self.home.join(below).join("keybindings.json")
    }

    /// Changes the files whose format allows it, each after a question.
    async fn applied(&self, advice: &[Advice], session: &Session) -> Result<String, String> {
        let mut done = Vec::new();
        for one in advice {
            let Some(place) = one.place.as_ref().filter(|place| place.kind != PlaceKind::ByHand) else { continue };
            let file = place.file.display();
            let old = match read_text(&place.file, LARGEST) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                Err(error) => return Err(format!("cannot read {file}: {error}")),
            };
            let Some(new) = added(place.kind, &old, one.lines)? else {
                done.push(format!("{file} has these lines already"));
                continue;
            };
            if !self.attended {
                return Err(format!(
                    "{file} is changed only after you agree\nhint: add these lines yourself:\n{}",
                    one.lines
                ));
            }
            let option = |label: &str| ChoiceOption { label: label.to_owned(), description: None };
            let question = format!("Add this to {file} for {}?\n\n{}", one.name, one.lines.trim_end());
            let options = vec![option(LEAVE), option(ADD)];
            let choice = Choice { question, options, is_closed: true, ..Choice::default() };
            match session.choose(choice).await.unwrap_or_default().as_slice() {
                [answer] if answer == ADD => {
                    write(place, &old, &new).map_err(|error| format!("cannot write {file}: {error}"))?;
                    done.push(format!("{file} is changed; restart {} to use it", one.name));
                }
                _ => done.push(format!("{file} is unchanged")),
            }
        }
        match done.is_empty() {
            true => Ok(format!("{}\n\nThere is nothing that omp can change for you.", told(advice))),
            false => Ok(done.join("\n")),
        }
    }
}

fn told(advice: &[Advice]) -> String {
    let part = |one: &Advice| match (one.lines, &one.place) {
        ("", _) if one.name == "unknown terminal" => {
            "omp does not know your terminal. shift+enter works if it supports the Kitty keyboard protocol.".to_owned()
        }
        ("", _) => format!("{}: nothing to set, shift+enter works.", one.name),
        (lines, Some(place)) => format!("{}: add to {}\n{}", one.name, place.file.display(), indented(lines)),
        (lines, None) => format!("{}:\n{}", one.name, indented(lines)),
    };
    let can = advice.iter().any(|one| one.place.as_ref().is_some_and(|place| place.kind != PlaceKind::ByHand));
    let hint = if can { "\nhint: /terminal-setup apply adds the lines, after asking" } else { "" };
    let parts: Vec<String> = advice.iter().map(part).collect();
    format!("{}\n\n{ANYWHERE}{hint}", parts.join("\n\n"))
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns the new text of a file, or `None` if it has the lines already. Fails if omp cannot tell where they belong.
fn added(kind: PlaceKind, old: &str, lines: &str) -> Result<Option<String>, String> {
    match kind {
        PlaceKind::Lines | PlaceKind::ByHand => {
            let has = |line: &str| old.lines().any(|known| known.trim() == line);
            let missing: Vec<&str> = lines.lines().filter(|line| !has(line)).collect();
            let gap = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
            let new = format!("{old}{gap}# For omp: shift+enter, focus and the clipboard.\n{}\n", missing.join("\n"));
            Ok((!missing.is_empty()).then_some(new))
        }
        PlaceKind::JsonList => {
            if old.contains("shift+enter") {
                return Ok(None);
            }
            if old.trim().is_empty() {
                return Ok(Some(format!("[\n  {lines}\n]\n")));
            }
            let (before, after) =
                old.rsplit_once(']').filter(|(_, after)| after.trim().is_empty()).ok_or_else(|| {
                    format!("omp cannot tell where to add a key to this file\nhint: add it yourself:\n{lines}")
                })?;
            let rest = before.trim_end();
            let comma = if rest.ends_with(['[', ',']) { "" } else { "," };
            Ok(Some(format!("{rest}{comma}\n  {lines}\n]{after}")))
        }
    }
}

/// Keeps the old file beside the new one.
fn write(place: &Place, old: &str, new: &str) -> std::io::Result<()> {
    if let Some(folder) = place.file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if !old.is_empty() {
        let mut kept = place.file.clone().into_os_string();
        kept.push(".before-omp");
        std::fs::write(kept, old)?;
    }
    std::fs::write(&place.file, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(variables: &[(&'static str, &'static str)]) -> TerminalSetupCommand {
        let env: Env = variables.iter().copied().collect();
        TerminalSetupCommand { env, home: PathBuf::from("/tmp/home"), attended: false }
    }

    #[test]
    fn terminals_are_known_by_their_variables() {
        for (variables, expect) in [
            (&[("TERM_PROGRAM", "vscode")][..], &["VS Code"][..]),
            (&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x,1,0")], &["kitty", "tmux"]),
            (&[("TERM_PROGRAM", "ghostty")], &["Ghostty"]),
            (&[("TERM_PROGRAM", "WezTerm")], &["WezTerm"]),
            (&[("TERM_PROGRAM", "iTerm.app")], &["iTerm2"]),
            (&[("TERM_PROGRAM", "Apple_Terminal")], &["Terminal"]),
            (&[("WT_SESSION", "x")], &["Windows Terminal"]),
            (&[("TERM", "xterm-256color"), ("STY", "1.x")], &["unknown terminal", "GNU screen"]),
        ] {
            let names: Vec<&str> = command(variables).advice().iter().map(|advice| advice.name).collect();
            assert_eq!(names, expect, "{variables:?}");
        }
        let text = told(&command(&[("TERM", "foot")]).advice());
        assert!(
            text.starts_with("foot: nothing to set") && text.contains("ctrl+j") && !text.contains("apply"),
            "{text}"
        );
    }

    #[test]
    fn lines_are_added_once_and_nothing_is_lost() {
        let check = |kind, old: &str, expect: Option<&str>| {
            let new = added(
                kind,
                old,
                if kind == PlaceKind::Lines { "a on\nb on\n" } else { "{ \"key\": \"shift+enter\" }" },
            );
            assert_eq!(new.unwrap().as_deref(), expect, "{old:?}");
        };
        let head = "# For omp: shift+enter, focus and the clipboard.";
        check(PlaceKind::Lines, "", Some(&format!("{head}\na on\nb on\n")));
        check(PlaceKind::Lines, "x\n a on", Some(&format!("x\n a on\n{head}\nb on\n")));
        check(PlaceKind::Lines, "b on\na on\n", None);
        let object = "{ \"key\": \"shift+enter\" }";
        check(PlaceKind::JsonList, "", Some(&format!("[\n  {object}\n]\n")));
        check(PlaceKind::JsonList, "[]\n", Some(&format!("[\n  {object}\n]\n")));
        check(PlaceKind::JsonList, "// mine\n[\n  {}\n]", Some(&format!("// mine\n[\n  {{}},\n  {object}\n]")));
        check(PlaceKind::JsonList, "[{\"key\": \"shift+enter\"}]", None);
        assert!(added(PlaceKind::JsonList, "{}", object).is_err());
    }
}
