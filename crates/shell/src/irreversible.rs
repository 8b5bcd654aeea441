//! Commands whose effects cannot be undone, which need approval in every mode: pushing, publishing, changing infrastructure.
//!
//! This protects the user from a model that goes further than it was asked to. It is not a security boundary: a script that
//! pushes is one program to the reader, and only containment and credentials stop it.

pub(crate) mod cloud;
mod table;

use crate::ShellWord;
use crate::operands::{operands, takes_value};
use crate::options::is_long;
use crate::pattern::spellings::spellings;

pub use table::IRREVERSIBLE;

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct IrreversibleRow {
    pub programs: &'static [&'static str],
    pub verbs: IrreversibleVerbs,
    /// If not empty, only a command with one of these words. `+REF` and `:REF` are arguments that begin so.
    pub with: &'static [&'static str],
    /// With one of these options the command changes nothing.
    pub trials: &'static [&'static str],
    /// What the command does, after "it".
    pub effect: &'static str,
    /// No rule allows the command: it is asked about every time.
    pub is_warned: bool,
}

/// The subcommands of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IrreversibleVerbs {
    /// The program does nothing else.
    Whole,
    /// The first words of the command.
    First(&'static [&'static str]),
    /// A word anywhere in the command, such as a task of a build tool.
    Anywhere(&'static [&'static str]),
    /// Everything that does not only read.
    NotReading,
}

/// Returns the row that a command belongs to; a row with a warning comes first.
pub fn irreversible(words: &[ShellWord]) -> Option<&'static IrreversibleRow> {
    if words.iter().any(|word| word.text == "--help") {
        return None;
    }
    let spellings = spellings(words);
    let is_meant = |row: &&IrreversibleRow| {
        spellings.iter().any(|spelling| row.is(&spelling.words, words)) && !row.is_trial(words)
    };
    IRREVERSIBLE.iter().find(is_meant)
}

impl IrreversibleRow {
    /// `words` is one spelling of the command, `all` the command as written.
    fn is(&self, words: &[ShellWord], all: &[ShellWord]) -> bool {
        let Some(program) = words.first().and_then(ShellWord::program) else { return false };
        if !self.programs.contains(&program) {
            return false;
        }
        let operands = operands(program, words);
        let is_verb = match self.verbs {
            IrreversibleVerbs::Whole => true,
            IrreversibleVerbs::First(verbs) => verbs.iter().any(|verb| begins(&operands, verb)),
            IrreversibleVerbs::Anywhere(verbs) => operands.iter().any(|word| {
                let task = word.rsplit(':').next().unwrap_or(word);
                verbs.contains(word) || verbs.contains(&task)
            }),
            IrreversibleVerbs::NotReading => !cloud::only_reads(program, &operands),
        };
        is_verb && (self.with.is_empty() || self.with.iter().any(|wanted| has(program, all, wanted)))
    }

    fn is_trial(&self, words: &[ShellWord]) -> bool {
        let program = words.first().and_then(ShellWord::program).unwrap_or_default();
        let own: Vec<&str> = words.iter().map(|word| word.text.as_str()).take_while(|word| *word != "--").collect();
        let is_value = |at: usize| at > 0 && takes_value(program, own[at - 1]);
        let is_trial = |at: usize| {
            let is_in_bundle = self.trials.contains(&"-n") && program == "git" && in_push_bundle(own[at], 'n');
            !is_value(at) && (self.trials.contains(&own[at]) || is_in_bundle)
        };
        // `--no-dry-run` and `--dry-run=none` take it back.
        let takes_back = |word: &&str| {
            let stem = word.split('=').next().unwrap_or_default();
            word.starts_with("--no-dry-run")
                || (!self.trials.contains(word)
                    && self.trials.iter().any(|trial| trial.split('=').next() == Some(stem)))
        };
        (1..own.len()).any(is_trial) && !own.iter().any(takes_back)
    }
}

fn begins(operands: &[&str], verb: &str) -> bool {
    let verb: Vec<&str> = verb.split(' ').collect();
    operands.starts_with(&verb)
}

fn has(program: &str, words: &[ShellWord], wanted: &str) -> bool {
    words.iter().skip(1).map(|word| word.text.as_str()).any(|word| match wanted {
        "+REF" => word.len() > 1 && word.starts_with('+'),
        ":REF" => word.len() > 1 && word.starts_with(':'),
        _ if word == wanted => true,
        _ if wanted.starts_with("--") => is_long(wanted, word),
        _ => {
            let letter = wanted.strip_prefix('-').and_then(|letters| letters.chars().next());
            program == "git" && letter.is_some_and(|letter| in_push_bundle(word, letter))
        }
    })
}

/// Whether the word is a bundle of short options of `git push` with this letter. `-o` takes the rest of a bundle as its
/// value.
fn in_push_bundle(word: &str, letter: char) -> bool {
    let bundle = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'));
    let flags = bundle.map(|bundle| bundle.split('o').next().unwrap_or_default());
    flags.is_some_and(|flags| flags.contains(letter) && flags.chars().all(|flag| "vqfdnu46".contains(flag)))
}

#[cfg(test)]
mod tests;
