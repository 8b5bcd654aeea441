//! A question of the model: one option, several options, or a typed answer.

use omp_agent::Choice;
use omp_session::Answer;
use omp_stdx::display_width;
use omp_tui::{Component as _, Editor, Input, Key, KeyCode, Line, ListWindow, Mods, Reaction, Space, Token};

use super::quiet::Quiet;
use super::sheet::{Sheet, indented, mark, one_line, wrapped};
use super::{Dialog, DialogStep};
use crate::action::Action;
use crate::keymap::KeyContext;

const OTHER: &str = "Other (type your own)";

#[derive(Debug)]
pub struct AskDialog {
    id: u64,
    choice: Choice,
    pointer: ListWindow,
    /// Whether each option is checked, if several may be chosen.
    ticked: Vec<bool>,
    own: Editor,
    typing: bool,
    quiet: Quiet,
}

impl AskDialog {
    pub fn new(id: u64, choice: Choice) -> Self {
        let recommended = choice.recommended.filter(|at| *at < choice.options.len());
        let mut pointer = ListWindow::default();
        pointer.select(recommended.unwrap_or(0));
        let ticked = (0..choice.options.len()).map(|at| choice.multi && Some(at) == recommended).collect();
        // Without options the answer must be typed.
        let typing = choice.options.is_empty();
        Self { id, choice, pointer, ticked, own: answer_editor(), typing, quiet: Quiet::default() }
    }

    /// For a question that the user cannot have read yet.
    pub(crate) fn quiet(mut self, quiet: Quiet) -> Self {
        self.quiet = quiet;
        self
    }

    fn rows(&self) -> usize {
        self.choice.options.len() + usize::from(!self.has_only_options())
    }

    /// Without options the answer must be typed.
    fn has_only_options(&self) -> bool {
        self.choice.is_closed && !self.choice.options.is_empty()
    }

    fn on_other(&self) -> bool {
        self.pointer.selected() == self.choice.options.len()
    }

    fn answer(&self, answer: Answer) -> DialogStep {
        DialogStep::Close(Some(Action::Answer { id: self.id, answer }))
    }

    fn choose(&mut self, at: usize) -> DialogStep {
        self.pointer.select(at.min(self.rows() - 1));
        if self.on_other() {
            self.typing = true;
        } else if self.choice.multi {
            self.ticked[at] = !self.ticked[at];
        } else {
            return self.answer(Answer::Text(self.choice.options[at].label.clone()));
        }
        DialogStep::Redraw
    }

    /// Enter takes the selected option, or all checked options.
    fn take(&mut self) -> DialogStep {
        if self.on_other() && !self.typing {
            self.typing = true;
            return DialogStep::Redraw;
        }
        let own = self.own.expanded_text();
        let own = own.trim();
        if !self.choice.multi {
            return match self.typing {
                true if own.is_empty() => DialogStep::Ignored,
                true => self.answer(Answer::Text(own.to_owned())),
                false => self.choose(self.pointer.selected()),
            };
        }
        let ticked = self.choice.options.iter().zip(&self.ticked).filter(|(_, ticked)| **ticked);
        let mut chosen: Vec<_> = ticked.map(|(option, _)| option.label.clone()).collect();
        chosen.extend((!own.is_empty()).then(|| own.to_owned()));
        match chosen.is_empty() {
            true => DialogStep::Ignored,
            false => self.answer(Answer::Choices(chosen)),
        }
    }

    fn type_own(&mut self, input: &Input) -> DialogStep {
        let has_options = !self.choice.options.is_empty();
        if let Input::Key(key) = input {
            match (key.mods, key.code) {
                (Mods::NONE, KeyCode::Enter) if self.own.continue_line() => return DialogStep::Redraw,
                (Mods::NONE, KeyCode::Enter) => return self.take(),
                (Mods::NONE, KeyCode::Up) if has_options && self.is_on_first_line() => {
                    return self.back_to_options(key);
                }
                (Mods::NONE, KeyCode::Escape) if has_options => return self.back_to_options(key),
                (Mods::NONE, KeyCode::Escape) | (Mods::CTRL, KeyCode::Char('c')) => return self.answer(Answer::No),
                (Mods::CTRL, KeyCode::Char('g')) => {
                    return DialogStep::Do(Action::EditDialogOutside(self.own.expanded_text()));
                }
                _ => {}
            }
        }
        super::picked(self.own.input(input) == Reaction::Taken)
    }

    fn is_on_first_line(&self) -> bool {
        !self.own.text()[..self.own.cursor()].contains('\n')
    }

    fn back_to_options(&mut self, key: &Key) -> DialogStep {
        self.typing = false;
        self.pointer.key(key, self.rows());
        DialogStep::Redraw
    }

    fn draw_own(&mut self, sheet: &mut Sheet<'_>) {
        let space = sheet.inner();
        self.own.set_max_rows((space.height / 3).max(3));
        sheet.extend(self.own.draw(&space));
    }

    fn option_rows(&self, at: usize, space: &Space<'_>) -> Vec<Line> {
        let option = &self.choice.options[at];
        let tick = match (self.choice.multi, self.ticked[at]) {
            (false, _) => "",
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
        };
        let facts = if self.choice.recommended == Some(at) { "recommended" } else { "" };
        let label = format!("{}. {tick}{}", at + 1, one_line(&option.label));
        let mut rows = label_rows(&label, facts, at == self.pointer.selected() && !self.typing, space);
        let muted = space.theme.fg(Token::Muted);
        let about = option.description.as_deref().unwrap_or_default();
        rows.extend(indented(wrapped(about, space.width.saturating_sub(5), muted), "     ", muted));
        rows
    }
}

/// The editor of the user's own answer.
fn answer_editor() -> Editor {
    let mut editor = Editor::default();
    editor.set_prompt("❯ ", Token::Accent);
    editor.set_placeholder("your answer");
    editor
}

/// Shows the whole option, however long it is.
fn label_rows(label: &str, facts: &str, selected: bool, space: &Space<'_>) -> Vec<Line> {
    let facts_width = if facts.is_empty() { 0 } else { facts.len() + 2 };
    if display_width::width(label) + facts_width + 2 <= space.width {
        return vec![Sheet::item(space, selected, label, facts)];
    }
    let style = space.theme.fg(if selected { Token::Accent } else { Token::Text });
    let whole = if facts.is_empty() { label.to_owned() } else { format!("{label} ({facts})") };
    indented(wrapped(&whole, space.width.saturating_sub(2), style), mark(selected), style)
}

impl Dialog for AskDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        let title = if self.choice.multi { "Choose any" } else { "Choose one" };
        let title = if self.choice.options.is_empty() { "Answer" } else { title };
        let mut sheet = Sheet::wide(space, title, "");
        let space = &sheet.inner();
        sheet.prose(&self.choice.question, space.theme.fg(Token::Text));
        sheet.section();
        // Options with descriptions may be long, so only those around the selection are shown.
        let window = self.pointer.visible(self.rows(), sheet.room());
        for at in window.clone().filter(|at| *at < self.choice.options.len()) {
            sheet.extend(self.option_rows(at, space));
        }
        if self.typing {
            self.draw_own(&mut sheet);
            let back = if self.choice.options.is_empty() { "do not answer" } else { "back" };
            return sheet.finish(&[
                ("enter", "answer"),
                ("esc", back),
                ("shift+enter", "new line"),
                ("ctrl+g", "your editor"),
            ]);
        }
        if window.end == self.rows() && !self.has_only_options() {
            let own = match self.own.is_empty() {
                true => OTHER.to_owned(),
                false => format!("Other: {}", one_line(self.own.text())),
            };
            sheet.push(Sheet::item(space, self.on_other(), &format!("{}. {own}", self.rows()), ""));
        }
        match self.choice.multi {
            true => sheet.finish(&[("enter", "answer"), ("space", "tick"), ("esc", "skip")]),
            false => sheet.finish(&[("enter", "choose"), ("esc", "skip")]),
        }
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Some(step) = self.quiet.astray(input) {
            return step;
        }
        if self.typing {
            return self.type_own(input);
        }
        if let (Input::Paste(_), true) = (input, self.on_other()) {
            self.typing = true;
            return self.type_own(input);
        }
        let Input::Key(key) = input else { return DialogStep::Ignored };
        if self.pointer.key(key, self.rows()) {
            return DialogStep::Redraw;
        }
        match (key.mods, key.code) {
            (Mods::NONE, KeyCode::Enter) => self.take(),
            (Mods::NONE, KeyCode::Escape) | (Mods::CTRL, KeyCode::Char('c')) => self.answer(Answer::No),
            (Mods::NONE, KeyCode::Char(' ')) => match self.choice.multi {
                true => self.choose(self.pointer.selected()),
                false => DialogStep::Ignored,
            },
            (Mods::NONE, KeyCode::Char(digit @ '1'..='9')) => match digit as usize - '1' as usize {
                at if at < self.rows() => self.choose(at),
                _ => DialogStep::Ignored,
            },
            _ if self.on_other() && self.own.input(input) == Reaction::Taken => {
                self.typing = true;
                DialogStep::Redraw
            }
            _ => DialogStep::Ignored,
        }
    }

    fn edited(&mut self, text: &str) {
        self.own.set_text(text);
        self.typing = true;
    }

    fn context(&self) -> KeyContext {
        if self.typing { KeyContext::Editor } else { KeyContext::List }
    }
}

#[cfg(test)]
pub(super) mod tests;
