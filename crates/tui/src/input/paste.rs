//! Collects a bracketed paste over any number of reads until its end marker.

const END: &[u8] = b"\x1b[201~";
/// Limits the bytes of a paste; the rest is dropped.
const MOST: usize = 64 << 20;

#[derive(Debug, Default)]
pub struct Paste {
    bytes: Vec<u8>,
    /// Number of end marker bytes matched so far.
    matched: usize,
}

impl Paste {
    /// Consumes bytes up to and including the end marker. Returns how many, and whether the marker was found.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            if self.matched == 0 {
                let plain = bytes[at..].iter().position(|byte| *byte == END[0]).unwrap_or(bytes.len() - at);
                self.keep(&bytes[at..at + plain]);
                at += plain;
                if at == bytes.len() {
                    break;
                }
            }
            if bytes[at] == END[self.matched] {
                self.matched += 1;
                at += 1;
                if self.matched == END.len() {
                    return (at, true);
                }
            } else {
                // Only the first byte of the marker is an escape, so the search restarts here.
                self.keep(&END[..self.matched]);
                self.matched = 0;
            }
        }
        (at, false)
    }

    /// Returns the text so far, with line breaks as `\n`.
    pub fn finish(&mut self) -> String {
        let unfinished = std::mem::take(&mut self.matched);
        if unfinished < END.len() {
            self.keep(&END[..unfinished]);
        }
        let bytes = std::mem::take(&mut self.bytes);
        let text =
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MOST.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_in_any_split() {
        let all = b"a\x1b[20\x1b[201\x1b[201~rest";
        for split in 0..all.len() {
            let mut paste = Paste::default();
            let (taken, ended) = paste.take(&all[..split]);
            let taken = if ended { taken } else { split + paste.take(&all[split..]).0 };
            assert_eq!(&all[taken..], b"rest", "split at {split}");
            assert_eq!(paste.finish(), "a\x1b[20\x1b[201");
        }
    }

    #[test]
    fn an_unfinished_end_is_text() {
        let mut paste = Paste::default();
        paste.take(b"a\r\nb\rc\x1b[2");
        assert_eq!(paste.finish(), "a\nb\nc\x1b[2");
    }

    #[test]
    fn it_has_an_end_even_without_a_marker() {
        let mut paste = Paste::default();
        let block = vec![b'x'; 1 << 20];
        for _ in 0..65 {
            assert_eq!(paste.take(&block), (block.len(), false));
        }
        assert_eq!(paste.bytes.len(), MOST);
    }
}
