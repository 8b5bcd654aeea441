//! The menu of a command: a list whose items are lines to submit.

use omp_session::CommandChoice;
use omp_stdx::display_width;
use omp_tui::{Input, Key, KeyCode, Line, Space};

use super::picker::{Picker, Search};
use super::sheet::{Sheet, mark, one_line};
use super::{Dialog, DialogStep};
use crate::action::Action;

#[derive(Debug)]
pub struct MenuDialog {
    title: String,
    items: Vec<CommandChoice>,
    picker: Picker,
}

impl MenuDialog {
    pub fn new(title: String, items: Vec<CommandChoice>) -> Self {
        let texts = items.iter().map(|item| format!("{} {}", item.label, item.facts));
        let picker = Picker::new(texts, Search::Words);
        Self { title, items, picker }
    }

    /// Returns the width of the labels. Labels are shortened for facts that need at most half of the row.
    fn names_width(&self, width: usize) -> usize {
        let facts = self.items.iter().map(|item| aside(&one_line(&item.facts)));
        let facts = facts.filter(|facts| *facts <= width / 2).max().unwrap_or_default();
        let labels = self.items.iter().map(|item| display_width::width(&one_line(&item.label)));
        labels.max().unwrap_or_default().min(width.saturating_sub(facts))
    }

    fn chosen(&self) -> Option<Action> {
        let item = &self.items[self.picker.pointed()?];
        Some(match item.is_begun {
            true => Action::SetText(item.line.clone()),
            false => Action::Say(item.line.clone()),
        })
    }
}

/// Returns the width of a row without its label.
fn aside(facts: &str) -> usize {
    display_width::width(mark(false)) + 2 + display_width::width(facts)
}

impl Dialog for MenuDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, &self.title, "");
        let inner = sheet.inner();
        let names = self.names_width(inner.width);
        let row = |at: usize, selected| {
            let (label, facts) = (one_line(&self.items[at].label), one_line(&self.items[at].facts));
            match !facts.is_empty() && names + aside(&facts) <= inner.width {
                true => Sheet::item_in_columns(&inner, selected, (&label, names), &facts),
                false => Sheet::item(&inner, selected, &label, ""),
            }
        };
        self.picker.draw(&mut sheet, "type to filter", row);
        sheet.finish(&[("enter", "choose"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Input::Key(key) = input {
            if super::is_cancel(*key) {
                return DialogStep::Close(None);
            }
            if *key == Key::plain(KeyCode::Enter) {
                return self.chosen().map_or(DialogStep::Ignored, |action| DialogStep::Close(Some(action)));
            }
        }
        super::picked(self.picker.input(input))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::screen::{both, says};
    use super::*;

    pub fn menu() -> MenuDialog {
        let item = |label: &str, facts: &str, line: &str, is_begun| CommandChoice {
            label: label.to_owned(),
            facts: facts.to_owned(),
            line: line.to_owned(),
            is_begun,
        };
        let items = vec![
            item("View the log", "12 KB", "/debug logs", false),
            item("Dump the next request", "", "/debug dump-next-request ", true),
        ];
        MenuDialog::new("Debug".to_owned(), items)
    }

    #[test]
    fn items_to_choose_from() {
        insta::assert_snapshot!(both(&mut menu()));
    }

    #[test]
    fn facts_stand_in_a_column_beside_the_labels_if_they_fit() {
        let item = |label: &str, facts: &str| CommandChoice {
            label: label.to_owned(),
            facts: facts.to_owned(),
            line: String::new(),
            is_begun: false,
        };
        let items = vec![
            item("Add a rule: ask …", "always ask first"),
            item("Remove: deny read(a/folder/with/a/long/name/secret.txt)", "your config.yml"),
            item("Close", ""),
            item("Log", "a fact that is too long to stand beside such a label"),
        ];
        insta::assert_snapshot!(both(&mut MenuDialog::new("Rules".to_owned(), items)), @"
        ╭─ Rules ──────────────────────────────────────────────────╮
        │ > type to filter                                         │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ Add a rule: ask …                     always ask first │
        │   Remove: deny read(a/folder/with/a/l…  your config.yml  │
        │   Close                                                  │
        │   Log                                                    │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc close                                 │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Rules ─────────────────────
        > type to filter
        ❯ Add a rule: ask …
          Remove: deny read(a/folder/…
          Close
          Log
        enter choose · esc close
        ");
    }

    #[test]
    fn an_item_is_a_line_to_submit() {
        for (keys, step) in [
            ("enter", "Close(Some(Say(\"/debug logs\")))"),
            ("down enter", "Close(Some(SetText(\"/debug dump-next-request \")))"),
            ("l o g enter", "Close(Some(Say(\"/debug logs\")))"),
            ("z z enter", "Ignored"),
            ("escape", "Close(None)"),
        ] {
            assert_eq!(says(&mut menu(), keys), step, "{keys}");
        }
    }
}
