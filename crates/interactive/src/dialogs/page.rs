//! Lines to scroll through: a log, a stream, a report. It opens at the end, as a log is read.

use omp_stdx::display_width;
use omp_tui::text::split;
use omp_tui::{Input, KeyCode, Line, Space, Token};

use super::field::Field;
use super::query::Query;
use super::sheet::{Sheet, one_line};
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
        sheet.push(self.search.draw("> ", "type to search", space));
        let (rows, room) = (self.rows(space), sheet.room());
        self.last = rows.len().saturating_sub(room);
        let top = self.top.unwrap_or(self.last).min(self.last);
        if rows.is_empty() {
            sheet.muted(if self.lines.is_empty() { "  Nothing here." } else { "  No matches." });
        }
        let (above, below) = (top, rows.len().saturating_sub(top + room));
        rows.into_iter().skip(top).take(room).for_each(|row| sheet.push(row));
        let more = format!("{above} above, {below} below");
        match above + below {
            0 => sheet.finish(&[("esc", "close")]),
            _ => sheet.finish(&[("esc", "close"), ("↑↓", more.as_str())]),
        }
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
mod tests {
    use super::super::screen::{draw, press, type_text};
    use super::*;

    #[test]
    fn a_page_opens_at_its_end_scrolls_and_is_searched() {
        let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        let mut page = PageDialog::new("Log".to_owned(), &text);
        assert!(draw(&mut page, 60).contains("line 40\nesc close · ↑↓ 32 above, 0 below"), "{}", draw(&mut page, 60));
        press(&mut page, "pageUp up");
        let drawn = draw(&mut page, 60);
        assert!(drawn.contains("line 31\nesc") && !drawn.contains("line 32"), "{drawn}");
        press(&mut page, "pageDown pageDown pageDown");
        assert!(draw(&mut page, 60).contains("line 40\n"));
        type_text(&mut page, "e 17");
        assert_eq!(draw(&mut page, 60), "Log\n> e 17\nline 17\nesc close\n");
        assert!(matches!(press(&mut page, "escape"), DialogStep::Close(None)));
        let mut long = PageDialog::new("Log".to_owned(), &"x".repeat(70));
        assert!(draw(&mut long, 60).contains(&format!("{}\n{}\n", "x".repeat(60), "x".repeat(10))));
        assert!(draw(&mut PageDialog::new("Log".to_owned(), ""), 60).contains("Nothing here."));
    }
}
