//! Programs that take code of their own language, or run the program that an option names.

use crate::interpret::CommandMeaning;
use crate::{RedirectKind, ShellWord};

/// An interpreter and its options.
struct Interpreter {
    name: &'static str,
    /// Short options that take code.
    code: &'static str,
    /// Short options that take a value other than the script.
    values: &'static str,
    /// Long options that take a value.
    long_values: &'static [&'static str],
}

const fn interpreter_of(name: &'static str, code: &'static str, values: &'static str) -> Interpreter {
    Interpreter { name, code, values, long_values: &[] }
}

const NODE: &[&str] =
    &["--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file", "--title"];

const INTERPRETERS: &[Interpreter] = &[
    interpreter_of("python", "c", "WXQ"),
    interpreter_of("pypy", "c", "WX"),
    interpreter_of("ipython", "c", ""),
    interpreter_of("perl", "eE", "IMm"),
    interpreter_of("raku", "e", "IM"),
    interpreter_of("ruby", "e", "IrCEF"),
    Interpreter { long_values: NODE, ..interpreter_of("node", "ep", "rC") },
    Interpreter { long_values: NODE, ..interpreter_of("nodejs", "ep", "rC") },
    Interpreter { long_values: &["--preload", "--require", "--cwd"], ..interpreter_of("bun", "ep", "r") },
    interpreter_of("deno", "", ""),
    interpreter_of("php", "rBRE", "dcz"),
    interpreter_of("lua", "e", "l"),
    interpreter_of("luajit", "e", "lj"),
    interpreter_of("osascript", "e", "l"),
    interpreter_of("R", "e", "fg"),
    interpreter_of("Rscript", "e", ""),
    interpreter_of("tclsh", "", ""),
    interpreter_of("wish", "", ""),
    interpreter_of("julia", "eE", "LJtp"),
    interpreter_of("pwsh", "ceE", ""),
    interpreter_of("powershell", "ceE", ""),
    interpreter_of("guile", "c", "LCxl"),
    interpreter_of("racket", "e", "trlpkS"),
    interpreter_of("elixir", "e", "rSp"),
    interpreter_of("erl", "eE", ""),
    interpreter_of("groovy", "e", "c"),
    interpreter_of("scala", "e", ""),
    interpreter_of("clojure", "e", ""),
    interpreter_of("bb", "e", ""),
    interpreter_of("gjs", "c", "I"),
    interpreter_of("qjs", "e", "I"),
    interpreter_of("swift", "e", ""),
    interpreter_of("jshell", "", ""),
];

pub(crate) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|known| known.name == bare(name)) || crate::shells::is_shell(name)
}

/// Returns whether it would run code from its arguments or its stdin instead of a file.
pub(crate) fn is_handed_code(name: &str, words: &[ShellWord]) -> bool {
    INTERPRETERS.iter().find(|known| known.name == bare(name)).is_some_and(|known| {
        let end = known.end_of_options(words);
        words[..end].iter().any(|word| known.takes_code(&word.text))
            || words.get(end).is_none_or(|word| word.text == "-")
    })
}

/// Removes the version: `python3.12` is `python`.
fn bare(name: &str) -> &str {
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.')
}

pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) {
    let words = meaning.words()[1..].to_vec();
    if let Some(known) = INTERPRETERS.iter().find(|known| known.name == bare(name)) {
        interpreter(meaning, known, &words);
        return;
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(meaning, &words),
        "sed" | "gsed" => crate::sed::tell(meaning),
        _ => crate::options::tell(meaning, name),
    }
}

fn interpreter(meaning: &mut CommandMeaning<'_>, known: &Interpreter, words: &[ShellWord]) {
    let name = known.name;
    let end = known.end_of_options(words);
    let options = &words[..end];
    if options.iter().any(|word| known.takes_code(&word.text)) || words.get(end).is_some_and(|word| word.text == "eval")
    {
        meaning.unknown(format!("code for {name}"));
    }
    let operand = words.get(end);
    let asks =
        options.iter().any(|word| matches!(word.text.as_str(), "--version" | "-V" | "--help" | "-h" | "-v" | "-m"));
    let is_input =
        |word: &ShellWord| word.text == "-" || crate::shells::is_input(&word.text) || word.text.contains("/fd/");
    let reads_input = operand.is_none_or(is_input) && !asks;
    let is_fed = meaning.command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Text);
    if reads_input || (is_fed && operand.is_none()) {
        meaning.unknown(format!("code for {name} on its input"));
    }
    // An expansion before the script could be an option, or the script itself.
    if words.iter().take(end + 1).any(|word| !word.known && !word.text.starts_with(['-', '*', '?', '[', '~'])) {
        meaning.unknown(format!("what {name} runs"));
    }
}

impl Interpreter {
    /// Returns the position of the script, after the options and their values.
    fn end_of_options(&self, words: &[ShellWord]) -> usize {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" || text.len() < 2 || !text.starts_with(['-', '+']) {
                return (at + usize::from(text == "--")).min(words.len());
            }
            let taker = text.find(|letter| self.values.contains(letter)).filter(|_| !text.starts_with("--"));
            let bundle_takes = taker.is_some_and(|taker| taker + 1 == text.len());
            at += if bundle_takes || self.long_values.contains(&text) { 2 } else { 1 };
        }
        words.len()
    }

    /// Matches `-c`, `-ne`, `-0777ne`, `--eval=…`.
    fn takes_code(&self, text: &str) -> bool {
        const LONG: [&str; 11] = [
            "--eval",
            "--print",
            "--command",
            "--run",
            "--execute",
            "--evaluate",
            "--process-code",
            "--process-begin",
            "--process-end",
            "--expr",
            "--rpc-eval",
        ];
        if text.starts_with("--") {
            return LONG.iter().any(|option| text == *option || text.starts_with(&format!("{option}=")));
        }
        let bundle = text.strip_prefix('-').unwrap_or_default();
        // The rest after a letter that takes a value is that value.
        let letters = bundle.split(|letter| self.values.contains(letter)).next().unwrap_or_default();
        let letters = letters.split('.').next().unwrap_or_default();
        matches!(text, "-Command" | "-EncodedCommand" | "-eval")
            || letters.contains(|letter| self.code.contains(letter))
    }
}

/// Only the awk program can do more than print, and the options before it determine which word that is.
fn awk(meaning: &mut CommandMeaning<'_>, words: &[ShellWord]) {
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
        meaning.unknown("what the awk program does");
    }
}

/// Other options may also load programs, so they are not plain.
fn is_plain_awk(program: &str) -> bool {
    let text = program.replace("||", " ");
    let writes = text.contains("print") && text.contains('>');
    !text.starts_with('-') && !writes && !["system", "|", "getline", "@"].iter().any(|risk| text.contains(risk))
}
