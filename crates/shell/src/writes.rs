//! Files that well-known programs write, derived from their words.
//!
//! One row per program. The list is not complete: the sandbox and the undo log cover the rest.

mod special;
mod table;

use crate::{ShellCommand, ShellWord};
use table::{WRITERS, What, WritingProgram};

/// A path that a command writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPlace {
    pub path: ShellWord,
    /// What is created below `path` if it is a folder; empty if unknown.
    pub inside: Vec<ShellWord>,
    /// Writing it is the purpose of the command: a rule that allows `cp` includes this.
    pub meant: bool,
}

/// Returns the files that the command writes, other than its redirects.
pub(crate) fn written(command: &ShellCommand) -> Vec<WrittenPlace> {
    let Some(row) = row(command.program()) else { return Vec::new() };
    let parts = SortedWords::of(row, &command.words);
    let mut all: Vec<WrittenPlace> =
        row.outputs.iter().flat_map(|name| parts.values(name)).cloned().map(WrittenPlace::at).collect();
    all.extend(match &row.what {
        What::Nothing => Vec::new(),
        What::Operands(behind) => parts.operands.iter().skip(*behind).cloned().map(WrittenPlace::at).collect(),
        What::Target => special::target(&parts),
        What::Other(tell) => tell(&parts),
    });
    all.retain(|written| !(written.path.known && written.path.text == "-"));
    all.iter_mut().for_each(|written| written.meant |= row.by_nature);
    all
}

fn row(program: Option<&str>) -> Option<&'static WritingProgram> {
    let program = program?;
    WRITERS.iter().find(|row| row.names.contains(&program))
}

impl WrittenPlace {
    fn at(path: ShellWord) -> Self {
        Self { path, ..Self::default() }
    }
}

/// The words of a command, split into options and operands.
#[derive(Default)]
struct SortedWords {
    operands: Vec<ShellWord>,
    /// `-x`, `--long` or `-name` with its value.
    options: Vec<(String, Option<ShellWord>)>,
    /// As written, without the program.
    words: Vec<ShellWord>,
}

impl SortedWords {
    fn of(row: &WritingProgram, words: &[ShellWord]) -> Self {
        let words: Vec<ShellWord> = words.iter().skip(1).cloned().collect();
        let mut parts = Self { words, ..Self::default() };
        let mut rest = parts.words.clone().into_iter();
        while let Some(word) = rest.next() {
            match word.text.as_str() {
                "--" => parts.operands.extend(rest.by_ref()),
                text if row.outputs.contains(&text) && !text.starts_with("--") && text.len() > 2 => {
                    parts.options.push((text.to_owned(), rest.next()));
                }
                text if text.starts_with("--") => parts.long(row, &word, &mut rest),
                text if text.len() > 1 && text.starts_with('-') => parts.short(row.values, &word, &mut rest),
                _ => parts.operands.push(word),
            }
        }
        parts
    }

    /// Programs accept abbreviations of long options.
    fn long(&mut self, row: &WritingProgram, word: &ShellWord, rest: &mut impl Iterator<Item = ShellWord>) {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(part(word, value))),
            None => (word.text.as_str(), None),
        };
        let exact = row.long_values.iter().find(|known| **known == name);
        let full = exact.or_else(|| row.long_values.iter().find(|known| name.len() > 2 && known.starts_with(name)));
        let value = match (full, value) {
            (Some(_), None) => rest.next(),
            (_, value) => value,
        };
        self.options.push((full.map_or(name, |full| full).to_owned(), value));
    }

    fn short(&mut self, values: &str, word: &ShellWord, rest: &mut impl Iterator<Item = ShellWord>) {
        let bundle = word.text.trim_start_matches('-');
        for (at, letter) in bundle.char_indices() {
            let name = format!("-{letter}");
            if !values.contains(letter) {
                self.options.push((name, None));
                continue;
            }
            let attached = &bundle[at + letter.len_utf8()..];
            let value = if attached.is_empty() { rest.next() } else { Some(part(word, attached)) };
            self.options.push((name, value));
            return;
        }
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ShellWord> {
        self.options.iter().filter(move |(own, _)| own == name).filter_map(|(_, value)| value.as_ref())
    }

    /// Returns the value of the last of these options.
    fn value(&self, names: &[&str]) -> Option<&ShellWord> {
        let mut all = self.options.iter().rev().filter(|(own, _)| names.contains(&own.as_str()));
        all.find_map(|(_, value)| value.as_ref())
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(own, _)| names.contains(&own.as_str()))
    }
}

/// Returns a part of a word.
fn part(word: &ShellWord, text: &str) -> ShellWord {
    if word.known { ShellWord::known(text) } else { ShellWord::unknown(text) }
}

#[cfg(test)]
mod tests;
