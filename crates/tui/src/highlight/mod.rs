//! Source text in colours, by a small lexer of our own: nothing to load, linear in the text, one line at a time.
//!
//! It knows comments, strings, numbers, keywords, types and calls of each language, which is what a reader looks for in
//! a terminal; it does not parse.

mod language;
mod languages;
mod lexer;
mod lines;

use lexer::OpenConstruct;

use crate::line::Line;
use crate::style::Style;
use crate::text::{append, expand_tabs};
use crate::theme::{Theme, Token};

/// One row for each line of `code`. Without a known language the text keeps the colour of a code block.
pub fn highlight(code: &str, language: Option<&str>, theme: &Theme) -> Vec<Line> {
    let clean = omp_stdx::sanitize::strip_control(code);
    let mut highlighter = Highlighter::new(language);
    let text = clean.strip_suffix('\n').unwrap_or(&clean);
    text.split('\n').map(|line| highlighter.line(line, theme)).collect()
}

/// Goes through a text line by line and remembers what is open at the end of each.
#[derive(Clone, Debug)]
pub struct Highlighter {
    language: Option<&'static language::HighlightLanguage>,
    state: OpenConstruct,
}

/// A line longer than this is data, not something to read: it stays plain.
const LONGEST_LINE: usize = 4096;

impl Highlighter {
    /// `language` is a name or a file extension, in any case.
    pub fn new(language: Option<&str>) -> Self {
        Self { language: language.and_then(language::find), state: OpenConstruct::Code }
    }

    /// The next line, without its line break. Control characters must be gone.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Line {
        let line = expand_tabs(line);
        let plain = theme.fg(Token::MdCodeBlock);
        let mut row = Line::default();
        let Some(language) = self.language.filter(|_| line.len() <= LONGEST_LINE) else {
            append(&mut row, &line, plain, None);
            return row;
        };
        // Spaces take the style of what they follow, so that they cost no change of colour.
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
