//! Draws a setup page and maps keys to choices.

use omp_tui::{Input, Key, KeyCode, Line, Space, Token};

use super::{Next, Setup};
use crate::dialogs::Sheet;

/// Caps the visible choices.
const MOST_ROWS: usize = 12;
/// Caps the dots shown for a key.
const MOST_DOTS: usize = 40;

pub struct SetupDialog {
    pub setup: Setup,
    selected: usize,
    /// The filter for the choices, or the API key being typed.
    typed: String,
}

impl SetupDialog {
    pub fn new(setup: Setup) -> Self {
        Self { setup, selected: 0, typed: String::new() }
    }

    pub fn draw(&self, space: &Space<'_>) -> Vec<Line> {
        let page = self.setup.page();
        let mut sheet = Sheet::new(space, &page.title, "");
        let theme = space.theme;
        for line in &page.text {
            match line.is_empty() {
                true => sheet.push(Line::new()),
                false => sheet.prose(line, theme.fg(Token::Text)),
            }
        }
        sheet.section();
        if page.asks_key {
            let dots = "•".repeat(self.typed.chars().count().min(MOST_DOTS));
            let mut row = Line::styled("> ", theme.fg(Token::Accent)).with(dots, theme.fg(Token::Text));
            row.cursor = Some(row.width());
            sheet.push(row);
            return sheet.finish(&[("enter", "save"), ("esc", "back")]);
        }
        if !self.typed.is_empty() {
            sheet.push(Line::styled("> ", theme.fg(Token::Accent)).with(self.typed.clone(), theme.fg(Token::Text)));
            sheet.section();
        }
        self.draw_choices(&mut sheet, &page.choices);
        sheet.finish(&[("enter", "select"), ("esc", "back"), ("type", "to filter")])
    }

    fn draw_choices(&self, sheet: &mut Sheet<'_>, choices: &[(String, String)]) {
        let shown = self.fitting(choices);
        let rows = MOST_ROWS.min(sheet.room());
        let first = (self.selected + 1).saturating_sub(rows);
        let visible = shown.iter().skip(first).take(rows).map(|at| (choices[*at].0.as_str(), choices[*at].1.as_str()));
        sheet.choices(self.selected - first, visible);
        if shown.is_empty() {
            sheet.muted("  No matches.");
        } else if shown.len() > rows {
            sheet.muted(&format!("  {} of {}", self.selected + 1, shown.len()));
        }
    }

    /// Returns the indices of the choices that match the typed text, those that begin with it first.
    fn fitting(&self, choices: &[(String, String)]) -> Vec<usize> {
        let wanted = self.typed.to_lowercase();
        let label = |at: usize| choices[at].0.to_lowercase();
        let mut fitting: Vec<usize> = (0..choices.len()).filter(|at| label(*at).contains(&wanted)).collect();
        fitting.sort_by_key(|at| !label(*at).starts_with(&wanted));
        fitting
    }

    pub fn input(&mut self, input: &Input) -> Next {
        match input {
            Input::Key(key) => self.key(key),
            Input::Paste(pasted) => {
                self.typed.push_str(pasted.trim());
                Next::Show
            }
            Input::Mouse(_) | Input::Focus(_) => Next::Show,
        }
    }

    fn key(&mut self, key: &Key) -> Next {
        let page = self.setup.page();
        let shown = self.fitting(&page.choices);
        let leaves = *key == Key::ctrl('c') || *key == Key::ctrl('d');
        match key.code {
            KeyCode::Escape | KeyCode::Char(_) if leaves || key.code == KeyCode::Escape => self.moved(Setup::back),
            KeyCode::Enter if page.asks_key => {
                let typed = std::mem::take(&mut self.typed);
                self.moved(|setup| setup.give(&typed))
            }
            KeyCode::Enter => match shown.get(self.selected).copied() {
                Some(chosen) => self.moved(|setup| setup.choose(chosen)),
                None => Next::Show,
            },
            KeyCode::Up => self.select(self.selected.checked_sub(1).unwrap_or(shown.len().saturating_sub(1))),
            KeyCode::Down => self.select(if self.selected + 1 < shown.len() { self.selected + 1 } else { 0 }),
            KeyCode::Backspace => {
                self.typed.pop();
                self.select(0)
            }
            _ => {
                if let Some(char) = key.typed().filter(|char| !char.is_control()) {
                    self.typed.push(char);
                    self.selected = 0;
                }
                Next::Show
            }
        }
    }

    fn select(&mut self, row: usize) -> Next {
        self.selected = row;
        Next::Show
    }

    fn moved(&mut self, by: impl FnOnce(&mut Setup) -> Next) -> Next {
        self.typed.clear();
        self.selected = 0;
        by(&mut self.setup)
    }
}
