//! Breaks a styled row into rows that fit.

use std::borrow::Cow;

use omp_stdx::display_width::{grapheme_width, width};
use unicode_segmentation::UnicodeSegmentation;

use crate::line::{Line, Span};

/// Breaks between words; a word longer than a row is split, but never inside a grapheme. Spaces at a break are dropped,
/// leading spaces are kept.
pub fn wrap(line: &Line, columns: usize) -> Vec<Line> {
    let columns = columns.max(1);
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let mut wrapper = LineWrapper::new(line, columns);
    wrapper.words();
    wrapper.finish()
}

/// Breaks like [`wrap`], and a word longer than a row after `/`, `-` or `_` if possible: for narrow columns.
pub fn wrap_narrow(line: &Line, columns: usize) -> Vec<Line> {
    let columns = columns.max(1);
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let mut wrapper = LineWrapper { breaks_words: true, ..LineWrapper::new(line, columns) };
    wrapper.words();
    wrapper.finish()
}

/// Breaks only where the row is full, so that the joined rows equal the line: for code.
pub fn split(line: &Line, columns: usize) -> Vec<Line> {
    let columns = columns.max(1);
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let mut wrapper = LineWrapper::new(line, columns);
    for (index, span) in line.spans.iter().enumerate() {
        wrapper.fill(WrapPiece { span: index, start: 0, end: span.text.len(), columns: 0, kind: WrapClass::Word });
    }
    wrapper.finish()
}

/// A piece of a span that is not broken.
#[derive(Clone, Copy)]
struct WrapPiece {
    span: usize,
    start: usize,
    end: usize,
    columns: usize,
    kind: WrapClass,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WrapClass {
    Word,
    Space,
    /// A wide character: a line may break before and after it.
    Wide,
    /// A wide closing mark, which never begins a line.
    Closing,
}

struct LineWrapper<'a> {
    line: &'a Line,
    columns: usize,
    rows: Vec<Line>,
    row: Line,
    used: usize,
    spaces: Vec<WrapPiece>,
    word: Vec<WrapPiece>,
    /// Whether long words are broken at their joints.
    breaks_words: bool,
}

impl<'a> LineWrapper<'a> {
    fn new(line: &'a Line, columns: usize) -> Self {
        let row = Line { fill: line.fill, escape: line.escape.clone(), ..Line::default() };
        let (spaces, word) = (Vec::new(), Vec::new());
        Self { line, columns, rows: Vec::new(), row, used: 0, spaces, word, breaks_words: false }
    }

    fn words(&mut self) {
        for (index, span) in self.line.spans.iter().enumerate() {
            for_each_atom(&span.text, |atom| self.atom(WrapPiece { span: index, ..atom }));
        }
    }

    fn atom(&mut self, part: WrapPiece) {
        match part.kind {
            WrapClass::Word | WrapClass::Closing => self.word.push(part),
            WrapClass::Space => {
                self.flush();
                self.spaces.push(part);
            }
            WrapClass::Wide => {
                self.flush();
                self.word.push(part);
            }
        }
    }

    /// Places the completed word.
    fn flush(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let spaces = std::mem::take(&mut self.spaces);
        let columns = sum(&word);
        let at_start = self.rows.is_empty() && self.used == 0;
        if self.used + sum(&spaces) + columns <= self.columns {
            spaces.iter().chain(&word).for_each(|part| self.place(*part));
        } else {
            if at_start && sum(&spaces) < self.columns {
                spaces.iter().for_each(|part| self.place(*part));
            } else if self.used > 0 {
                self.next_row();
            }
            if columns > self.columns - self.used.min(self.columns) {
                word.iter().for_each(|part| if self.breaks_words { self.fill_joints(*part) } else { self.fill(*part) });
            } else {
                word.iter().for_each(|part| self.place(*part));
            }
        }
        (self.word, self.spaces) = (word, spaces);
        self.word.clear();
        self.spaces.clear();
    }

    fn place(&mut self, part: WrapPiece) {
        self.used += part.columns;
        self.push(part.span, part.start, part.end);
    }

    /// Places as much as fits, row by row.
    fn fill(&mut self, part: WrapPiece) {
        let text = &self.line.spans[part.span].text[part.start..part.end];
        let mut start = part.start;
        let mut at = part.start;
        for grapheme in text.graphemes(true) {
            let columns = grapheme_width(grapheme);
            if self.used + columns > self.columns && self.used > 0 {
                self.push(part.span, start, at);
                self.next_row();
                start = at;
            }
            self.used += columns;
            at += grapheme.len();
        }
        self.push(part.span, start, part.end);
    }

    /// Places a long word row by row, broken after its joints where a part fits into a row.
    fn fill_joints(&mut self, part: WrapPiece) {
        let line = self.line;
        let mut start = part.start;
        for text in line.spans[part.span].text[part.start..part.end].split_inclusive(['/', '-', '_']) {
            let (end, columns) = (start + text.len(), width(text));
            if self.used > 0 && self.used + columns > self.columns && columns <= self.columns {
                self.next_row();
            }
            self.fill(WrapPiece { start, end, columns, ..part });
            start = end;
        }
    }

    /// Extends the last span of the row if the piece directly follows it.
    fn push(&mut self, index: usize, start: usize, end: usize) {
        if start == end {
            return;
        }
        let span = &self.line.spans[index];
        match self.row.spans.last_mut() {
            Some(last) if last.style == span.style && last.link == span.link => {
                last.text.to_mut().push_str(&span.text[start..end]);
            }
            _ => {
                let text = match &span.text {
                    Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
                    Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
                };
                self.row.spans.push(Span { text, style: span.style, link: span.link.clone() });
            }
        }
    }

    fn next_row(&mut self) {
        let next = Line { fill: self.line.fill, ..Line::default() };
        self.rows.push(std::mem::replace(&mut self.row, next));
        self.used = 0;
    }

    /// Trailing spaces are kept as far as they fit.
    fn finish(mut self) -> Vec<Line> {
        self.flush();
        for part in std::mem::take(&mut self.spaces) {
            let fits = part.columns.min(self.columns.saturating_sub(self.used));
            self.place(WrapPiece { end: part.start + fits, columns: fits, ..part });
        }
        self.rows.push(self.row);
        self.rows
    }
}

fn sum(parts: &[WrapPiece]) -> usize {
    parts.iter().map(|part| part.columns).sum()
}

/// Splits into runs of spaces, words and wide characters.
fn for_each_atom(text: &str, mut each: impl FnMut(WrapPiece)) {
    let part = |start, end, columns, kind| WrapPiece { span: 0, start, end, columns, kind };
    let mut start = 0;
    let bytes = text.as_bytes();
    while start < bytes.len() {
        let spaces = bytes[start..].iter().take_while(|byte| **byte == b' ').count();
        if spaces > 0 {
            each(part(start, start + spaces, spaces, WrapClass::Space));
            start += spaces;
            continue;
        }
        let end = bytes[start..].iter().position(|byte| *byte == b' ').map_or(bytes.len(), |at| start + at);
        let word = &text[start..end];
        if word.is_ascii() {
            each(part(start, end, width(word), WrapClass::Word));
        } else {
            for_each_wide(word, start, &mut each);
        }
        start = end;
    }
}

/// Splits a word with non-ASCII characters, which may break at wide ones.
fn for_each_wide(word: &str, offset: usize, each: &mut impl FnMut(WrapPiece)) {
    let mut run = (offset, 0);
    let mut at = offset;
    let part = |start, end, columns, kind| WrapPiece { span: 0, start, end, columns, kind };
    for grapheme in word.graphemes(true) {
        let columns = grapheme_width(grapheme);
        let end = at + grapheme.len();
        if columns == 2 {
            if run.0 < at {
                each(part(run.0, at, run.1, WrapClass::Word));
            }
            each(part(at, end, columns, if is_closing(grapheme) { WrapClass::Closing } else { WrapClass::Wide }));
            run = (end, 0);
        } else {
            run.1 += columns;
        }
        at = end;
    }
    if run.0 < at {
        each(part(run.0, at, run.1, WrapClass::Word));
    }
}

fn is_closing(grapheme: &str) -> bool {
    let closing = "、。，．！？：；」』）】》〉〕］｝ー々…";
    grapheme.chars().next().is_some_and(|char| closing.contains(char))
}
