//! The source text: cleaned as it grows, with functions that inspect its lines.

use std::borrow::Cow;

const LONGEST_FORMULA: usize = 2000;

/// The parsed text, without control characters.
#[derive(Default)]
pub struct MarkdownSource {
    pub text: String,
    /// The original text, if cleaning changed it.
    given: Option<String>,
    after_return: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceChange {
    None,
    Grown,
    Other,
}

impl MarkdownSource {
    pub fn set(&mut self, text: &str) -> SourceChange {
        let before = self.given.as_deref().unwrap_or(&self.text);
        let Some(more) = text.strip_prefix(before) else {
            *self = MarkdownSource::default();
            self.push(text);
            return SourceChange::Other;
        };
        if more.is_empty() {
            return SourceChange::None;
        }
        self.push(more);
        SourceChange::Grown
    }

    fn push(&mut self, more: &str) {
        let dirty =
            |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f || matches!(byte, 0xc2 | 0xe2);
        if !self.after_return && !more.bytes().any(dirty) {
            if let Some(given) = &mut self.given {
                given.push_str(more);
            }
            return self.text.push_str(more);
        }
        let given = self.given.get_or_insert_with(|| self.text.clone());
        given.push_str(more);
        for char in more.chars() {
            match char {
                '\r' => self.text.push('\n'),
                '\n' if self.after_return => {}
                char if is_unsafe(char) => {}
                char => self.text.push(char),
            }
            self.after_return = char == '\r';
        }
    }
}

/// Whether the character controls the terminal or reverses the text direction.
pub fn is_unsafe(char: char) -> bool {
    (char.is_control() && !matches!(char, '\n' | '\t'))
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the first line with its line break.
pub fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Whether the line before `at` contains only quote marks.
pub fn is_behind_blank_line(text: &str, at: usize) -> bool {
    let start = line_start(text, at);
    let Some(before) = text[..start].strip_suffix('\n') else { return false };
    let line = &before[line_start(before, before.len())..];
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'>'))
}

/// Replaces the delimiters of `\(…\)` and `\[…\]` by those that the parser knows, in the same number of bytes. Code is not
/// changed.
pub fn with_math(text: &str) -> Cow<'_, str> {
    if !has_math(text) {
        return Cow::Borrowed(text);
    }
    let mut out = text.to_owned();
    let bytes = text.as_bytes();
    let mut at = 0;
    // Caches the next end of each kind, so that the text is scanned once per kind.
    let mut closing = [0; 2];
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'`', _) => at = behind_code(text, at),
            (b'\\', Some(open @ (b'(' | b'['))) => {
                let close = if *open == b'(' { "\\)" } else { "\\]" };
                let next = &mut closing[usize::from(*open == b'[')];
                if *next < at + 2 {
                    *next = text[at + 2..].find(close).map_or(usize::MAX, |end| at + 2 + end);
                }
                // A formula ends with its paragraph and has a limited length.
                let near = Some(*next).filter(|end| *end - at < LONGEST_FORMULA);
                match near.filter(|end| !text[at..*end].contains("\n\n") && !text[at..*end].contains("$$")) {
                    Some(end) => {
                        out.replace_range(at..at + 2, "$$");
                        out.replace_range(end..end + 2, "$$");
                        at = end + 2;
                    }
                    None => at += 2,
                }
            }
            (b'\\', Some(next)) => at += 1 + usize::from(next.is_ascii()),
            _ => at += 1,
        }
    }
    Cow::Owned(out)
}

pub fn has_math(text: &str) -> bool {
    text.contains("\\(") || text.contains("\\[")
}

/// Returns the offset after the backticks that close the run at `at`, or after that run if it is not closed.
fn behind_code(text: &str, at: usize) -> usize {
    let run = |from: usize| text.as_bytes()[from..].iter().take_while(|byte| **byte == b'`').count();
    let length = run(at);
    let mut next = at + length;
    while let Some(found) = text[next..].find('`') {
        let other = run(next + found);
        if other == length {
            return next + found + other;
        }
        next += found + other;
    }
    at + length
}
