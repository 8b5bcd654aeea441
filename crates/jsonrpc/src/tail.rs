//! The tail of a server's stderr.

use omp_stdx::sanitize::strip_control;
use omp_stdx::truncate::{Keep, by_bytes};

/// Number of bytes that are kept.
pub(crate) const KEPT_BYTES: usize = 64 << 10;
/// Number of lines included in an error.
const TOLD_LINES: usize = 10;
const TOLD_BYTES: usize = 300;

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct StderrTail {
    bytes: Vec<u8>,
    /// Whether earlier bytes were dropped.
    cut: bool,
}

impl StderrTail {
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // Twice the limit is allowed, so that bytes are not moved for every chunk.
        if self.bytes.len() > KEPT_BYTES * 2 {
            self.trim();
        }
    }

    /// Returns at most [`KEPT_BYTES`], starting at the beginning of a line if there was more.
    pub(crate) fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(KEPT_BYTES);
        let kept = &self.bytes[start..];
        let whole = match kept.iter().position(|byte| *byte == b'\n').filter(|_| self.cut || start > 0) {
            Some(end) => &kept[end + 1..],
            None => kept,
        };
        strip_control(&String::from_utf8_lossy(whole)).into_owned()
    }

    /// Returns the last non-blank lines, each shortened.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().rev().filter(|line| !line.trim().is_empty()).take(TOLD_LINES);
        let short = |line: &str| by_bytes(line, TOLD_BYTES, Keep::Head).join(|_| "…".to_owned()).into_owned();
        let mut lines: Vec<String> = lines.map(short).collect();
        lines.reverse();
        lines
    }

    fn trim(&mut self) {
        self.bytes.drain(..self.bytes.len() - KEPT_BYTES);
        self.cut = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_from_the_beginning_of_a_line() {
        let mut tail = StderrTail::default();
        for number in 0..100_000 {
            tail.add(format!("line {number}\n").as_bytes());
        }
        let text = tail.text();
        assert!(text.len() <= KEPT_BYTES && text.len() > KEPT_BYTES - 20 && tail.bytes.len() <= KEPT_BYTES * 2);
        assert!(text.starts_with("line ") && text.ends_with("line 99999\n"));
        assert_eq!(tail.last_lines().first().unwrap(), "line 99990");
    }

    #[test]
    fn escapes_and_long_lines_do_not_reach_an_error() {
        let mut tail = StderrTail::default();
        tail.add(format!("\x1b[31mred\x1b[0m\n\n{}\n", "x".repeat(1000)).as_bytes());
        let lines = tail.last_lines();
        assert_eq!((lines[0].as_str(), lines[1].chars().count()), ("red", 301));
        assert!(StderrTail::default().last_lines().is_empty());
    }

    #[test]
    fn one_huge_line_is_kept_too() {
        let mut tail = StderrTail::default();
        tail.add(&vec![b'x'; 1 << 20]);
        assert_eq!(tail.text().len(), KEPT_BYTES);
    }
}
