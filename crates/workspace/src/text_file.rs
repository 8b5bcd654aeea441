//! A text file that can be taken apart into lines and put together again without losing a byte.
//!
//! The bytes are kept as they are and lines are only positions in them, so a byte-order mark, mixed line endings, a
//! missing last newline and bytes that are not UTF-8 survive every edit that does not touch their line.

use std::borrow::Cow;
use std::sync::Arc;

use crate::snapshot::{Tag, TagHasher};

const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug)]
pub struct TextFile {
    bytes: Arc<[u8]>,
    /// Where each line starts. Nothing else is kept of a line: files of very short lines would grow many times over.
    starts: Vec<usize>,
    /// Lines end in carriage returns, because there is no line feed at all.
    only_cr: bool,
    dominant: Eol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eol {
    Lf,
    CrLf,
    /// Only in files without a single line feed.
    Cr,
    /// The last line of a file that does not end with a newline.
    Missing,
}

/// Replaces `delete` lines from line `at` (counted from 0) by `insert`.
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

    /// With the endings of what it was before, should it have none of its own that tell.
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

    /// The bytes of a line (counted from 0) without its ending.
    pub fn raw_line(&self, index: usize) -> &[u8] {
        self.span(index).map_or(&[], |(text, _)| text)
    }

    /// A line as text; bytes that are not UTF-8 become U+FFFD.
    pub fn line(&self, index: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(self.raw_line(index))
    }

    pub fn raw_lines(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.line_count()).map(|index| self.raw_line(index))
    }

    /// Where a line starts in [`Self::bytes`]; the end of the file for a line it does not have.
    pub fn line_start(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.bytes.len())
    }

    pub fn eol(&self, index: usize) -> Option<Eol> {
        self.span(index).map(|(_, eol)| eol)
    }

    /// The ending that most lines have, which new lines get as well.
    pub fn dominant_eol(&self) -> Eol {
        self.dominant
    }

    pub fn has_bom(&self) -> bool {
        self.bytes.starts_with(BOM)
    }

    /// Four hex digits that stand for this content. Line endings and trailing blanks do not count.
    pub fn tag(&self) -> Tag {
        let mut hasher = TagHasher::default();
        for (text, eol) in (0..self.line_count()).filter_map(|index| self.span(index)) {
            hasher.line(text, eol != Eol::Missing);
        }
        hasher.finish()
    }

    /// The bytes after applying splices, which are in ascending order and do not overlap.
    ///
    /// A line that takes another's place takes its ending, further ones the dominant one. A file without a newline at
    /// its end stays so.
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

    /// A line's text and its ending.
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

/// Puts lines together, holding each ending back until it is known whether another line follows.
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
        // What was the last line may not be it any more.
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

/// How much of a file is looked at to tell text from other data.
const BINARY_PROBE: usize = 8 * 1024;

/// Why these bytes are not text, if they are not.
pub fn binary_reason(head: &[u8]) -> Option<&'static str> {
    let head = &head[..head.len().min(BINARY_PROBE)];
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some("UTF-16 text");
    }
    memchr::memchr(0, head).map(|_| "binary data")
}

#[cfg(test)]
mod tests;
