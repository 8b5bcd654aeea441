//! Asks what to do with a finished plan.

use omp_tui::{Input, KeyCode, Line, ListWindow, Mods, Space};

use super::sheet::Sheet;
use super::{Dialog, DialogStep};
use crate::action::Action;

/// The choices, and the line that each submits. The first does nothing, so an accidental Enter does not execute the plan.
const CHOICES: [(&str, &str, Option<&str>); 3] = [
    ("Go on planning", "say what is missing", None),
    ("Carry it out", "the project may be changed", Some("/plan go")),
    ("Leave plan mode", "without carrying it out", Some("/plan")),
];

#[derive(Debug, Default)]
pub struct PlanDialog {
    pointer: ListWindow,
}

impl Dialog for PlanDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, "The plan", "local://PLAN.md");
        for (at, (what, about, _)) in CHOICES.iter().enumerate() {
            sheet.push(Sheet::item(space, at == self.pointer.selected(), what, about));
        }
        sheet.finish(&[("enter", "choose"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return DialogStep::Ignored };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => {
                let chosen = CHOICES.get(self.pointer.selected()).and_then(|(_, _, line)| *line);
                DialogStep::Close(chosen.map(|line| Action::Say(line.to_owned())))
            }
            _ => super::picked(self.pointer.key(key, CHOICES.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::{both, says};
    use super::*;

    #[test]
    fn a_plan_is_carried_out_only_when_that_was_chosen() {
        for (keys, step) in [
            ("enter", "Close(None)"),
            ("down enter", "Close(Some(Say(\"/plan go\")))"),
            ("down down enter", "Close(Some(Say(\"/plan\")))"),
            ("escape", "Close(None)"),
            ("y", "Ignored"),
        ] {
            assert_eq!(says(&mut PlanDialog::default(), keys), step, "{keys}");
        }
    }

    #[test]
    fn it_says_what_there_is_to_do() {
        insta::assert_snapshot!(both(&mut PlanDialog::default()), @"
        The plan  local://PLAN.md
        ❯ Go on planning                         say what is missing
          Carry it out                    the project may be changed
          Leave plan mode                    without carrying it out
        enter choose · esc close
        ------------------------------
        The plan  local://PLAN.md
        ❯ Go on planning
          Carry it out
          Leave plan mode
        enter choose · esc close
        ");
    }
}
