//! Commands that only read, which the asking modes let run, and commands that only write what a build makes.
//!
//! A command counts only if everything about it is known to be harmless: a program of the table, none of the options that
//! write or start something, and no word that could turn out to be such an option.

mod builds;
mod table;

use crate::ShellWord;
use crate::irreversible::cloud;
use crate::operands::operands;
use crate::options::{has_letter, is_long};
use table::{READERS, ReadingVerbs};

pub use builds::only_builds;

/// Returns whether the command changes nothing. What it starts and which files the shell opens for it is for the caller to
/// judge: the reader lists both.
pub fn only_reads(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    // A path could lead to any program of that name.
    if !program.known || program.text.contains('/') {
        return false;
    }
    let name = program.text.as_str();
    if is_version(name, rest) {
        return true;
    }
    let Some(row) = READERS.iter().find(|row| row.programs.contains(&name)) else { return false };
    let is_open = |word: &ShellWord| may_be_option(word);
    if !row.takes_anything && rest.iter().any(is_open) {
        return false;
    }
    if rest.iter().any(|word| row.writing.iter().any(|option| is_option(option, &word.text))) {
        return false;
    }
    is_reading(row.verbs, name, words)
}

/// Programs that start another command with the same rights; what they start is listed and judged by itself.
pub fn only_starts_others(words: &[ShellWord]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    matches!(
        texts.as_slice(),
        ["bash" | "sh" | "zsh" | "dash", "-c" | "-lc", _]
            | ["timeout" | "nice" | "nohup" | "time" | "stdbuf" | "xargs" | "env" | "command" | "builtin", _, ..]
    )
}

fn is_reading(verbs: ReadingVerbs, name: &str, words: &[ShellWord]) -> bool {
    let operands = operands(name, words);
    let begins = |verb: &str| {
        let verb: Vec<&str> = verb.split(' ').collect();
        operands.starts_with(&verb)
    };
    match verbs {
        ReadingVerbs::Whole => true,
        ReadingVerbs::AtMost(most) => operands.len() <= most,
        ReadingVerbs::First(verbs) => is_plain(name, words) && verbs.iter().any(|verb| begins(verb)),
        ReadingVerbs::Git => is_plain(name, words) && git_reads(words, &operands),
        ReadingVerbs::Cloud => operands.len() > 1 && cloud::reads(&operands) && !operands.contains(&"get-object"),
    }
}

/// Whether the options before the subcommand are known: others could change what it means.
fn is_plain(name: &str, words: &[ShellWord]) -> bool {
    const PLAIN: &[&str] =
        &["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "-q", "--quiet", "--offline", "--locked"];
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next().filter(|word| word.text.starts_with('-')) {
        let option = word.text.split('=').next().unwrap_or_default();
        if crate::operands::takes_value(name, option) {
            if !word.text.contains('=') {
                rest.next();
            }
        } else if !PLAIN.contains(&option) {
            return false;
        }
    }
    true
}

/// Verbs of git that list something unless they are given a name.
fn git_reads(words: &[ShellWord], operands: &[&str]) -> bool {
    let Some((verb, rest)) = operands.split_first() else { return false };
    let has =
        |options: &[&str]| words.iter().skip(1).any(|word| options.iter().any(|option| is_option(option, &word.text)));
    let first = rest.first().copied().unwrap_or_default();
    match *verb {
        "branch" => {
            let lists = has(&["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"]);
            let changes = has(&[
                "-d",
                "-D",
                "--delete",
                "-m",
                "-M",
                "--move",
                "-c",
                "-C",
                "--copy",
                "-u",
                "--set-upstream-to",
                "-f",
                "--force",
                "--unset-upstream",
                "--edit-description",
                "-t",
                "--track",
            ]);
            !changes && (lists || rest.is_empty())
        }
        "tag" => {
            let changes = has(&["-d", "--delete", "-a", "-s", "-u", "-m", "-F", "-f", "-e", "--annotate", "--sign"]);
            !changes && (has(&["-l", "--list", "--contains", "--merged", "--points-at", "-n"]) || rest.is_empty())
        }
        "remote" => rest.is_empty() || matches!(first, "show" | "get-url"),
        "stash" => matches!(first, "list" | "show"),
        "worktree" | "notes" => first == "list" || (*verb == "notes" && first == "show"),
        "submodule" => first == "status",
        "reflog" => matches!(first, "" | "show"),
        "bisect" => first == "log",
        "config" => {
            let asks = has(&["--get", "--get-all", "--get-regexp", "-l", "--list"]) || matches!(first, "get" | "list");
            asks && !has(&["--unset", "--unset-all", "--add", "--replace-all", "-e", "--edit"])
        }
        "symbolic-ref" => rest.len() == 1 && !has(&["-d", "--delete"]),
        verb => table::GIT_VERBS.contains(&verb),
    }
}

/// `node --version`
fn is_version(name: &str, rest: &[ShellWord]) -> bool {
    let [only] = rest else { return false };
    let asks = matches!(only.text.as_str(), "--version" | "-V" | "version");
    only.known && asks && table::WITH_VERSION.contains(&name)
}

/// Whether the word could become an option when it is expanded. File names of a pattern begin like the pattern.
fn may_be_option(word: &ShellWord) -> bool {
    !word.known && !word.is_file_pattern()
}

fn is_option(option: &str, word: &str) -> bool {
    match option.strip_prefix('-') {
        Some(long) if long.starts_with('-') => is_long(option, word),
        // One letter may stand in a bundle; the long names of `find` do not.
        Some(letter) if letter.len() == 1 => has_letter(option, word),
        _ => word == option,
    }
}

#[cfg(test)]
mod tests;
