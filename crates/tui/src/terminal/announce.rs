//! Output outside the screen: notifications, the title, the clipboard. Text is cleaned, because it may come from a model.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use omp_stdx::sanitize::strip_control;

use super::capabilities::{Capabilities, Multiplexer, NotifyBy};

const LONGEST_TITLE: usize = 200;
const LONGEST_NOTE: usize = 500;
/// Terminals drop sequences of more than about 100,000 bytes, some of them completely.
const LARGEST_CLIP: usize = 74_000;

/// A notification for a user who is not looking at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification<'a> {
    pub title: &'a str,
    pub body: &'a str,
}

/// Returns the bytes of a notification, which may be empty.
pub fn notification(note: Notification<'_>, capabilities: &Capabilities, number: u32) -> String {
    let (title, body) = (clean(note.title, LONGEST_TITLE), clean(note.body, LONGEST_NOTE));
    let line =
        [title.as_str(), body.as_str()].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(": ");
    let osc = match capabilities.notify {
        NotifyBy::Nothing => return String::new(),
        NotifyBy::Bell => return "\x07".to_owned(),
        // `OSC 9 ; 4` is a progress bar in some terminals.
        NotifyBy::Osc9 if line.starts_with(|char: char| char.is_ascii_digit()) => format!("\x1b]9; {line}\x1b\\"),
        NotifyBy::Osc9 => format!("\x1b]9;{line}\x1b\\"),
        NotifyBy::Osc777 => format!("\x1b]777;notify;{};{body}\x1b\\", title.replace(';', ",")),
        NotifyBy::Osc99 if body.is_empty() => format!("\x1b]99;i=omp-{number};{title}\x1b\\"),
        NotifyBy::Osc99 => {
            format!("\x1b]99;i=omp-{number}:d=0;{title}\x1b\\\x1b]99;i=omp-{number}:p=body;{body}\x1b\\")
        }
    };
    match capabilities.multiplexer {
        // Multiplexers forward nothing by themselves, but mark the window when the bell rings.
        Some(Multiplexer::Tmux) => format!("{}\x07", through_tmux(&osc)),
        Some(_) => "\x07".to_owned(),
        None => osc,
    }
}

pub fn title(text: &str) -> String {
    format!("\x1b]0;{}\x1b\\", clean(text, LONGEST_TITLE))
}

/// Returns the bytes that set the clipboard of the user's own machine (OSC 52), also over ssh; `None` if the text is too
/// long for terminals. tmux stores it itself (`set-clipboard on`) or forwards it (`allow-passthrough on`).
pub fn clipboard(text: &str, multiplexer: Option<Multiplexer>) -> Option<String> {
    let osc = (text.len() <= LARGEST_CLIP).then(|| format!("\x1b]52;c;{}\x1b\\", BASE64.encode(text)))?;
    Some(match multiplexer {
        Some(Multiplexer::Tmux) => format!("{osc}{}", through_tmux(&osc)),
        _ => osc,
    })
}

fn through_tmux(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

/// Returns one line without control characters.
fn clean(text: &str, most: usize) -> String {
    let text = strip_control(text);
    let words = text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    words.flat_map(str::chars).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::env::TerminalEnv;

    #[test]
    fn notifications() {
        let rows: &[(&[(&str, &str)], &str)] = &[
            (&[("TERM", "xterm")], "\x07"),
            (&[("TERM_PROGRAM", "iTerm.app")], "\x1b]9;Done: all is well\x1b\\"),
            (
                &[("TERM_PROGRAM", "iTerm.app"), ("TMUX", "x")],
                "\x1bPtmux;\x1b\x1b]9;Done: all is well\x1b\x1b\\\x1b\\\x07",
            ),
            (&[("TERM_PROGRAM", "iTerm.app"), ("ZELLIJ", "0")], "\x07"),
            (&[("TERM", "foot-extra")], "\x1b]777;notify;Done;all is well\x1b\\"),
            (&[("TERM", "rxvt-unicode-256color")], "\x1b]777;notify;Done;all is well\x1b\\"),
            (
                &[("TERM", "tmux-256color"), ("TMUX", "x"), ("KITTY_WINDOW_ID", "1")],
                "\x1bPtmux;\x1b\x1b]99;i=omp-1:d=0;Done\x1b\x1b\\\x1b\x1b]99;i=omp-1:p=body;all is well\x1b\x1b\\\x1b\\\x07",
            ),
            (&[("TERM_PROGRAM", "iTerm.app"), ("PI_NOTIFICATIONS", "off")], ""),
        ];
        let note = Notification { title: "Done", body: "all\x1b]0;x\x07 is\nwell\x07" };
        for (env, expected) in rows {
            let capabilities = Capabilities::detect(&TerminalEnv::from_iter(env.iter().copied()));
            assert_eq!(notification(note, &capabilities, 1), *expected, "{env:?}");
        }
        let kitty = Capabilities::detect(&TerminalEnv::from_iter([("TERM", "xterm-kitty")]));
        assert_eq!(
            notification(note, &kitty, 7),
            "\x1b]99;i=omp-7:d=0;Done\x1b\\\x1b]99;i=omp-7:p=body;all is well\x1b\\"
        );
    }

    #[test]
    fn titles_hold_one_clean_line() {
        assert_eq!(title("a\x07b\x1b[31m\n c\u{9c}d"), "\x1b]0;ab cd\x1b\\");
        assert_eq!(title(&"x".repeat(1000)).len(), "\x1b]0;\x1b\\".len() + LONGEST_TITLE);
    }

    #[test]
    fn the_clipboard_has_a_limit() {
        assert_eq!(clipboard("hé", None).as_deref(), Some("\x1b]52;c;aMOp\x1b\\"));
        assert_eq!(clipboard(&"x".repeat(LARGEST_CLIP + 1), None), None);
        assert_eq!(clipboard("h", Some(Multiplexer::Zellij)).as_deref(), Some("\x1b]52;c;aA==\x1b\\"));
        assert_eq!(
            clipboard("h", Some(Multiplexer::Tmux)).as_deref(),
            Some("\x1b]52;c;aA==\x1b\\\x1bPtmux;\x1b\x1b]52;c;aA==\x1b\x1b\\\x1b\\")
        );
    }
}
