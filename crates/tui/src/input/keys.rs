//! Maps the numbers and letters that terminals send to keys: xterm, rxvt, the Linux console, Kitty.

use super::{Key, KeyCode, Mods};

/// Decodes a byte below space, or DEL. If two keys share a byte, the named key wins: tab, not ctrl+i.
pub fn control(byte: u8) -> Option<Key> {
    let key = match byte {
        0x00 => Key::ctrl(' '),
        b'\t' => Key::plain(KeyCode::Tab),
        b'\r' => Key::plain(KeyCode::Enter),
        0x08 | 0x7f => Key::plain(KeyCode::Backspace),
        0x1b => Key::plain(KeyCode::Escape),
        0x01..=0x1a => Key::ctrl((byte - 1 + b'a') as char),
        0x1c..=0x1f => Key::ctrl((byte - 0x1c + b'\\') as char),
        _ => return None,
    };
    Some(key)
}

/// Builds a character key in the canonical form of [`KeyCode::Char`].
pub fn character(char: char, mods: Mods) -> Key {
    let quiet = Mods::CTRL.with(Mods::ALT).with(Mods::SUPER);
    let types = mods == mods.without(quiet);
    if char.is_uppercase() {
        let lower = lowercase(char);
        return Key::new(KeyCode::Char(if types { char } else { lower }), mods.with(Mods::SHIFT));
    }
    match types && mods.has(Mods::SHIFT) && char != ' ' {
        // With shift a letter is its capital. For other characters the shifted symbol is unknown.
        true if uppercase(char) != char => Key::new(KeyCode::Char(uppercase(char)), mods),
        true => Key::new(KeyCode::Char(char), mods.without(Mods::SHIFT)),
        false => Key::new(KeyCode::Char(char), mods),
    }
}

/// Decodes the final letter of `CSI 1;… A` and `SS3 A`.
pub fn letter(end: u8) -> Option<KeyCode> {
    let code = match end {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::F(end - b'P' + 1),
        _ => return None,
    };
    Some(code)
}

/// Decodes the number of `CSI 3 ~`.
pub fn tilde(number: u32) -> Option<KeyCode> {
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number as u8 - 10),
        17..=21 => KeyCode::F(number as u8 - 11),
        23..=26 => KeyCode::F(number as u8 - 12),
        28 | 29 => KeyCode::F(number as u8 - 13),
        31..=34 => KeyCode::F(number as u8 - 14),
        _ => return None,
    };
    Some(code)
}

/// Decodes `SS3` and the keypad in application mode, and rxvt's arrows with ctrl.
pub fn ss3(end: u8) -> Option<Key> {
    if let Some(code) = letter(end) {
        return Some(Key::plain(code));
    }
    let key = match end {
        b'M' => Key::plain(KeyCode::Enter),
        b'I' => Key::plain(KeyCode::Tab),
        b' ' => Key::plain(KeyCode::Char(' ')),
        b'X' => Key::plain(KeyCode::Char('=')),
        b'a'..=b'd' => Key::new(letter(end.to_ascii_uppercase())?, Mods::CTRL),
        b'j'..=b'y' => Key::plain(KeyCode::Char((end - b'j' + b'*') as char)),
        _ => return None,
    };
    Some(key)
}

/// Decodes keys that the Kitty protocol numbers in the private use area; returns `None` for unused ones.
pub fn kitty(number: u32) -> Option<KeyCode> {
    const KEYPAD: [KeyCode; 10] = [
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Insert,
        KeyCode::Delete,
    ];
    let code = match number {
        57376..=57398 => KeyCode::F((number - 57376) as u8 + 13),
        57399..=57408 => KeyCode::Char(char::from_digit(number - 57399, 10)?),
        57409..=57413 => KeyCode::Char(['.', '/', '*', '-', '+'][(number - 57409) as usize]),
        57414 => KeyCode::Enter,
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417..=57426 => KEYPAD[(number - 57417) as usize],
        _ => return None,
    };
    Some(code)
}

/// Decodes Windows virtual key codes of keys that type nothing.
pub fn windows(virtual_key: u32) -> Option<KeyCode> {
    let code = match virtual_key {
        0x08 => KeyCode::Backspace,
        0x09 => KeyCode::Tab,
        0x0d => KeyCode::Enter,
        0x1b => KeyCode::Escape,
        0x21 => KeyCode::PageUp,
        0x22 => KeyCode::PageDown,
        0x23 => KeyCode::End,
        0x24 => KeyCode::Home,
        0x25 => KeyCode::Left,
        0x26 => KeyCode::Up,
        0x27 => KeyCode::Right,
        0x28 => KeyCode::Down,
        0x2d => KeyCode::Insert,
        0x2e => KeyCode::Delete,
        0x70..=0x87 => KeyCode::F((virtual_key - 0x6f) as u8),
        _ => return None,
    };
    Some(code)
}

/// Maps one character to one character: `ß` stays.
fn uppercase(char: char) -> char {
    single(char, char.to_uppercase())
}

fn lowercase(char: char) -> char {
    single(char, char.to_lowercase())
}

fn single(char: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => char,
    }
}
