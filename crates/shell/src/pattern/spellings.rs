//! Ways to write the same command, for rules that forbid.

use crate::Word;

/// Options of git that stand before its verb and take the next word.
const GIT_VALUES: [&str; 9] = [
    "-c",
    "-C",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--attr-source",
    "--super-prefix",
];

pub(super) struct Spelling {
    pub words: Vec<Word>,
    /// It means the same for certain.
    pub is_sure: bool,
}

/// As it is written; with the program's bare name; without the options before the first operand.
pub(super) fn spellings(words: &[Word]) -> Vec<Spelling> {
    let sure = |words: Vec<Word>| Spelling { words, is_sure: true };
    let mut all = vec![sure(words.to_vec())];
    let Some((program, rest)) = words.split_first().filter(|(program, _)| program.known) else { return all };
    let name = bare(&program.text);
    let with = |rest: &[Word]| std::iter::once(Word::known(name.as_str())).chain(rest.iter().cloned()).collect();
    all.push(sure(with(rest)));
    let behind = after_options(rest, |option| name == "git" && GIT_VALUES.contains(&option));
    if behind > 0 {
        all.push(sure(with(&rest[behind..])));
    }
    // An option may have taken the word behind it.
    let takes_value = |word: &Word| word.text.starts_with('-') && !word.text.contains('=') && word.text != "--";
    if behind > 0 && name != "git" && takes_value(&rest[behind - 1]) {
        let longer = (behind + 1).min(rest.len());
        let longer = longer + after_options(&rest[longer..], |_| false);
        all.push(Spelling { words: with(&rest[longer..]), is_sure: false });
    }
    all
}

/// Some systems find `/bin/RM` and `git.exe` where `rm` and `git` are forbidden.
fn bare(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}

fn after_options(words: &[Word], takes_value: impl Fn(&str) -> bool) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with(['-', '+'])) {
        at += if takes_value(&word.text) { 2 } else { 1 };
    }
    at.min(words.len())
}
