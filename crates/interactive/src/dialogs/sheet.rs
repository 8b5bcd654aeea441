//! The layout of every dialog: a frame with a title, sections of rows, and a footer with keys.

use omp_stdx::{display_width, sanitize};
use omp_tui::text::wrap_text;
use omp_tui::{Line, Panel, Space, Span, Style, Token};

/// Caps the width of lists, so that the facts of an item are not far away from its name.
const WIDEST: usize = 120;
/// Windows with fewer rows leave little to lists.
const LOW: usize = 14;

pub(crate) struct Sheet<'a> {
    space: Space<'a>,
    has_border: bool,
    panel: Panel<'a>,
}

impl<'a> Sheet<'a> {
    /// `note` is drawn after the title: a count, a filter.
    pub fn new(space: &Space<'a>, title: &str, note: &str) -> Self {
        Self::wide(&Space { width: space.width.min(WIDEST), ..*space }, title, note)
    }

    /// For content that needs the whole window: diffs, texts.
    pub fn wide(space: &Space<'a>, title: &str, note: &str) -> Self {
        let mut head = Line::styled(one_line(title), space.theme.fg(Token::Accent).bold());
        if !note.is_empty() {
            head.push(format!("  {}", one_line(note)), space.theme.fg(Token::Muted));
        }
        let panel = Panel::new(space, head);
        Self { space: panel.inner(), has_border: Panel::has_border(space), panel }
    }

    /// Returns the space inside the frame.
    pub fn inner(&self) -> Space<'a> {
        self.space
    }

    pub fn push(&mut self, line: Line) {
        self.panel.push(line);
    }

    pub fn extend(&mut self, lines: impl IntoIterator<Item = Line>) {
        lines.into_iter().for_each(|line| self.push(line));
    }

    /// Separates what follows from the rows before.
    pub fn section(&mut self) {
        self.panel.section();
    }

    /// Adds wrapped text.
    pub fn prose(&mut self, text: &str, style: Style) {
        self.extend(wrapped(text, self.space.width, style));
    }

    pub fn muted(&mut self, text: &str) {
        self.prose(text, self.space.theme.fg(Token::Muted));
    }

    /// Says how many rows are hidden, and the keys that scroll up and down to them.
    pub fn hidden(&self, above: usize, below: usize, [up, down]: [&str; 2]) -> String {
        let keys = [(above, up), (below, down)].into_iter().filter(|(rows, _)| *rows > 0);
        let keys: Vec<_> = keys.filter_map(|(_, key)| self.space.keys.shown(key)).collect();
        let keys = if keys.is_empty() { String::new() } else { format!(" ({})", keys.join(", ")) };
        format!("… {}{keys}", hidden_rows(above, below))
    }

    /// Removes the cursor; a later row has it.
    pub fn unfocus(&mut self) {
        self.panel.rows_mut().for_each(|row| row.cursor = None);
    }

    /// Returns the rows left for a scrolling list.
    pub fn room(&self) -> usize {
        match self.space.height {
            low if low < LOW => low.saturating_sub(7).max(3),
            height => (height / 2).max(5),
        }
    }

    /// Draws the choices of a question, with their descriptions beside them.
    pub fn choices<'c>(&mut self, selected: usize, choices: impl IntoIterator<Item = (&'c str, &'c str)>) {
        let choices: Vec<_> = choices.into_iter().collect();
        let widest = choices.iter().map(|(what, _)| display_width::width(what)).max().unwrap_or_default();
        for (at, (what, about)) in choices.into_iter().enumerate() {
            let room = self.space.width.saturating_sub(2);
            let is_alone = about.is_empty() || widest + 2 + display_width::width(about) > room;
            self.push(match is_alone {
                true => Self::item(&self.space, at == selected, what, ""),
                false => Self::item_in_columns(&self.space, at == selected, (what, widest), about),
            });
        }
    }

    /// Draws an item of a list: its name on the left, facts on the right if both fit.
    pub fn item(space: &Space<'_>, selected: bool, what: &str, facts: &str) -> Line {
        Self::marked_item(space, selected, what, "", facts)
    }

    /// Like `item`, with `marks` after the name. They are kept if the name is shortened.
    pub fn marked_item(space: &Space<'_>, selected: bool, what: &str, marks: &str, facts: &str) -> Line {
        let theme = space.theme;
        let style = if selected { theme.fg(Token::Accent) } else { theme.fg(Token::Text) };
        let mark = mark(selected);
        let facts = if display_width::width(facts) + 2 > space.width / 2 { "" } else { facts };
        let aside = if facts.is_empty() { 0 } else { display_width::width(facts) + 2 };
        let room = space.width.saturating_sub(2 + aside);
        let named = display_width::ellipsize(what, room.saturating_sub(display_width::width(marks)));
        let what = display_width::ellipsize(&format!("{named}{marks}"), room).into_owned();
        let mut line = Line::styled(mark, style);
        if !facts.is_empty() {
            line.push(display_width::pad(&what, room).into_owned(), style);
            line.push(format!("  {facts}"), theme.fg(Token::Muted));
        } else {
            line.push(what, style);
        }
        line
    }

    /// Draws an item with its facts in a column that starts after `names` columns.
    pub fn item_in_columns(space: &Space<'_>, selected: bool, (what, names): (&str, usize), facts: &str) -> Line {
        let name = display_width::ellipsize(what, names);
        let style = space.theme.fg(if selected { Token::Accent } else { Token::Text });
        let mut line = Line::styled(mark(selected), style).with(display_width::pad(&name, names).into_owned(), style);
        line.push(format!("  {facts}"), space.theme.fg(Token::Muted));
        line
    }

    /// Adds one row of keys with descriptions, the important ones first; those that do not fit are left out.
    pub fn finish(self, keys: &[(&str, &str)]) -> Vec<Line> {
        let (row, _) = self.keys(&self.bound(keys));
        self.panel.finish(vec![row])
    }

    /// Adds all keys with descriptions on as many rows as needed.
    pub fn finish_with_all(self, keys: &[(&str, &str)]) -> Vec<Line> {
        let keys = self.bound(keys);
        let (mut rows, mut left) = (Vec::new(), keys.as_slice());
        while !left.is_empty() {
            let (row, fit) = self.keys(left);
            rows.push(row);
            left = &left[fit.max(1)..];
        }
        self.panel.finish(rows)
    }

    /// Returns the keys that are bound instead of the default ones.
    fn bound<'k>(&self, keys: &[(&str, &'k str)]) -> Vec<(String, &'k str)> {
        keys.iter().filter_map(|(key, meaning)| Some((self.space.keys.shown(key)?, *meaning))).collect()
    }

    /// Returns a row of keys, and how many fit.
    fn keys(&self, keys: &[(String, &str)]) -> (Line, usize) {
        let theme = self.space.theme;
        // The border takes two columns more.
        let room = self.space.width.saturating_sub(if self.has_border { 2 } else { 0 });
        let (mut line, mut held) = (Line::new(), 0);
        for (key, meaning) in keys {
            let gap = if line.spans.is_empty() { "" } else { " · " };
            let next = format!("{gap}{key} {meaning}");
            if line.width() + display_width::width(&next) > room {
                break;
            }
            line.push(gap, theme.fg(Token::Dim));
            line.push(key.clone(), theme.fg(Token::Muted));
            line.push(format!(" {meaning}"), theme.fg(Token::Dim));
            held += 1;
        }
        (line, held)
    }
}

/// Counts the rows above and below the visible ones.
pub(super) fn hidden_rows(above: usize, below: usize) -> String {
    match (above, below) {
        (0, below) => format!("{below} more"),
        (above, 0) => format!("{above} above"),
        (above, below) => format!("{above} above, {below} below"),
    }
}

/// The marker before an item.
pub(crate) const fn mark(selected: bool) -> &'static str {
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
pub(crate) fn wrapped(text: &str, width: usize, style: Style) -> Vec<Line> {
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
            let space = Space { width, height: 5, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
            assert_eq!(Sheet::item(&space, true, what, facts).text(), row);
        }
    }

    #[test]
    fn text_of_others_stays_in_its_row() {
        assert_eq!(one_line("a\n\tb\u{1b}[31m\u{202e}c"), "a  b<U+202E>c");
        assert_eq!(start_of(&format!("\n {}", "é".repeat(5000))).len(), 998);
    }
}
