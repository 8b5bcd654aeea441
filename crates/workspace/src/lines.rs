//! Reads a range of lines from a file of any size, within given limits.

mod tail;

use std::io::{self, Read};

pub use tail::{Tail, tail_window};

use crate::text_file::TextFile;

/// Size limits of a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowLimits {
    pub lines: usize,
    /// Limit for all lines together.
    pub bytes: usize,
    /// Limit for a single line; the rest of the line is cut.
    pub line_bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineWindow {
    pub lines: Vec<WindowLine>,
    /// `None` if reading stopped before the end of the file.
    pub total_lines: Option<usize>,
    /// A limit was reached before the last requested line.
    pub stopped_by_limit: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowLine {
    /// Counted from 1.
    pub number: usize,
    pub text: String,
    /// Length of the whole line in bytes, if the line was cut.
    pub full_length: Option<u64>,
}

/// Returns lines `first..=last` (counted from 1; to the end if `last` is `None`) of a file in memory.
pub fn window(file: &TextFile, first: usize, last: Option<usize>, limits: WindowLimits) -> LineWindow {
    let total = file.line_count();
    let mut collector = WindowCollector::new(limits);
    for number in first.max(1)..=last.unwrap_or(total).min(total) {
        let text = file.raw_line(number - 1);
        let shown = &text[..text.len().min(limits.line_bytes)];
        if !collector.push(number, shown, text.len() as u64) {
            break;
        }
    }
    LineWindow { total_lines: Some(total), ..collector.window }
}

/// Reads lines `first..=last` from a stream, in constant memory regardless of file and line length. Reading stops after the
/// last requested line, or when `cancelled` returns true.
pub fn stream_window(
    mut reader: impl Read,
    range: (usize, Option<usize>),
    limits: WindowLimits,
    cancelled: &dyn Fn() -> bool,
) -> io::Result<LineWindow> {
    let collector = WindowCollector::new(limits);
    let mut scan = LineInProgress { number: 1, kept: Vec::new(), length: 0, after_cr: false, range, collector };
    let mut chunk = vec![0; 256 * 1024];
    loop {
        if cancelled() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"));
        }
        let count = match reader.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            return Ok(scan.at_end());
        }
        if !scan.feed(&chunk[..count]) {
            return Ok(scan.collector.window);
        }
    }
}

/// The line being read while streaming.
struct LineInProgress {
    number: usize,
    kept: Vec<u8>,
    length: u64,
    /// The last byte was a carriage return, which may be part of the line ending.
    after_cr: bool,
    range: (usize, Option<usize>),
    collector: WindowCollector,
}

impl LineInProgress {
    /// Returns `false` if no further line is wanted.
    fn feed(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            self.extend(&bytes[..at]);
            bytes = &bytes[at + 1..];
            if !self.end_line() {
                return false;
            }
        }
        self.extend(bytes);
        true
    }

    fn extend(&mut self, piece: &[u8]) {
        let Some(last) = piece.last() else { return };
        self.after_cr = *last == b'\r';
        self.length += piece.len() as u64;
        if self.number >= self.range.0 {
            let room = self.collector.limits.line_bytes.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }

    fn end_line(&mut self) -> bool {
        let number = self.number;
        if std::mem::take(&mut self.after_cr) {
            self.length -= 1;
            self.kept.truncate(self.length as usize);
        }
        let wanted = number >= self.range.0 && self.range.1.is_none_or(|last| number <= last);
        let go_on = !wanted || self.collector.push(number, &self.kept, self.length);
        self.number += 1;
        self.kept.clear();
        self.length = 0;
        go_on && self.range.1.is_none_or(|last| self.number <= last)
    }

    fn at_end(mut self) -> LineWindow {
        if self.length > 0 {
            // A carriage return that no line feed follows is text.
            self.after_cr = false;
            self.end_line();
        }
        LineWindow { total_lines: Some(self.number - 1), ..self.collector.window }
    }
}

struct WindowCollector {
    limits: WindowLimits,
    bytes: usize,
    window: LineWindow,
}

impl WindowCollector {
    fn new(limits: WindowLimits) -> Self {
        Self { limits, bytes: 0, window: LineWindow::default() }
    }

    /// Returns `false` if the line no longer fits. The first line always fits.
    fn push(&mut self, number: usize, shown: &[u8], length: u64) -> bool {
        let lines = &mut self.window.lines;
        self.bytes += shown.len() + 1;
        if !lines.is_empty() && (lines.len() >= self.limits.lines || self.bytes > self.limits.bytes) {
            self.window.stopped_by_limit = true;
            return false;
        }
        let cut = (shown.len() as u64) < length;
        let text = if cut { without_half_char(shown) } else { shown };
        let text = String::from_utf8_lossy(text).into_owned();
        lines.push(WindowLine { number, text, full_length: cut.then_some(length) });
        true
    }
}

/// Drops the bytes of a character that was split by the cut.
fn without_half_char(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests;
