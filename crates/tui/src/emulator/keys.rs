//! Encodes keys as xterm does, regardless of what the outer terminal sent.

use crate::input::{Key, KeyCode, Mods};

const ESCAPE: u8 = 0x1b;

/// `application`: the program asked for the other form of the arrow keys (DECCKM).
pub fn encode(key: Key, application: bool) -> Vec<u8> {
    let Key { code, mods } = key;
    match code {
        KeyCode::Char(char) => character(char, mods),
        KeyCode::Enter => with_alt(b"\r", mods),
        KeyCode::Escape => with_alt(&[ESCAPE], mods),
        KeyCode::Tab if mods.has(Mods::SHIFT) => b"\x1b[Z".to_vec(),
        KeyCode::Tab => with_alt(b"\t", mods),
        KeyCode::Backspace if mods.has(Mods::CTRL) => with_alt(&[0x08], mods),
        KeyCode::Backspace => with_alt(&[0x7f], mods),
        KeyCode::Up => letter('A', mods, application),
        KeyCode::Down => letter('B', mods, application),
        KeyCode::Right => letter('C', mods, application),
        KeyCode::Left => letter('D', mods, application),
        KeyCode::Home => letter('H', mods, application),
        KeyCode::End => letter('F', mods, application),
        KeyCode::Insert => number(2, mods),
        KeyCode::Delete => number(3, mods),
        KeyCode::PageUp => number(5, mods),
        KeyCode::PageDown => number(6, mods),
        KeyCode::F(at @ 1..=4) => letter(char::from(b'P' + at - 1), mods, true),
        KeyCode::F(at) => function(at).map_or_else(Vec::new, |code| number(code, mods)),
    }
}

/// A pasted text, marked if the program asked for it. Nothing in it can end the mark or press another key.
pub fn pasted(text: &str, bracketed: bool) -> Vec<u8> {
    let kept = text.chars().filter(|char| !char.is_control() || matches!(char, '\n' | '\t'));
    let typed: String = kept.map(|char| if char == '\n' { '\r' } else { char }).collect();
    if bracketed { format!("\x1b[200~{typed}\x1b[201~").into_bytes() } else { typed.into_bytes() }
}

fn character(char: char, mods: Mods) -> Vec<u8> {
    let char = if mods.has(Mods::SHIFT) && char.is_ascii_lowercase() { char.to_ascii_uppercase() } else { char };
    let control = control(char).filter(|_| mods.has(Mods::CTRL));
    match control {
        Some(byte) => with_alt(&[byte], mods),
        None => with_alt(char.encode_utf8(&mut [0; 4]).as_bytes(), mods),
    }
}

/// The byte of a character with ctrl.
fn control(char: char) -> Option<u8> {
    let byte = match char {
        'a'..='z' => char as u8 - b'a' + 1,
        'A'..='Z' => char as u8 - b'A' + 1,
        ' ' | '@' | '2' => 0x00,
        '[' | '3' => 0x1b,
        '\\' | '4' => 0x1c,
        ']' | '5' => 0x1d,
        '^' | '6' => 0x1e,
        '_' | '/' | '7' | '-' => 0x1f,
        '?' | '8' => 0x7f,
        _ => return None,
    };
    Some(byte)
}

fn with_alt(bytes: &[u8], mods: Mods) -> Vec<u8> {
    let lead: &[u8] = if mods.has(Mods::ALT) { &[ESCAPE] } else { &[] };
    [lead, bytes].concat()
}

fn letter(end: char, mods: Mods, application: bool) -> Vec<u8> {
    match modifier(mods) {
        1 if application => format!("\x1bO{end}"),
        1 => format!("\x1b[{end}"),
        modifier => format!("\x1b[1;{modifier}{end}"),
    }
    .into_bytes()
}

fn number(code: u8, mods: Mods) -> Vec<u8> {
    match modifier(mods) {
        1 => format!("\x1b[{code}~"),
        modifier => format!("\x1b[{code};{modifier}~"),
    }
    .into_bytes()
}

/// Modifiers as xterm numbers them. It has no super key.
fn modifier(mods: Mods) -> u8 {
    1 + [(Mods::SHIFT, 1), (Mods::ALT, 2), (Mods::CTRL, 4)]
        .iter()
        .filter(|(modifier, _)| mods.has(*modifier))
        .map(|(_, value)| value)
        .sum::<u8>()
}

/// Returns the number that terminals send for F5 to F20. The numbers have gaps, as on the VT220's keyboard.
fn function(at: u8) -> Option<u8> {
    const NUMBERS: [u8; 16] = [15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34];
    NUMBERS.get(usize::from(at.checked_sub(5)?)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sent_as_xterm_sends_them() {
        let plain = Key::plain;
        for (key, normal, application) in [
            (plain(KeyCode::Char('a')), "a", "a"),
            (plain(KeyCode::Char('é')), "é", "é"),
            (Key::new(KeyCode::Char('A'), Mods::SHIFT), "A", "A"),
            (Key::ctrl('c'), "\x03", "\x03"),
            (Key::ctrl('z'), "\x1a", "\x1a"),
            (Key::new(KeyCode::Char('c'), Mods::CTRL.with(Mods::SHIFT)), "\x03", "\x03"),
            (Key::ctrl(' '), "\0", "\0"),
            (Key::ctrl('\\'), "\x1c", "\x1c"),
            (Key::ctrl('ö'), "ö", "ö"),
            (Key::alt('x'), "\x1bx", "\x1bx"),
            (Key::new(KeyCode::Char('x'), Mods::ALT.with(Mods::SHIFT)), "\x1bX", "\x1bX"),
            (Key::new(KeyCode::Char('x'), Mods::ALT.with(Mods::CTRL)), "\x1b\x18", "\x1b\x18"),
            (plain(KeyCode::Enter), "\r", "\r"),
            (Key::new(KeyCode::Enter, Mods::SHIFT), "\r", "\r"),
            (Key::new(KeyCode::Enter, Mods::ALT), "\x1b\r", "\x1b\r"),
            (plain(KeyCode::Escape), "\x1b", "\x1b"),
            (plain(KeyCode::Tab), "\t", "\t"),
            (Key::new(KeyCode::Tab, Mods::SHIFT), "\x1b[Z", "\x1b[Z"),
            (plain(KeyCode::Backspace), "\x7f", "\x7f"),
            (Key::new(KeyCode::Backspace, Mods::CTRL), "\x08", "\x08"),
            (plain(KeyCode::Up), "\x1b[A", "\x1bOA"),
            (plain(KeyCode::Left), "\x1b[D", "\x1bOD"),
            (plain(KeyCode::Home), "\x1b[H", "\x1bOH"),
            (Key::new(KeyCode::Right, Mods::CTRL), "\x1b[1;5C", "\x1b[1;5C"),
            (Key::new(KeyCode::Down, Mods::SHIFT.with(Mods::ALT)), "\x1b[1;4B", "\x1b[1;4B"),
            (Key::new(KeyCode::Up, Mods::SUPER), "\x1b[A", "\x1bOA"),
            (plain(KeyCode::Delete), "\x1b[3~", "\x1b[3~"),
            (Key::new(KeyCode::PageUp, Mods::CTRL), "\x1b[5;5~", "\x1b[5;5~"),
            (plain(KeyCode::F(1)), "\x1bOP", "\x1bOP"),
            (Key::new(KeyCode::F(4), Mods::SHIFT), "\x1b[1;2S", "\x1b[1;2S"),
            (plain(KeyCode::F(5)), "\x1b[15~", "\x1b[15~"),
            (plain(KeyCode::F(12)), "\x1b[24~", "\x1b[24~"),
            (plain(KeyCode::F(20)), "\x1b[34~", "\x1b[34~"),
            (plain(KeyCode::F(24)), "", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&encode(key, false)), normal, "{key}");
            assert_eq!(String::from_utf8_lossy(&encode(key, true)), application, "{key} in application mode");
        }
    }

    #[test]
    fn a_paste_cannot_press_other_keys() {
        let text = "one\ntwo\tthree\x1b[201~\x03 é";
        assert_eq!(String::from_utf8(pasted(text, false)).unwrap(), "one\rtwo\tthree[201~ é");
        assert_eq!(String::from_utf8(pasted(text, true)).unwrap(), "\x1b[200~one\rtwo\tthree[201~ é\x1b[201~");
    }
}
