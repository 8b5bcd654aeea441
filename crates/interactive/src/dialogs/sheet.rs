//! How every dialog looks: a title, rows, and a line that says which keys there are.

use omp_stdx::{display_width, sanitize};
use omp_tui::{Line, Space, Style, Token};

pub(super) struct Sheet<'a> {
    pub space: &'a Space<'a>,
    rows: Vec<Line>,
}

impl<'a> Sheet<'a> {
    /// `note` stands behind the title: a count, a filter.
    pub fn new(space: &'a Space<'a>, title: &str, note: &str) -> Self {
        let mut head = Line::styled(one_line(title), space.theme.fg(Token::Accent).bold());
        if !note.is_empty() {
            head.push(format!("  {}", one_line(note)), space.theme.fg(Token::Muted));
        }
        Self { space, rows: vec![fitted(head, space.width)] }
    }

    pub fn push(&mut self, line: Line) {
        self.rows.push(line);
    }

    /// Prose, on as many rows as it needs.
    pub fn prose(&mut self, text: &str, style: Style) {
        self.rows.extend(wrapped(text, self.space.width, style));
    }

    pub fn muted(&mut self, text: &str) {
        self.prose(text, self.space.theme.fg(Token::Muted));
    }

    /// Rows of a list that scrolls.
    pub fn room(&self) -> usize {
        (self.space.height / 2).max(5)
    }

    /// An item of a list: what it is at the left, facts at the right as long as there is room for both.
    pub fn item(space: &Space<'_>, selected: bool, what: &str, facts: &str) -> Line {
        let theme = space.theme;
        let style = if selected { theme.fg(Token::Accent) } else { theme.fg(Token::Text) };
        let mark = if selected { "❯ " } else { "  " };
        let facts = if display_width::width(facts) + 2 > space.width / 2 { "" } else { facts };
        let aside = if facts.is_empty() { 0 } else { display_width::width(facts) + 2 };
        let room = space.width.saturating_sub(2 + aside);
        let what = display_width::ellipsize(what, room).into_owned();
        let mut line = Line::styled(mark, style);
        if !facts.is_empty() {
            line.push(display_width::pad(&what, room).into_owned(), style);
            line.push(format!("  {facts}"), theme.fg(Token::Muted));
        } else {
            line.push(what, style);
        }
        line
    }

    /// Keys and what they do, the important ones first: the row holds as many as fit.
    pub fn finish(mut self, keys: &[(&str, &str)]) -> Vec<Line> {
        let theme = self.space.theme;
        let mut line = Line::new();
        for (key, meaning) in keys {
            let gap = if line.spans.is_empty() { "" } else { " · " };
            let next = format!("{gap}{key} {meaning}");
            if line.width() + display_width::width(&next) > self.space.width {
                break;
            }
            line.push(gap, theme.fg(Token::Dim));
            line.push((*key).to_owned(), theme.fg(Token::Muted));
            line.push(format!(" {meaning}"), theme.fg(Token::Dim));
        }
        self.rows.push(line);
        self.rows
    }
}

/// Untrusted text as part of a row: nothing that moves the cursor, nothing that hides.
pub(super) fn one_line(text: &str) -> String {
    sanitize::reveal_invisible(&sanitize::strip_control(text)).replace(['\n', '\t'], " ")
}

/// The same for text that may be long: only as much is looked at as can be seen.
pub(super) fn start_of(text: &str) -> String {
    const SEEN: usize = 1000;
    one_line(text[..text.floor_char_boundary(SEEN)].trim_start())
}

/// Cuts what is too wide, with an ellipsis.
pub(super) fn fitted(line: Line, width: usize) -> Line {
    let mut room = width;
    let mut cut = Line { spans: Vec::new(), ..line };
    for span in line.spans {
        let text = display_width::ellipsize(&span.text, room).into_owned();
        room -= display_width::width(&text).min(room);
        cut.push(text, span.style);
    }
    cut
}

/// Words on as many rows as they need; tabs are four spaces, too long words are cut.
pub(super) fn wrapped(text: &str, width: usize, style: Style) -> Vec<Line> {
    let clean = sanitize::reveal_invisible(&sanitize::strip_control(text)).replace('\t', "    ");
    clean.lines().flat_map(|line| wrapped_line(line, width.max(1), style)).collect()
}

fn wrapped_line(mut rest: &str, width: usize, style: Style) -> Vec<Line> {
    let mut rows = Vec::new();
    loop {
        let (fits, _) = display_width::clip(rest, width);
        if fits.len() == rest.len() {
            rows.push(Line::styled(rest.to_owned(), style));
            return rows;
        }
        // A character wider than the row is put there all the same: the row is clipped when it is painted.
        let fits = if fits.is_empty() { &rest[..rest.ceil_char_boundary(1)] } else { fits };
        let whole_word = rest[fits.len()..].starts_with(' ');
        let end = if whole_word { fits.len() } else { fits.rfind(' ').map_or(fits.len(), |at| at + 1) };
        let end = if fits[..end].trim().is_empty() { fits.len() } else { end };
        rows.push(Line::styled(rest[..end].trim_end().to_owned(), style));
        rest = rest[end..].trim_start_matches(' ');
        if rest.is_empty() {
            return rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_long_ones_are_cut() {
        for (text, width, rows) in [
            ("one two three", 7, vec!["one two", "three"]),
            ("one two three", 6, vec!["one", "two", "three"]),
            ("abcdefghij kl", 4, vec!["abcd", "efgh", "ij", "kl"]),
            ("日本語", 4, vec!["日本", "語"]),
            ("日本", 1, vec!["日", "本"]),
            ("  indented text", 9, vec!["  indente", "d text"]),
            ("a\n\nb", 5, vec!["a", "", "b"]),
            ("a   ", 2, vec!["a"]),
            ("a\u{1b}[31m\u{202e}b", 20, vec!["a<U+202E>b"]),
            ("", 5, vec![]),
        ] {
            let lines: Vec<_> = wrapped(text, width, Style::PLAIN).iter().map(Line::text).collect();
            assert_eq!(lines, rows, "{text:?} at {width}");
        }
    }
}
