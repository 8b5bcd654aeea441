//! Lists the key bindings by area.

use omp_stdx::display_width;
use omp_tui::text::clip;
use omp_tui::{Input, KeyCode, Line, ListWindow, Space, Token};

use super::field::Field;
use super::query::Query;
use super::sheet::Sheet;
use super::{Dialog, DialogStep};
use crate::keymap::HelpRow;

#[derive(Debug)]
pub struct HotkeysDialog {
    rows: Vec<HelpRow>,
    search: Field,
    /// The scroll position.
    top: ListWindow,
}

impl HotkeysDialog {
    /// Takes the rows of [`crate::Keymap::help`].
    pub fn new(rows: Vec<HelpRow>) -> Self {
        Self { rows, search: Field::default(), top: ListWindow::default() }
    }

    /// Draws the areas with their keys, filtered by the search.
    pub fn lines(&self, space: &Space<'_>) -> Vec<Line> {
        let theme = space.theme;
        let query = Query::new(self.search.text());
        let found = self.rows.iter().filter(|row| query.is_in(&format!("{} {} {}", row.keys, row.about, row.name)));
        let widest = self.rows.iter().map(|row| display_width::width(&row.keys)).max().unwrap_or(0);
        // Long lists of keys are cut in favor of their descriptions.
        let column = widest.min(22).min(space.width / 2);
        let mut lines = Vec::new();
        let mut area = None;
        for row in found {
            if area != Some(row.area) {
                area = Some(row.area);
                lines.push(Line::styled(row.area.title(), theme.fg(Token::MdHeading).bold()));
            }
            let keys = display_width::ellipsize(&row.keys, column).into_owned();
            let mut line = Line::styled(format!("  {}", display_width::pad(&keys, column)), theme.fg(Token::Accent));
            line.push(format!("  {}", row.about), theme.fg(Token::Text));
            lines.push(clip(line, space.width));
        }
        lines
    }
}

impl Dialog for HotkeysDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, "Keys", "");
        let space = &sheet.inner();
        sheet.push(self.search.draw("> ", "type to search", space));
        sheet.section();
        let lines = self.lines(space);
        let room = sheet.room();
        // The window begins at the scroll position and ends at the last row.
        self.top.visible(lines.len().saturating_sub(room) + 1, 1);
        let top = self.top.selected();
        let below = lines.len().saturating_sub(top + room);
        if lines.is_empty() {
            sheet.muted("  No matches.");
        }
        lines.into_iter().skip(top).take(room).for_each(|line| sheet.push(line));
        let more = format!("{below} more");
        match below {
            0 => sheet.finish(&[("esc", "close")]),
            _ => sheet.finish(&[("esc", "close"), ("↑↓", more.as_str())]),
        }
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Input::Key(key) = input {
            if super::is_cancel(*key) || key.code == KeyCode::Enter {
                return DialogStep::Close(None);
            }
            let at = self.top.selected();
            let page = 8;
            match key.code {
                KeyCode::Up => self.top.select(at.saturating_sub(1)),
                KeyCode::Down => self.top.select(at + 1),
                KeyCode::PageUp => self.top.select(at.saturating_sub(page)),
                KeyCode::PageDown => self.top.select(at + page),
                _ => return super::picked(self.search.input(input)),
            }
            return DialogStep::Redraw;
        }
        super::picked(self.search.input(input))
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::{both, draw, press, says, type_text};
    use super::*;
    use crate::keymap::Keymap;

    #[test]
    fn every_description_fits_into_80_columns() {
        let theme = omp_tui::Theme::colorless();
        // The frame takes four columns.
        let space = Space { width: 76, height: 24, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let dialog = HotkeysDialog::new(Keymap::defaults().help());
        for (row, line) in dialog.rows.iter().zip(dialog.lines(&space).iter().filter(|row| row.text().starts_with(' ')))
        {
            assert!(line.text().ends_with(&row.about), "{}", line.text());
        }
    }

    #[test]
    fn keys_by_where_they_count() {
        insta::assert_snapshot!(both(&mut HotkeysDialog::new(Keymap::defaults().help())), @"
        ╭─ Keys ───────────────────────────────────────────────────╮
        │ > type to search                                         │
        ├──────────────────────────────────────────────────────────┤
        │ Application                                              │
        │   enter                   send the message               │
        │   escape                  interrupt or leave a mode; tw… │
        │   ctrl+c                  interrupt, or clear the edito… │
        │   ctrl+d                  exit, if idle and the editor … │
        │   ctrl+z                  suspend; `fg` in the shell re… │
        │   ctrl+enter, ctrl+q      queue the message until the t… │
        │   alt+up, shift+up        edit queued messages           │
        ╰─ esc close · ↑↓ 60 more ─────────────────────────────────╯
        ------------------------------
        ── Keys ──────────────────────
        > type to search
        Application
          enter            send the m…
          escape           interrupt …
          ctrl+c           interrupt,…
          ctrl+d           exit, if i…
          ctrl+z           suspend; `…
          ctrl+enter, ct…  queue the …
          alt+up, shift+…  edit queue…
        esc close · ↑↓ 60 more
        ");
    }

    #[test]
    fn keys_are_searched_and_scrolled() {
        let mut dialog = HotkeysDialog::new(Keymap::defaults().help());
        press(&mut dialog, "down");
        assert!(!draw(&mut dialog, 60).contains("Application"));
        for _ in 0..50 {
            press(&mut dialog, "pageDown");
        }
        assert!(draw(&mut dialog, 60).contains("expand, or go") && !draw(&mut dialog, 60).contains("more"));
        type_text(&mut dialog, "rename");
        let screen = draw(&mut dialog, 60);
        assert!(
            screen.contains("Session list") && screen.contains("ctrl+r") && screen.lines().count() == 8,
            "{screen}"
        );
        assert_eq!(says(&mut dialog, "escape"), "Close(None)");
        assert!(draw(&mut HotkeysDialog::new(Vec::new()), 30).contains("No matches."));
    }
}
