//! Programs that need a user at a terminal: editors, pagers, monitors, and programs that prompt.
//!
//! Known by name, because nothing else tells before the program runs. A program that is not listed
//! still runs, but cannot prompt.

use crate::{ShellCommand, read};

/// A program of a script that needs a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalProgram {
    pub name: String,
    pub need: TerminalNeed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerminalNeed {
    /// It may ask for something, such as a password, or open an editor; without a terminal it fails or takes a default.
    Prompts,
    /// It draws on the whole screen and is useless without one.
    FullScreen,
}

/// Programs that draw on the whole screen, whatever their arguments.
const FULL_SCREEN: &[&str] = &[
    "aerc",
    "alsamixer",
    "atop",
    "bmon",
    "bpytop",
    "broot",
    "btop",
    "byobu",
    "cfdisk",
    "cgdb",
    "dialog",
    "edit",
    "elinks",
    "emacs",
    "fzf",
    "gitui",
    "glances",
    "helix",
    "htop",
    "hx",
    "iftop",
    "info",
    "iotop",
    "jed",
    "joe",
    "k9s",
    "kak",
    "lazydocker",
    "lazygit",
    "less",
    "lf",
    "links",
    "lynx",
    "man",
    "mc",
    "mcedit",
    "micro",
    "more",
    "most",
    "mutt",
    "nano",
    "ncdu",
    "ne",
    "neomutt",
    "nethogs",
    "nmtui",
    "nnn",
    "nvim",
    "nvtop",
    "pico",
    "powertop",
    "ranger",
    "screen",
    "sk",
    "tig",
    "tmux",
    "top",
    "vi",
    "view",
    "vifm",
    "vim",
    "vimdiff",
    "vimtutor",
    "w3m",
    "watch",
    "weechat",
    "whiptail",
    "yazi",
    "zellij",
];
/// Programs that prompt, whatever their arguments.
const PROMPTS: &[&str] = &[
    "chsh",
    "cryptsetup",
    "doas",
    "gdb",
    "gpg",
    "kinit",
    "lldb",
    "passwd",
    "pinentry",
    "scp",
    "sftp",
    "ssh",
    "ssh-add",
    "ssh-copy-id",
    "ssh-keygen",
    "su",
    "sudo",
    "sudoedit",
    "telnet",
    "vipw",
    "visudo",
];
/// Programs that prompt unless they are given something to do.
const PROMPTS_ALONE: &[&str] = &[
    "bash",
    "bc",
    "bpython",
    "clisp",
    "dash",
    "deno",
    "erl",
    "fish",
    "ghci",
    "iex",
    "ipython",
    "irb",
    "julia",
    "lua",
    "mysql",
    "node",
    "ocaml",
    "psql",
    "ptpython",
    "pwsh",
    "python",
    "python2",
    "python3",
    "redis-cli",
    "scala",
    "sh",
    "sqlite3",
    "zsh",
];
/// Options with which a shell or an interpreter prompts nevertheless.
const INTERACTIVE: &[&str] = &["-i", "-l", "--login", "--interactive", "-il", "-li"];
/// Words after a program with which it asks the user.
const PROMPTING_WORDS: &[(&str, &[&str])] = &[
    ("crontab", &["-e"]),
    ("systemctl", &["edit"]),
    ("kubectl", &["edit", "-it", "-ti", "--stdin"]),
    ("docker", &["-it", "-ti", "--interactive", "login"]),
    ("podman", &["-it", "-ti", "--interactive", "login"]),
    ("gh", &["login"]),
    ("glab", &["login"]),
    ("npm", &["login", "adduser", "init"]),
    ("pnpm", &["login", "init"]),
    ("yarn", &["login", "init"]),
    ("cargo", &["login"]),
    ("gcloud", &["login", "init"]),
    ("aws", &["configure"]),
    ("az", &["login"]),
    ("heroku", &["login"]),
    ("read", &["-s"]),
];
/// With only one of these arguments, a program prints its help or version.
const TELLS_ABOUT_ITSELF: &[&str] = &["--version", "--help", "-V", "-h"];
/// Arguments with which a full-screen program does not use the screen.
const QUIET_WORDS: &[(&str, &[&str])] = &[
    ("top", &["-b", "-bn1"]),
    ("emacs", &["--batch", "-batch", "--script"]),
    ("vim", &["-es", "-Es", "-s"]),
    ("nvim", &["--headless", "-es", "-l"]),
    ("man", &["-k", "-f", "-w"]),
    (
        "tmux",
        &["ls", "new-session", "-d", "send-keys", "capture-pane", "kill-server", "kill-session", "display-message"],
    ),
    ("screen", &["-ls", "-dm", "-dmS"]),
    ("fzf", &["-f", "--filter"]),
    ("lynx", &["-dump", "--dump"]),
    ("w3m", &["-dump"]),
    ("gpg", &["--verify", "--list-keys", "--batch", "-k", "-K"]),
    ("sudo", &["-n", "--non-interactive"]),
    ("ssh-add", &["-l", "-L", "-D"]),
    ("gdb", &["--batch", "-batch"]),
    ("docker", &["--password-stdin"]),
    ("npm", &["-y", "--yes"]),
    ("yarn", &["-y", "--yes"]),
];
/// Verbs of git that open an editor or ask, with the options that they do it for; none means always.
const GIT_ASKS: &[(&str, &[&str])] = &[
    ("rebase", &["-i", "--interactive", "--continue", "--edit-todo"]),
    ("add", &["-p", "-i", "-e", "--patch", "--interactive", "--edit"]),
    ("checkout", &["-p", "--patch"]),
    ("restore", &["-p", "--patch"]),
    ("reset", &["-p", "--patch"]),
    ("stash", &["-p", "--patch"]),
    ("clean", &["-i", "--interactive"]),
    ("config", &["-e", "--edit"]),
    ("branch", &["--edit-description"]),
    ("notes", &["edit"]),
    ("commit", &[]),
    ("mergetool", &[]),
    ("difftool", &[]),
];
/// Options with which `git commit` needs no editor. Letters may stand in a group: `-am`.
const COMMIT_TEXT: &[&str] = &["--message", "--file", "--reuse-message", "--fixup", "--no-edit", "--dry-run"];

/// Returns the program of a script that needs a terminal most.
pub fn needs_terminal(script: &str) -> Option<TerminalProgram> {
    let commands = read(script).commands;
    let needing = commands.iter().filter_map(|command| {
        let name = command.program()?;
        Some(TerminalProgram { name: name.to_owned(), need: need_of(name, command)? })
    });
    // The first of those that need it most.
    needing.fold(None, |most: Option<TerminalProgram>, next| match most {
        Some(most) if most.need >= next.need => Some(most),
        _ => Some(next),
    })
}

fn need_of(name: &str, command: &ShellCommand) -> Option<TerminalNeed> {
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let has = |table: &[(&str, &[&str])]| {
        table.iter().any(|(program, those)| *program == name && words.iter().any(|word| those.contains(word)))
    };
    if matches!(&words[..], [only] if TELLS_ABOUT_ITSELF.contains(only)) || has(QUIET_WORDS) {
        return None;
    }
    if FULL_SCREEN.contains(&name) {
        return Some(TerminalNeed::FullScreen);
    }
    let alone = PROMPTS_ALONE.contains(&name) && words.iter().all(|word| INTERACTIVE.contains(word));
    let asks = alone || PROMPTS.contains(&name) || has(PROMPTING_WORDS) || (name == "git" && git_asks(&words));
    // A shell that reads its script from a pipe or a file does not prompt.
    let fed = alone && (command.pipes.iter().any(|(_, at)| *at > 0) || !command.redirects.is_empty());
    (asks && !fed).then_some(TerminalNeed::Prompts)
}

fn git_asks(words: &[&str]) -> bool {
    let mut rest = words.iter();
    let verb = loop {
        match rest.next() {
            // These take a value.
            Some(&"-c" | &"-C") => _ = rest.next(),
            Some(word) if word.starts_with('-') => {}
            Some(verb) => break *verb,
            None => return false,
        }
    };
    let options: Vec<&str> = rest.copied().collect();
    let Some((_, asking)) = GIT_ASKS.iter().find(|(asks, _)| *asks == verb) else { return false };
    let group = |word: &str, letters: &str| {
        word.starts_with('-') && !word.starts_with("--") && word.contains(|letter| letters.contains(letter))
    };
    if verb == "commit" {
        let long = |word: &str| COMMIT_TEXT.iter().any(|option| word.split('=').next() == Some(option));
        return !options.iter().any(|word| long(word) || group(word, "mFC"));
    }
    asking.is_empty() || options.iter().any(|word| asking.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expect: Option<(&str, TerminalNeed)>) {
        let found = needs_terminal(script);
        assert_eq!(found.as_ref().map(|found| (found.name.as_str(), found.need)), expect, "{script}");
    }

    #[test]
    fn editors_pagers_and_monitors_take_the_screen() {
        for (script, program) in [
            ("vim x", "vim"),
            ("/usr/bin/vi +3 'a b'", "vi"),
            ("sudo vim /etc/hosts", "vim"),
            ("cd sub && htop", "htop"),
            ("git log | less", "less"),
            ("TERM=xterm top", "top"),
            ("man ls", "man"),
        ] {
            check(script, Some((program, TerminalNeed::FullScreen)));
        }
    }

    #[test]
    fn others_only_ask() {
        for (script, program) in [
            ("sudo apt-get update", "sudo"),
            ("ssh host uptime", "ssh"),
            ("git rebase -i HEAD~3", "git"),
            ("git -C sub rebase --interactive main", "git"),
            ("git commit", "git"),
            ("git commit --amend -a", "git"),
            ("git add -p", "git"),
            ("python3", "python3"),
            ("bash -i", "bash"),
            ("docker run -it debian", "docker"),
            ("read -s secret", "read"),
            ("crontab -e", "crontab"),
            ("gh auth login", "gh"),
        ] {
            check(script, Some((program, TerminalNeed::Prompts)));
        }
    }

    #[test]
    fn everything_else_runs_without() {
        for script in [
            "ls -la",
            "cargo test",
            "git status",
            "git log",
            "git commit -m 'x'",
            "git commit -am x",
            "git commit --amend --no-edit",
            "git rebase main",
            "git add .",
            "python3 x.py",
            "bash -c 'echo 1'",
            "echo 'print(1)' | python3",
            "python3 <<< 'print(1)'",
            "top -b -n 1",
            "vim --version",
            "sudo -n true",
            "echo vim",
            "tmux ls",
            "read name",
            "",
        ] {
            check(script, None);
        }
    }
}
