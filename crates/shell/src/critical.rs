//! Commands that nobody should run without looking twice.
//!
//! This is a warning for the person who approves, not a wall: a shell has endless ways to say the same thing.

use crate::code::is_interpreter;
use crate::{Command, RedirectKind, Script, Word};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Work that is nowhere else is lost.
    DestroysWork,
    /// The machine, the account or the user's secrets are at stake.
    Critical,
}

/// What is in danger, which decides what makes it harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Danger {
    /// Files and processes outside of the workspace: out of reach for what the kernel contains.
    Machine,
    /// Every file that the command may write, the repository's history included: harmless where it may write none.
    Everything,
    /// Code of strangers, which could do all that the command may: harmless only where nothing can be fetched.
    Network,
    /// The user's work and what they have elsewhere: no wall keeps it.
    Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Critical {
    pub severity: Severity,
    pub danger: Danger,
    pub reason: &'static str,
}

type Check = fn(&Script) -> bool;

/// The worst first.
const PATTERNS: &[(Check, Danger, &str)] = &[
    (is_fork_bomb, Danger::Machine, "Critical pattern detected: fork bomb"),
    (
        |script| any(script, removes_the_system),
        Danger::Everything,
        "Critical pattern detected: recursive change of the root, home or a system folder",
    ),
    (runs_fetched_code, Danger::Network, "Critical pattern detected: runs code fetched from the network"),
    (
        |script| any(script, writes_accounts),
        Danger::Machine,
        "Critical pattern detected: writes to the system's account files",
    ),
    (|script| any(script, stops_the_host), Danger::Machine, "Critical pattern detected: stops or restarts the host"),
    (
        |script| any(script, overwrites_a_disk),
        Danger::Machine,
        "Critical pattern detected: formats or overwrites a disk",
    ),
    (
        |script| any(script, touches_credentials),
        Danger::Machine,
        "Critical pattern detected: uses a file with credentials",
    ),
    (|script| any(script, discards_changes), Danger::Work, "Destroys uncommitted work"),
    (|script| any(script, destroys_elsewhere), Danger::Work, "Destroys data or infrastructure"),
];

pub(crate) fn find(script: &Script, is_harmless: impl Fn(Danger) -> bool) -> Option<Critical> {
    let open = PATTERNS.iter().filter(|(_, danger, _)| !is_harmless(*danger));
    let (_, danger, reason) = open.into_iter().find(|(check, ..)| check(script))?;
    let severity = if *danger == Danger::Work { Severity::DestroysWork } else { Severity::Critical };
    Some(Critical { severity, danger: *danger, reason })
}

fn any(script: &Script, check: fn(&Command) -> bool) -> bool {
    script.commands.iter().any(check)
}

fn program(command: &Command) -> &str {
    command.program().unwrap_or_default()
}

fn has_flag(command: &Command, short: &[char], long: &str) -> bool {
    command.words.iter().skip(1).any(|word| {
        word.text == long || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(short))
    })
}

fn removes_the_system(command: &Command) -> bool {
    let words = || command.words.iter().skip(1);
    let recursive = has_flag(command, &['r', 'R'], "--recursive");
    let at_stake = match program(command) {
        "rm" | "chmod" | "chown" | "chgrp" => recursive,
        "find" => words().any(|word| word.text == "-delete"),
        _ => false,
    };
    at_stake && words().any(|word| is_system_path(word) || word.text == "--no-preserve-root")
}

fn is_system_path(word: &Word) -> bool {
    const FOLDERS: &[&str] = &[
        "",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/opt",
        "/proc",
        "/root",
        "/sbin",
        "/sys",
        "/usr",
        "/var",
        "/Users",
        "/System",
        "/Library",
        "/Applications",
    ];
    let bare = word.text.trim_end_matches('*').trim_end_matches(['/', '.']);
    if word.home {
        return bare == "~";
    }
    if word.known || !word.text.starts_with('$') {
        return word.text.starts_with('/') && FOLDERS.contains(&bare);
    }
    // `$X/` is the root when X is not set.
    let variable = bare.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    bare.len() < word.text.len() && crate::words::is_name(variable)
}

fn is_fetch(command: &Command) -> bool {
    matches!(program(command), "curl" | "wget" | "fetch" | "aria2c" | "http" | "https" | "xh")
}

fn runs_fetched_code(script: &Script) -> bool {
    let fetches = script.commands.iter().enumerate().filter(|(_, command)| is_fetch(command));
    fetches.into_iter().any(|(at, fetch)| {
        let is_fed = |runner: &Command| {
            let after = |(pipe, place): &(usize, usize)| {
                fetch.pipes.iter().any(|(other, earlier)| other == pipe && earlier < place)
            };
            runner.pipes.iter().any(after) && runs_its_input(runner)
        };
        let is_into = |runner: &Command| runner.inside == Some(at) && runs_its_input(runner);
        script.commands.iter().any(|runner| is_fed(runner) || is_into(runner))
            || is_part_of_code(script, fetch)
            || is_saved_and_run(script, at, fetch)
    })
}

fn runs_its_input(command: &Command) -> bool {
    let name = program(command);
    let operand = command.words.iter().skip(1).find(|word| !word.text.starts_with('-') || word.text == "-");
    let takes_code = command.words.iter().skip(1).any(|word| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(['c', 'e', 'm', 'p'])
    });
    let from_input = command.words.iter().any(|word| word.text == "-s") || operand.is_none_or(|word| word.text == "-");
    matches!(name, "eval" | "source" | ".") || (is_interpreter(name) && from_input && !takes_code)
}

/// `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`, `$(curl …)`.
fn is_part_of_code(script: &Script, fetch: &Command) -> bool {
    let mut outer = fetch.inside;
    for _ in 0..crate::MAX_DEPTH {
        let Some(command) = outer.and_then(|at| script.commands.get(at)) else { return false };
        let operand = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        let is_code = match program(command) {
            "eval" | "source" | "." => true,
            name if is_interpreter(name) => operand.is_none_or(|word| !word.known),
            _ => command.words.first().is_some_and(|word| !word.known && word.text.contains('…')),
        };
        if is_code {
            return true;
        }
        outer = command.inside;
    }
    false
}

/// `curl -o x …; sh x`.
fn is_saved_and_run(script: &Script, at: usize, fetch: &Command) -> bool {
    let bare = |text: &str| text.trim_start_matches("./").to_owned();
    let mut saved: Vec<String> = fetch
        .redirects
        .iter()
        .filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append))
        .map(|redirect| bare(&redirect.target.text))
        .collect();
    for (place, word) in fetch.words.iter().enumerate() {
        let next = fetch.words.get(place + 1).map(|next| bare(&next.text));
        match word.text.as_str() {
            "-o" | "--output" | "--output-document" => saved.extend(next),
            "-O" if program(fetch) == "wget" => saved.extend(next),
            text if text.contains("://") => saved.extend(text.rsplit('/').next().map(bare)),
            _ => {}
        }
    }
    saved.retain(|name| !name.is_empty() && name != "-" && name != "/dev/null");
    script.commands.iter().skip(at + 1).any(|command| {
        let runs = is_interpreter(program(command)) || matches!(program(command), "source" | ".");
        let operand = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        let is_saved = |word: &Word| saved.contains(&bare(&word.text));
        (runs && operand.is_some_and(is_saved))
            || command.words.first().is_some_and(|word| word.text.contains('/') && is_saved(word))
    })
}

/// Whether output goes to such a file.
fn redirects_to(command: &Command, is_target: impl Fn(&str) -> bool) -> bool {
    command.redirects.iter().any(|redirect| {
        !matches!(redirect.kind, RedirectKind::Read | RedirectKind::Text) && is_target(&redirect.target.text)
    })
}

fn writes_accounts(command: &Command) -> bool {
    let is_account = |text: &str| {
        ["/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/group"].contains(&text)
            || text.starts_with("/etc/sudoers.d/")
    };
    let last = command.words.last().map_or("", |word| word.text.trim_start_matches("of="));
    let is_named = match program(command) {
        "tee" => command.words.iter().any(|word| is_account(&word.text)),
        "dd" => command.words.iter().any(|word| word.text.strip_prefix("of=").is_some_and(is_account)),
        "install" | "cp" | "mv" | "truncate" | "ln" => is_account(last),
        _ => false,
    };
    is_named || redirects_to(command, is_account)
}

fn stops_the_host(command: &Command) -> bool {
    let argument = command.words.get(1).map_or("", |word| word.text.as_str());
    match program(command) {
        "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "init" | "telinit" => matches!(argument, "0" | "6"),
        "systemctl" => {
            command.words.iter().any(|word| matches!(word.text.as_str(), "poweroff" | "reboot" | "halt" | "kexec"))
        }
        _ => false,
    }
}

fn overwrites_a_disk(command: &Command) -> bool {
    let is_disk = |text: &str| {
        const DISKS: &[&str] = &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "loop"];
        text.strip_prefix("/dev/").is_some_and(|device| DISKS.iter().any(|disk| device.starts_with(disk)))
    };
    let names_disk = || command.words.iter().skip(1).any(|word| is_disk(&word.text));
    match program(command) {
        "dd" if command.words.iter().any(|word| word.text.strip_prefix("of=").is_some_and(is_disk)) => true,
        "mkswap" | "wipefs" | "blkdiscard" | "shred" | "tee" if names_disk() => true,
        name => name == "mkfs" || name.starts_with("mkfs.") || redirects_to(command, is_disk),
    }
}

fn touches_credentials(command: &Command) -> bool {
    const HARMLESS: &[&str] = &[
        "ls",
        "test",
        "[",
        "stat",
        "chmod",
        "mkdir",
        "echo",
        "printf",
        "ssh-keygen",
        "ssh",
        "scp",
        "git",
        "find",
        "grep-",
    ];
    let name = program(command);
    let in_words = !HARMLESS.contains(&name) && command.words.iter().skip(1).any(is_credential);
    in_words
        || command
            .redirects
            .iter()
            .any(|redirect| redirect.kind != RedirectKind::Text && is_credential(&redirect.target))
}

fn is_credential(word: &Word) -> bool {
    const FOLDERS: &[&str] = &[".ssh/", ".gnupg/", ".aws/", ".config/gcloud/", ".azure/"];
    const FILES: &[&str] = &[
        ".netrc",
        ".git-credentials",
        ".docker/config.json",
        ".kube/config",
        ".config/gh/hosts.yml",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".cargo/credentials.toml",
        ".cargo/credentials",
    ];
    let text = word.text.strip_prefix('@').unwrap_or(&word.text);
    if text == "/etc/shadow" || (text.starts_with("/proc/") && text.ends_with("/environ")) {
        return true;
    }
    let is_home = word.home || matches!(text.split('/').nth(1), Some("home" | "root" | "Users"));
    let public = text.ends_with(".pub") || text.ends_with("known_hosts") || text.ends_with(".ssh/config");
    let inside = FOLDERS.iter().any(|folder| {
        text.contains(&format!("/{folder}")) || text.ends_with(&format!("/{}", folder.trim_end_matches('/')))
    });
    is_home && !public && (inside || FILES.iter().any(|file| text.ends_with(&format!("/{file}"))))
}

/// A function that starts itself twice.
fn is_fork_bomb(script: &Script) -> bool {
    script.defined.iter().any(|name| {
        let body = format!("function {name}");
        let starts_itself = |command: &&Command| {
            command.words.first().is_some_and(|word| word.text == *name) && command.via.contains(&body)
        };
        script.commands.iter().filter(starts_itself).count() > 1
    })
}

fn discards_changes(command: &Command) -> bool {
    if program(command) != "git" {
        return false;
    }
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let has = |text: &str| words.contains(&text);
    let everything = words.iter().any(|word| matches!(*word, "." | ":/" | "*"));
    (has("clean") && (has_flag(command, &['f'], "--force")))
        || (has("reset") && has("--hard"))
        || ((has("checkout") || has("restore")) && everything && !has("--staged"))
        || (has("checkout") && has("-f"))
        || (has("stash") && (has("clear") || has("drop")))
}

fn destroys_elsewhere(command: &Command) -> bool {
    let text = |at: usize| command.words.get(at).map_or("", |word| word.text.as_str());
    match program(command) {
        "terraform" | "tofu" | "pulumi" => {
            command.words.iter().skip(1).any(|word| word.text == "destroy" || word.text == "-destroy")
        }
        "dropdb" => true,
        "kubectl" => text(1) == "delete",
        "psql" | "mysql" | "sqlite3" | "mariadb" => command.words.iter().skip(1).any(|word| {
            let sql = word.text.to_ascii_lowercase();
            ["drop table", "drop database", "drop schema", "truncate table"].iter().any(|verb| sql.contains(verb))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
