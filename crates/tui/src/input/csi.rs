//! Decodes one complete `CSI` sequence.

use super::keys;
use super::reply::{self, TerminalReply};
use super::{Input, Key, KeyCode, Mods, Mouse, MouseKind};

#[derive(Debug, PartialEq, Eq)]
pub enum Csi {
    Input(Input),
    /// Text of an input method, or of a key that types more than one character.
    Text(Vec<Key>),
    Reply(TerminalReply),
    PasteBegins,
    /// An old mouse report; three bytes follow.
    OldMouse,
    /// A complete sequence that is not used here, such as a key release.
    Nothing,
}

/// The bytes between `CSI` and the final byte.
#[derive(Clone, Copy)]
pub struct CsiParams<'a>(&'a [u8]);

impl<'a> CsiParams<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the first number of a parameter.
    pub fn get(&self, at: usize) -> Option<u32> {
        self.sub(at, 0)
    }

    /// Returns a sub-parameter; sub-parameters are separated by colons.
    pub fn sub(&self, at: usize, sub: usize) -> Option<u32> {
        number(self.0.split(|byte| *byte == b';').nth(at)?.split(|byte| *byte == b':').nth(sub)?)
    }

    fn subs(&self, at: usize) -> impl Iterator<Item = u32> + 'a {
        let param = self.0.split(|byte| *byte == b';').nth(at).unwrap_or_default();
        param.split(|byte| *byte == b':').filter_map(number)
    }

    fn count(&self) -> usize {
        self.0.split(|byte| *byte == b';').count()
    }
}

pub fn read(body: &[u8], end: u8) -> Csi {
    match body.first() {
        Some(b'?' | b'>' | b'=') => reply::private(body, end).map_or(Csi::Nothing, Csi::Reply),
        Some(b'<') => {
            mouse(CsiParams::new(&body[1..]), end).map_or(Csi::Nothing, |mouse| Csi::Input(Input::Mouse(mouse)))
        }
        _ => public(CsiParams::new(body), body.is_empty(), end),
    }
}

fn public(params: CsiParams<'_>, empty: bool, end: u8) -> Csi {
    match end {
        b'I' if empty => Csi::Input(Input::Focus(true)),
        b'O' if empty => Csi::Input(Input::Focus(false)),
        b'M' if empty => Csi::OldMouse,
        b'Z' => key(KeyCode::Tab, params, Mods::SHIFT),
        b'~' => tilde(params),
        b'u' => unicode(params, params.get(0), true),
        b'_' => windows(params),
        b't' => reply::window(params).map_or(Csi::Nothing, Csi::Reply),
        b'^' => rxvt(params, Mods::CTRL),
        b'@' => rxvt(params, Mods::CTRL.with(Mods::SHIFT)),
        b'$' => rxvt(params, Mods::SHIFT),
        b'a'..=b'd' => {
            keys::letter(end.to_ascii_uppercase()).map_or(Csi::Nothing, |code| key(code, params, Mods::SHIFT))
        }
        // A cursor report looks like F3, but has a row.
        b'R' if params.get(0).is_some_and(|row| row > 1) => Csi::Nothing,
        _ => keys::letter(end).map_or(Csi::Nothing, |code| key(code, params, Mods::NONE)),
    }
}

fn tilde(params: CsiParams<'_>) -> Csi {
    match params.get(0) {
        Some(200) => Csi::PasteBegins,
        // modifyOtherKeys: CSI 27 ; modifiers ; code ~
        Some(27) if params.count() == 3 => unicode(params, params.get(2), false),
        Some(number) => keys::tilde(number).map_or(Csi::Nothing, |code| key(code, params, Mods::NONE)),
        None => Csi::Nothing,
    }
}

fn rxvt(params: CsiParams<'_>, mods: Mods) -> Csi {
    let code = params.get(0).and_then(keys::tilde);
    code.map_or(Csi::Nothing, |code| Csi::Input(Input::Key(Key::new(code, mods))))
}

fn key(code: KeyCode, params: CsiParams<'_>, always: Mods) -> Csi {
    match HeldKeys::read(params, 1) {
        Some(held) => Csi::Input(Input::Key(Key::new(code, held.mods.with(always)))),
        None => Csi::Nothing,
    }
}

/// Decodes a key given by its code point, in the form of Kitty or modifyOtherKeys.
fn unicode(params: CsiParams<'_>, code: Option<u32>, kitty: bool) -> Csi {
    let Some(held) = HeldKeys::read(params, 1) else { return Csi::Nothing };
    let types = held.mods == held.mods.without(Mods::CTRL.with(Mods::ALT).with(Mods::SUPER));
    if kitty && types {
        let text: Vec<Key> =
            params.subs(2).filter_map(char::from_u32).filter(|char| !char.is_control()).map(typed).collect();
        if !text.is_empty() {
            return Csi::Text(text);
        }
    }
    let alternate = |sub| if kitty { params.sub(0, sub) } else { None };
    let key = code.and_then(|code| by_code_point(code, alternate(1), alternate(2), held));
    key.map_or(Csi::Nothing, |key| Csi::Input(Input::Key(key)))
}

fn typed(char: char) -> Key {
    keys::character(char, Mods::NONE)
}

fn by_code_point(code: u32, shifted: Option<u32>, base: Option<u32>, held: HeldKeys) -> Option<Key> {
    let HeldKeys { mods, caps_lock } = held;
    if let Some(named) = keys::kitty(code) {
        return Some(Key::new(named, mods));
    }
    // Unused keys: caps lock, media keys, single modifiers.
    if (57344..=63743).contains(&code) {
        return None;
    }
    if let Some(control) = u8::try_from(code).ok().and_then(keys::control) {
        return Some(Key::new(control.code, control.mods.with(mods)));
    }
    let as_char = |code: u32| char::from_u32(code).filter(|char| !char.is_control());
    let char = as_char(code)?;
    if mods == mods.without(Mods::CTRL.with(Mods::ALT).with(Mods::SUPER)) {
        let shifted = shifted.and_then(as_char).filter(|_| mods.has(Mods::SHIFT));
        let by_caps = if caps_lock && char.is_alphabetic() { Mods::SHIFT } else { Mods::NONE };
        return Some(keys::character(shifted.unwrap_or(char), mods.with(by_caps)));
    }
    // Shortcuts use the key position of a Latin keyboard in every layout.
    let base = base.and_then(as_char).filter(|base| base.is_ascii() && !char.is_ascii());
    Some(keys::character(base.unwrap_or(char), mods))
}

#[derive(Clone, Copy)]
struct HeldKeys {
    mods: Mods,
    caps_lock: bool,
}

impl HeldKeys {
    /// Returns `None` for a key release.
    fn read(params: CsiParams<'_>, at: usize) -> Option<Self> {
        const RELEASE: u32 = 3;
        if params.sub(at, 1) == Some(RELEASE) {
            return None;
        }
        let bits = params.get(at).unwrap_or(1).saturating_sub(1);
        let names = [
            (1, Mods::SHIFT),
            (2, Mods::ALT),
            (4, Mods::CTRL),
            (8, Mods::SUPER),
            // Hyper and meta.
            (16, Mods::SUPER),
            (32, Mods::ALT),
        ];
        let set = names.iter().filter(|(bit, _)| bits & bit != 0);
        Some(Self { mods: set.fold(Mods::NONE, |all, (_, one)| all.with(*one)), caps_lock: bits & 64 != 0 })
    }
}

/// win32-input-mode: `CSI key ; scan ; character ; down ; state ; repeat _`.
fn windows(params: CsiParams<'_>) -> Csi {
    if params.get(3) != Some(1) {
        return Csi::Nothing;
    }
    let state = params.get(4).unwrap_or(0);
    let char = params.get(2).and_then(char::from_u32).filter(|char| *char != '\0');
    // AltGr is reported as right alt with left ctrl, and types a character.
    let alt_gr = state & 0x09 == 0x09 && char.is_some_and(|char| !char.is_control());
    let names = [(0x10, Mods::SHIFT), (0x03, Mods::ALT), (0x0c, Mods::CTRL)];
    let held = names.iter().filter(|(bits, _)| state & bits != 0).fold(Mods::NONE, |all, (_, one)| all.with(*one));
    let mods = if alt_gr { held.without(Mods::ALT.with(Mods::CTRL)) } else { held };
    let key = match (params.get(0).and_then(keys::windows), char) {
        (Some(code), _) => Some(Key::new(code, mods)),
        (None, Some(char)) if char.is_control() => u8::try_from(u32::from(char))
            .ok()
            .and_then(keys::control)
            .map(|key| Key::new(key.code, key.mods.with(mods))),
        (None, Some(char)) => Some(keys::character(char, mods)),
        (None, None) => None,
    };
    key.map_or(Csi::Nothing, |key| Csi::Input(Input::Key(key)))
}

/// SGR: `CSI < button ; column ; row M`, or `m` for a release.
fn mouse(params: CsiParams<'_>, end: u8) -> Option<Mouse> {
    let cell = |at| params.get(at).map(|from_one| u16::try_from(from_one.saturating_sub(1)).unwrap_or(u16::MAX));
    match end {
        b'M' | b'm' => mouse_event(params.get(0)?, cell(1)?, cell(2)?, end == b'm'),
        _ => None,
    }
}

/// Returns `None` for unused events: moves without a button, horizontal wheels, extra buttons.
pub fn mouse_event(button: u32, column: u16, row: u16, released: bool) -> Option<Mouse> {
    let (moved, wheel) = (button & 32 != 0, button & 64 != 0);
    let kind = match (button & 3, wheel, moved) {
        (0, true, _) => MouseKind::ScrollUp,
        (1, true, _) => MouseKind::ScrollDown,
        (_, true, _) => return None,
        _ if button >= 128 => return None,
        _ if released => MouseKind::Release,
        (3, _, true) => return None,
        (3, _, false) => MouseKind::Release,
        (_, _, true) => MouseKind::Drag,
        (_, _, false) => MouseKind::Press,
    };
    let names = [(4, Mods::SHIFT), (8, Mods::ALT), (16, Mods::CTRL)];
    let mods = names.iter().filter(|(bit, _)| button & bit != 0).fold(Mods::NONE, |all, (_, one)| all.with(*one));
    Some(Mouse { kind, column, row, mods })
}

/// Accepts digits only; saturates at the maximum.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'))))
}
