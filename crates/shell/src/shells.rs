//! Shells that are started with a script: in a word, on stdin, or from a file.

use crate::interpret::CommandMeaning;
use crate::{CommandRole, RedirectKind};

pub(crate) fn is_shell(name: &str) -> bool {
    matches!(
        name.trim_start_matches('-'),
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "rbash" | "fish" | "csh" | "tcsh"
    )
}

/// Returns whether the command was a shell.
pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) -> bool {
    if !is_shell(name) {
        return false;
    }
    if matches!(name, "fish" | "csh" | "tcsh") {
        meaning.unknown(format!("a script for {name}"));
        return true;
    }
    let posix = !matches!(name, "bash" | "zsh");
    match script_of(meaning) {
        Some(ScriptSource::Word(at)) => {
            let word = meaning.words().get(at).cloned();
            meaning.runs_word(word.as_ref(), posix, CommandRole::Wrapper);
        }
        Some(ScriptSource::Input) => input(meaning, posix),
        Some(ScriptSource::File | ScriptSource::Nothing) => {}
        None => meaning.unknown(format!("what `{name}` runs")),
    }
    true
}

/// Names of stdin; other file descriptors are as unknown as a file.
pub(crate) fn is_input(path: &str) -> bool {
    let path = path.replace("//", "/").replace("/./", "/");
    matches!(path.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0" | "/dev/tty")
}

/// A file descriptor with redirected content: `bash /dev/fd/3 3<<<…`.
fn is_descriptor(path: &str) -> bool {
    path.contains("/fd/")
}

enum ScriptSource {
    Word(usize),
    Input,
    File,
    Nothing,
}

/// Returns `None` if its options are not understood.
fn script_of(meaning: &CommandMeaning<'_>) -> Option<ScriptSource> {
    let words = meaning.words();
    let (mut at, mut from_word, mut from_input) = (1, false, false);
    while let Some(word) = words.get(at) {
        let text = word.known.then_some(word.text.as_str())?;
        match text {
            "-" | "--" => {
                at += 1;
                break;
            }
            "--version" | "--help" => return Some(ScriptSource::Nothing),
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            _ if text.starts_with("--") => return None,
            _ if text.len() > 1 && text.starts_with(['-', '+']) => {
                from_word |= text.starts_with('-') && text.contains('c');
                from_input |= text.starts_with('-') && text.contains('s');
                if !text[1..].chars().all(|char| "abcefhiklmnprstuvxBCEHPToO".contains(char)) {
                    return None;
                }
                at += text[1..].matches(['o', 'O']).count();
            }
            _ => break,
        }
        at += 1;
    }
    let names_input = words.get(at).is_some_and(|word| is_input(&word.text));
    let source = match (from_word, from_input || names_input || words.len() <= at) {
        (true, _) if at < words.len() => ScriptSource::Word(at),
        (true, _) => return None,
        (false, true) => ScriptSource::Input,
        (false, false) if words.get(at).is_some_and(|word| is_descriptor(&word.text)) => return None,
        (false, false) => ScriptSource::File,
    };
    Some(source)
}

/// The last redirect of stdin determines what it reads.
fn input(meaning: &mut CommandMeaning<'_>, posix: bool) {
    let reads = |kind: RedirectKind| matches!(kind, RedirectKind::Read | RedirectKind::Text | RedirectKind::ReadWrite);
    let redirects = meaning.command.redirects.clone();
    let mut inputs = redirects.iter().filter(|redirect| reads(redirect.kind) || redirect.target.text.starts_with('&'));
    match (inputs.next_back(), redirects.iter().filter(|redirect| reads(redirect.kind)).count()) {
        (Some(redirect), 1) if redirect.kind == RedirectKind::Text && !redirect.numbered => {
            meaning.runs_word(Some(&redirect.target), posix, CommandRole::Wrapper);
        }
        _ => meaning.unknown("a shell that reads its script from its input"),
    }
}
