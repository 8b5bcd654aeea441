//! Syntax highlighting by a small lexer: no data to load, linear time, one line at a time.
//!
//! The lexer recognizes comments, strings, numbers, keywords, types and calls of each language; it does not parse.

mod language;
mod languages;
mod lexer;
mod lines;

use std::ops::Range;

use lexer::OpenConstruct;

use crate::line::Line;
use crate::style::Style;
use crate::text::{append, expand_tabs};
use crate::theme::{Theme, Token};

/// Returns one row per line of `code`. In an unknown language the text keeps the colour of a code block.
pub fn highlight(code: &str, language: Option<&str>, theme: &Theme) -> Vec<Line> {
    let clean = omp_stdx::sanitize::strip_control(code);
    let mut highlighter = Highlighter::new(language);
    let text = clean.strip_suffix('\n').unwrap_or(&clean);
    text.split('\n').map(|line| highlighter.line(line, theme)).collect()
}

/// Highlights a text line by line and keeps the construct that is open at the end of each.
#[derive(Clone, Debug)]
pub struct Highlighter {
    language: Option<&'static language::HighlightLanguage>,
    state: OpenConstruct,
}

/// Longer lines are data rather than readable code and stay plain.
const LONGEST_LINE: usize = 4096;

impl Highlighter {
    /// `language` is a name or a file extension, case-insensitive.
    pub fn new(language: Option<&str>) -> Self {
        Self { language: language.and_then(language::find), state: OpenConstruct::Code }
    }

    /// Returns the coloured parts of the next line as byte ranges: nothing in an unknown language or in a very long line.
    pub fn tokens(&mut self, line: &str) -> Vec<(Range<usize>, Token)> {
        let Some(language) = self.language.filter(|_| line.len() <= LONGEST_LINE) else { return Vec::new() };
        // Every replaced character is one byte, so the ranges fit the line.
        let clean = line.replace(|char: char| char.is_ascii_control(), " ");
        let mut parts = Vec::new();
        let mut at = 0;
        lexer::lex(language, &mut self.state, &clean, &mut |text, token| {
            parts.extend(token.map(|token| (at..at + text.len(), token)));
            at += text.len();
        });
        parts
    }

    pub fn knows_language(&self) -> bool {
        self.language.is_some()
    }

    /// Highlights the next line, without its line break. Control characters must be removed before.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Line {
        let line = expand_tabs(line);
        let plain = theme.fg(Token::MdCodeBlock);
        let mut row = Line::default();
        let Some(language) = self.language.filter(|_| line.len() <= LONGEST_LINE) else {
            append(&mut row, &line, plain, None);
            return row;
        };
        // Spaces take the style of the preceding text, which avoids a colour change.
        let mut style = plain;
        lexer::lex(language, &mut self.state, &line, &mut |text, token| {
            if !text.bytes().all(|byte| byte == b' ') {
                style = token.map_or(plain, |token| Style::PLAIN.fg(theme.color(token)));
            }
            append(&mut row, text, style, None);
        });
        row
    }
}

#[cfg(test)]
mod tests;
