//! Chooses a theme, with a live preview of the selected one.

use omp_tui::{Input, KeyCode, Line, Mods, Space};

use super::picker::{Picker, Search};
use super::sheet::{Sheet, one_line};
use super::{Dialog, DialogStep};
use crate::action::Action;

#[derive(Debug)]
pub struct ThemeDialog {
    names: Vec<String>,
    /// The theme before the dialog opened.
    before: String,
    /// The theme that is previewed.
    shown: String,
    picker: Picker,
}

impl ThemeDialog {
    pub fn new(names: Vec<String>, current: &str) -> Self {
        let mut picker = Picker::new(names.iter().cloned(), Search::Words);
        if let Some(at) = names.iter().position(|name| name == current) {
            picker.point_at(at);
        }
        Self { names, before: current.to_owned(), shown: current.to_owned(), picker }
    }

    fn put_on(&mut self) -> DialogStep {
        match self.picker.pointed().map(|at| self.names[at].clone()) {
            Some(name) if name != self.shown => {
                self.shown.clone_from(&name);
                DialogStep::Do(Action::SetTheme { name, keep: false })
            }
            _ => DialogStep::Redraw,
        }
    }

    /// Restores the previous theme.
    fn cancel(&self) -> DialogStep {
        let changed = self.shown != self.before;
        DialogStep::Close(changed.then(|| Action::SetTheme { name: self.before.clone(), keep: false }))
    }
}

impl Dialog for ThemeDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, "Theme", "");
        let space = &sheet.inner();
        let row = |at: usize, selected| {
            let mark = if self.names[at] == self.before { " ✓" } else { "" };
            Sheet::item(space, selected, &format!("{}{mark}", one_line(&self.names[at])), "")
        };
        self.picker.draw(&mut sheet, "type to filter", row);
        sheet.finish(&[("enter", "keep"), ("esc", "cancel")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Input::Key(key) = input {
            match (key.mods, key.code) {
                _ if super::is_cancel(*key) => return self.cancel(),
                (Mods::NONE, KeyCode::Enter) => {
                    let chosen = self.picker.pointed().map(|at| self.names[at].clone());
                    return match chosen {
                        Some(name) => DialogStep::Close(Some(Action::SetTheme { name, keep: true })),
                        None => DialogStep::Ignored,
                    };
                }
                _ => {}
            }
        }
        if self.picker.input(input) { self.put_on() } else { DialogStep::Ignored }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::{both, says};
    use super::*;

    fn themes() -> ThemeDialog {
        let names = ["dark", "light", "high-contrast"].map(str::to_owned).to_vec();
        ThemeDialog::new(names, "light")
    }

    #[test]
    fn themes_to_choose_from() {
        insta::assert_snapshot!(both(&mut themes()), @"
        ╭─ Theme ──────────────────────────────────────────────────╮
        │ > type to filter                                         │
        ├──────────────────────────────────────────────────────────┤
        │   dark                                                   │
        │ ❯ light ✓                                                │
        │   high-contrast                                          │
        ├──────────────────────────────────────────────────────────┤
        │ enter keep · esc cancel                                  │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Theme ─────────────────────
        > type to filter
          dark
        ❯ light ✓
          high-contrast
        enter keep · esc cancel
        ");
    }

    #[test]
    fn a_theme_is_tried_kept_or_taken_off() {
        let set = |name: &str, keep: bool| format!("SetTheme {{ name: {name:?}, keep: {keep} }}");
        for (keys, step) in [
            ("down", format!("Do({})", set("high-contrast", false))),
            ("down up", format!("Do({})", set("light", false))),
            ("d a", "Redraw".to_owned()),
            ("d", format!("Do({})", set("dark", false))),
            ("down enter", format!("Close(Some({}))", set("high-contrast", true))),
            ("down escape", format!("Close(Some({}))", set("light", false))),
            ("escape", "Close(None)".to_owned()),
            ("z z enter", "Ignored".to_owned()),
        ] {
            assert_eq!(says(&mut themes(), keys), step, "{keys}");
        }
        assert_eq!(says(&mut ThemeDialog::new(Vec::new(), "gone"), "enter"), "Ignored");
    }
}
