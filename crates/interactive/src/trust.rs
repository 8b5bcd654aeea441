//! Asks whether a folder may run its own hooks, servers and commands, before there is a session.
//!
//! No key trusts by accident: keys typed before the question could be read are dropped, and Enter without a choice means no.

#[cfg(test)]
mod tests;
mod text;

use omp_tui::{Frame, Input, Key, KeyCode, Line, Renderer, Size, Space, Theme, Token};

pub use self::text::run_trust_in_text;
use crate::app::Leave;
use crate::dialogs::{Quiet, Sheet, wrapped};
use crate::tty::{Tty, TtyEvent};

/// Rows around the list of what would run.
const FRAME_ROWS: usize = 14;
const LEAST_ROWS: usize = 3;

/// The content of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustQuestion {
    pub folder: String,
    /// The folder was trusted before and has changed.
    pub changed: bool,
    /// The lines of each item, the first its name.
    pub items: Vec<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    Trust,
    NotNow,
    /// The terminal was closed or a signal arrived before an answer.
    Gone(Leave),
}

impl TrustQuestion {
    fn title(&self) -> String {
        match self.changed {
            false => "This folder contains things that would run".to_owned(),
            true => "What this folder would run has changed since you trusted it".to_owned(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = &String> {
        self.items.iter().flatten()
    }
}

/// Asks until there is an answer.
pub async fn run_trust(tty: &mut dyn Tty, theme: &Theme, question: &TrustQuestion) -> TrustAnswer {
    let mut renderer = Renderer::new(tty.profile(), tty.size());
    let mut dialog = TrustDialog::new(question);
    let answer = loop {
        paint(tty, &mut renderer, theme, &mut dialog);
        match tty.next().await {
            TtyEvent::Input(input) => {
                if let Some(answer) = dialog.input(&input) {
                    break answer;
                }
            }
            TtyEvent::Resize(size) => renderer.resize(size),
            TtyEvent::Profile(profile) => renderer.set_profile(profile),
            TtyEvent::Background(_) => {}
            TtyEvent::Stop => {
                leave(tty, &mut renderer);
                tty.suspend();
            }
            TtyEvent::Continued => renderer.begin_again(),
            TtyEvent::Terminated(why) => break TrustAnswer::Gone(why),
            TtyEvent::Closed => break TrustAnswer::Gone(Leave::HungUp),
        }
    };
    leave(tty, &mut renderer);
    answer
}

fn leave(tty: &mut dyn Tty, renderer: &mut Renderer) {
    let mut bytes = Vec::new();
    renderer.end(&mut bytes);
    tty.write(&bytes);
}

fn paint(tty: &mut dyn Tty, renderer: &mut Renderer, theme: &Theme, dialog: &mut TrustDialog<'_>) {
    let Size { width, height } = renderer.size();
    let rows = dialog.draw(&Space { width, height, theme, focused: true, keys: &omp_tui::DefaultKeys });
    let mut bytes = Vec::new();
    renderer.paint(&Frame { rows: &rows, settled: 0, overlay: None }, &mut bytes);
    tty.write(&bytes);
    tty.set_rows_below(renderer.rows_below());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    NotNow,
    Trust,
    More,
}

struct TrustDialog<'a> {
    question: &'a TrustQuestion,
    quiet: Quiet,
    selected: usize,
    /// The index of the first visible row.
    first: usize,
    /// The number of visible rows and of all rows.
    page: (usize, usize),
}

impl<'a> TrustDialog<'a> {
    fn new(question: &'a TrustQuestion) -> Self {
        // The user may have typed ahead.
        Self { question, quiet: Quiet::after(true), selected: 0, first: 0, page: (0, 0) }
    }

    fn choices(&self) -> Vec<(Choice, &'static str, &'static str)> {
        let mut choices = vec![
            (Choice::NotNow, "Not now", "start without it"),
            (Choice::Trust, "Trust this folder", "omp asks again when something changes"),
        ];
        if self.page.1 > self.page.0 {
            choices.push((Choice::More, "Show more", ""));
        }
        choices
    }

    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        let mut sheet = Sheet::wide(space, &self.question.title(), "");
        let inner = sheet.inner();
        let text = space.theme.fg(Token::Text);
        let what: Vec<Line> = self.question.lines().flat_map(|line| wrapped(line, inner.width, text)).collect();
        let room = space.height.saturating_sub(FRAME_ROWS).max(LEAST_ROWS);
        self.page = (room.min(what.len()), what.len());
        self.first = self.first.min(what.len() - self.page.0);
        sheet.muted(&self.question.folder);
        sheet.section();
        let (total, last) = (what.len(), self.first + self.page.0);
        sheet.extend(what.into_iter().skip(self.first).take(self.page.0));
        if total > self.page.0 {
            sheet.muted(&format!("rows {}–{last} of {total}", self.first + 1));
        }
        sheet.section();
        sheet.choices(self.selected, self.choices().into_iter().map(|(_, label, detail)| (label, detail)));
        sheet.finish(&[("enter", "select"), ("esc", "not now")])
    }

    fn input(&mut self, input: &Input) -> Option<TrustAnswer> {
        let Input::Key(key) = input else { return None };
        if *key == Key::ctrl('c') || *key == Key::ctrl('d') {
            return Some(TrustAnswer::NotNow);
        }
        if self.quiet.astray(input).is_some() {
            return None;
        }
        let choices = self.choices();
        match key.code {
            KeyCode::Escape => return Some(TrustAnswer::NotNow),
            KeyCode::Up => self.selected = self.selected.checked_sub(1).unwrap_or(choices.len() - 1),
            KeyCode::Down => self.selected = (self.selected + 1) % choices.len(),
            KeyCode::PageUp => self.first = self.first.saturating_sub(self.page.0),
            KeyCode::PageDown => self.show_more(),
            KeyCode::Enter => match choices.get(self.selected).map(|choice| choice.0) {
                Some(Choice::Trust) => return Some(TrustAnswer::Trust),
                Some(Choice::NotNow) => return Some(TrustAnswer::NotNow),
                Some(Choice::More) | None => self.show_more(),
            },
            _ => {}
        }
        None
    }

    /// Shows the next rows, or the first ones after the last.
    fn show_more(&mut self) {
        let (shown, all) = self.page;
        self.first = if self.first + shown >= all { 0 } else { self.first + shown };
    }
}
