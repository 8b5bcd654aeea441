//! Asks whether to summarize the abandoned branch, and with which instructions.

use omp_compaction::BranchNote;
use omp_tui::{Input, Key, KeyCode, Line, ListWindow, Mods, Space};

use super::field::Field;
use super::sheet::Sheet;
use super::{Dialog, DialogStep};
use crate::action::{Action, Destination};

const CHOICES: [(&str, &str); 3] = [
    ("No summary", "leave it as it is"),
    ("Summarize", "describe what was done"),
    ("Summarize with instructions", "say what matters"),
];

#[derive(Debug)]
pub struct BranchNoteDialog {
    to: Destination,
    pointer: ListWindow,
    /// The instructions while they are typed.
    how: Option<Field>,
}

impl BranchNoteDialog {
    pub fn new(to: Destination) -> Self {
        Self { to, pointer: ListWindow::default(), how: None }
    }

    fn go(&self, note: BranchNote) -> DialogStep {
        DialogStep::Close(Some(Action::LeaveBranch { to: self.to.clone(), note }))
    }

    fn choose(&mut self) -> DialogStep {
        match self.pointer.selected() {
            0 => self.go(BranchNote::Nothing),
            1 => self.go(BranchNote::Summary(None)),
            _ => {
                self.how = Some(Field::default());
                DialogStep::Redraw
            }
        }
    }

    fn write(&mut self, input: &Input) -> DialogStep {
        let Some(field) = &mut self.how else { return DialogStep::Ignored };
        match input {
            Input::Key(key) if super::is_cancel(*key) => {
                self.how = None;
                DialogStep::Redraw
            }
            Input::Key(key) if *key == Key::plain(KeyCode::Enter) => {
                let how = Some(field.text().trim().to_owned()).filter(|how| !how.is_empty());
                self.go(BranchNote::Summary(how))
            }
            _ => super::picked(field.input(input)),
        }
    }
}

impl Dialog for BranchNoteDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, "Summarize this branch?", "");
        sheet.choices(self.pointer.selected(), CHOICES);
        if let Some(field) = &mut self.how {
            sheet.section();
            sheet.push(field.draw("How: ", "what the summary should cover", &sheet.inner()));
            return sheet.finish(&[("enter", "summarize"), ("esc", "back")]);
        }
        sheet.finish(&[("enter", "choose"), ("esc", "back")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if self.how.is_some() {
            return self.write(input);
        }
        let Input::Key(key) = input else { return DialogStep::Ignored };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(Some(self.to.chosen_in.open())),
            (Mods::NONE, KeyCode::Enter) => self.choose(),
            _ => super::picked(self.pointer.key(key, CHOICES.len())),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::screen::{both, says};
    use super::*;
    use crate::action::Chooser;

    pub fn dialog() -> BranchNoteDialog {
        BranchNoteDialog::new(Destination { entry: None, text: None, chosen_in: Chooser::Tree })
    }

    #[test]
    fn nothing_is_summed_up_unless_that_was_chosen() {
        let leaves = |note: &str| {
            let to = "Destination { entry: None, text: None, chosen_in: Tree }";
            format!("Close(Some(LeaveBranch {{ to: {to}, note: {note} }}))")
        };
        for (keys, step) in [
            ("enter", leaves("Nothing")),
            ("down enter", leaves("Summary(None)")),
            ("down down enter", "Redraw".to_owned()),
            ("down down enter a b enter", leaves("Summary(Some(\"ab\"))")),
            ("down down enter space enter", leaves("Summary(None)")),
            ("down down enter escape", "Redraw".to_owned()),
            ("down down enter escape escape", "Close(Some(ShowTree))".to_owned()),
            ("escape", "Close(Some(ShowTree))".to_owned()),
            ("x", "Ignored".to_owned()),
        ] {
            assert_eq!(says(&mut dialog(), keys), step, "{keys}");
        }
    }

    #[test]
    fn it_says_what_there_is_to_choose() {
        insta::assert_snapshot!(both(&mut dialog()), @"
        ╭─ Summarize this branch? ─────────────────────────────────╮
        │ ❯ No summary                   leave it as it is         │
        │   Summarize                    describe what was done    │
        │   Summarize with instructions  say what matters          │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc back                                  │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Summarize this branch? ────
        ❯ No summary
          Summarize
          Summarize with instructions
        enter choose · esc back
        ");
    }
}
