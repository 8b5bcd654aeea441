//! Decodes bytes to keys and replies, independent of how reads split them.
//!
//! Only two decisions depend on time: a lone escape is the escape key, and an unfinished sequence is abandoned. The decoder
//! never waits itself: it returns the deadline ([`InputDecoder::pending_deadline`]), and the caller reports when it has
//! passed ([`InputDecoder::expire`]). An unfinished sequence therefore cannot swallow later keys.

use std::time::{Duration, Instant};

use super::csi::{self, Csi};
use super::paste::Paste;
use super::reply::{self, TerminalReply};
use super::{Input, Key, KeyCode, Mods, keys};

/// An escape without a following byte for this long is the escape key.
const LONE_ESCAPE: Duration = Duration::from_millis(50);
/// An unfinished sequence is abandoned after this pause.
const UNFINISHED: Duration = Duration::from_millis(100);
/// The pause while replies are expected, which may arrive over a slow line.
const SLOW_ESCAPE: Duration = Duration::from_millis(150);
const SLOW_REPLY: Duration = Duration::from_millis(500);
/// Limits a whole sequence, so that later keys cannot keep it open.
const LONGEST: Duration = Duration::from_secs(1);
/// A paste that pauses for this long has lost its end marker.
const QUIET_PASTE: Duration = Duration::from_secs(1);
const MOST_CSI: usize = 256;
const MOST_STRING: usize = 4096;

/// A decoded item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    Input(Input),
    Reply(TerminalReply),
}

#[derive(Debug, Default)]
pub struct InputDecoder {
    state: SequenceState,
    /// The bytes of the sequence so far, without its introducer.
    body: Vec<u8>,
    /// A second escape preceded the sequence: rxvt's alt.
    twice: bool,
    paste: Paste,
    began: Option<Instant>,
    last: Option<Instant>,
    replies_until: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SequenceState {
    #[default]
    Ground,
    /// A character of more than one byte.
    Utf8 {
        needed: usize,
        mods: Mods,
    },
    Escape,
    Csi,
    Ss3,
    Text(TextSequence),
    /// An escape inside a text sequence: the first half of its terminator.
    TextEscape(TextSequence),
    /// Three bytes of an old mouse report.
    OldMouse,
    Paste,
}

/// Sequences that contain text up to `ST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextSequence {
    Osc,
    Dcs,
    Apc,
}

impl TextSequence {
    fn introducer(self) -> u8 {
        match self {
            TextSequence::Osc => b']',
            TextSequence::Dcs => b'P',
            TextSequence::Apc => b'_',
        }
    }

    /// Whether the text of a terminal reply may continue with this byte. Otherwise the user typed it: alt+] and then a word.
    fn goes_on(self, body: &[u8], byte: u8) -> bool {
        if byte < b' ' || byte == 0x7f {
            return false;
        }
        match (self, body) {
            (TextSequence::Osc, []) => byte.is_ascii_digit(),
            (TextSequence::Dcs, []) => byte.is_ascii_digit() || matches!(byte, b'>' | b'!' | b'$' | b'+' | b'='),
            (TextSequence::Apc, []) => byte == b'G',
            (TextSequence::Osc, [b'1', b'0'..=b'2', b';', ..]) => {
                byte.is_ascii_hexdigit() || matches!(byte, b'r' | b'g' | b':' | b'/' | b'#' | b'?')
            }
            _ => true,
        }
    }
}

impl InputDecoder {
    /// Allows longer pauses in sequences until then, because replies are expected.
    pub fn expect_replies(&mut self, until: Option<Instant>) {
        self.replies_until = until;
    }

    /// Returns when [`Self::expire`] must be called if no byte arrives before.
    pub fn pending_deadline(&self) -> Option<Instant> {
        let (began, last) = (self.began?, self.last?);
        let slow = self.replies_until.is_some_and(|until| last < until);
        let wait = match self.state {
            SequenceState::Ground => return None,
            SequenceState::Paste => return Some(last + QUIET_PASTE),
            SequenceState::Escape if slow => SLOW_ESCAPE,
            SequenceState::Escape => LONE_ESCAPE,
            _ if slow => SLOW_REPLY,
            // This may still be alt and a character.
            SequenceState::Csi | SequenceState::Ss3 | SequenceState::Text(_) if self.body.is_empty() => LONE_ESCAPE,
            _ => UNFINISHED,
        };
        Some((last + wait).min(began + LONGEST))
    }

    /// Abandons the pending sequence if its deadline has passed.
    pub fn expire(&mut self, now: Instant, out: &mut Vec<Decoded>) {
        if self.pending_deadline().is_some_and(|deadline| deadline <= now) {
            self.give_up(out);
        }
    }

    pub fn feed(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<Decoded>) {
        self.last = Some(now);
        let mut at = 0;
        while at < bytes.len() {
            if self.state == SequenceState::Paste {
                let (taken, ended) = self.paste.take(&bytes[at..]);
                at += taken;
                if ended {
                    self.end_paste(out);
                }
                continue;
            }
            self.step(bytes[at], out);
            at += 1;
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<Decoded>) {
        match self.state {
            SequenceState::Ground | SequenceState::Paste => self.ground(byte, Mods::NONE, out),
            SequenceState::Utf8 { needed, mods } => self.utf8(byte, needed, mods, out),
            SequenceState::Escape => self.escape(byte, out),
            SequenceState::Csi => self.csi(byte, out),
            SequenceState::Ss3 => self.ss3(byte, out),
            SequenceState::Text(kind) => self.text(kind, byte, out),
            SequenceState::TextEscape(kind) => self.text_escape(kind, byte, out),
            SequenceState::OldMouse => self.old_mouse(byte, out),
        }
    }

    fn ground(&mut self, byte: u8, mods: Mods, out: &mut Vec<Decoded>) {
        self.state = SequenceState::Ground;
        let needed = match byte {
            0x1b => return self.begin(SequenceState::Escape),
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xff => return push(out, keys::character(char::REPLACEMENT_CHARACTER, mods)),
            _ => {
                let key = match keys::control(byte) {
                    Some(control) => Key::new(control.code, control.mods.with(mods)),
                    None => keys::character(char::from(byte), mods),
                };
                return push(out, key);
            }
        };
        self.begin(SequenceState::Utf8 { needed, mods });
        self.body.push(byte);
    }

    fn begin(&mut self, state: SequenceState) {
        self.state = state;
        self.body.clear();
        self.twice = false;
        self.began = self.last;
    }

    fn utf8(&mut self, byte: u8, needed: usize, mods: Mods, out: &mut Vec<Decoded>) {
        let before = self.body.len();
        self.body.push(byte);
        match std::str::from_utf8(&self.body) {
            Ok(text) => {
                let typed = text.chars().next().filter(|char| !char.is_control());
                out.extend(typed.map(|char| Decoded::Input(Input::Key(keys::character(char, mods)))));
                self.state = SequenceState::Ground;
            }
            // Valid so far, but incomplete.
            Err(error) if error.error_len().is_none() && self.body.len() < needed => {}
            Err(_) => {
                self.body.truncate(before);
                self.give_up(out);
                self.ground(byte, Mods::NONE, out);
            }
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<Decoded>) {
        self.state = match byte {
            b'[' => SequenceState::Csi,
            b'O' => SequenceState::Ss3,
            b']' => SequenceState::Text(TextSequence::Osc),
            b'P' => SequenceState::Text(TextSequence::Dcs),
            b'_' => SequenceState::Text(TextSequence::Apc),
            0x1b if !self.twice => {
                self.twice = true;
                return;
            }
            0x1b => return push(out, Key::plain(KeyCode::Escape)),
            _ => {
                self.escape_before(out);
                return self.ground(byte, Mods::ALT, out);
            }
        };
    }

    /// An escape before the pending one was a separate key press.
    fn escape_before(&mut self, out: &mut Vec<Decoded>) {
        if std::mem::take(&mut self.twice) {
            push(out, Key::plain(KeyCode::Escape));
        }
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<Decoded>) {
        // The Linux console: CSI [ A
        if self.body == b"[" {
            match byte {
                b'A'..=b'E' => self.emit(Csi::Input(Input::Key(Key::plain(KeyCode::F(byte - b'A' + 1)))), out),
                _ => self.give_up_for(byte, out),
            }
            return;
        }
        let rxvt_shift = byte == b'$' && !self.body.is_empty() && self.body.iter().all(u8::is_ascii_digit);
        match byte {
            b'[' if self.body.is_empty() => self.body.push(byte),
            b' '..=b'?' if !rxvt_shift && self.body.len() < MOST_CSI => self.body.push(byte),
            b'@'..=b'~' | b'$' if self.body.len() < MOST_CSI => {
                let whole = csi::read(&self.body, byte);
                self.emit(whole, out);
            }
            _ => self.give_up_for(byte, out),
        }
    }

    fn emit(&mut self, csi: Csi, out: &mut Vec<Decoded>) {
        self.state = SequenceState::Ground;
        let twice = std::mem::take(&mut self.twice);
        if let (true, Csi::Input(Input::Key(key))) = (twice, &csi) {
            return push(out, Key::new(key.code, key.mods.with(Mods::ALT)));
        }
        if twice {
            push(out, Key::plain(KeyCode::Escape));
        }
        match csi {
            Csi::Input(input) => out.push(Decoded::Input(input)),
            Csi::Text(keys) => out.extend(keys.into_iter().map(|key| Decoded::Input(Input::Key(key)))),
            Csi::Reply(reply) => out.push(Decoded::Reply(reply)),
            Csi::PasteBegins => self.state = SequenceState::Paste,
            Csi::OldMouse => self.begin(SequenceState::OldMouse),
            Csi::Nothing => {}
        }
    }

    fn ss3(&mut self, byte: u8, out: &mut Vec<Decoded>) {
        match byte {
            b'0'..=b'9' | b';' if self.body.len() < MOST_CSI => self.body.push(byte),
            b'@'..=b'~' | b' ' if self.body.is_empty() => match keys::ss3(byte) {
                Some(key) => self.emit(Csi::Input(Input::Key(key)), out),
                None => self.give_up_for(byte, out),
            },
            // Old xterms: SS3 5 A and SS3 1 ; 5 A
            b'@'..=b'~' => {
                let lone = !self.body.contains(&b';');
                let body = if lone { [b"1;", self.body.as_slice()].concat() } else { std::mem::take(&mut self.body) };
                let whole = if keys::letter(byte).is_some() { csi::read(&body, byte) } else { Csi::Nothing };
                self.emit(whole, out);
            }
            _ => self.give_up_for(byte, out),
        }
    }

    fn text(&mut self, kind: TextSequence, byte: u8, out: &mut Vec<Decoded>) {
        match byte {
            0x1b if !self.body.is_empty() => self.state = SequenceState::TextEscape(kind),
            0x07 if !self.body.is_empty() => self.end_text(kind, out),
            _ if self.body.len() < MOST_STRING && kind.goes_on(&self.body, byte) => self.body.push(byte),
            _ => self.give_up_for(byte, out),
        }
    }

    fn text_escape(&mut self, kind: TextSequence, byte: u8, out: &mut Vec<Decoded>) {
        if byte == b'\\' {
            return self.end_text(kind, out);
        }
        // The text was not terminated: it is dropped, and the new bytes are decoded.
        self.begin(SequenceState::Escape);
        self.escape(byte, out);
    }

    fn end_text(&mut self, kind: TextSequence, out: &mut Vec<Decoded>) {
        let reply = match kind {
            TextSequence::Osc => reply::osc(&self.body),
            TextSequence::Dcs => reply::dcs(&self.body),
            TextSequence::Apc => reply::apc(&self.body),
        };
        self.emit(reply.map_or(Csi::Nothing, Csi::Reply), out);
    }

    fn old_mouse(&mut self, byte: u8, out: &mut Vec<Decoded>) {
        if byte < b' ' {
            return self.give_up_for(byte, out);
        }
        self.body.push(byte);
        if let [button, column, row] = self.body[..] {
            let cell = |byte: u8| u16::from(byte.saturating_sub(33));
            let event = csi::mouse_event(u32::from(button - 32), cell(column), cell(row), false);
            self.state = SequenceState::Ground;
            out.extend(event.map(|mouse| Decoded::Input(Input::Mouse(mouse))));
        }
    }

    fn end_paste(&mut self, out: &mut Vec<Decoded>) {
        self.state = SequenceState::Ground;
        let text = self.paste.finish();
        if !text.is_empty() {
            out.push(Decoded::Input(Input::Paste(text)));
        }
    }

    /// Abandons the sequence because this byte belongs to something else.
    fn give_up_for(&mut self, byte: u8, out: &mut Vec<Decoded>) {
        self.give_up(out);
        self.ground(byte, Mods::NONE, out);
    }

    /// A pending introducer alone was a key press; the rest of a sequence is not typed text.
    fn give_up(&mut self, out: &mut Vec<Decoded>) {
        let alone = self.body.is_empty();
        let alt = |byte: u8| keys::character(char::from(byte), Mods::ALT);
        let state = std::mem::take(&mut self.state);
        let key = match state {
            SequenceState::Paste => return self.end_paste(out),
            SequenceState::Escape | SequenceState::TextEscape(_) => Some(Key::plain(KeyCode::Escape)),
            SequenceState::Csi if alone => Some(alt(b'[')),
            SequenceState::Ss3 if alone => Some(alt(b'O')),
            SequenceState::Text(kind) if alone => Some(alt(kind.introducer())),
            SequenceState::Utf8 { mods, .. } => Some(keys::character(char::REPLACEMENT_CHARACTER, mods)),
            _ => None,
        };
        self.escape_before(out);
        out.extend(key.map(|key| Decoded::Input(Input::Key(key))));
    }
}

fn push(out: &mut Vec<Decoded>, key: Key) {
    out.push(Decoded::Input(Input::Key(key)));
}
