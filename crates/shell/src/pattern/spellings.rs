//! Equivalent spellings of a command, for deny rules.

use crate::ShellWord;
use crate::operands::GIT_WITH_VALUE;

pub(crate) struct Spelling {
    pub words: Vec<ShellWord>,
    /// The spelling is certainly equivalent.
    pub is_sure: bool,
}

/// Returns the command as written; with the program's bare name; without the options before the first operand; without a
/// runner.
pub(crate) fn spellings(words: &[ShellWord]) -> Vec<Spelling> {
    let sure = |words: Vec<ShellWord>| Spelling { words, is_sure: true };
    let mut all = vec![sure(words.to_vec())];
    let Some((program, rest)) = words.split_first().filter(|(program, _)| program.known) else { return all };
    let name = bare(&program.text);
    let with =
        |rest: &[ShellWord]| std::iter::once(ShellWord::known(name.as_str())).chain(rest.iter().cloned()).collect();
    all.push(sure(with(rest)));
    let behind = after_options(rest, |option| name == "git" && GIT_WITH_VALUE.contains(&option));
    if behind > 0 {
        all.push(sure(with(&rest[behind..])));
    }
    if let Some(longer) = behind_value(rest, behind).filter(|_| name != "git") {
        all.push(Spelling { words: with(&rest[longer..]), is_sure: false });
    }
    all.extend(started(&name, &rest[behind..]));
    all
}

/// Returns what a runner starts: its first operand, or one after the value of an option or another operand (an image, a
/// pod).
fn started(name: &str, words: &[ShellWord]) -> Vec<Spelling> {
    const MOST: usize = 20;
    let Some(rest) = crate::runners::started(name, words) else { return Vec::new() };
    let behind = after_options(rest, |_| false);
    let mut all = spellings(&rest[behind..]);
    let later: Vec<usize> = match crate::runners::takes_operands(name) {
        true => (behind + 1..rest.len()).take(MOST).collect(),
        false => behind_value(rest, behind).into_iter().collect(),
    };
    all.extend(later.into_iter().map(|at| Spelling { words: with_bare_name(&rest[at..]), is_sure: false }));
    all
}

fn with_bare_name(words: &[ShellWord]) -> Vec<ShellWord> {
    let mut words = words.to_vec();
    if let Some(program) = words.first_mut().filter(|program| program.known) {
        program.text = bare(&program.text);
    }
    words
}

/// The last option before `behind` may have taken the word there; returns where the operands start then.
fn behind_value(words: &[ShellWord], behind: usize) -> Option<usize> {
    let takes_value = |word: &ShellWord| word.text.starts_with('-') && !word.text.contains('=') && word.text != "--";
    words.get(behind.checked_sub(1)?).filter(|word| takes_value(word))?;
    let longer = (behind + 1).min(words.len());
    Some(longer + after_options(&words[longer..], |_| false))
}

/// Normalizes a name, because some systems find `/bin/RM` and `git.exe` where `rm` and `git` are forbidden.
fn bare(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}

fn after_options(words: &[ShellWord], takes_value: impl Fn(&str) -> bool) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with(['-', '+'])) {
        at += if takes_value(&word.text) { 2 } else { 1 };
    }
    at.min(words.len())
}
