//! Scripts that a command line writes and then runs: their content was never checked.

use crate::code::is_interpreter;
use crate::reader::ScriptFindings;
use crate::{RedirectKind, ShellCommand, ShellWord};

/// Programs that change a file but not its content.
const KEEPING: &[&str] = &["chmod", "chown", "chgrp", "touch", "rm", "rmdir", "mkdir", "unlink", "setfacl", "setfattr"];

/// Records files that the script itself writes and runs, compared by file name.
pub(crate) fn tell(found: &mut ScriptFindings) {
    let made: Vec<String> = found.script.commands.iter().flat_map(names).collect();
    if made.is_empty() {
        return;
    }
    let is_made = |word: &ShellWord| word.known && made.iter().any(|name| name == last_part(&word.text));
    let run =
        found.script.commands.iter().filter_map(run_file).find(|word| is_made(word)).map(|word| word.text.clone());
    if let Some(file) = run {
        found.unknown(format!("what is in `{file}`, which the same command line writes"));
    }
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn names(command: &ShellCommand) -> Vec<String> {
    let to = |kind: RedirectKind| matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite);
    let redirects = command.redirects.iter().filter(|redirect| to(redirect.kind)).map(|redirect| &redirect.target);
    let mut all: Vec<String> = redirects.map(|target| last_part(&target.text).to_owned()).collect();
    if !command.program().is_some_and(|name| KEEPING.contains(&name)) {
        for written in command.written() {
            all.extend(
                std::iter::once(&written.path).chain(&written.inside).map(|word| last_part(&word.text).to_owned()),
            );
        }
    }
    all.retain(|name| !name.is_empty());
    all
}

/// Returns the file that is run: the program itself if it has a path, or the script of an interpreter.
fn run_file(command: &ShellCommand) -> Option<&ShellWord> {
    let program = command.words.first()?;
    if is_interpreter(command.program()?) {
        return command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
    }
    program.text.contains('/').then_some(program)
}
