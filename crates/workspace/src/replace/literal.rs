//! Finds exact text anywhere in a file, regardless of line endings.

use memchr::memmem;

use crate::diff::text_ops;
use crate::text_file::{Eol, TextFile};

/// The occurrences of a text in a file.
pub(super) struct Literal<'a> {
    file: &'a TextFile,
    /// The text with line feeds only.
    text: String,
    /// Byte ranges in the file.
    ranges: Vec<std::ops::Range<usize>>,
    /// First line of each occurrence, counted from 0, including overlapping ones.
    lines: Vec<usize>,
}

impl<'a> Literal<'a> {
    pub fn new(file: &'a TextFile, text: &str) -> Self {
        let plain = NormalizedText::of(file);
        let text = text.replace("\r\n", "\n");
        let finder = memmem::Finder::new(text.as_bytes());
        let (mut ranges, mut lines) = (Vec::new(), Vec::new());
        let (mut from, mut free) = (0, 0);
        while let Some(found) = plain.bytes.get(from..).and_then(|rest| finder.find(rest)) {
            let (start, end) = (from + found, from + found + text.len());
            lines.push(plain.line_at(start));
            if start >= free {
                ranges.push(plain.original(file, start)..plain.original(file, end));
                free = end;
            }
            // Overlapping occurrences count as well, because it is ambiguous which one is meant.
            from = start + 1;
        }
        Self { file, text, ranges, lines }
    }

    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// Returns the file with the new text at all occurrences. Kept lines keep their endings, and a line that replaces
    /// another takes its ending.
    pub fn replaced(&self, new_text: &str) -> Vec<u8> {
        let bytes = self.file.bytes();
        let mut out = Vec::with_capacity(bytes.len() + new_text.len());
        let normal = new_text.replace("\r\n", "\n");
        let (old, new): (Vec<&str>, Vec<&str>) = (self.text.split('\n').collect(), normal.split('\n').collect());
        let dominant = self.file.dominant_eol();
        let endings: Vec<Vec<Eol>> =
            self.ranges.iter().map(|range| endings(&bytes[range.clone()], dominant == Eol::Cr)).collect();
        // Comparing long texts takes time and has no effect if all line endings are the same.
        let mixed = endings.iter().flatten().any(|ending| *ending != dominant);
        let origins = if mixed { origins(&old, &new) } else { vec![None; new.len()] };
        let mut next = 0;
        for (range, endings) in self.ranges.iter().zip(&endings) {
            out.extend_from_slice(&bytes[next..range.start]);
            for (index, line) in new.iter().enumerate() {
                if index > 0 {
                    let ending = origins[index - 1].and_then(|origin| endings.get(origin));
                    out.extend_from_slice(ending.copied().unwrap_or(dominant).bytes());
                }
                out.extend_from_slice(line.as_bytes());
            }
            next = range.end;
        }
        out.extend_from_slice(&bytes[next..]);
        out
    }
}

/// Returns for each new line the old line that it equals or replaces.
fn origins(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut origins = vec![None; new.len()];
    for op in text_ops(old, new) {
        for (from, to) in op.old_range().zip(op.new_range()) {
            origins[to] = Some(from);
        }
    }
    origins
}

fn endings(bytes: &[u8], only_cr: bool) -> Vec<Eol> {
    let separator = if only_cr { b'\r' } else { b'\n' };
    let ending = |at: usize| match () {
        () if only_cr => Eol::Cr,
        () if at > 0 && bytes[at - 1] == b'\r' => Eol::CrLf,
        () => Eol::Lf,
    };
    memchr::memchr_iter(separator, bytes).map(ending).collect()
}

/// A file's text with one byte at the end of every line, and the offsets of its lines.
struct NormalizedText {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl NormalizedText {
    fn of(file: &TextFile) -> Self {
        let mut plain = Self { bytes: Vec::with_capacity(file.bytes().len()), starts: Vec::new() };
        for index in 0..file.line_count() {
            plain.starts.push(plain.bytes.len());
            plain.bytes.extend_from_slice(file.raw_line(index));
            if file.eol(index) != Some(Eol::Missing) {
                plain.bytes.push(b'\n');
            }
        }
        plain
    }

    fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Converts an offset to an offset in the bytes of the file.
    fn original(&self, file: &TextFile, offset: usize) -> usize {
        if offset >= self.bytes.len() {
            return file.bytes().len();
        }
        let line = self.line_at(offset);
        file.line_start(line) + (offset - self.starts[line])
    }
}
