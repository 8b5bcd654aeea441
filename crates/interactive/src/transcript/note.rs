//! Blocks that are not from the model: user messages, notices, errors, marks and dividers.

use omp_stdx::display_width;
use omp_tui::text::wrap_text;
use omp_tui::{Line, Space, Style, Token};

use super::Block;
use super::gallery::{Hung, version_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A message of the user.
    User,
    /// A notice of the program.
    Told,
    /// A slash command in the first line, and its answer below.
    Reply,
    Warning,
    Error,
    /// A divider, such as where a summary begins.
    Divider,
    /// Marks where an answer was cut.
    Mark,
    /// Something beside the conversation, such as the cost of a prompt.
    Aside,
}

/// Changes only with its images.
pub struct Note {
    tone: Tone,
    text: String,
    /// The images of the message.
    pictures: Vec<Hung>,
}

impl Note {
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), pictures: Vec::new() }
    }

    pub fn user(text: impl Into<String>, pictures: Vec<Hung>) -> Self {
        Self { tone: Tone::User, text: text.into(), pictures }
    }

    fn words(&self, space: &Space<'_>) -> Vec<Line> {
        let theme = space.theme;
        match self.tone {
            Tone::User => {
                let style = theme.fg(Token::UserMessageText).over(theme.bg(Token::UserMessageBg));
                led("› ", theme.fg(Token::Accent).over(style), self.text.trim_end(), style, space)
                    .into_iter()
                    .map(|row| row.filled(style))
                    .collect()
            }
            Tone::Told => wrap_text(self.text.trim_end(), space.width, theme.fg(Token::Text)),
            Tone::Reply => {
                let (typed, answer) = self.text.split_once('\n').unwrap_or((&self.text, ""));
                let mut rows = wrap_text(typed, space.width, theme.fg(Token::Muted));
                let answer = answer.trim_end().lines();
                rows.extend(answer.flat_map(|line| hung(line, space.width, theme.fg(Token::Text))));
                rows
            }
            Tone::Aside => wrap_text(&self.text, space.width, theme.fg(Token::Muted)),
            Tone::Warning => led("! ", theme.fg(Token::Warning), self.text.trim_end(), theme.fg(Token::Warning), space),
            Tone::Error => {
                let (what, hint) = match self.text.split_once("\nhint:") {
                    Some((what, hint)) => (what, Some(hint)),
                    None => (self.text.as_str(), None),
                };
                let mut rows = led("✗ ", theme.fg(Token::Error), what.trim_end(), theme.fg(Token::Error), space);
                if let Some(hint) = hint {
                    rows.extend(led(
                        "  ",
                        Style::PLAIN,
                        &format!("hint: {}", hint.trim()),
                        theme.fg(Token::Muted),
                        space,
                    ));
                }
                rows
            }
            Tone::Mark => vec![Line::styled(self.text.clone(), theme.fg(Token::Warning))],
            Tone::Divider => {
                let text = format!("── {} ", self.text);
                let rest = space.width.saturating_sub(display_width::width(&text)).min(40);
                vec![Line::styled(text + &"─".repeat(rest), theme.fg(Token::Dim))]
            }
        }
    }
}

impl Block for Note {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut rows = self.words(space);
        rows.extend(self.pictures.iter().flat_map(|picture| picture.draw(space)));
        rows
    }

    fn version(&self) -> u64 {
        version_of(&self.pictures)
    }

    fn is_final(&self) -> bool {
        self.pictures.iter().all(Hung::is_settled)
    }
}

/// Wraps a line of text. If it is indented or has columns, the rows below the first begin where its last column does.
fn hung(line: &str, width: usize, style: Style) -> Vec<Line> {
    let text = line.trim_end();
    let gaps = text.match_indices("  ").map(|(at, _)| at + text[at..].len() - text[at..].trim_start().len());
    let begin = gaps.filter(|end| display_width::width(&text[..*end]) <= width / 2).max().unwrap_or_default();
    let (before, last) = text.split_at(begin);
    let hang = display_width::width(before);
    let mut rows = wrap_text(last, width.saturating_sub(hang), style);
    for (at, row) in rows.iter_mut().enumerate().filter(|_| hang > 0) {
        let before = if at == 0 { before.to_owned() } else { " ".repeat(hang) };
        row.spans.insert(0, omp_tui::Span::new(before, style));
    }
    rows
}

/// Wraps text with a sign before the first row; the other rows are indented as far.
fn led(sign: &'static str, sign_style: Style, text: &str, style: Style, space: &Space<'_>) -> Vec<Line> {
    let rows = wrap_text(text, space.width.saturating_sub(2), style);
    let lead = |(at, mut row): (usize, Line)| {
        let sign = if at == 0 { sign } else { "  " };
        row.spans.insert(0, omp_tui::Span::new(sign, sign_style));
        row
    };
    rows.into_iter().enumerate().map(lead).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_hangs_below_its_last_column() {
        for (line, expect) in [
            (
                "ok    git   a repository of this project",
                "ok    git   a repository\n            of this\n            project",
            ),
            ("      hint: install it now", "      hint: install it\n      now"),
            ("a row without any columns", "a row without any\ncolumns"),
            ("a row with a gap behind  its middle", "a row with a gap behind\nits middle"),
            ("", ""),
        ] {
            let rows = hung(line, 24, Style::PLAIN);
            assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>().join("\n"), expect, "{line}");
        }
    }
}
