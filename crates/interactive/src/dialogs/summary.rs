//! Edits the compaction summary that replaces removed messages.

use omp_tui::{Component, Editor, Input, Key, KeyCode, Line, Reaction, Space};

use super::sheet::Sheet;
use super::{Dialog, DialogStep};
use crate::action::Action;
use crate::keymap::KeyContext;

pub struct SummaryDialog {
    editor: Editor,
    /// The summary that the model has now.
    before: String,
}

impl SummaryDialog {
    /// `before` is the current summary; `text` is the replacement being edited.
    pub fn new(before: String, text: &str) -> Self {
        let mut editor = Editor::default();
        editor.set_text(text);
        Self { editor, before }
    }
}

impl Dialog for SummaryDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::wide(space, "Summary", "what the model sees instead of the removed messages");
        self.editor.set_max_rows(sheet.room());
        sheet.extend(self.editor.draw(&sheet.inner()));
        sheet.finish(&[("enter", "keep"), ("shift+enter", "new line"), ("ctrl+g", "open in $EDITOR"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        match input {
            Input::Key(key) if super::is_cancel(*key) => DialogStep::Close(None),
            Input::Key(key) if *key == Key::plain(KeyCode::Enter) => {
                let text = self.editor.expanded_text();
                let changed = text.trim() != self.before.trim();
                DialogStep::Close(changed.then_some(Action::CorrectSummary(text)))
            }
            Input::Key(key) if *key == Key::ctrl('g') => {
                DialogStep::Close(Some(Action::EditSummaryOutside(self.editor.expanded_text())))
            }
            _ => super::picked(self.editor.input(input) == Reaction::Taken),
        }
    }

    fn context(&self) -> KeyContext {
        KeyContext::Editor
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::screen::{both, says};
    use super::*;

    pub fn dialog() -> SummaryDialog {
        SummaryDialog::new("The goal is a parser.\nTests pass.".into(), "The goal is a parser.\nTests pass.")
    }

    #[test]
    fn only_other_words_are_kept() {
        for (keys, step) in [
            ("enter", "Close(None)"),
            ("escape", "Close(None)"),
            ("! enter", r#"Close(Some(CorrectSummary("The goal is a parser.\nTests pass.!")))"#),
            ("shift+enter x enter", r#"Close(Some(CorrectSummary("The goal is a parser.\nTests pass.\nx")))"#),
            ("ctrl+g", r#"Close(Some(EditSummaryOutside("The goal is a parser.\nTests pass.")))"#),
        ] {
            assert_eq!(says(&mut dialog(), keys), step, "{keys}");
        }
    }

    #[test]
    fn the_summary_is_seen_as_it_is_written() {
        let shown = both(&mut dialog());
        for part in ["Summary  what the model", "The goal is a parser.", "Tests pass.", "enter keep"] {
            assert_eq!(shown.matches(part).count(), 2, "{part}: {shown}");
        }
    }
}
