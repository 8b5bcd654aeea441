//! The layout of every dialog: a title, rows, and a line with keys.

use omp_stdx::{display_width, sanitize};
use omp_tui::text::{clip, wrap_text};
use omp_tui::{Line, Space, Span, Style, Token};

pub(super) struct Sheet<'a> {
    pub space: &'a Space<'a>,
    rows: Vec<Line>,
}

impl<'a> Sheet<'a> {
    /// `note` is drawn after the title: a count, a filter.
    pub fn new(space: &'a Space<'a>, title: &str, note: &str) -> Self {
        let mut head = Line::styled(one_line(title), space.theme.fg(Token::Accent).bold());
        if !note.is_empty() {
            head.push(format!("  {}", one_line(note)), space.theme.fg(Token::Muted));
        }
        Self { space, rows: vec![clip(head, space.width)] }
    }

    pub fn push(&mut self, line: Line) {
        self.rows.push(line);
    }

    /// Adds wrapped text.
    pub fn prose(&mut self, text: &str, style: Style) {
        self.rows.extend(wrapped(text, self.space.width, style));
    }

    pub fn muted(&mut self, text: &str) {
        self.prose(text, self.space.theme.fg(Token::Muted));
    }

    /// Removes the cursor; a later row has it.
    pub fn unfocus(&mut self) {
        self.rows.iter_mut().for_each(|row| row.cursor = None);
    }

    /// Returns the rows left for a scrolling list.
    pub fn room(&self) -> usize {
        (self.space.height / 2).max(5)
    }

    /// Draws an item of a list: its name on the left, facts on the right if both fit.
    pub fn item(space: &Space<'_>, selected: bool, what: &str, facts: &str) -> Line {
        let theme = space.theme;
        let style = if selected { theme.fg(Token::Accent) } else { theme.fg(Token::Text) };
        let mark = mark(selected);
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

    /// Adds one row of keys with descriptions, the important ones first; those that do not fit are left out.
    pub fn finish(mut self, keys: &[(&str, &str)]) -> Vec<Line> {
        self.keys(keys);
        self.rows
    }

    /// Adds all keys with descriptions on as many rows as needed.
    pub fn finish_with_all(mut self, keys: &[(&str, &str)]) -> Vec<Line> {
        let mut left = keys;
        while !left.is_empty() {
            let fit = self.keys(left).max(1);
            left = &left[fit..];
        }
        self.rows
    }

    /// Adds a row of keys. Returns how many fit.
    fn keys(&mut self, keys: &[(&str, &str)]) -> usize {
        let theme = self.space.theme;
        let (mut line, mut held) = (Line::new(), 0);
        for (key, meaning) in keys {
            let gap = if line.spans.is_empty() { "" } else { " · " };
            let next = format!("{gap}{key} {meaning}");
            if line.width() + display_width::width(&next) > self.space.width {
                break;
            }
            line.push(gap, theme.fg(Token::Dim));
            line.push((*key).to_owned(), theme.fg(Token::Muted));
            line.push(format!(" {meaning}"), theme.fg(Token::Dim));
            held += 1;
        }
        self.rows.push(line);
        held
    }
}

/// The marker before an item.
pub(super) const fn mark(selected: bool) -> &'static str {
    if selected { "❯ " } else { "  " }
}

/// Cleans untrusted text for use in a row: nothing moves the cursor, nothing is invisible.
pub(crate) fn one_line(text: &str) -> String {
    sanitize::reveal_invisible(&sanitize::strip_control(text)).replace(['\n', '\t'], " ")
}

/// Like [`one_line`] for long text: processes only as much as can be visible.
pub(super) fn start_of(text: &str) -> String {
    const SEEN: usize = 1000;
    one_line(text[..text.floor_char_boundary(SEEN)].trim_start())
}

/// Wraps text; returns no rows for empty text.
pub(super) fn wrapped(text: &str, width: usize, style: Style) -> Vec<Line> {
    match text {
        "" => Vec::new(),
        text => wrap_text(&sanitize::reveal_invisible(text), width, style),
    }
}

/// Prefixes the first row with `first` and indents the others as far.
pub(super) fn indented(mut rows: Vec<Line>, first: &'static str, style: Style) -> Vec<Line> {
    let blank = " ".repeat(display_width::width(first));
    for (at, row) in rows.iter_mut().enumerate() {
        let before = if at == 0 { Span::new(first, style) } else { Span::new(blank.clone(), style) };
        row.spans.insert(0, before);
    }
    rows
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::*;

    #[test]
    fn facts_give_way_to_what_an_item_is() {
        let theme = Theme::colorless();
        for (width, what, facts, row) in [
            (20, "model", "200k", "❯ model         200k"),
            (20, "a long name of a model", "200k", "❯ a long name…  200k"),
            (10, "model", "200k", "❯ model"),
            (6, "model", "", "❯ mod…"),
            (0, "model", "", "❯ "),
        ] {
            let space = Space { width, height: 5, theme: &theme, focused: true };
            assert_eq!(Sheet::item(&space, true, what, facts).text(), row);
        }
    }

    #[test]
    fn text_of_others_stays_in_its_row() {
        assert_eq!(one_line("a\n\tb\u{1b}[31m\u{202e}c"), "a  b<U+202E>c");
        assert_eq!(start_of(&format!("\n {}", "é".repeat(5000))).len(), 998);
    }
}
