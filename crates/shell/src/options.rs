//! Options with which seemingly harmless programs start other programs, load code, or use other settings.
//!
//! Programs with the same options share a row. Written files are handled elsewhere ([`crate::writes`]).

mod table;

use crate::interpret::CommandMeaning;
use crate::{Assignment, ShellWord};
use table::{OBEDIENT, OptionLetters, OptionsRow, ROWS};

/// Records risky options of a command.
pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) {
    let name =
        name.strip_prefix('g').filter(|plain| matches!(*plain, "sort" | "tar" | "install" | "split")).unwrap_or(name);
    let words = meaning.words()[1..].to_vec();
    let only_asks = !words.is_empty()
        && words.iter().all(|word| word.known && matches!(word.text.as_str(), "--version" | "--help"));
    if OBEDIENT.contains(&name) && !only_asks {
        meaning.unknown(format!("what `{name}` does"));
    }
    let own = words.split(|word| word.known && word.text == "--").next().unwrap_or_default();
    if let Some(row) = ROWS.iter().find(|row| row.names.contains(&name)) {
        let is_risky =
            |word: &ShellWord| may_be_option(word) || row.options.iter().any(|option| row.is(option, &word.text));
        if let Some(word) = own.iter().find(|word| is_risky(word)) {
            meaning.unknown(format!("what `{}` makes `{name}` do", shortened(&word.text)));
        }
    }
    let sets_a_variable = matches!(name, "make" | "gmake") && meaning.command.assignments.iter().any(is_for_make);
    if sets_a_variable || has_other_risk(name, own) {
        meaning.unknown(format!("what `{name}` does"));
    }
}

/// Make imports every environment variable, including `RM` and `CC`.
fn is_for_make(assignment: &Assignment) -> bool {
    const HARMLESS: [&str; 6] = ["CI", "V", "VERBOSE", "DEBUG", "NO_COLOR", "TERM"];
    let name = assignment.name.as_str();
    !HARMLESS.contains(&name) && !name.starts_with("LC_") && !name.starts_with("RUST_")
}

/// An expansion could be any of the options.
fn may_be_option(word: &ShellWord) -> bool {
    !word.known && word.text.starts_with(['$', '`'])
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

impl OptionsRow {
    fn is(&self, option: &str, word: &str) -> bool {
        if option.starts_with("--") {
            return is_long(option, word);
        }
        match self.letters {
            OptionLetters::Bundled => has_letter(option, word),
            OptionLetters::Apart => {
                word.starts_with(option) || word.strip_prefix('-').is_some_and(|word| word.starts_with(option))
            }
        }
    }
}

/// An abbreviation of a long option counts as the whole.
pub(crate) fn is_long(option: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}

pub(crate) fn has_letter(option: &str, word: &str) -> bool {
    let bundle = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'));
    bundle.zip(option.strip_prefix('-')).is_some_and(|(bundle, letter)| bundle.contains(letter))
}

/// Risks that the table of options does not cover.
fn has_other_risk(name: &str, words: &[ShellWord]) -> bool {
    let first = words.iter().find(|word| !word.text.starts_with('-')).map_or("", |word| word.text.as_str());
    let any = |risk: &dyn Fn(&str) -> bool| words.iter().any(|word| risk(&word.text));
    match name {
        // Option letters without a dash.
        "tar" | "bsdtar" => words.first().is_some_and(|word| {
            !word.text.starts_with('-') && word.text.len() < 12 && word.text.contains(['I', 'F', 'P'])
        }),
        "zip" => any(&|word| word.starts_with("-TT")),
        "less" | "more" | "most" | "pg" => any(&|word| word.starts_with('+')),
        "cargo" => any(&|word| word.starts_with('+')) || leads_out(words, "--manifest-path"),
        "make" | "gmake" => {
            let is_input = |text: &str| text == "-" || crate::shells::is_input(text);
            any(&|word| word.contains('=') || is_long("--eval", word) || word.starts_with("-E"))
                || any(&|word| is_input(word) || word.strip_prefix("-f").is_some_and(is_input))
        }
        "curl" => {
            let uploads = any(&|word| is_long("--upload-file", word) || has_letter("-T", word));
            any(&|word| word.contains("%output{")) || (uploads && any(&|word| is_like_file(word)))
        }
        "gh" => {
            matches!(first, "alias" | "extension" | "extensions" | "ext") || (first == "config" && has(words, "set"))
        }
        "cmake" => any(&|word| matches!(word, "-E" | "-P") || word.starts_with("-P")),
        "tree" => any(&|word| has_letter("-R", word)),
        "sysctl" => any(&|word| word.contains('=')),
        "systemctl" => matches!(first, "edit" | "link" | "import-environment" | "set-environment"),
        "ip" => first == "netns" || any(&|word| matches!(word, "-b" | "-batch" | "--batch")),
        "date" => any(&|word| word.starts_with("-s") || word.starts_with("-us") || is_long("--set", word)),
        "rustc" => any(&|word| word.starts_with("linker")),
        "go" => (any(&|word| word == "-w") && first == "env") || any(&|word| word.contains("-extld")),
        "history" => any(&|word| word.starts_with('-')),
        _ => false,
    }
}

fn has(words: &[ShellWord], text: &str) -> bool {
    words.iter().any(|word| word.text == text)
}

fn is_like_file(url: &str) -> bool {
    url.to_ascii_lowercase().starts_with("file:")
}

/// Returns whether the value of the option may be outside the working folder.
fn leads_out(words: &[ShellWord], option: &str) -> bool {
    let value = |at: usize| match words[at].text.split_once('=') {
        Some((_, value)) => Some(value),
        None => words.get(at + 1).map(|next| next.text.as_str()),
    };
    let values = (0..words.len()).filter(|at| is_long(option, &words[*at].text)).filter_map(value);
    values.into_iter().any(|path| path.starts_with(['/', '~', '$']) || path.contains(".."))
}

#[cfg(test)]
mod tests;
