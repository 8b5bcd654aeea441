//! Builtins that run text, start commands, or redefine names.

use crate::interpret::CommandMeaning;
use crate::wrappers::{self, ProgramOptions};
use crate::{Assignment, CommandRole, ShellWord};

/// Returns whether the command is fully handled.
pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) -> bool {
    match name {
        "eval" => eval(meaning),
        "trap" => trap(meaning),
        "source" | "." => meaning.unknown("a file that the shell reads as its own script"),
        "alias" => alias(meaning),
        "declare" | "typeset" | "local" | "export" | "readonly" | "integer" | "float" => declare(meaning, name),
        "exec" => starts(meaning, "cl", "a"),
        "command" => command(meaning),
        "builtin" | "noglob" | "-" => starts(meaning, "", ""),
        "let" => arithmetic(meaning),
        "set" => set(meaning),
        "read" | "unset" | "getopts" | "wait" | "printf" | "test" | "[" => names(meaning, name),
        "mapfile" | "readarray" => names(meaning, name),
        "hash" => no_option(meaning, "p"),
        "enable" | "bind" | "complete" | "compgen" | "compopt" | "fc" | "shopt" | "setopt" | "unsetopt" | "emulate"
        | "zmodload" | "autoload" | "functions" | "zle" | "bindkey" | "sched" | "vared" | "disable" | "compdef"
        | "zparseopts" | "zstyle" | "zformat" | "ztrap" => meaning.unknown(format!("what `{name}` changes")),
        "print" => names(meaning, name),
        _ => return false,
    }
    true
}

fn eval(meaning: &mut CommandMeaning<'_>) {
    let words = &meaning.words()[1..];
    let words = if words.first().is_some_and(|word| word.text == "--") { &words[1..] } else { words };
    if words.iter().all(|word| word.known && !word.home) {
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        meaning.runs_text(&text, meaning.command.posix, CommandRole::Wrapper);
    } else {
        meaning.unknown("text that `eval` runs");
    }
}

fn trap(meaning: &mut CommandMeaning<'_>) {
    let mut words = meaning.words()[1..].to_vec();
    if words.first().is_some_and(|word| word.text == "--") {
        words.remove(0);
    }
    match words.first() {
        Some(action) if matches!(action.text.as_str(), "-" | "-p" | "-l" | "") && action.known => {}
        Some(action) => meaning.runs_word(Some(action), meaning.command.posix, CommandRole::Wrapper),
        None => {}
    }
}

fn alias(meaning: &mut CommandMeaning<'_>) {
    for word in &meaning.command.words[1..] {
        let Some((name, text)) = word.text.split_once('=') else {
            if !word.known {
                meaning.unknown("which alias is defined");
            }
            continue;
        };
        meaning.found.script.defined.push(name.to_owned());
        meaning.unknown(format!("what the alias `{name}` does"));
        if word.known {
            meaning.runs_text(text, meaning.command.posix, CommandRole::Itself);
        }
    }
}

/// Handles `export A=b`: words that are assignments, after the options.
fn declare(meaning: &mut CommandMeaning<'_>, name: &str) {
    for word in &meaning.command.words[1..] {
        let text = word.text.as_str();
        if let Some(at) = word.value_at {
            let value = ShellWord { text: text[at..].to_owned(), value_at: None, ..word.clone() };
            let name = text[..at - 1].trim_end_matches('+').split('[').next().unwrap_or_default();
            meaning.assign(&Assignment { name: name.to_owned(), value });
        } else if !word.known || word.code || (text.contains('=') && !text.starts_with('-')) {
            meaning.unknown(format!("what `{name}` declares"));
        } else if text.starts_with(['-', '+']) && text.contains(['i', 'n', 'E', 'F', 'T', 'u', 'l']) {
            meaning.unknown(format!("a kind of variable that `{name} {text}` declares"));
        } else if !text.starts_with('-') {
            let assigned = Assignment { name: text.to_owned(), value: ShellWord::unknown("") };
            meaning.assign(&assigned);
        }
    }
}

fn starts(meaning: &mut CommandMeaning<'_>, flags: &'static str, values: &'static str) {
    let options = ProgramOptions { flags, values, ..ProgramOptions::default() };
    wrappers::start_after(meaning, &options, 0, CommandRole::Wrapper);
}

fn command(meaning: &mut CommandMeaning<'_>) {
    let only_asks = meaning.words().get(1).is_some_and(|word| word.known && matches!(word.text.as_str(), "-v" | "-V"));
    if !only_asks {
        starts(meaning, "p", "");
    }
}

fn arithmetic(meaning: &mut CommandMeaning<'_>) {
    for word in &meaning.command.words[1..] {
        if !word.known || word.code || word.text.contains('[') {
            meaning.unknown("arithmetic that `let` is to do");
        }
        let mut reader = crate::reader::Reader::new("", meaning.found, crate::reader::ScriptContext::default());
        reader.arithmetic_text(&word.text);
    }
}

fn set(meaning: &mut CommandMeaning<'_>) {
    let is_usual = |word: &ShellWord| {
        let text = word.text.as_str();
        let option =
            matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace" | "noglob" | "noclobber" | "errtrace");
        let flags = text.len() > 1 && text[1..].chars().all(|char| "euxofvnECT".contains(char));
        word.known && (option || matches!(text, "--" | "-" | "+") || (text.starts_with(['-', '+']) && flags))
    };
    let words = meaning.words()[1..].to_vec();
    let options = words.iter().take_while(|word| !(word.known && matches!(word.text.as_str(), "--" | "-")));
    if !options.clone().all(is_usual) {
        meaning.unknown("what `set` changes");
    }
}

/// Builtins that take variable names, in whose index bash runs `$(…)`.
fn names(meaning: &mut CommandMeaning<'_>, name: &str) {
    let words = meaning.words()[1..].to_vec();
    let option = |letter: char| {
        let has = |word: &ShellWord| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text[1..].contains(letter)
        };
        words.iter().any(has)
    };
    let takes_names = match name {
        "printf" => words.first().is_some_and(|word| !word.known || word.text.starts_with("-v")),
        "print" => words.iter().any(|word| word.text.starts_with('-') || !word.known),
        "test" | "[" => option('v') || words.iter().any(|word| word.text == "-R"),
        "wait" => option('p'),
        _ => true,
    };
    let prompts = |at: usize| name == "read" && at > 0 && words[at - 1].text.ends_with('p');
    let is_doubtful = |(at, word): (usize, &ShellWord)| {
        (!word.known || word.code || word.text.contains('[')) && !prompts(at) && word.text != "]"
    };
    let is_bracket = |word: &ShellWord| name == "[" && word.text == "[";
    if takes_names && words.iter().filter(|word| !is_bracket(word)).enumerate().any(is_doubtful) {
        meaning.unknown(format!("which variable `{name}` changes"));
    }
    if matches!(name, "mapfile" | "readarray") && option('C') {
        meaning.unknown(format!("text that `{name}` runs"));
    }
    if matches!(name, "read" | "getopts" | "mapfile" | "readarray" | "printf" | "wait") {
        let assigned = words.iter().filter(|word| word.known && crate::words::is_name(&word.text));
        for word in assigned {
            meaning.assign(&Assignment { name: word.text.clone(), value: ShellWord::unknown("") });
        }
    }
}

fn no_option(meaning: &mut CommandMeaning<'_>, letter: &str) {
    if meaning.words()[1..].iter().any(|word| !word.known || (word.text.starts_with('-') && word.text.contains(letter)))
    {
        meaning.unknown("a name that is hashed to another program");
    }
}
