//! Splits byte chunks into lines of limited length.
//!
//! Chunks may end anywhere. Each byte is scanned once, and a line within one chunk is not copied.

/// A line without its line break (`\n` or `\r\n`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitLine<'a> {
    /// At most as long as the splitter's limit.
    pub bytes: &'a [u8],
    /// Bytes over the limit that were dropped; zero for a complete line.
    pub dropped: usize,
    /// Whether a line break ended it; only the last line can lack one.
    pub terminated: bool,
}

/// Splits chunks into lines of at most `max` bytes.
#[derive(Clone, Debug)]
pub struct LineSplitter {
    max: usize,
    pending: Vec<u8>,
    dropped: usize,
    /// The open line's last byte so far, kept or not, is a `\r`.
    ends_in_cr: bool,
}

impl LineSplitter {
    pub fn new(max: usize) -> Self {
        Self { max, pending: Vec::new(), dropped: 0, ends_in_cr: false }
    }

    /// Adds a chunk and calls `each` for every line that it completes.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(SplitLine<'_>)) {
        while let Some(at) = memchr::memchr(b'\n', chunk) {
            let (piece, rest) = (&chunk[..at], &chunk[at + 1..]);
            if self.pending() == 0 {
                each(bounded(piece, piece.len() - usize::from(piece.ends_with(b"\r")), self.max, true));
            } else {
                self.keep(piece);
                each(bounded(&self.pending, self.pending() - usize::from(self.ends_in_cr), self.max, true));
                self.reset();
            }
            chunk = rest;
        }
        self.keep(chunk);
    }

    /// Calls `each` for the text after the last line break, if any, and resets the splitter.
    pub fn finish(&mut self, mut each: impl FnMut(SplitLine<'_>)) {
        if self.pending() > 0 {
            each(bounded(&self.pending, self.pending(), self.max, false));
            self.reset();
        }
    }

    /// Returns the bytes of the open line.
    pub fn pending(&self) -> usize {
        self.pending.len() + self.dropped
    }

    fn keep(&mut self, piece: &[u8]) {
        let kept = piece.len().min(self.max - self.pending.len());
        self.pending.extend_from_slice(&piece[..kept]);
        self.dropped += piece.len() - kept;
        if let Some(last) = piece.last() {
            self.ends_in_cr = *last == b'\r';
        }
    }

    fn reset(&mut self) {
        self.dropped = 0;
        self.pending.clear();
        // One huge line must not hold its memory for the rest of the stream.
        self.pending.shrink_to(64 * 1024);
    }
}

/// Builds a line of `length` bytes, of which `bytes` holds the start.
fn bounded(bytes: &[u8], length: usize, max: usize, terminated: bool) -> SplitLine<'_> {
    let kept = length.min(max);
    SplitLine { bytes: &bytes[..kept], dropped: length - kept, terminated }
}

/// One frame of a stream of JSON lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonLineFrame<'a> {
    /// A line with content; `complete` is false for a last line without its line break.
    Text { line: usize, bytes: &'a [u8], complete: bool },
    /// A line over the limit, its content dropped.
    TooLong { line: usize, bytes: usize },
}

/// Splits JSON lines: numbers lines from one, skips blank ones and a byte order mark, rejects overlong ones.
#[derive(Clone, Debug)]
pub struct JsonLines {
    splitter: LineSplitter,
    line: usize,
}

impl JsonLines {
    pub fn new(max_line: usize) -> Self {
        Self { splitter: LineSplitter::new(max_line), line: 0 }
    }

    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(JsonLineFrame<'_>)) {
        let count = &mut self.line;
        self.splitter.push(chunk, |line| frame(count, line, &mut each));
    }

    pub fn finish(&mut self, mut each: impl FnMut(JsonLineFrame<'_>)) {
        let count = &mut self.line;
        self.splitter.finish(|line| frame(count, line, &mut each));
    }
}

fn frame(count: &mut usize, line: SplitLine<'_>, each: &mut impl FnMut(JsonLineFrame<'_>)) {
    *count += 1;
    if line.dropped > 0 {
        return each(JsonLineFrame::TooLong { line: *count, bytes: line.bytes.len() + line.dropped });
    }
    let bytes = match line.bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if *count == 1 => rest,
        _ => line.bytes,
    };
    if !bytes.trim_ascii().is_empty() {
        each(JsonLineFrame::Text { line: *count, bytes, complete: line.terminated });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]], max: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut note = |line: SplitLine<'_>| {
            let end = if line.terminated { "" } else { "…" };
            lines.push(format!("{}+{}{end}", String::from_utf8_lossy(line.bytes), line.dropped));
        };
        let mut splitter = LineSplitter::new(max);
        for chunk in chunks {
            splitter.push(chunk, &mut note);
        }
        splitter.finish(&mut note);
        lines
    }

    #[test]
    fn lines() {
        type Row<'a> = (&'a [&'a [u8]], &'a [&'a str]);
        let rows: &[Row<'_>] = &[
            (&[b"a\nb\r\n", b"c"], &["a+0", "b+0", "c+0…"]),
            (&[b"a", b"b\r", b"\n\n"], &["ab+0", "+0"]),
            (&[b"abcd\nx\n"], &["abc+1", "x+0"]),
            (&[b"ab", b"cdef", b"gh\r\nx"], &["abc+5", "x+0…"]),
            (&[b"abc\r", b"\n"], &["abc+0"]),
            (&[b"abcde"], &["abc+2…"]),
            (&[b"", b""], &[]),
        ];
        for (chunks, want) in rows {
            assert_eq!(split(chunks, 3), *want, "{chunks:?}");
        }
    }

    #[test]
    fn json_lines() {
        let mut frames = Vec::new();
        let mut json = JsonLines::new(8);
        json.push(b"\xef\xbb\xbf{}\n  \r\n0123456789\n[1", |frame| frames.push(format!("{frame:?}")));
        json.finish(|frame| frames.push(format!("{frame:?}")));
        assert_eq!(
            frames,
            [
                "Text { line: 1, bytes: [123, 125], complete: true }",
                "TooLong { line: 3, bytes: 10 }",
                "Text { line: 4, bytes: [91, 49], complete: false }",
            ]
        );
    }

    proptest! {
        #[test]
        fn chunking_does_not_matter(bytes in "[ab\r\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..6), max in 0usize..5) {
            let bytes = bytes.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(split(&chunks, max), split(&[bytes], max));
        }
    }
}
