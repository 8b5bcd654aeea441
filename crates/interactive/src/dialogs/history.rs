//! Fuzzy search in earlier prompts.

use omp_tui::{Input, KeyCode, Line, Mods, Space};

use super::picker::{Picker, Search};
use super::sheet::{Sheet, start_of};
use super::{Dialog, DialogStep};
use crate::action::Action;

/// Caps the characters of a prompt that are searched.
const SEARCHED: usize = 500;

#[derive(Debug)]
pub struct HistoryDialog {
    prompts: Vec<String>,
    picker: Picker,
}

impl HistoryDialog {
    /// Newest first. Duplicates are listed once.
    pub fn new(prompts: Vec<String>) -> Self {
        let mut seen = std::collections::HashSet::new();
        let prompts: Vec<String> =
            prompts.into_iter().filter(|prompt| !prompt.trim().is_empty() && seen.insert(prompt.clone())).collect();
        let searched = prompts.iter().map(|prompt| prompt[..prompt.floor_char_boundary(SEARCHED)].to_owned());
        let picker = Picker::new(searched.collect::<Vec<_>>(), Search::Fuzzy);
        Self { prompts, picker }
    }
}

impl Dialog for HistoryDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let note = format!("{} of {}", self.picker.matches().len(), self.picker.total());
        let mut sheet = Sheet::new(space, "History", &note);
        let space = &sheet.inner();
        let row = |at: usize, selected| {
            let lines = self.prompts[at].trim().lines().count();
            let facts = if lines > 1 { format!("{lines} lines") } else { String::new() };
            Sheet::item(space, selected, &start_of(&self.prompts[at]), &facts)
        };
        self.picker.draw(&mut sheet, "type to search", row);
        sheet.finish(&[("enter", "to the editor"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return super::picked(self.picker.input(input)) };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter | KeyCode::Tab) => match self.picker.pointed() {
                Some(at) => DialogStep::Close(Some(Action::SetText(self.prompts[at].clone()))),
                None => DialogStep::Ignored,
            },
            // The same key again selects the next match, as in a shell.
            (Mods::CTRL, KeyCode::Char('r')) => self.input(&Input::Key(omp_tui::Key::plain(KeyCode::Down))),
            _ => super::picked(self.picker.input(input)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use omp_testkit::Effort;

    use super::super::screen::{both, draw, says, type_text};
    use super::*;

    fn history() -> HistoryDialog {
        let prompts = ["fix the parser", "", "write a test\nfor the walker", "fix the parser", "explain the loop"];
        HistoryDialog::new(prompts.map(str::to_owned).to_vec())
    }

    #[test]
    fn earlier_prompts() {
        insta::assert_snapshot!(both(&mut history()), @"
        ╭─ History  3 of 3 ────────────────────────────────────────╮
        │ > type to search                                         │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ fix the parser                                         │
        │   write a test for the walker                    2 lines │
        │   explain the loop                                       │
        ├──────────────────────────────────────────────────────────┤
        │ enter to the editor · esc close                          │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── History  3 of 3 ───────────
        > type to search
        ❯ fix the parser
          write a test for t…  2 lines
          explain the loop
        enter to the editor
        ");
    }

    #[test]
    fn keys_choose() {
        for (keys, step) in [
            ("enter", r#"Close(Some(SetText("fix the parser")))"#),
            ("ctrl+r tab", r#"Close(Some(SetText("write a test\nfor the walker")))"#),
            ("w l k enter", r#"Close(Some(SetText("write a test\nfor the walker")))"#),
            ("l o o p enter", r#"Close(Some(SetText("explain the loop")))"#),
            ("z enter", "Ignored"),
            ("escape", "Close(None)"),
        ] {
            assert_eq!(says(&mut history(), keys), step, "{keys}");
        }
        assert_eq!(says(&mut HistoryDialog::new(Vec::new()), "enter"), "Ignored");
    }

    #[test]
    fn ten_thousand_prompts_are_searched_while_one_types() {
        let long = "a prompt with many words, as they are. ".repeat(50);
        let mut dialog = HistoryDialog::new((0..10_000).map(|at| format!("{at} {long}")).collect());
        let effort = Effort::begin();
        type_text(&mut dialog, "many 9999");
        let took = effort.spent() / 9;
        assert!(draw(&mut dialog, 60).contains("❯ 9999 a prompt"));
        // Measured in a debug build; a release build is much faster.
        assert!(took < Duration::from_millis(400), "{took:?} a key");
    }
}
