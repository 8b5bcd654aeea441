//! A single-line input with the keys of the editor that scrolls horizontally. Secrets are shown as dots.

use omp_stdx::display_width::{self, ellipsize};
use unicode_segmentation::UnicodeSegmentation;

use super::one_line;
use crate::component::{Component, Reaction, Space};
use crate::editor::{Did, EditingCommand, EditorDraft, Fragment, command};
use crate::input::Input;
use crate::line::Line;
use crate::style::Style;
use crate::theme::Token;

/// Longer than any key or path; the whole text is measured for every frame.
const MOST_BYTES: usize = 8 << 10;

#[derive(Clone, Debug, Default)]
pub struct InputLine {
    draft: EditorDraft,
    prompt: String,
    placeholder: String,
    secret: bool,
    /// The text column at the left edge.
    left: usize,
}

impl InputLine {
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }

    pub fn text(&self) -> &str {
        self.draft.buffer().text()
    }

    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    pub fn set_text(&mut self, text: &str) {
        self.draft.set(Fragment::plain(fitting(text)));
    }

    /// Returns and clears the text; a secret is also removed from the kill ring.
    pub fn take(&mut self) -> String {
        let taken = self.draft.clear().text;
        self.left = 0;
        if self.secret {
            self.draft = EditorDraft::default();
        }
        taken
    }

    pub fn set_secret(&mut self, secret: bool) {
        self.secret = secret;
    }

    pub fn is_secret(&self) -> bool {
        self.secret
    }

    pub fn set_prompt(&mut self, prompt: impl Into<String>) {
        self.prompt = prompt.into();
    }

    pub fn set_placeholder(&mut self, placeholder: impl Into<String>) {
        self.placeholder = placeholder.into();
    }

    /// Returns the visible form of a part of the text.
    fn seen(&self, text: &str) -> String {
        if self.secret { "•".repeat(text.graphemes(true).count()) } else { text.to_owned() }
    }

    /// Returns the part that fits, and the column of the cursor in it.
    fn window(&mut self, room: usize) -> (String, usize) {
        let (before, after) = self.text().split_at(self.draft.buffer().cursor());
        let (before, after) = (self.seen(before), self.seen(after));
        let column = display_width::width(&before);
        self.left = self.left.clamp((column + 1).saturating_sub(room), column);
        let all = before + &after;
        let hidden = display_width::clip(&all, self.left).0.len();
        // A wide character across the left edge is hidden completely.
        let start = all[hidden..].graphemes(true).next().filter(|_| display_width::width(&all[..hidden]) < self.left);
        let hidden = hidden + start.map_or(0, str::len);
        let cursor = column.saturating_sub(display_width::width(&all[..hidden]));
        (display_width::clip(&all[hidden..], room).0.to_owned(), cursor)
    }
}

impl Component for InputLine {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut line = Line::new();
        let prompt = one_line(&self.prompt);
        if display_width::width(&prompt) + 4 <= space.width {
            line.push(prompt, space.theme.fg(Token::Accent));
        }
        let start = line.width();
        let room = space.width.saturating_sub(start).max(1);
        let (text, cursor) = self.window(room);
        line.cursor = space.focused.then(|| (start + cursor).min(space.width.saturating_sub(1)));
        if self.is_empty() {
            line.push(ellipsize(&one_line(&self.placeholder), room).into_owned(), space.theme.fg(Token::Dim));
        } else {
            line.push(text, Style::PLAIN);
        }
        vec![line]
    }

    fn input(&mut self, input: &Input) -> Reaction {
        let command = match input {
            Input::Paste(text) => {
                self.draft.insert(Fragment::plain(fitting(text)));
                return Reaction::Taken;
            }
            Input::Key(key) => command(key),
            Input::Mouse(_) | Input::Focus(_) => None,
        };
        match command {
            Some(
                EditingCommand::Newline
                | EditingCommand::Up
                | EditingCommand::Down
                | EditingCommand::PageUp
                | EditingCommand::PageDown,
            )
            | None => Reaction::Ignored,
            Some(EditingCommand::JumpForward | EditingCommand::JumpBackward) => Reaction::Ignored,
            Some(EditingCommand::Type(_)) if self.text().len() > MOST_BYTES => Reaction::Taken,
            Some(command) => {
                let nothing_there = self.is_empty();
                let did = self.draft.apply(command);
                if did == Did::Nothing && nothing_there { Reaction::Ignored } else { Reaction::Taken }
            }
        }
    }
}

fn fitting(text: &str) -> String {
    let mut line = one_line(text.trim_end_matches(['\r', '\n']));
    line.truncate(line.floor_char_boundary(MOST_BYTES));
    line
}
