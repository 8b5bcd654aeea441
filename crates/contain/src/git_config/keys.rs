//! The keys that run something, from git-config(1). Many other programs read git's configuration, so a key whose name looks
//! like that of a program counts as well, in any section.

use std::path::{Component, Path, PathBuf};

use super::parse::ConfigEntry;

/// The location of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConfigFilePlace<'a> {
    /// The git folder that contains it.
    pub(crate) folder: &'a Path,
    /// The folders in which a repository may have its files.
    pub(crate) roots: &'a [PathBuf],
}

/// Sections in which every key points to other settings, programs or hosts.
const SECTIONS: &[&str] = &[
    "include",
    "includeif",
    "filter",
    "protocol",
    "url",
    "guitool",
    "hook",
    "instaweb",
    "trace2",
    "sendemail",
    "imap",
];
/// Sections whose keys are switches, even with words such as `hook` in their names.
const SWITCHES: &[&str] = &["advice", "color", "column"];
/// Parts of keys that name a program or a path.
const PARTS: &[&str] = &[
    "command",
    "cmd",
    "program",
    "helper",
    "hook",
    "editor",
    "askpass",
    "driver",
    "textconv",
    "proxy",
    "browser",
    "exec",
    "shell",
    "script",
    "pack-objects",
];
const KEYS: &[&str] =
    &["path", "args", "smudge", "clean", "process", "tunnel", "templatedir", "difffilter", "external"];
/// Further keys of certain sections.
const OF_SECTIONS: &[(&str, &[&str])] = &[
    ("core", &["sshcommand", "attributesfile", "protecthfs", "protectntfs", "alternaterefscommand"]),
    ("remote", &["uploadpack", "receivepack", "vcs"]),
    ("http", &["sslverify", "sslcainfo", "sslcapath", "pinnedpubkey", "curloptresolve", "cookiefile", "savecookies"]),
    ("ssh", &["variant"]),
    ("web", &["browser"]),
    ("help", &["browser"]),
];
/// First words of an alias that only show or record something.
const OF_ALIASES: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "checkout",
    "switch",
    "restore",
    "commit",
    "add",
    "stash",
    "merge",
    "pull",
    "push",
    "fetch",
    "reset",
    "tag",
    "shortlog",
    "reflog",
    "blame",
    "remote",
    "rev-parse",
    "describe",
    "cherry-pick",
];
const OPTIONS_OF_ALIASES: &[&str] = &[
    "--oneline",
    "--graph",
    "--decorate",
    "--all",
    "--stat",
    "--cached",
    "--staged",
    "--short",
    "--branch",
    "--amend",
    "--no-edit",
    "--ff-only",
    "--no-ff",
    "--rebase",
    "--prune",
    "--name-only",
    "--name-status",
    "--abbrev-commit",
    "--word-diff",
    "--hard",
    "--soft",
    "--mixed",
    "--force-with-lease",
    "-1",
    "-a",
    "-am",
    "-b",
    "-m",
    "-n",
    "-s",
    "-sb",
    "-v",
    "-vv",
];

pub(super) fn runs(entry: &ConfigEntry, place: &ConfigFilePlace<'_>) -> bool {
    let (section, key, value) = (entry.header.section.as_str(), entry.key.as_str(), entry.value.as_str());
    if SWITCHES.contains(&section) {
        return false;
    }
    if SECTIONS.contains(&section) {
        return (section, key) != ("filter", "required");
    }
    match (section, key) {
        ("alias", _) => return !is_harmless_alias(value),
        ("core", "fsmonitor" | "pager") | ("pager", _) => return !is_switch(value),
        ("core", "worktree") => return !is_inside(value, place),
        ("submodule", "path") => return false,
        ("remote" | "submodule", "url" | "pushurl") if value.contains("::") || value.starts_with('-') => return true,
        _ => {}
    }
    value.starts_with('!')
        || KEYS.contains(&key)
        || PARTS.iter().any(|part| key.contains(part))
        || OF_SECTIONS.iter().any(|(of, keys)| *of == section && keys.contains(&key))
}

fn is_switch(value: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off", "1", "0", ""].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Options can run programs as well, so only known options are accepted.
fn is_harmless_alias(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=./:%@^~+,".contains(char);
    words.next().is_some_and(|word| OF_ALIASES.contains(&word))
        && words.all(|word| {
            let is_option = !word.starts_with('-')
                || OPTIONS_OF_ALIASES.contains(&word)
                || ["--pretty=", "--format=", "--date=", "--color"].iter().any(|begin| word.starts_with(begin));
            is_option && word.chars().all(is_plain)
        })
}

/// Whether the path is inside the repository: a submodule's configuration says where its files are.
fn is_inside(value: &str, place: &ConfigFilePlace<'_>) -> bool {
    let mut path = PathBuf::new();
    for part in place.folder.join(value).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    let real = omp_stdx::real_path::of(&path);
    place.roots.iter().any(|root| real.starts_with(root))
}
