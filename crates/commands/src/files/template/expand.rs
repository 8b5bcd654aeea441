//! Expands a template with arguments into pieces: text, files to include, command lines whose output is inserted.
//!
//! The template is scanned once and inserted arguments are never scanned, so an argument such as `$1` or `@file` stays
//! literal.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Arguments;

/// Maximum bytes of an expanded template.
pub const MAX_EXPANDED: usize = 1 << 20;
/// Maximum files that one template may include.
pub const MAX_FILES: usize = 32;
/// Maximum command lines in one template.
pub const MAX_RUNS: usize = 16;
/// Longer text is not treated as a path.
const MAX_PATH: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Text(String),
    /// A command line with its placeholders unexpanded: the shell gets the arguments as positional parameters, so none of
    /// them can become part of the line.
    Run(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    pub pieces: Vec<TemplatePiece>,
    /// Files named with `@`, each once, as written. Their names also stay in the text.
    pub files: Vec<String>,
    /// Sentences about what did not fit.
    pub notes: Vec<String>,
}

/// Replaces `$1`, `$@`, `$@[2:3]`, `$ARGUMENTS` and `{{args}}` by arguments, and finds `@file` and `` !`command` ``. If the
/// template has no placeholder, the arguments are appended. In fenced code only placeholders are expanded.
pub fn expand(template: &str, arguments: &Arguments) -> Expanded {
    let mut expander = Expander::new(template, arguments);
    while expander.step() {}
    expander.finish()
}

struct Expander<'a> {
    template: &'a str,
    at: usize,
    arguments: &'a Arguments,
    text: String,
    /// Bytes of text that may still be added.
    room: usize,
    seen: HashSet<String>,
    runs: usize,
    in_fence: bool,
    takes_arguments: bool,
    done: Expanded,
}

impl<'a> Expander<'a> {
    fn new(template: &'a str, arguments: &'a Arguments) -> Self {
        Self {
            template,
            at: 0,
            arguments,
            text: String::new(),
            room: MAX_EXPANDED,
            seen: HashSet::new(),
            runs: 0,
            in_fence: opens_fence(template),
            takes_arguments: false,
            done: Expanded::default(),
        }
    }

    /// Copies plain text and then handles one special token. `false` at the end.
    fn step(&mut self) -> bool {
        let rest = &self.template[self.at..];
        let special = rest.find(['$', '@', '!', '{', '\\', '\n']);
        let plain = special.unwrap_or(rest.len());
        self.add(&rest[..plain]);
        self.at += plain;
        if self.room == 0 {
            return false;
        }
        let Some(special) = rest[plain..].chars().next() else { return false };
        let taken = match special {
            '\\' => self.escaped(),
            '$' | '{' => self.placeholder(),
            '@' => self.file(),
            '!' => self.run(),
            _ => None,
        };
        match taken {
            Some(bytes) => self.at += bytes,
            None => {
                self.add(special.encode_utf8(&mut [0; 4]));
                self.at += special.len_utf8();
                if special == '\n' && opens_fence(&self.template[self.at..]) {
                    self.in_fence = !self.in_fence;
                }
            }
        }
        true
    }

    /// Handles `\$1`, which means a literal `$1`. Any other backslash is literal.
    fn escaped(&mut self) -> Option<usize> {
        let rest = &self.template[self.at + 1..];
        let (_, length) = placeholder(rest).filter(|_| rest.starts_with('$'))?;
        self.add(&rest[..length]);
        Some(1 + length)
    }

    fn placeholder(&mut self) -> Option<usize> {
        let (slot, length) = placeholder(&self.template[self.at..])?;
        self.takes_arguments = true;
        self.add(&slot.value(self.arguments));
        Some(length)
    }

    fn file(&mut self) -> Option<usize> {
        if self.in_fence || !self.begins_word() {
            return None;
        }
        let rest = &self.template[self.at + 1..];
        let (written, length) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once(['"', '\n']).map(|(inside, _)| (inside, inside.len() + 2))?,
            None => {
                let word = rest.split(char::is_whitespace).next().unwrap_or_default();
                let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"', '`', '*']);
                (word, word.len())
            }
        };
        let path = self.substituted(written);
        if path.trim().is_empty() {
            return None;
        }
        self.add("@");
        self.add(&path);
        if path.len() <= MAX_PATH && !self.seen.contains(&path) {
            match self.done.files.len() < MAX_FILES {
                true => self.done.files.push(path.clone()),
                false => {
                    self.note(format!("@{path} is not included: a template can include at most {MAX_FILES} files"))
                }
            }
            self.seen.insert(path);
        }
        Some(1 + length)
    }

    fn run(&mut self) -> Option<usize> {
        if self.in_fence || !self.begins_word() {
            return None;
        }
        let rest = self.template[self.at + 1..].strip_prefix('`')?;
        let end = rest.find(['`', '\n']).filter(|end| rest[*end..].starts_with('`'))?;
        let line = rest[..end].trim();
        if line.is_empty() {
            return None;
        }
        self.takes_arguments |= line.match_indices('$').any(|(at, _)| placeholder(&line[at..]).is_some());
        self.runs += 1;
        if self.runs > MAX_RUNS {
            self.note(format!("`{line}` is not run: a template can contain at most {MAX_RUNS} commands"));
            return None;
        }
        self.end_text();
        self.done.pieces.push(TemplatePiece::Run(line.to_owned()));
        Some(2 + end + 1)
    }

    /// Whether a word can start here: at the beginning, or after whitespace, an opening bracket, a quote, `*` or `>`.
    fn begins_word(&self) -> bool {
        let before = self.template[..self.at].chars().next_back();
        before.is_none_or(|char| char.is_whitespace() || matches!(char, '(' | '[' | '{' | '"' | '\'' | '*' | '>'))
    }

    fn substituted(&mut self, written: &str) -> String {
        let mut path = String::new();
        let mut rest = written;
        while let Some(at) = rest.find(['$', '{']) {
            path.push_str(&rest[..at]);
            rest = &rest[at..];
            let (value, length) = match placeholder(rest).filter(|_| path.len() < self.room) {
                Some((slot, length)) => {
                    self.takes_arguments = true;
                    (slot.value(self.arguments), length)
                }
                None => (rest[..1].into(), 1),
            };
            path.push_str(&value);
            rest = &rest[length..];
        }
        path.push_str(rest);
        path
    }

    fn add(&mut self, text: &str) {
        let fits = text.floor_char_boundary(self.room);
        self.text.push_str(&text[..fits]);
        self.room -= fits;
        if fits < text.len() {
            self.room = 0;
        }
    }

    fn note(&mut self, note: String) {
        // Keep at most two notes; more of them add nothing.
        if self.done.notes.len() < 2 {
            self.done.notes.push(note);
        }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.done.pieces.push(TemplatePiece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Expanded {
        let line = self.arguments.line();
        if !self.takes_arguments && !line.is_empty() {
            let gap = if self.text.is_empty() && self.done.pieces.is_empty() { "" } else { "\n\n" };
            self.text.truncate(self.text.trim_end().len());
            self.add(gap);
            self.add(line);
        }
        if self.room == 0 {
            self.done.notes.push(format!("the text was cut after {} KiB", MAX_EXPANDED >> 10));
        }
        self.end_text();
        self.done
    }
}

/// The arguments that a placeholder stands for.
enum Slot {
    /// The whole line, as typed.
    Line,
    /// Counts from 1.
    Word(usize),
    Words {
        first: usize,
        count: Option<usize>,
    },
}

impl Slot {
    fn value<'a>(&self, arguments: &'a Arguments) -> Cow<'a, str> {
        match *self {
            Slot::Line => arguments.line().into(),
            Slot::Word(number) => {
                let word = number.checked_sub(1).and_then(|index| arguments.words().get(index));
                word.map(String::as_str).unwrap_or_default().into()
            }
            Slot::Words { first, count } => arguments.slice(first, count).into(),
        }
    }
}

/// The placeholder at the beginning of `text`, and its length.
fn placeholder(text: &str) -> Option<(Slot, usize)> {
    if let Some(inside) = text.strip_prefix("{{") {
        let name = inside.trim_start();
        let known = ["arguments", "ARGUMENTS", "args"].into_iter().find(|known| name.starts_with(known))?;
        let after = name[known.len()..].trim_start().strip_prefix("}}")?;
        return Some((Slot::Line, text.len() - after.len()));
    }
    let rest = text.strip_prefix('$')?;
    if rest.starts_with("ARGUMENTS") {
        return Some((Slot::Line, "$ARGUMENTS".len()));
    }
    if let Some(after) = rest.strip_prefix('@') {
        let words = after.strip_prefix('[').and_then(words);
        return Some(match words {
            Some((slot, length)) => (slot, "$@[".len() + length),
            None => (Slot::Words { first: 1, count: None }, "$@".len()),
        });
    }
    let digits = digits(rest);
    Some((Slot::Word(number(digits)?), 1 + digits.len()))
}

/// The rest of `$@[first]`, `$@[first:]` or `$@[first:count]`.
fn words(inside: &str) -> Option<(Slot, usize)> {
    let start = digits(inside);
    let mut rest = &inside[start.len()..];
    let first = number(start)?;
    let mut count = None;
    if let Some(after) = rest.strip_prefix(':') {
        let digits = digits(after);
        count = number(digits);
        rest = &after[digits.len()..];
    }
    let rest = rest.strip_prefix(']')?;
    Some((Slot::Words { first, count }, inside.len() - rest.len()))
}

fn digits(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(|char: char| char.is_ascii_digit()).len()]
}

/// `None` without digits; a number that is too large becomes the largest number.
fn number(digits: &str) -> Option<usize> {
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX))
}

fn opens_fence(line: &str) -> bool {
    let line = line.trim_start_matches(' ');
    line.starts_with("```") || line.starts_with("~~~")
}
