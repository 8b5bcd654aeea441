//! Parses key names of keybinding files: `ctrl+shift+p`, `alt+enter`, `pageUp`.
//!
//! Files are written by hand, so any order of modifiers, any case and common aliases are accepted.

use std::fmt;

use omp_stdx::nearest::nearest;

use super::{Key, KeyCode, Mods};

/// The error for an unknown key name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyNameError {
    pub name: String,
    hint: String,
}

impl fmt::Display for KeyNameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\" is not a key\nhint: {}", self.name, self.hint)
    }
}

impl std::error::Error for KeyNameError {}

const MODIFIERS: [(&str, Mods); 11] = [
    ("ctrl", Mods::CTRL),
    ("control", Mods::CTRL),
    ("shift", Mods::SHIFT),
    ("alt", Mods::ALT),
    ("option", Mods::ALT),
    ("opt", Mods::ALT),
    ("meta", Mods::ALT),
    ("super", Mods::SUPER),
    ("cmd", Mods::SUPER),
    ("command", Mods::SUPER),
    ("win", Mods::SUPER),
];

const NAMED: [(&str, KeyCode); 47] = [
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("escape", KeyCode::Escape),
    ("esc", KeyCode::Escape),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("del", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("ins", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pgup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("pgdown", KeyCode::PageDown),
    ("pgdn", KeyCode::PageDown),
    ("backtick", KeyCode::Char('`')),
    ("hyphen", KeyCode::Char('-')),
    ("minus", KeyCode::Char('-')),
    ("equals", KeyCode::Char('=')),
    ("plus", KeyCode::Char('+')),
    ("underscore", KeyCode::Char('_')),
    ("leftbracket", KeyCode::Char('[')),
    ("rightbracket", KeyCode::Char(']')),
    ("backslash", KeyCode::Char('\\')),
    ("semicolon", KeyCode::Char(';')),
    ("quote", KeyCode::Char('\'')),
    ("comma", KeyCode::Char(',')),
    ("period", KeyCode::Char('.')),
    ("slash", KeyCode::Char('/')),
    ("exclamation", KeyCode::Char('!')),
    ("at", KeyCode::Char('@')),
    ("hash", KeyCode::Char('#')),
    ("dollar", KeyCode::Char('$')),
    ("percent", KeyCode::Char('%')),
    ("caret", KeyCode::Char('^')),
    ("ampersand", KeyCode::Char('&')),
    ("asterisk", KeyCode::Char('*')),
    ("pipe", KeyCode::Char('|')),
    ("tilde", KeyCode::Char('~')),
    ("question", KeyCode::Char('?')),
];

impl Key {
    /// Parses the name of a key.
    pub fn parse(name: &str) -> Result<Key, KeyNameError> {
        let trimmed = name.trim();
        let (modifiers, base) = split(trimmed);
        let mut mods = Mods::NONE;
        for modifier in modifiers.split('+').map(str::trim).filter(|part| !part.is_empty()) {
            mods = mods.with(modifier_named(modifier).ok_or_else(|| not_a_modifier(name, modifier))?);
        }
        let code = code_named(base).ok_or_else(|| not_a_key(name, base))?;
        Ok(Key { code, mods }.canonical())
    }

    /// Returns the same form for equal keys: terminals may or may not report shift with a symbol, and letters in either
    /// case.
    pub fn canonical(self) -> Key {
        let KeyCode::Char(char) = self.code else { return self };
        let held = Mods::CTRL.with(Mods::ALT).with(Mods::SUPER);
        let chord = self.mods != self.mods.without(held);
        if !char.is_alphabetic() {
            let needs_shift = !char.is_ascii_digit() && (!chord || is_shifted_symbol(char));
            return if needs_shift && char != ' ' {
                Key { mods: self.mods.without(Mods::SHIFT), ..self }
            } else {
                self
            };
        }
        let shifted = self.mods.has(Mods::SHIFT) || char.is_uppercase();
        let mods = if shifted { self.mods.with(Mods::SHIFT) } else { self.mods };
        let cased = if chord || !shifted { single(char.to_lowercase()) } else { single(char.to_uppercase()) };
        Key { code: KeyCode::Char(cased.unwrap_or(char)), mods }
    }
}

/// Splits at the last plus that separates two names; a plus may be the key itself.
fn split(name: &str) -> (&str, &str) {
    match name.strip_suffix('+') {
        Some("") => ("", name),
        Some(before) => (before, "+"),
        None => name.rsplit_once('+').unwrap_or(("", name)),
    }
}

fn modifier_named(name: &str) -> Option<Mods> {
    MODIFIERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mods)| *mods)
}

fn code_named(name: &str) -> Option<KeyCode> {
    let name = name.trim();
    if let Some(char) = single(name.chars()) {
        return (!char.is_control()).then_some(KeyCode::Char(single(char.to_lowercase()).unwrap_or(char)));
    }
    let named = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, code)| *code);
    named.or_else(|| {
        let number = name.strip_prefix(['f', 'F'])?.parse().ok()?;
        (1..=24).contains(&number).then_some(KeyCode::F(number))
    })
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// Symbols that are typed with shift, so that shift is implied.
fn is_shifted_symbol(char: char) -> bool {
    "!@#$%^&*()_+{}|:<>?~\"".contains(char)
}

fn not_a_modifier(name: &str, modifier: &str) -> KeyNameError {
    let known = nearest(modifier, MODIFIERS.iter().map(|(name, _)| *name));
    let hint = known.map_or_else(
        || "modifiers are ctrl, shift, alt and super, joined by +, as in ctrl+shift+p".to_owned(),
        |known| format!("did you mean {known} instead of {modifier}?"),
    );
    KeyNameError { name: name.to_owned(), hint }
}

fn not_a_key(name: &str, base: &str) -> KeyNameError {
    let known = nearest(base, NAMED.iter().map(|(name, _)| *name));
    let hint = match known {
        _ if modifier_named(base).is_some() => format!("{base} needs another key after it, as in {base}+p"),
        Some(known) => format!("did you mean {known} instead of {base}?"),
        None => "a key is one character, f1 to f24, or a name such as enter, escape, tab, space, pageUp".to_owned(),
    };
    KeyNameError { name: name.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_taken_as_people_write_them() {
        let with = |code, mods: &[Mods]| Key::new(code, mods.iter().fold(Mods::NONE, |all, more| all.with(*more)));
        for (name, key) in [
            ("ctrl+c", Key::ctrl('c')),
            ("Control+C", Key::ctrl('c')),
            ("shift+ctrl+p", with(KeyCode::Char('p'), &[Mods::CTRL, Mods::SHIFT])),
            ("option+Enter", with(KeyCode::Enter, &[Mods::ALT])),
            ("meta+x", Key::alt('x')),
            ("cmd+v", with(KeyCode::Char('v'), &[Mods::SUPER])),
            ("esc", Key::plain(KeyCode::Escape)),
            ("RETURN", Key::plain(KeyCode::Enter)),
            ("pageup", Key::plain(KeyCode::PageUp)),
            ("del", Key::plain(KeyCode::Delete)),
            ("space", Key::plain(KeyCode::Char(' '))),
            ("shift+space", with(KeyCode::Char(' '), &[Mods::SHIFT])),
            ("f12", Key::plain(KeyCode::F(12))),
            ("ctrl++", Key::ctrl('+')),
            ("ctrl+plus", Key::ctrl('+')),
            ("+", Key::plain(KeyCode::Char('+'))),
            ("ctrl+-", Key::ctrl('-')),
            ("ctrl+alt+]", with(KeyCode::Char(']'), &[Mods::CTRL, Mods::ALT])),
            ("shift+!", Key::plain(KeyCode::Char('!'))),
            ("A", Key::plain(KeyCode::Char('a'))),
            ("shift+a", with(KeyCode::Char('A'), &[Mods::SHIFT])),
            (" ctrl + o ", Key::ctrl('o')),
            ("ä", Key::plain(KeyCode::Char('ä'))),
        ] {
            assert_eq!(Key::parse(name), Ok(key), "{name}");
        }
    }

    #[test]
    fn bad_names_say_what_was_meant() {
        for (name, hint) in [
            ("crtl+c", "did you mean ctrl instead of crtl?"),
            ("ctrl+entr", "did you mean enter instead of entr?"),
            ("ctrl", "ctrl needs another key after it, as in ctrl+p"),
            ("", "a key is one character, f1 to f24, or a name such as enter, escape, tab, space, pageUp"),
            ("f99", "a key is one character, f1 to f24, or a name such as enter, escape, tab, space, pageUp"),
            ("hyperhyper+x", "modifiers are ctrl, shift, alt and super, joined by +, as in ctrl+shift+p"),
        ] {
            let error = Key::parse(name).unwrap_err().to_string();
            assert_eq!(error, format!("\"{name}\" is not a key\nhint: {hint}"));
        }
    }

    #[test]
    fn what_a_terminal_sends_is_one_key_whatever_its_protocol() {
        let shift = |code| Key::new(code, Mods::SHIFT);
        for (sent, key) in [
            (shift(KeyCode::Char('!')), Key::plain(KeyCode::Char('!'))),
            (Key::plain(KeyCode::Char('A')), shift(KeyCode::Char('A'))),
            (Key::new(KeyCode::Char('_'), Mods::CTRL.with(Mods::SHIFT)), Key::ctrl('_')),
            (shift(KeyCode::Tab), shift(KeyCode::Tab)),
            (Key::alt('P'), Key::new(KeyCode::Char('p'), Mods::ALT.with(Mods::SHIFT))),
        ] {
            assert_eq!(sent.canonical(), key);
        }
    }

    proptest! {
        #[test]
        fn a_name_that_is_shown_can_be_written(mods in 0u8..16, char in any::<char>()) {
            prop_assume!(!char.is_control() && !char.is_whitespace());
            let key = Key::new(KeyCode::Char(char), Mods(mods)).canonical();
            prop_assert_eq!(Key::parse(&key.to_string()), Ok(key));
        }

        #[test]
        fn no_name_is_too_odd(name in any::<String>()) {
            let _ = Key::parse(&name);
        }
    }
}
