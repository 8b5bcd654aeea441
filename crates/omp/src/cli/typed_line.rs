//! Reads one typed line as the answer to a question, where Esc cancels. The terminal's own line editing does not support
//! that: it prints `^[` and keeps waiting.

use std::io::{self, Read, Write};

/// Caps the length of an answer.
const LONGEST: usize = 1024;

/// Returns what was typed before Enter, or `None` on Esc, ctrl+c or ctrl+d. The terminal mode changes before the question is
/// shown, so that keys pressed together with it count.
pub fn ask(question: &str) -> Option<String> {
    let keys = Keys::one_by_one();
    io::stderr().write_all(question.as_bytes()).ok()?;
    let mut typed = TypedLine::default();
    let mut byte = [0];
    loop {
        match io::stdin().lock().read(&mut byte) {
            Ok(1) => {}
            _ => return None,
        }
        match typed.take(byte[0]) {
            Took::Sign => echo(&byte),
            Took::Erased => echo(b"\x08 \x08"),
            Took::Nothing => {}
            Took::Line => {
                echo(b"\r\n");
                return Some(String::from_utf8_lossy(&typed.bytes).into_owned());
            }
            Took::Left => {
                echo(b"\r\n");
                keys.forget_rest();
                return None;
            }
        }
    }
}

#[derive(Default)]
struct TypedLine {
    bytes: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum Took {
    Sign,
    Erased,
    Nothing,
    Line,
    Left,
}

impl TypedLine {
    fn take(&mut self, byte: u8) -> Took {
        match byte {
            b'\r' | b'\n' => Took::Line,
            0x1b | 0x03 | 0x04 => Took::Left,
            0x08 | 0x7f => self.bytes.pop().map_or(Took::Nothing, |_| Took::Erased),
            // Answers are letters. Other characters are not echoed, because they could control the terminal.
            b' '..=b'~' if self.bytes.len() < LONGEST => {
                self.bytes.push(byte);
                Took::Sign
            }
            _ => Took::Nothing,
        }
    }
}

fn echo(bytes: &[u8]) {
    let mut err = io::stderr();
    let _ = err.write_all(bytes).and_then(|()| err.flush());
}

/// Switches the terminal to unbuffered input without echo and without signals. Dropping this restores it.
#[cfg(unix)]
struct Keys(Option<nix::sys::termios::Termios>);

#[cfg(unix)]
impl Keys {
    fn one_by_one() -> Self {
        use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
        let stdin = io::stdin();
        let Ok(before) = tcgetattr(&stdin) else { return Self(None) };
        let mut modes = before.clone();
        modes.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        let set = tcsetattr(&stdin, SetArg::TCSANOW, &modes);
        Self(set.is_ok().then_some(before))
    }

    /// Discards the rest of a key that sends several bytes.
    fn forget_rest(&self) {
        let _ = nix::sys::termios::tcflush(io::stdin(), nix::sys::termios::FlushArg::TCIFLUSH);
    }
}

#[cfg(unix)]
impl Drop for Keys {
    fn drop(&mut self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

/// On other systems the console edits the line itself, and Esc clears it.
#[cfg(not(unix))]
struct Keys;

#[cfg(not(unix))]
impl Keys {
    fn one_by_one() -> Self {
        Self
    }

    fn forget_rest(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_and_left() {
        for (keys, expect) in [
            (&b"y\n"[..], Some("y")),
            (b"m\r", Some("m")),
            (b"\r", Some("")),
            (b"nx\x7f\r", Some("n")),
            (b"\x7f\x7fy\r", Some("y")),
            (b"\x1b", None),
            (b"y\x1b[A\r", None),
            (b"y\x03", None),
            (b"\x04", None),
        ] {
            let mut typed = TypedLine::default();
            let end = keys.iter().map(|byte| typed.take(*byte)).find(|took| matches!(took, Took::Line | Took::Left));
            let line = (end == Some(Took::Line)).then(|| String::from_utf8(typed.bytes).unwrap());
            assert_eq!(line.as_deref(), expect, "{keys:?}");
        }
    }
}
