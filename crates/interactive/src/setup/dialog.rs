//! Draws a setup page and maps keys to choices.

use omp_stdx::display_width;
use omp_tui::{Input, Key, KeyCode, Line, Space, Style, Token, text};

use super::{Next, Setup};

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
        let (theme, width) = (space.theme, space.width.max(10));
        let mut rows = vec![Line::styled(page.title.clone(), theme.fg(Token::Accent).bold()), Line::new()];
        for line in &page.text {
            rows.extend(text::wrap_text(line, width, theme.fg(Token::Text)));
        }
        if !page.text.is_empty() {
            rows.push(Line::new());
        }
        if page.asks_key {
            let dots = "•".repeat(self.typed.chars().count().min(MOST_DOTS));
            let mut row = Line::styled("> ", theme.fg(Token::Accent)).with(dots, theme.fg(Token::Text));
            row.cursor = Some(row.width());
            rows.push(row);
        } else {
            rows.extend(self.choice_rows(&page.choices, space));
        }
        rows.push(Line::new());
        rows.push(Line::styled(self.hint(page.asks_key), theme.fg(Token::Dim)));
        rows.into_iter().map(|row| text::clip(row, width)).collect()
    }

    fn choice_rows(&self, choices: &[(String, String)], space: &Space<'_>) -> Vec<Line> {
        let theme = space.theme;
        let shown = self.fitting(choices);
        let first = (self.selected + 1).saturating_sub(MOST_ROWS);
        let widest = shown.iter().map(|at| display_width::width(&choices[*at].0)).max().unwrap_or_default();
        let mut rows: Vec<Line> = shown
            .iter()
            .enumerate()
            .skip(first)
            .take(MOST_ROWS)
            .map(|(row, at)| {
                let (label, detail) = &choices[*at];
                let (sign, style) = match row == self.selected {
                    true => ("❯ ", theme.fg(Token::Accent)),
                    false => ("  ", theme.fg(Token::Text)),
                };
                let label = display_width::pad(label, widest).into_owned();
                Line::styled(sign, style).with(label, style).with(format!("  {detail}"), theme.fg(Token::Muted))
            })
            .collect();
        if shown.len() > MOST_ROWS {
            rows.push(Line::styled(format!("  {} of {}", self.selected + 1, shown.len()), theme.fg(Token::Dim)));
        }
        if !self.typed.is_empty() {
            rows.push(Line::styled(format!("  filter: \"{}\"", self.typed), Style::PLAIN.fg(theme.color(Token::Dim))));
        }
        rows
    }

    fn hint(&self, asks_key: bool) -> &'static str {
        match asks_key {
            true => "enter save · esc back",
            false => "enter select · esc back · type to filter",
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
