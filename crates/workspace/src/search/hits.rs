//! The second pass: the lines of the matches that stand on the page, with their context.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::{PageRequest, Pattern, search_file, searcher};
use crate::reach::FileReach;
use crate::snapshot::Tag;
use crate::text_file::{Eol, TextFile};
use crate::walk::StopCheck;

/// What a page shows of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHits {
    pub path: PathBuf,
    /// Stands for the content the lines were taken from; `None` where lines cannot be edited by number.
    pub tag: Option<Tag>,
    /// In order. Where numbers jump, lines were left out.
    pub lines: Vec<HitLine>,
    /// Matches in the whole file.
    pub matches: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitLine {
    /// From 1.
    pub number: u64,
    /// Without its line ending; broken UTF-8 is replaced.
    pub text: String,
    /// False for context.
    pub is_match: bool,
    /// True when the text is not the line as it stands in the file: shortened or repaired.
    pub altered: bool,
}

/// Lines kept of one match that spans many.
const MAX_LINES_PER_MATCH: usize = 100;

/// Reads `path` again for its matches `range`. A file that has changed or gone since it was counted gives fewer.
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
        // Lines and tag come from the same bytes, so that they cannot disagree.
        Ok(bytes) => {
            let _ = searcher.search_slice(pattern.matcher(), &bytes, &mut collector);
            tag_of(bytes)
        }
        // Whatever can be read of a file that is too large is worth showing.
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
    // Files whose lines are numbered differently when they are edited get none.
    (!wide && file.dominant_eol() != Eol::Cr).then(|| file.tag())
}

#[derive(Default)]
struct Collector {
    range: Range<u64>,
    max_columns: usize,
    lines: Vec<HitLine>,
    /// Context before a match that may or may not be wanted.
    pending: Vec<HitLine>,
    /// Matches met so far.
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
    // No character is longer than four bytes: of a huge line only its beginning is decoded.
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
