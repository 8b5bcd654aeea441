//! Foreign code that is downloaded and run in one line.

use super::program;
use crate::code::is_interpreter;
use crate::shells::is_shell;
use crate::{Assignment, RedirectKind, ShellCommand, ShellScript, ShellWord};

fn is_fetch(command: &ShellCommand) -> bool {
    matches!(
        program(command),
        "curl"
            | "wget"
            | "fetch"
            | "aria2c"
            | "axel"
            | "http"
            | "https"
            | "xh"
            | "lynx"
            | "w3m"
            | "nc"
            | "ncat"
            | "netcat"
    )
}

pub(super) fn runs_fetched_code(script: &ShellScript) -> bool {
    let fetches = script.commands.iter().enumerate().filter(|(_, command)| is_fetch(command));
    fetches.into_iter().any(|(at, fetch)| {
        let is_fed = |runner: &ShellCommand| {
            let after = |(pipe, place): &(usize, usize)| {
                fetch.pipes.iter().any(|(other, earlier)| other == pipe && earlier < place)
            };
            runner.pipes.iter().any(after) && runs_its_input(runner)
        };
        let is_into = |runner: &ShellCommand| runner.inside == Some(at) && runs_its_input(runner);
        script.commands.iter().any(|runner| is_fed(runner) || is_into(runner))
            || is_part_of_code(script, fetch)
            || is_kept_and_run(script, fetch)
            || is_saved_and_run(script, at, fetch)
    })
}

fn runs_its_input(command: &ShellCommand) -> bool {
    let name = program(command);
    let operand = command.words.iter().skip(1).find(|word| !word.text.starts_with('-') || word.text == "-");
    // `-e` is a setting of shells but takes code in the others.
    let code: &[char] = if is_shell(name) { &['c'] } else { &['c', 'e', 'm', 'p'] };
    let takes_code = command
        .words
        .iter()
        .skip(1)
        .find(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(code));
    let is_input = |word: &ShellWord| word.text == "-" || crate::shells::is_input(&word.text);
    let from_input = command.words.iter().any(|word| word.text == "-s") || operand.is_none_or(is_input);
    // `xargs sh -c`: input is inserted into the words.
    let from_words = takes_code.is_some() && is_shell(name) && command.words.iter().any(|word| !word.known);
    matches!(name, "eval" | "source" | ".")
        || (is_interpreter(name) && ((from_input && takes_code.is_none()) || from_words))
}

/// `x=$(curl …); eval "$x"`.
fn is_kept_and_run(script: &ShellScript, fetch: &ShellCommand) -> bool {
    let Some(holder) = fetch.inside.and_then(|at| script.commands.get(at)) else { return false };
    let is_open = |assignment: &&Assignment| !assignment.value.known;
    let names: Vec<&str> =
        holder.assignments.iter().filter(is_open).map(|assignment| assignment.name.as_str()).collect();
    let holds = |word: &ShellWord| {
        let is_it = |name: &&str| word.text.contains(&format!("${name}")) || word.text.contains(&format!("${{{name}"));
        !word.known && names.iter().any(is_it)
    };
    script.commands.iter().any(|command| {
        let name = program(command);
        let runs = matches!(name, "eval" | "source" | ".") || is_interpreter(name);
        let is_fed = command.redirects.iter().any(|redirect| holds(&redirect.target));
        (runs && (is_fed || command.words.iter().any(holds))) || command.words.first().is_some_and(holds)
    })
}

/// `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`, `$(curl …)`.
fn is_part_of_code(script: &ShellScript, fetch: &ShellCommand) -> bool {
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
fn is_saved_and_run(script: &ShellScript, at: usize, fetch: &ShellCommand) -> bool {
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
    saved.extend(fetch.written().iter().map(|written| bare(&written.path.text)));
    saved.retain(|name| !name.is_empty() && name != "-" && name != "/dev/null");
    script.commands.iter().skip(at + 1).any(|command| {
        let runs = is_interpreter(program(command)) || matches!(program(command), "source" | ".");
        let operand = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        let is_saved = |word: &ShellWord| saved.contains(&bare(&word.text));
        (runs && operand.is_some_and(is_saved))
            || command.words.first().is_some_and(|word| word.text.contains('/') && is_saved(word))
    })
}
