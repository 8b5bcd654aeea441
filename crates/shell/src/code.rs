//! Programs that are handed code of their own language, or that run what an option names.

use crate::interpret::Meaning;
use crate::{RedirectKind, Word};

/// Interpreters with the options that take code.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["c"]),
    ("pypy", &["c"]),
    ("perl", &["e", "E"]),
    ("ruby", &["e"]),
    ("node", &["e", "p"]),
    ("nodejs", &["e", "p"]),
    ("bun", &["e", "p"]),
    ("deno", &[]),
    ("php", &["r", "B", "R", "E"]),
    ("lua", &["e"]),
    ("luajit", &["e"]),
    ("osascript", &["e"]),
    ("Rscript", &["e"]),
    ("tclsh", &[]),
    ("julia", &["e", "E"]),
    ("pwsh", &["c"]),
];

pub(crate) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|(known, _)| *known == bare(name)) || crate::shells::is_shell(name)
}

/// `python3.12` is `python`.
fn bare(name: &str) -> &str {
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.')
}

pub(crate) fn tell(meaning: &mut Meaning<'_>, name: &str) {
    let words = meaning.words()[1..].to_vec();
    if let Some((_, letters)) = INTERPRETERS.iter().find(|(known, _)| *known == bare(name)) {
        interpreter(meaning, name, letters, &words);
        return;
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(meaning, &words),
        "sed" | "gsed" => crate::sed::tell(meaning),
        _ => crate::options::tell(meaning, name),
    }
}

fn interpreter(meaning: &mut Meaning<'_>, name: &str, letters: &[&str], words: &[Word]) {
    let takes_code = |word: &Word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--");
        let bundle: String = text.chars().skip(1).take_while(char::is_ascii_alphabetic).collect();
        matches!(text, "--eval" | "--print" | "eval" | "-Command" | "--command")
            || text.starts_with("--eval=")
            || (short && letters.iter().any(|letter| bundle.contains(letter)))
    };
    let options: Vec<&Word> =
        words.iter().take_while(|word| word.text.starts_with('-') || word.text == "eval").collect();
    if options.iter().any(|word| takes_code(word)) {
        meaning.unknown(format!("code for {}", bare(name)));
    }
    let operand = words.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
    let asks =
        options.iter().any(|word| matches!(word.text.as_str(), "--version" | "-V" | "--help" | "-h" | "-v" | "-m"));
    let reads_input = operand.is_none_or(|word| matches!(word.text.as_str(), "-" | "/dev/stdin")) && !asks;
    let is_fed = meaning.command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Text);
    if reads_input || (is_fed && operand.is_none()) {
        meaning.unknown(format!("code for {} on its input", bare(name)));
    }
    if words.first().is_some_and(|word| !word.known && word.text.starts_with('$')) {
        meaning.unknown(format!("what {} is to run", bare(name)));
    }
}

/// Only the program can do more than print, and what comes before it decides which word that is.
fn awk(meaning: &mut Meaning<'_>, words: &[Word]) {
    let mut rest = words.iter();
    let program = loop {
        let Some(word) = rest.next() else { break None };
        match word.text.as_str() {
            _ if !word.known => break Some(word),
            "-F" | "-v" => drop(rest.next()),
            "--" => break rest.next(),
            "--version" | "--help" => {}
            text if text.starts_with("-F") || text.starts_with("-v") => {}
            _ => break Some(word),
        }
    };
    if program.is_some_and(|program| !program.known || !is_plain_awk(&program.text)) {
        meaning.unknown("what awk is told to do");
    }
}

/// Other options count for programs too, and are none that is plain.
fn is_plain_awk(program: &str) -> bool {
    let text = program.replace("||", " ");
    let writes = text.contains("print") && text.contains('>');
    !text.starts_with('-') && !writes && !["system", "|", "getline", "@"].iter().any(|risk| text.contains(risk))
}
