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

    /// Returns the width of the labels if the facts fit beside them.
    fn names_width(&self, width: usize) -> Option<usize> {
        let widest = |text: fn(&CommandChoice) -> &str| {
            self.items.iter().map(|item| display_width::width(&one_line(text(item)))).max().unwrap_or_default()
        };
        let facts = widest(|item| &item.facts) + 2;
        let room = width.saturating_sub(display_width::width(mark(false)) + facts);
        (facts <= width / 2).then(|| widest(|item| &item.label).min(room))
    }

    fn chosen(&self) -> Option<Action> {
        let item = &self.items[self.picker.pointed()?];
        Some(match item.is_begun {
            true => Action::SetText(item.line.clone()),
            false => Action::Say(item.line.clone()),
        })
    }
}

impl Dialog for MenuDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, &self.title, "");
        let inner = sheet.inner();
        let names = self.names_width(inner.width);
        let row = |at: usize, selected| {
            let (label, facts) = (one_line(&self.items[at].label), one_line(&self.items[at].facts));
            match names {
                Some(names) if !facts.is_empty() => Sheet::item_in_columns(&inner, selected, (&label, names), &facts),
                _ => Sheet::item(&inner, selected, &label, ""),
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
