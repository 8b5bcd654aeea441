//! Decoded input of the user at the terminal.

mod csi;
mod decoder;
mod key_name;
mod keys;
mod paste;
mod reply;

use std::fmt;

pub use decoder::{Decoded, InputDecoder};
pub use key_name::KeyNameError;
pub use reply::TerminalReply;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Key(Key),
    /// A bracketed paste, unchanged except for line breaks as `\n`.
    Paste(String),
    Mouse(Mouse),
    /// The terminal gained or lost the focus.
    Focus(bool),
}

/// A key that was pressed or repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub code: KeyCode,
    pub mods: Mods,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyCode {
    /// As typed: `A` with shift, in lower case with ctrl or alt.
    Char(char),
    Enter,
    Escape,
    Tab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods(u8);

impl Mods {
    pub const NONE: Mods = Mods(0);
    pub const SHIFT: Mods = Mods(1);
    pub const ALT: Mods = Mods(1 << 1);
    pub const CTRL: Mods = Mods(1 << 2);
    pub const SUPER: Mods = Mods(1 << 3);

    pub const fn with(self, other: Mods) -> Mods {
        Mods(self.0 | other.0)
    }

    pub const fn without(self, other: Mods) -> Mods {
        Mods(self.0 & !other.0)
    }

    pub const fn has(self, other: Mods) -> bool {
        self.0 & other.0 == other.0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    pub kind: MouseKind,
    /// Screen column, counted from 0.
    pub column: u16,
    pub row: u16,
    pub mods: Mods,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    Press,
    Release,
    Drag,
    ScrollUp,
    ScrollDown,
}

impl Key {
    pub const fn new(code: KeyCode, mods: Mods) -> Self {
        Self { code, mods }
    }

    pub const fn plain(code: KeyCode) -> Self {
        Self::new(code, Mods::NONE)
    }

    pub const fn ctrl(char: char) -> Self {
        Self::new(KeyCode::Char(char), Mods::CTRL)
    }

    pub const fn alt(char: char) -> Self {
        Self::new(KeyCode::Char(char), Mods::ALT)
    }

    /// Returns the character that this key types.
    pub fn typed(&self) -> Option<char> {
        let quiet = Mods::CTRL.with(Mods::ALT).with(Mods::SUPER);
        match self.code {
            KeyCode::Char(char) if self.mods == self.mods.without(quiet) => Some(char),
            _ => None,
        }
    }
}

/// Formats a key as keybinding files do: `ctrl+shift+p`, `alt+enter`, `pageUp`.
impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(Mods::CTRL, "ctrl"), (Mods::SHIFT, "shift"), (Mods::ALT, "alt"), (Mods::SUPER, "super")];
        for (_, name) in names.iter().filter(|(modifier, _)| self.mods.has(*modifier)) {
            write!(out, "{name}+")?;
        }
        match self.code {
            KeyCode::Char(' ') => write!(out, "space"),
            KeyCode::Char(char) => write!(out, "{char}"),
            KeyCode::F(number) => write!(out, "f{number}"),
            KeyCode::PageUp => write!(out, "pageUp"),
            KeyCode::PageDown => write!(out, "pageDown"),
            other => write!(out, "{}", format!("{other:?}").to_lowercase()),
        }
    }
}

#[cfg(test)]
mod decoder_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_that_files_use() {
        for (key, name) in [
            (Key::ctrl('c'), "ctrl+c"),
            (Key::plain(KeyCode::PageUp), "pageUp"),
            (Key::plain(KeyCode::Escape), "escape"),
            (Key::new(KeyCode::Char('p'), Mods::CTRL.with(Mods::SHIFT)), "ctrl+shift+p"),
            (Key::new(KeyCode::Enter, Mods::ALT), "alt+enter"),
            (Key::plain(KeyCode::Char(' ')), "space"),
            (Key::plain(KeyCode::F(5)), "f5"),
        ] {
            assert_eq!(key.to_string(), name);
        }
    }

    #[test]
    fn only_plain_and_shifted_characters_type() {
        assert_eq!(Key::new(KeyCode::Char('A'), Mods::SHIFT).typed(), Some('A'));
        assert_eq!(Key::ctrl('a').typed(), None);
        assert_eq!(Key::plain(KeyCode::Enter).typed(), None);
    }
}
