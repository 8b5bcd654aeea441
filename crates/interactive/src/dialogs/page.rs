//! Lines to scroll through: a log, a stream, a report. It opens at the end, as a log is read.

use omp_stdx::display_width;
use omp_tui::text::split;
use omp_tui::{Input, KeyCode, Line, Space, Token};

use super::field::Field;
use super::query::Query;
use super::sheet::{Sheet, hidden_rows, one_line};
use super::{Dialog, DialogStep};

/// Rows that a page key scrolls by.
const PAGE: usize = 8;

#[derive(Debug)]
pub struct PageDialog {
    title: String,
    lines: Vec<String>,
    search: Field,
    /// The scroll position; `None` is the end.
    top: Option<usize>,
    /// The last position that fills the dialog.
    last: usize,
}

impl PageDialog {
    pub fn new(title: String, text: &str) -> Self {
        let lines = text.lines().map(one_line).collect();
        Self { title, lines, search: Field::default(), top: None, last: 0 }
    }

    fn rows(&self, space: &Space<'_>) -> Vec<Line> {
        let query = Query::new(self.search.text());
        let found = self.lines.iter().filter(|line| query.is_empty() || query.is_in(&line.to_lowercase()));
        let style = space.theme.fg(Token::Text);
        let row = |line: &String| match display_width::width(line) <= space.width {
            true => vec![Line::styled(line.clone(), style)],
            false => split(&Line::styled(line.clone(), style), space.width),
        };
        found.flat_map(row).collect()
    }

    fn scroll(&mut self, by: isize) -> DialogStep {
        let at = self.top.unwrap_or(self.last).saturating_add_signed(by);
        self.top = (at < self.last).then_some(at);
        DialogStep::Redraw
    }
}

impl Dialog for PageDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, &self.title, "");
        let inner = sheet.inner();
        sheet.push(self.search.draw("> ", "type to search", &inner));
        sheet.section();
        let (rows, room) = (self.rows(&inner), sheet.room());
        self.last = rows.len().saturating_sub(room);
        let top = self.top.unwrap_or(self.last).min(self.last);
        if rows.is_empty() {
            sheet.muted(if self.lines.is_empty() { "  Nothing here." } else { "  No matches." });
        }
        let (above, below) = (top, rows.len().saturating_sub(top + room));
        rows.into_iter().skip(top).take(room).for_each(|row| sheet.push(row));
        let more = hidden_rows(above, below);
        let keys = match (above, below) {
            (0, 0) => return sheet.finish(&[("esc", "close")]),
            (0, _) => "↓",
            (_, 0) => "↑",
            (_, _) => "↑↓",
        };
        sheet.finish(&[("esc", "close"), (keys, more.as_str())])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Input::Key(key) = input {
            if super::is_cancel(*key) || key.code == KeyCode::Enter {
                return DialogStep::Close(None);
            }
            match key.code {
                KeyCode::Up => return self.scroll(-1),
                KeyCode::Down => return self.scroll(1),
                KeyCode::PageUp => return self.scroll(-(PAGE as isize)),
                KeyCode::PageDown => return self.scroll(PAGE as isize),
                _ => {}
            }
        }
        self.top = None;
        super::picked(self.search.input(input))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::screen::{draw, press, type_text};
    use super::*;

    pub fn log() -> PageDialog {
        let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        PageDialog::new("Log".to_owned(), &text)
    }

    /// The row of the last line, and what follows it.
    fn end(page: &mut PageDialog) -> (String, String) {
        let drawn = draw(page, 60);
        let rows: Vec<&str> = drawn.lines().collect();
        let last = rows.iter().rposition(|row| row.contains("line ")).expect("a line");
        let inside = |row: &str| row.trim_matches(['│', ' ']).to_owned();
        (inside(rows[last]), rows[last + 1..].concat())
    }

    #[test]
    fn a_page_opens_at_its_end_scrolls_and_is_searched() {
        let mut page = log();
        let (last, footer) = end(&mut page);
        assert!(last == "line 40" && footer.contains("esc close · ↑ 32 above"), "{last} {footer}");
        press(&mut page, "pageUp up");
        assert_eq!(end(&mut page).0, "line 31");
        press(&mut page, "pageDown pageDown pageDown");
        assert_eq!(end(&mut page).0, "line 40");
        type_text(&mut page, "e 17");
        insta::assert_snapshot!(draw(&mut page, 60));
        assert!(matches!(press(&mut page, "escape"), DialogStep::Close(None)));
        assert!(draw(&mut PageDialog::new("Log".to_owned(), ""), 60).contains("Nothing here."));
    }

    /// A line that is wider than the frame goes on in the next row.
    #[test]
    fn no_part_of_a_long_line_is_lost() {
        for width in [30, 60, 200] {
            let mut long = PageDialog::new("Log".to_owned(), &"x".repeat(170));
            assert_eq!(draw(&mut long, width).matches('x').count(), 170, "{}", draw(&mut long, width));
        }
    }
}
