//! Test helpers for dialogs: keys in, rows out.

use omp_tui::{Input, Key, KeyCode, Mods, Space, Theme};

use super::{Dialog, DialogStep};

/// Parses key names separated by spaces; a single character types itself.
pub(super) fn typed(keys: &str) -> Vec<Input> {
    keys.split(' ').filter(|name| !name.is_empty()).map(|name| Input::Key(key(name))).collect()
}

fn key(name: &str) -> Key {
    let mut mods = Mods::NONE;
    let mut rest = name;
    while let Some((modifier, key)) =
        rest.split_once('+').filter(|(modifier, key)| modifier.len() > 1 && !key.is_empty())
    {
        mods = mods.with(match modifier {
            "ctrl" => Mods::CTRL,
            "shift" => Mods::SHIFT,
            "alt" => Mods::ALT,
            other => panic!("{other}?"),
        });
        rest = key;
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "escape" => KeyCode::Escape,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageUp" => KeyCode::PageUp,
        "pageDown" => KeyCode::PageDown,
        one => KeyCode::Char(one.chars().next().unwrap()),
    };
    Key::new(code, mods)
}

/// Presses the keys and returns the step of the last one.
pub(super) fn press(dialog: &mut dyn Dialog, keys: &str) -> DialogStep {
    draw(dialog, 60);
    typed(keys).iter().map(|input| dialog.input(input)).last().unwrap()
}

/// Returns the last step, formatted as its action.
pub(crate) fn says(dialog: &mut dyn Dialog, keys: &str) -> String {
    format!("{:?}", press(dialog, keys))
}

pub(super) fn type_text(dialog: &mut dyn Dialog, text: &str) {
    for char in text.chars() {
        dialog.input(&Input::Key(Key::plain(KeyCode::Char(char))));
    }
}

pub(super) fn draw(dialog: &mut dyn Dialog, width: usize) -> String {
    let theme = Theme::colorless();
    let space = Space { width, height: 16, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
    let rows = dialog.draw(&space);
    for row in &rows {
        assert!(row.width() <= width, "{:?} is wider than {width}", row.text());
        assert!(row.spans.iter().all(|span| !span.text.contains(char::is_control)), "{row:?}");
    }
    assert!(rows.iter().filter(|row| row.cursor.is_some()).count() <= 1, "there is one cursor");
    rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
}

/// Draws the dialog at its usual width and at a narrow one.
pub(crate) fn both(dialog: &mut dyn Dialog) -> String {
    format!("{}{}\n{}", draw(dialog, 60), "-".repeat(30), draw(dialog, 30))
}
