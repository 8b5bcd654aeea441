//! Chooses the thinking level.

use omp_tui::{Input, KeyCode, Line, ListWindow, Mods, Space};
use omp_types::{Model, ThinkingLevel};

use super::model::levels_of;
use super::sheet::Sheet;
use super::{Dialog, DialogStep};
use crate::action::Action;

#[derive(Debug)]
pub struct ThinkingDialog {
    levels: Vec<ThinkingLevel>,
    current: ThinkingLevel,
    pointer: ListWindow,
}

impl ThinkingDialog {
    pub fn new(model: &Model, current: ThinkingLevel) -> Self {
        let levels = levels_of(model);
        let mut pointer = ListWindow::default();
        pointer.select(levels.iter().position(|level| *level == current).unwrap_or(0));
        Self { levels, current, pointer }
    }
}

fn about(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off => "no thinking",
        ThinkingLevel::Minimal => "very brief",
        ThinkingLevel::Low => "short",
        ThinkingLevel::Medium => "balanced",
        ThinkingLevel::High => "thorough",
        ThinkingLevel::Xhigh => "as long as needed",
    }
}

impl Dialog for ThinkingDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, "Thinking", "");
        let named = |level: &ThinkingLevel| format!("{level}{}", if *level == self.current { " ✓" } else { "" });
        let names: Vec<String> = self.levels.iter().map(named).collect();
        let levels = names.iter().zip(&self.levels).map(|(name, level)| (name.as_str(), about(*level)));
        sheet.choices(self.pointer.selected(), levels);
        sheet.finish(&[("enter", "choose"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return DialogStep::Ignored };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => {
                DialogStep::Close(self.levels.get(self.pointer.selected()).map(|level| Action::SetThinking(*level)))
            }
            _ => super::picked(self.pointer.key(key, self.levels.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::model;
    use super::super::screen::{both, says};
    use super::*;

    #[test]
    fn the_levels_of_the_model_are_offered() {
        insta::assert_snapshot!(both(&mut ThinkingDialog::new(&model("a/one", true), ThinkingLevel::Low)), @"
        ╭─ Thinking ───────────────────────────────────────────────╮
        │   off      no thinking                                   │
        │   minimal  very brief                                    │
        │ ❯ low ✓    short                                         │
        │   medium   balanced                                      │
        │   high     thorough                                      │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc close                                 │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Thinking ──────────────────
          off      no thinking
          minimal  very brief
        ❯ low ✓    short
          medium   balanced
          high     thorough
        enter choose · esc close
        ");
    }

    #[test]
    fn keys_choose() {
        for (thinks, keys, step) in [
            (true, "enter", "Close(Some(SetThinking(Low)))"),
            (true, "down enter", "Close(Some(SetThinking(Medium)))"),
            (true, "escape", "Close(None)"),
            (false, "down enter", "Close(Some(SetThinking(Off)))"),
            (false, "x", "Ignored"),
        ] {
            let mut dialog = ThinkingDialog::new(&model("a/one", thinks), ThinkingLevel::Low);
            assert_eq!(says(&mut dialog, keys), step, "{thinks} {keys}");
        }
    }
}
