//! Test support for components: key names in, rows of plain text out.

use crate::component::{Component, Reaction, Space};
use crate::input::{Input, Key, KeyCode};
use crate::theme::Theme;

/// Presses keys in sequence: single characters are typed, `_` stands for a space, and other keys are named as in keybinding
/// files. Returns the reaction to the last key.
pub(crate) fn press(component: &mut (impl Component + ?Sized), keys: &str) -> Reaction {
    let mut last = Reaction::Ignored;
    for name in keys.split_whitespace() {
        let mut chars = name.chars();
        let key = match (chars.next(), chars.next()) {
            (Some('_'), None) => Key::plain(KeyCode::Char(' ')),
            (Some(char), None) => Key::plain(KeyCode::Char(char)),
            _ => Key::parse(name).unwrap_or_else(|error| panic!("{error}")),
        };
        last = component.input(&Input::Key(key));
    }
    last
}

pub(crate) fn type_text(component: &mut (impl Component + ?Sized), text: &str) {
    for char in text.chars() {
        component.input(&Input::Key(Key::plain(KeyCode::Char(char))));
    }
}

/// Returns the rows at a width on a screen of 24 rows, with the cursor as `▏` before its cell.
pub(crate) fn rows(component: &mut (impl Component + ?Sized), width: usize) -> Vec<String> {
    let theme = Theme::colorless();
    let space = Space { width, height: 24, theme: &theme, focused: true, keys: &crate::DefaultKeys };
    let lines = component.draw(&space);
    for line in &lines {
        assert!(line.width() <= width.max(2), "{:?} is wider than {width}", line.text());
        assert!(line.spans.iter().all(|span| !span.text.contains(|char: char| char.is_control())), "{line:?}");
        assert!(line.cursor.is_none_or(|column| column < width.max(1)), "{line:?}");
    }
    let with_cursor = |line: &crate::line::Line| match line.cursor {
        None => line.text().trim_end().to_owned(),
        Some(column) => {
            let text = line.text();
            let before = omp_stdx::display_width::clip(&text, column).0;
            let missing = " ".repeat(column - omp_stdx::display_width::width(before));
            format!("{before}{missing}▏{}", &text[before.len()..]).trim_end().to_owned()
        }
    };
    lines.iter().map(with_cursor).collect()
}

/// Returns the rows as one text, for snapshots.
pub(crate) fn screen(component: &mut (impl Component + ?Sized), width: usize) -> String {
    rows(component, width).join("\n")
}
