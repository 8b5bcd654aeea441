//! The second pass: reads the matching lines of a page with their context.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::{PageRequest, Pattern, search_file, searcher};
use crate::reach::FileReach;
use crate::snapshot::Tag;
use crate::text_file::{Eol, TextFile};
use crate::walk::StopCheck;

/// The part of one file that a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHits {
    pub path: PathBuf,
    /// Tag of the content that the lines were read from; `None` if lines cannot be edited by number.
    pub tag: Option<Tag>,
    /// In file order. A gap in the numbers means omitted lines.
    pub lines: Vec<HitLine>,
    /// Number of matches in the whole file.
    pub matches: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitLine {
    /// Counted from 1.
    pub number: u64,
    /// Without line ending; invalid UTF-8 is replaced.
    pub text: String,
    /// False for context.
    pub is_match: bool,
    /// True if the text differs from the line in the file because it was shortened or repaired.
    pub altered: bool,
}

/// Maximum number of lines kept for a multi-line match.
const MAX_LINES_PER_MATCH: usize = 100;

/// Reads `path` again for the matches in `range`. A file that was changed or removed since the first pass may give fewer.
pub(super) fn collect(
    pattern: &Pattern,
    (path, reach): (&Path, &FileReach),
    matches: u64,
    range: Range<u64>,
    request: &PageRequest,
    stop: StopCheck<'_>,
) -> FileHits {
    let mut searcher =
        searcher(pattern).line_number(true).before_context(request.before).after_context(request.after).build();
    let mut collector = Collector { range, max_columns: request.max_columns, ..Collector::default() };
    let tag = match reach.read_whole(path) {
        // Lines and tag come from the same bytes, so that they are consistent.
        Ok(bytes) => {
            let _ = searcher.search_slice(pattern.matcher(), &bytes, &mut collector);
            tag_of(bytes)
        }
        // For a file that is too large, the readable part is shown.
        Err(_) => {
            let _ = search_file(&mut searcher, pattern.matcher(), (path, reach), stop, &mut collector);
            None
        }
    };
    FileHits { path: path.to_owned(), tag, lines: collector.lines, matches }
}

fn tag_of(bytes: Vec<u8>) -> Option<Tag> {
    let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let file = TextFile::parse(bytes);
    // Files whose lines are numbered differently when they are edited get no tag.
    (!wide && file.dominant_eol() != Eol::Cr).then(|| file.tag())
}

#[derive(Default)]
struct Collector {
    range: Range<u64>,
    max_columns: usize,
    lines: Vec<HitLine>,
    /// Context lines before a possible match.
    pending: Vec<HitLine>,
    /// Number of matches found so far.
    met: u64,
}

impl Collector {
    fn wants_last(&self) -> bool {
        self.met > 0 && self.range.contains(&(self.met - 1))
    }

    fn line(&self, number: Option<u64>, bytes: &[u8], is_match: bool) -> HitLine {
        let (text, altered) = show(bytes, self.max_columns);
        HitLine { number: number.unwrap_or_default(), text, is_match, altered }
    }
}

impl Sink for &mut Collector {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.met += 1;
        let before = std::mem::take(&mut self.pending);
        if self.met > self.range.end {
            return Ok(false);
        }
        if self.wants_last() {
            self.lines.extend(before);
            let first = found.line_number().unwrap_or_default();
            for (number, line) in (first..).zip(found.lines().take(MAX_LINES_PER_MATCH)) {
                let line = self.line(Some(number), line, true);
                self.lines.push(line);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(context.line_number(), context.bytes(), false);
        match context.kind() {
            SinkContextKind::After if self.wants_last() => self.lines.push(line),
            SinkContextKind::Before => self.pending.push(line),
            _ => {}
        }
        Ok(true)
    }
}

fn show(bytes: &[u8], max_columns: usize) -> (String, bool) {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    // A character has at most four bytes, so only the start of a very long line is decoded.
    let head = &bytes[..bytes.len().min(max_columns.saturating_mul(4) + 4)];
    let text = String::from_utf8_lossy(head);
    match text.char_indices().nth(max_columns) {
        Some((end, _)) => (format!("{}…", &text[..end]), true),
        None => {
            let repaired = matches!(text, std::borrow::Cow::Owned(_));
            (text.into_owned(), repaired)
        }
    }
}
