//! How every dialog looks: a title, rows, and a line that says which keys there are.

use omp_stdx::{display_width, sanitize};
use omp_tui::text::{clip, wrap_text};
use omp_tui::{Line, Space, Span, Style, Token};

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
        Self { space, rows: vec![clip(head, space.width)] }
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

    /// The cursor is in a row that follows.
    pub fn unfocus(&mut self) {
        self.rows.iter_mut().for_each(|row| row.cursor = None);
    }

    /// Rows of a list that scrolls.
    pub fn room(&self) -> usize {
        (self.space.height / 2).max(5)
    }

    /// An item of a list: what it is at the left, facts at the right as long as there is room for both.
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

    /// Keys and what they do, the important ones first: the row holds as many as fit.
    pub fn finish(mut self, keys: &[(&str, &str)]) -> Vec<Line> {
        self.keys(keys);
        self.rows
    }

    /// The same, on as many rows as they need.
    pub fn finish_with_all(mut self, keys: &[(&str, &str)]) -> Vec<Line> {
        let mut left = keys;
        while !left.is_empty() {
            let fit = self.keys(left).max(1);
            left = &left[fit..];
        }
        self.rows
    }

    /// A row of keys. Returns how many it holds.
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

/// What stands before an item.
pub(super) const fn mark(selected: bool) -> &'static str {
    if selected { "❯ " } else { "  " }
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

/// Words on as many rows as they need, none for no text.
pub(super) fn wrapped(text: &str, width: usize, style: Style) -> Vec<Line> {
    match text {
        "" => Vec::new(),
        text => wrap_text(&sanitize::reveal_invisible(text), width, style),
    }
}

/// Text before each row: `first` before the first of them, spaces before the others.
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
