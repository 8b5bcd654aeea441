//! May this call run? Shows what it would do, and takes no answer that was meant for something else.

use std::sync::Arc;

use omp_session::Answer;
use omp_tui::{Input, Key, KeyCode, Line, Mods, Space, Style, Token, Window};
use omp_view::View;
use serde_json::Value;

use super::card::{argument_rows, view_rows};
use super::field::Field;
use super::quiet::Quiet;
use super::sheet::{Sheet, indented};
use super::{Dialog, Step};
use crate::action::Action;

const OPTIONS: [(&str, &str); 3] = [("1. Yes", "y"), ("2. No", "n"), ("3. No, and say what to do instead", "t")];
const TELL: usize = 2;

/// A call that waits for the user.
#[derive(Clone, Debug)]
pub struct Approval {
    /// Of the question.
    pub id: u64,
    pub tool: String,
    pub arguments: Arc<Value>,
    pub reason: Option<String>,
    /// What the call would do, where the tool can tell.
    pub view: Option<View>,
}

#[derive(Debug)]
pub struct ApproveDialog {
    approval: Approval,
    pointer: Window,
    /// What to do instead, while it is typed.
    instead: Option<Field>,
    quiet: Quiet,
    scroll: usize,
    /// Rows of the body that are not seen below the last that is.
    below: usize,
    page: usize,
}

impl ApproveDialog {
    /// `typing`: whether somebody is writing in the editor at the moment.
    pub fn new(approval: Approval, typing: bool) -> Self {
        let quiet = Quiet::after(typing);
        Self { approval, pointer: Window::default(), instead: None, quiet, scroll: 0, below: 0, page: 1 }
    }

    fn answer(&self, answer: Answer) -> Step {
        Step::Close(Some(Action::Answer { id: self.approval.id, answer }))
    }

    fn choose(&mut self, option: usize) -> Step {
        self.pointer.select(option);
        match option {
            0 => self.answer(Answer::Yes),
            TELL => {
                self.instead = Some(Field::default());
                Step::Redraw
            }
            _ => self.answer(Answer::No),
        }
    }

    fn tell(&mut self, input: &Input) -> Step {
        let Some(field) = &mut self.instead else { return Step::Ignored };
        match input {
            Input::Key(Key { code: KeyCode::Enter, mods: Mods::NONE }) => match field.text().trim() {
                "" => self.answer(Answer::No),
                text => {
                    let text = text.to_owned();
                    self.answer(Answer::Text(text))
                }
            },
            Input::Key(Key { code: KeyCode::Escape, .. }) => {
                self.instead = None;
                Step::Redraw
            }
            other if field.input(other) => Step::Redraw,
            _ => Step::Ignored,
        }
    }

    fn scrolled(&mut self, key: Key) -> bool {
        let step = match (key.mods, key.code) {
            (Mods::NONE, KeyCode::PageDown) => self.page.min(self.below) as isize,
            (Mods::NONE, KeyCode::PageUp) => -(self.page.min(self.scroll) as isize),
            (Mods::SHIFT, KeyCode::Down) => 1.min(self.below) as isize,
            (Mods::SHIFT, KeyCode::Up) => -(1.min(self.scroll) as isize),
            _ => return false,
        };
        self.scroll = self.scroll.saturating_add_signed(step);
        self.below = self.below.saturating_add_signed(-step);
        true
    }

    fn draw_body(&mut self, sheet: &mut Sheet<'_>) {
        let inner = sheet.space.narrower(2);
        let rows = match &self.approval.view {
            Some(view) => view_rows(view, &inner),
            None => argument_rows(&self.approval.arguments, &inner),
        };
        self.page = sheet.room();
        self.scroll = self.scroll.min(rows.len().saturating_sub(self.page));
        self.below = rows.len().saturating_sub(self.scroll + self.page);
        let seen = rows.into_iter().skip(self.scroll).take(self.page).collect();
        indented(seen, "  ", Style::PLAIN).into_iter().for_each(|row| sheet.push(row));
        if self.below + self.scroll > 0 {
            sheet.muted(&format!("  … {} above, {} below (pageUp, pageDown)", self.scroll, self.below));
        }
    }
}

impl Dialog for ApproveDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        let mut sheet = Sheet::new(space, &format!("Allow {}?", self.approval.tool), "");
        if let Some(reason) = &self.approval.reason {
            sheet.prose(reason, space.theme.fg(Token::Warning));
        }
        self.draw_body(&mut sheet);
        if let Some(field) = &mut self.instead {
            sheet.push(field.draw("Instead: ", "what the model should do", space));
            return sheet.finish(&[("enter", "refuse and send"), ("esc", "back")]);
        }
        for (at, (option, key)) in OPTIONS.iter().enumerate() {
            sheet.push(Sheet::item(space, at == self.pointer.selected(), option, key));
        }
        sheet.finish(&[("enter", "choose"), ("esc", "refuse")])
    }

    fn input(&mut self, input: &Input) -> Step {
        if let Some(step) = self.quiet.astray(input) {
            return step;
        }
        if self.instead.is_some() {
            return self.tell(input);
        }
        let Input::Key(key) = input else { return Step::Ignored };
        if self.scrolled(*key) || self.pointer.key(key, OPTIONS.len()) {
            return Step::Redraw;
        }
        match (key.mods, key.code) {
            (Mods::NONE, KeyCode::Enter) => self.choose(self.pointer.selected()),
            (Mods::NONE, KeyCode::Escape) | (Mods::CTRL, KeyCode::Char('c')) => self.answer(Answer::No),
            (Mods::NONE | Mods::SHIFT, KeyCode::Char('1' | 'y' | 'Y')) => self.choose(0),
            (Mods::NONE | Mods::SHIFT, KeyCode::Char('2' | 'n' | 'N')) => self.choose(1),
            (Mods::NONE, KeyCode::Char('3' | 't') | KeyCode::Tab) => self.choose(TELL),
            _ => Step::Ignored,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
