//! What the prompt needs of the machine around it. The composition root implements it; tests play it.

use base64::Engine;
use futures_util::future::BoxFuture;
use omp_types::ImageContent;

/// A problem is a sentence for the user, and nothing was changed.
pub trait Outside: Send + Sync {
    /// Lets the user work on a text in an editor of their own, to which the terminal belongs meanwhile. `None` when the
    /// text came back as it was.
    fn edit_text<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// What is in the clipboard. `None` when that is nothing, or nothing that can be pasted.
    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>>;

    /// The picture in a file, as it can be sent. The path may be relative to the working folder or begin with `~`.
    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>>;

    /// Puts text into the clipboard by a program of the system. What the terminal itself can do is [`osc52`].
    fn copy<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum Clip {
    /// As it can be sent.
    Image(ImageContent),
    Text(String),
}

/// Finds files by a few letters, for `@`.
pub trait FileIndex: Send + Sync {
    /// The best matches, best first. May take its time: it is called where waiting is allowed.
    fn complete(&self, query: &str) -> Vec<Candidate>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As it is put into the text.
    pub path: String,
    pub is_folder: bool,
}

/// What was sent before, kept from one run to the next.
pub trait PromptHistory: Send + Sync {
    /// The newest last, those of this project after all others.
    fn entries(&self) -> Vec<String>;

    fn keep(&self, text: &str);
}

/// Larger texts are not sent through the terminal: many cut them off.
const MOST_OSC52: usize = 74_994;

/// The bytes that make a terminal put a text into the clipboard; `None` when it is too long for that. A multiplexer
/// passes them on when it is told so by `in_tmux`.
pub fn osc52(text: &str, in_tmux: bool) -> Option<Vec<u8>> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(text);
    if encoded.len() > MOST_OSC52 {
        return None;
    }
    let sequence = format!("\x1b]52;c;{encoded}\x07");
    let passed_on = |sequence: String| format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
    Some(if in_tmux { sequence.clone() + &passed_on(sequence) } else { sequence }.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_told_in_base64() {
        for (text, expect) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("ünï>?", "w7xuw68+Pw==")] {
            assert_eq!(osc52(text, false).unwrap(), format!("\x1b]52;c;{expect}\x07").into_bytes(), "{text}");
        }
        let wrapped = String::from_utf8(osc52("f", true).unwrap()).unwrap();
        assert_eq!(wrapped, "\x1b]52;c;Zg==\x07\x1bPtmux;\x1b\x1b]52;c;Zg==\x07\x1b\\");
        assert!(osc52(&"x".repeat(80_000), false).is_none());
    }
}
