//! Hides secrets in a stream of text that is written to a file, however it is split.

use std::io::{self, Write};
use std::sync::Arc;

use crate::veil::Veil;

/// Maximum length of a pattern match that is found across chunks.
const HELD_FOR_PATTERNS: usize = 64 << 10;
/// Limit on buffered text; beyond it the text is released.
const MOST_HELD: usize = 1 << 20;

/// Writes external text with placeholders in place of secrets. A possible start of a secret is buffered until the rest
/// arrives, or until [`Write::flush`], which marks the end of the text. Chunks end at character boundaries.
pub struct HidingWriter<W: Write> {
    to: W,
    veil: Arc<Veil>,
    waiting: String,
}

impl<W: Write> HidingWriter<W> {
    pub fn new(to: W, veil: Arc<Veil>) -> Self {
        Self { to, veil, waiting: String::new() }
    }

    fn let_go(&mut self, end: usize) -> io::Result<()> {
        let rest = self.waiting.split_off(end);
        let ready = std::mem::replace(&mut self.waiting, rest);
        self.to.write_all(self.veil.take_in(&ready).as_bytes())
    }

    /// Returns how much of the buffer contains no secret that may continue after it.
    fn settled(&self) -> usize {
        let (text, patterns) = (self.waiting.as_str(), self.veil.patterns());
        if text.len() > MOST_HELD {
            return text.len();
        }
        let mut end = text.len() - patterns.open_end(text);
        if patterns.has_regexes() {
            // Scanning on every chunk would be slow, so either much is released at once or nothing.
            let room = text.len().saturating_sub(HELD_FOR_PATTERNS);
            if room < HELD_FOR_PATTERNS {
                return 0;
            }
            end = text.floor_char_boundary(end.min(room));
        }
        let across = patterns.hits(text).into_iter().find(|hit| hit.range.end > end);
        let end = across.map_or(end, |hit| hit.from.min(end));
        end - Veil::open_placeholder(&text[..end])
    }
}

impl<W: Write> Write for HidingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.veil.is_empty() && self.waiting.is_empty() {
            self.to.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.waiting.push_str(&String::from_utf8_lossy(bytes));
        let end = self.settled();
        if end > 0 {
            self.let_go(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.let_go(self.waiting.len())?;
        }
        self.to.flush()
    }
}

/// If the writer is dropped early, the buffered text is still written.
impl<W: Write> Drop for HidingWriter<W> {
    fn drop(&mut self) {
        // Errors cannot be reported from `drop`.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::found::{FoundSecret, SecretEntry, SecretKind, SecretMode, SecretOrigin};
    use crate::key::VeilKey;

    fn veil(regexes: bool) -> Arc<Veil> {
        let found = |kind, content: &str| FoundSecret {
            name: content.into(),
            entry: SecretEntry { kind, content: content.into(), mode: SecretMode::Obfuscate },
            origin: SecretOrigin::File,
        };
        let mut all = vec![found(SecretKind::Plain, "sesame-open"), found(SecretKind::Plain, "sesame-ö")];
        if regexes {
            all.push(found(SecretKind::Regex(String::new()), "key=[a-z]+;"));
        }
        Arc::new(Veil::new(VeilKey::random(), all).0)
    }

    fn written(veil: &Arc<Veil>, pieces: &[&str]) -> String {
        let mut out = Vec::new();
        let mut writer = HidingWriter::new(&mut out, veil.clone());
        pieces.iter().for_each(|piece| writer.write_all(piece.as_bytes()).unwrap());
        drop(writer);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_secret_in_two_pieces_is_hidden_and_a_long_text_is_let_through_as_it_comes() {
        for regexes in [false, true] {
            let veil = veil(regexes);
            let hidden = veil.hide("sesame-open").into_owned();
            assert_eq!(written(&veil, &["a ses", "ame-op", "en b"]), format!("a {hidden} b"));
            assert_eq!(written(&veil, &["a ses", "ame-op"]), "a sesame-op");
            let foreign = format!("echo {hidden}");
            let (first, second) = foreign.split_at(12);
            assert_eq!(written(&veil, &[first, second]), "echo <<$env:S?>>");
            let line = "no secret here\n".repeat(2_000);
            let mut out = Vec::new();
            let mut writer = HidingWriter::new(&mut out, veil.clone());
            for _ in 0..20 {
                writer.write_all(line.as_bytes()).unwrap();
            }
            assert!(writer.waiting.len() <= 2 * HELD_FOR_PATTERNS + line.len(), "{}", writer.waiting.len());
            drop(writer);
            assert_eq!(out.len(), 20 * line.len());
        }
    }

    #[test]
    fn what_a_pattern_finds_is_hidden_across_pieces() {
        let veil = veil(true);
        let before = "x".repeat(HELD_FOR_PATTERNS - 5);
        for cut in [2, 6, 9] {
            let (first, second) = "key=abcdef;".split_at(cut);
            let text = written(&veil, &[&before, first, second, &before, &before]);
            assert!(!text.contains("abcdef") && text.contains("x<<$env:S"), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(pieces in prop::collection::vec("(sesame|-open|-ö|<<\\$env:S1|23>>|ses|é|\n){0,6}", 0..6)) {
            let veil = veil(false);
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(written(&veil, &pieces), veil.take_in(&pieces.concat()).into_owned());
        }
    }
}
