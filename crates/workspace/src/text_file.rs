//! A text file that can be split into lines and reassembled without losing a byte.
//!
//! The bytes are kept as they are and lines are offsets into them, so a byte-order mark, mixed line endings, a missing final
//! newline and bytes that are not UTF-8 survive every edit that does not touch their line.

use std::borrow::Cow;
use std::sync::Arc;

use crate::snapshot::{Tag, TagHasher};

const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug)]
pub struct TextFile {
    bytes: Arc<[u8]>,
    /// Start offset of each line. No other data is kept per line, because files with very short lines would take many times
    /// their size in memory.
    starts: Vec<usize>,
    /// Lines end in carriage returns, because the file has no line feed.
    only_cr: bool,
    dominant: Eol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eol {
    Lf,
    CrLf,
    /// Used only in files without a line feed.
    Cr,
    /// The last line of a file that does not end in a newline.
    Missing,
}

/// Replaces `delete` lines starting at line `at` (counted from 0) with `insert`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub at: usize,
    pub delete: usize,
    pub insert: Vec<String>,
}

impl Eol {
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Eol::Lf => b"\n",
            Eol::CrLf => b"\r\n",
            Eol::Cr => b"\r",
            Eol::Missing => b"",
        }
    }
}

impl TextFile {
    pub fn parse(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        let only_cr = memchr::memchr(b'\n', &bytes).is_none();
        let starts = line_starts(&bytes, if only_cr { b'\r' } else { b'\n' });
        let mut file = Self { bytes, starts, only_cr, dominant: Eol::Lf };
        file.dominant = file.most_common_eol();
        file
    }

    /// Takes over the dominant line ending of `before` if this text has no line endings.
    #[must_use]
    pub(crate) fn ending_like(mut self, before: &Self) -> Self {
        if memchr::memchr2(b'\n', b'\r', &self.bytes).is_none() {
            self.dominant = before.dominant;
        }
        self
    }

    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the bytes of a line (counted from 0) without its ending.
    pub fn raw_line(&self, index: usize) -> &[u8] {
        self.span(index).map_or(&[], |(text, _)| text)
    }

    /// Returns a line as text; bytes that are not UTF-8 become U+FFFD.
    pub fn line(&self, index: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(self.raw_line(index))
    }

    pub fn raw_lines(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.line_count()).map(|index| self.raw_line(index))
    }

    /// Returns the offset of a line in [`Self::bytes`], or the end of the file if the line does not exist.
    pub fn line_start(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.bytes.len())
    }

    pub fn eol(&self, index: usize) -> Option<Eol> {
        self.span(index).map(|(_, eol)| eol)
    }

    /// Returns the most frequent line ending, which new lines get as well.
    pub fn dominant_eol(&self) -> Eol {
        self.dominant
    }

    pub fn has_bom(&self) -> bool {
        self.bytes.starts_with(BOM)
    }

    /// Returns the four-digit tag of this content. Line endings and trailing blanks are ignored.
    pub fn tag(&self) -> Tag {
        let mut hasher = TagHasher::default();
        for (text, eol) in (0..self.line_count()).filter_map(|index| self.span(index)) {
            hasher.line(text, eol != Eol::Missing);
        }
        hasher.finish()
    }

    /// Returns the bytes after applying splices, which must be in ascending order and must not overlap.
    ///
    /// A line that replaces another one takes its ending; additional lines take the dominant one. A file without a final
    /// newline stays without one.
    pub fn splice(&self, splices: &[Splice]) -> Vec<u8> {
        let unfinished = self.last_eol() == Some(Eol::Missing);
        let mut out = Assembly {
            bytes: Vec::with_capacity(self.bytes.len() + 256),
            pending: Eol::Missing,
            dominant: self.dominant,
        };
        out.bytes.extend_from_slice(if self.has_bom() { BOM } else { b"" });
        let mut next = 0;
        for splice in splices {
            out.keep(self, next..splice.at);
            next = (splice.at + splice.delete).min(self.line_count());
            for (index, text) in splice.insert.iter().enumerate() {
                let replaced = (index < splice.delete).then(|| self.eol(splice.at + index)).flatten();
                out.line(text.as_bytes(), replaced.unwrap_or(self.dominant));
            }
        }
        out.keep(self, next..self.line_count());
        if !unfinished {
            out.end_line();
        }
        out.bytes
    }

    /// Returns a line's text and its ending.
    fn span(&self, index: usize) -> Option<(&[u8], Eol)> {
        let start = *self.starts.get(index)?;
        let stop = self.starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        let line = &self.bytes[start..stop];
        Some(match line {
            [text @ .., b'\r', b'\n'] => (text, Eol::CrLf),
            [text @ .., b'\n'] => (text, Eol::Lf),
            [text @ .., b'\r'] if self.only_cr => (text, Eol::Cr),
            text => (text, Eol::Missing),
        })
    }

    fn last_eol(&self) -> Option<Eol> {
        self.eol(self.line_count().checked_sub(1)?)
    }

    fn most_common_eol(&self) -> Eol {
        let count = |eol| (0..self.line_count()).filter(|index| self.eol(*index) == Some(eol)).count();
        if self.only_cr && count(Eol::Cr) > 0 {
            Eol::Cr
        } else if !self.only_cr && count(Eol::CrLf) > count(Eol::Lf) {
            Eol::CrLf
        } else {
            Eol::Lf
        }
    }
}

/// Joins lines. Each ending is held back until it is known whether another line follows.
struct Assembly {
    bytes: Vec<u8>,
    pending: Eol,
    dominant: Eol,
}

impl Assembly {
    fn keep(&mut self, file: &TextFile, range: std::ops::Range<usize>) {
        for (text, eol) in range.filter_map(|index| file.span(index)) {
            self.line(text, eol);
        }
    }

    fn line(&mut self, text: &[u8], eol: Eol) {
        self.end_line();
        self.bytes.extend_from_slice(text);
        // The former last line may now be followed by another one.
        self.pending = if eol == Eol::Missing { self.dominant } else { eol };
    }

    fn end_line(&mut self) {
        self.bytes.extend_from_slice(self.pending.bytes());
        self.pending = Eol::Missing;
    }
}

fn line_starts(bytes: &[u8], separator: u8) -> Vec<usize> {
    let first = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let after_breaks = memchr::memchr_iter(separator, bytes).map(|at| at + 1);
    [first].into_iter().chain(after_breaks).filter(|start| *start < bytes.len()).collect()
}

/// Number of bytes that are checked to tell text from binary data.
const BINARY_PROBE: usize = 8 * 1024;

/// Returns why these bytes are not text, or `None` if they are.
pub fn binary_reason(head: &[u8]) -> Option<&'static str> {
    let head = &head[..head.len().min(BINARY_PROBE)];
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some("UTF-16 text");
    }
    memchr::memchr(0, head).map(|_| "binary data")
}

#[cfg(test)]
mod tests;
