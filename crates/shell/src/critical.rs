//! Detects commands that need a second look before they run.
//!
//! This is a warning for the approving user, not a security boundary: a shell has endless ways to express the same thing.

mod credentials;
mod fetched;

use crate::code::is_interpreter;
use crate::options::is_long;
use crate::{RedirectKind, ShellCommand, ShellScript, ShellWord};
use credentials::touches_credentials;
use fetched::runs_fetched_code;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Work that exists nowhere else is lost.
    DestroysWork,
    /// The machine, the account or the user's secrets are at risk.
    Critical,
}

/// What is in danger, which determines what makes the command harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Danger {
    /// Files outside the workspace, and the host: protected by the sandbox.
    Machine,
    /// Other processes of the user: the sandbox does not block signals to them.
    Processes,
    /// Every file that the command may write, including the repository's history: harmless if it may write none.
    Everything,
    /// Foreign code, which could do everything that the command may: harmless only without network access.
    Network,
    /// The user's work, local and remote: the sandbox does not protect it.
    Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Critical {
    pub severity: Severity,
    pub danger: Danger,
    pub reason: &'static str,
}

type ScriptCheck = fn(&ShellScript) -> bool;

/// Ordered by severity, the worst first.
const PATTERNS: &[(ScriptCheck, Danger, &str)] = &[
    (is_fork_bomb, Danger::Machine, "it is a fork bomb"),
    (removes_the_system, Danger::Everything, "it changes the root, home or a system folder recursively"),
    (runs_fetched_code, Danger::Network, "it runs code fetched from the network"),
    (|script| any(script, writes_accounts), Danger::Machine, "it writes to the system's account files"),
    (|script| any(script, stops_the_host), Danger::Machine, "it stops or restarts this machine"),
    (|script| any(script, ends_everything), Danger::Processes, "it ends every process"),
    (|script| any(script, overwrites_a_disk), Danger::Machine, "it formats or overwrites a disk"),
    (|script| any(script, touches_credentials), Danger::Machine, "it uses a file with credentials"),
    (|script| any(script, discards_changes), Danger::Work, "it destroys uncommitted work"),
    (|script| any(script, destroys_elsewhere), Danger::Work, "it destroys data or infrastructure"),
];

pub(crate) fn find(script: &ShellScript, is_harmless: impl Fn(Danger) -> bool) -> Option<Critical> {
    let open = PATTERNS.iter().filter(|(_, danger, _)| !is_harmless(*danger));
    let (_, danger, reason) = open.into_iter().find(|(check, ..)| check(script))?;
    let severity = if *danger == Danger::Work { Severity::DestroysWork } else { Severity::Critical };
    Some(Critical { severity, danger: *danger, reason })
}

fn any(script: &ShellScript, check: fn(&ShellCommand) -> bool) -> bool {
    script.commands.iter().any(check)
}

fn program(command: &ShellCommand) -> &str {
    command.program().unwrap_or_default()
}

fn has_flag(command: &ShellCommand, short: &[char], long: &str) -> bool {
    command.words.iter().skip(1).any(|word| {
        is_long(long, &word.text)
            || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(short))
    })
}

fn removes_the_system(script: &ShellScript) -> bool {
    // `cd / && rm -rf *`
    let is_there = |command: &ShellCommand| {
        matches!(program(command), "cd" | "pushd" | "chdir")
            && command.words.get(1).map_or(program(command) == "cd", is_system_path)
    };
    let goes_there = script.commands.iter().any(is_there);
    // `find / | xargs rm`
    let lists = |command: &ShellCommand| program(command) == "find" && command.words.iter().skip(1).any(is_system_path);
    let lists_it = script.commands.iter().any(lists);
    script.commands.iter().any(|command| {
        let by_name = removes(command) && command.words.iter().skip(1).any(is_system_path);
        let everything = |word: &ShellWord| matches!(word.text.as_str(), "*" | "." | "./" | "./*" | ".*");
        by_name
            || (goes_there && removes(command) && command.words.iter().skip(1).any(everything))
            || (lists_it && program(command) == "rm" && !command.is_whole())
            || (program(command) == "rm" && has_flag(command, &[], "--no-preserve-root"))
    })
}

/// Returns whether the command deletes what it names, or takes it away from its owner, recursively.
fn removes(command: &ShellCommand) -> bool {
    let words = || command.words.iter().skip(1);
    let recursive = || has_flag(command, &['r', 'R'], "--recursive");
    match program(command) {
        "rm" | "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => recursive(),
        "mv" | "shred" | "srm" => true,
        "find" => {
            words().any(|word| word.text == "-delete")
                || words().any(|word| matches!(word.text.as_str(), "rm" | "/bin/rm" | "shred" | "unlink"))
        }
        "rsync" => words().any(|word| is_long("--delete", &word.text)),
        _ => false,
    }
}

fn is_system_path(word: &ShellWord) -> bool {
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
        return bare == "~" || plain_path(&word.text).trim_end_matches("/*") == "~";
    }
    // `~root`, `${HOME:?}`.
    if !word.known
        && (is_users_home(bare) || bare.trim_start_matches(['$', '{']).starts_with("HOME") && !bare.contains('/'))
    {
        return true;
    }
    if word.known || !word.text.starts_with('$') {
        let plain = plain_path(&word.text);
        let plain = plain.trim_end_matches('*').trim_end_matches('/');
        return word.text.starts_with('/') && (FOLDERS.contains(&bare) || FOLDERS.contains(&plain));
    }
    // `$X/` is the root if X is not set.
    let variable = bare.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    bare.len() < word.text.len() && crate::words::is_name(variable)
}

fn is_users_home(text: &str) -> bool {
    text.strip_prefix('~').is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Removes `.`, `..` and redundant slashes.
fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "~") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Returns whether output is redirected to such a file.
fn redirects_to(command: &ShellCommand, is_target: impl Fn(&str) -> bool) -> bool {
    command.redirects.iter().any(|redirect| {
        !matches!(redirect.kind, RedirectKind::Read | RedirectKind::Text) && is_target(&redirect.target.text)
    })
}

fn writes_accounts(command: &ShellCommand) -> bool {
    const FILES: &[&str] =
        &["/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/group", "/etc/gshadow", "/etc/ld.so.preload"];
    let is_account = |text: &str| {
        let path = plain_path(text);
        FILES.contains(&path.as_str()) || path.starts_with("/etc/sudoers.d/")
    };
    let is_written = |word: &ShellWord| {
        is_account(&word.text) || (!word.known && FILES.iter().any(|file| word.text.ends_with(file)))
    };
    let by_program = command.written().iter().any(|written| {
        let folder = plain_path(&written.path.text);
        is_written(&written.path) || written.inside.iter().any(|name| is_account(&format!("{folder}/{}", name.text)))
    });
    let is_open = |text: &str| text.starts_with('$') && FILES.iter().any(|file| text.ends_with(file));
    by_program || redirects_to(command, |text| is_account(text) || is_open(text))
}

fn stops_the_host(command: &ShellCommand) -> bool {
    let argument = command.words.get(1).map_or("", |word| word.text.as_str());
    match program(command) {
        "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "init" | "telinit" => matches!(argument, "0" | "6"),
        "systemctl" | "loginctl" => command.words.iter().any(|word| {
            let name = word.text.trim_end_matches(".target");
            matches!(name, "poweroff" | "reboot" | "halt" | "kexec" | "soft-reboot" | "emergency" | "rescue")
        }),
        "kexec" => has_flag(command, &['e'], "--exec"),
        _ => redirects_to(command, |text| plain_path(text) == "/proc/sysrq-trigger"),
    }
}

/// Detects `kill -9 -1`: every process of the user.
fn ends_everything(command: &ShellCommand) -> bool {
    let target = |(at, word): (usize, &ShellWord)| at > 1 && matches!(word.text.as_str(), "-1" | "1");
    match program(command) {
        "kill" => command.words.iter().enumerate().any(target),
        "killall5" => true,
        _ => false,
    }
}

fn overwrites_a_disk(command: &ShellCommand) -> bool {
    let is_disk = |text: &str| {
        const DISKS: &[&str] =
            &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "loop", "md", "dm-", "nbd"];
        text.strip_prefix("/dev/").is_some_and(|device| DISKS.iter().any(|disk| device.starts_with(disk)))
    };
    let names_disk = || command.words.iter().skip(1).any(|word| is_disk(&word.text));
    match program(command) {
        "dd" if command.words.iter().any(|word| word.text.strip_prefix("of=").is_some_and(is_disk)) => true,
        "mkswap" | "wipefs" | "blkdiscard" | "shred" | "tee" | "cp" | "sgdisk" | "cryptsetup" | "badblocks"
        | "mke2fs"
            if names_disk() =>
        {
            true
        }
        "fdisk" | "sfdisk" | "parted" if names_disk() => {
            !has_flag(command, &['l', 'd'], "--list") && !command.words.iter().any(|word| word.text == "print")
        }
        "lvremove" | "vgremove" | "pvremove" => true,
        name => name == "mkfs" || name.starts_with("mkfs.") || redirects_to(command, is_disk),
    }
}

/// Detects a function or script that starts itself twice, or code that only forks.
fn is_fork_bomb(script: &ShellScript) -> bool {
    let by_name = script.defined.iter().any(|name| {
        let body = format!("function {name}");
        let starts_itself = |command: &&ShellCommand| {
            let is_it = |word: &ShellWord| {
                word.text == *name
                    || matches!(word.text.as_str(), "$FUNCNAME" | "${FUNCNAME}" | "${FUNCNAME[0]}" | "$0")
            };
            command.words.first().is_some_and(is_it) && command.via.contains(&body)
        };
        script.commands.iter().filter(starts_itself).count() > 1
    });
    let is_own_script = |command: &&ShellCommand| {
        command.words.first().is_some_and(|word| !word.known && matches!(word.text.as_str(), "$0" | "${0}"))
    };
    let forks = |command: &ShellCommand| {
        let is_bomb = |word: &ShellWord| {
            word.text.contains("fork while") || (word.text.contains("while") && word.text.contains("fork()"))
        };
        is_interpreter(program(command)) && command.words.iter().skip(1).any(is_bomb)
    };
    by_name || script.commands.iter().filter(is_own_script).count() > 1 || script.commands.iter().any(forks)
}

fn discards_changes(command: &ShellCommand) -> bool {
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

fn destroys_elsewhere(command: &ShellCommand) -> bool {
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
