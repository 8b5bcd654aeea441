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
    ("gdb", &["x"]),
    ("sqlite", &[]),
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
        "sed" | "gsed" => sed(meaning, &words),
        "tar" | "gtar" | "bsdtar" => {
            let risky = [
                "--to-command",
                "--checkpoint-action",
                "--use-compress-program",
                "-I",
                "--rsh-command",
                "--info-script",
                "-F",
            ];
            option(meaning, name, &words, &risky);
        }
        "vim" | "vi" | "nvim" | "ex" | "emacs" | "ed" | "gdb" | "m4" => {
            meaning.unknown(format!("what `{name}` is told to do"))
        }
        "rsync" | "scp" | "sftp" => option(meaning, name, &words, &["-e", "--rsh", "--rsync-path", "-S", "-o", "-D"]),
        "sort" | "gsort" => option(meaning, name, &words, &["--compress-program"]),
        "man" | "less" | "more" | "most" | "pg" => option(meaning, name, &words, &["-P", "--pager", "-k", "+", "-H"]),
        "zip" => option(meaning, name, &words, &["-TT", "--unzip-command"]),
        "make" | "gmake" => {
            let sets = words.iter().any(|word| word.text.contains('=') || word.text.starts_with("--eval"));
            if sets || words.iter().any(|word| word.code) {
                meaning.unknown("a variable that make is given");
            }
        }
        _ => {}
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

fn awk(meaning: &mut Meaning<'_>, words: &[Word]) {
    let is_risky = |word: &Word| {
        let text = word.text.as_str();
        !word.known
            || ["system", "|", "getline", "@load", "@include", "close("].iter().any(|part| text.contains(part))
            || (text.contains("print") && text.contains('>'))
            || ["-f", "-E", "-i", "-l", "--file", "--exec", "--load", "--include", "--source"]
                .iter()
                .any(|option| text.starts_with(option))
    };
    let program = words.iter().position(|word| !word.text.starts_with('-'));
    if words.iter().take(program.map_or(words.len(), |at| at + 2)).any(is_risky) {
        meaning.unknown("what awk is told to do");
    }
}

/// Scripts of sed can run programs (`e`), write (`w`) and be read from files.
fn sed(meaning: &mut Meaning<'_>, words: &[Word]) {
    let has_script = words.iter().any(|word| word.text.starts_with("-e") || word.text.starts_with("--expression"));
    let script = words.iter().find(|word| !word.text.starts_with('-'));
    let scripts = words.iter().filter(|word| has_script || Some(*word) == script);
    let from_file = words.iter().any(|word| word.text.starts_with("-f") || word.text.starts_with("--file"));
    if from_file || scripts.clone().any(|word| !is_plain_sed(&word.text) || !word.known) {
        meaning.unknown("what sed is told to do");
    }
}

/// `s/a/b/g`, `10,20p`, `/x/d` and files: nothing in it can be the command `e`, `w` or `r`.
pub(crate) fn is_plain_sed(script: &str) -> bool {
    if script.starts_with('-') {
        return !script.contains('f') || script.starts_with("--");
    }
    script.split([';', '\n']).all(|command| {
        let command = command.trim();
        let address_end =
            command.find(|char: char| !(char.is_ascii_digit() || ",$! ".contains(char))).unwrap_or(command.len());
        let body = &command[address_end..];
        if let Some(delimiter) = body.strip_prefix('s').and_then(|rest| rest.chars().next()) {
            let parts: Vec<&str> = body[1..].split(delimiter).collect();
            return parts.len() == 4
                && parts[3].chars().all(|char| char.is_ascii_digit() || "gpiI".contains(char))
                && !body.contains('\\');
        }
        if let Some(rest) = body.strip_prefix('/') {
            let end = rest.rsplit('/').next().unwrap_or_default();
            return matches!(end, "p" | "d" | "q" | "=" | "") && rest.matches('/').count() == 1;
        }
        matches!(body, "p" | "d" | "q" | "=" | "" | "n" | "N" | "h" | "H" | "G")
    })
}

fn option(meaning: &mut Meaning<'_>, name: &str, words: &[Word], risky: &[&str]) {
    let is_risky = |word: &Word| {
        risky.iter().any(|option| word.text.starts_with(option)) || (!word.known && word.text.starts_with(['$', '`']))
    };
    if words.iter().any(is_risky) {
        meaning.unknown(format!("a program that `{name}` starts"));
    }
}
