//! Messages of the terminal: replies to queries, and subscribed notifications.

use super::csi::CsiParams;
use crate::theme::Rgb;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalReply {
    /// The Kitty keyboard protocol is supported; contains the current flags.
    KittyKeyboard(u32),
    /// DA1: every terminal answers it, so it marks the end of the replies to a query.
    Attributes(Vec<u16>),
    /// DECRQM: 1 set, 2 reset, 3 and 4 permanently so, 0 unknown.
    Mode { mode: u32, state: u32 },
    /// OSC 11.
    Background(Rgb),
    /// The user changed to a dark or a light appearance.
    Appearance { dark: bool },
    /// XTVERSION: name and version.
    Version(String),
    /// Kitty graphics.
    Graphics { supported: bool },
    /// OSC 99, with its capabilities.
    Notifications(String),
    /// DEC mode 2048: the size in cells.
    Size { width: usize, height: usize },
    /// One cell in pixels.
    CellPixels { width: u32, height: u32 },
}

/// `CSI ? …`, `CSI > …` and `CSI = …`.
pub fn private(body: &[u8], end: u8) -> Option<TerminalReply> {
    let rest = body.strip_prefix(b"?")?;
    if let Some(mode) = rest.strip_suffix(b"$") {
        let params = CsiParams::new(mode);
        return (end == b'y').then_some(TerminalReply::Mode { mode: params.get(0)?, state: params.get(1)? });
    }
    let params = CsiParams::new(rest);
    match end {
        b'u' => params.get(0).map(TerminalReply::KittyKeyboard),
        b'c' => {
            let all = (0..).map_while(|at| params.get(at)).take(32);
            Some(TerminalReply::Attributes(all.filter_map(|number| u16::try_from(number).ok()).collect()))
        }
        b'n' if params.get(0) == Some(997) => match params.get(1)? {
            1 => Some(TerminalReply::Appearance { dark: true }),
            2 => Some(TerminalReply::Appearance { dark: false }),
            _ => None,
        },
        _ => None,
    }
}

/// `CSI … t`: sizes.
pub fn window(params: CsiParams<'_>) -> Option<TerminalReply> {
    let (first, second) = (params.get(1)?, params.get(2)?);
    match params.get(0)? {
        48 if first > 0 && second > 0 => Some(TerminalReply::Size { width: second as usize, height: first as usize }),
        6 if first > 0 && second > 0 => Some(TerminalReply::CellPixels { width: second, height: first }),
        _ => None,
    }
}

pub fn osc(body: &[u8]) -> Option<TerminalReply> {
    let text = std::str::from_utf8(body).ok()?;
    let (number, rest) = text.split_once(';')?;
    match number {
        "11" => color(rest).map(TerminalReply::Background),
        // OSC 99 ; i=… : p=? ; what it can do
        "99" => {
            let (metadata, payload) = rest.split_once(';')?;
            let is_answer = metadata.split(':').any(|one| one == "p=?");
            is_answer.then(|| TerminalReply::Notifications(payload.to_owned()))
        }
        _ => None,
    }
}

pub fn dcs(body: &[u8]) -> Option<TerminalReply> {
    let version = body.strip_prefix(b">|")?;
    let text = String::from_utf8_lossy(version);
    Some(TerminalReply::Version(text.chars().filter(|char| !char.is_control()).collect()))
}

pub fn apc(body: &[u8]) -> Option<TerminalReply> {
    let answer = body.strip_prefix(b"G")?;
    let at = answer.iter().position(|byte| *byte == b';')?;
    Some(TerminalReply::Graphics { supported: &answer[at + 1..] == b"OK" })
}

/// Parses `rgb:RRRR/GGGG/BBBB` with one to four digits each, `rgba:`, or `#RRGGBB`.
fn color(text: &str) -> Option<Rgb> {
    if let Some(digits) = text.strip_prefix('#') {
        let wide = digits.len() / 3;
        let part = |at: usize| scaled(digits.get(at * wide..(at + 1) * wide)?);
        return (digits.len() % 3 == 0).then(|| Some(Rgb(part(0)?, part(1)?, part(2)?)))?;
    }
    let (space, parts) = text.split_once(':')?;
    let mut parts = parts.split('/');
    let rgb = Rgb(scaled(parts.next()?)?, scaled(parts.next()?)?, scaled(parts.next()?)?);
    let alpha = parts.next().is_some();
    (parts.next().is_none() && ((space == "rgb" && !alpha) || space == "rgba")).then_some(rgb)
}

/// Converts hexadecimal digits of any precision to eight bits.
fn scaled(digits: &str) -> Option<u8> {
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let most = (1u32 << (4 * digits.len())) - 1;
    u8::try_from((value * 255 + most / 2) / most).ok()
}
