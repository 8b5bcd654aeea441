//! Text objects of vim: a word, quotes, brackets, a paragraph; inside of them, or with what is around.

use std::ops::Range;

use super::super::buffer::Buffer;
use super::motion::{PAIRS, closing, is_blank, is_line_blank, opening, run_end, run_start};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextObject {
    pub range: Range<usize>,
    /// Whole lines, without the last line break.
    pub lines: bool,
}

/// Returns the object around `at` that the letter names.
pub(super) fn object(buffer: &Buffer, at: usize, around: bool, letter: char) -> Option<TextObject> {
    let chars = |range: Range<usize>| TextObject { range, lines: false };
    match letter {
        'w' | 'W' => word(buffer, at, around, letter == 'W').map(chars),
        '"' | '\'' | '`' => quoted(buffer, at, around, letter).map(chars),
        'p' => paragraph(buffer, at, around).map(|range| TextObject { range, lines: true }),
        'b' => bracketed(buffer, at, around, ('(', ')')).map(chars),
        'B' => bracketed(buffer, at, around, ('{', '}')).map(chars),
        _ => {
            let pair = PAIRS.iter().find(|(open, close)| *open == letter || *close == letter)?;
            bracketed(buffer, at, around, *pair).map(chars)
        }
    }
}

/// Within a line: a word or the blanks between two words.
fn word(buffer: &Buffer, at: usize, around: bool, big: bool) -> Option<Range<usize>> {
    let line = buffer.line_start(at)..buffer.line_end(at);
    if at >= line.end {
        return None;
    }
    let start = run_start(buffer, at, big).max(line.start);
    let end = run_end(buffer, at, big).min(line.end);
    if !around {
        return Some(start..end);
    }
    let blank_here = is_blank(buffer, at);
    if end < line.end && blank_here != is_blank(buffer, end) {
        return Some(start..run_end(buffer, end, big).min(line.end));
    }
    // Without blanks after it, those before it belong to the word.
    let before = (start > line.start && !blank_here).then(|| buffer.previous(start)).filter(|at| is_blank(buffer, *at));
    Some(before.map_or(start, |before| run_start(buffer, before, big).max(line.start))..end)
}

/// Within a line: the quotes around the cursor, else the next ones.
fn quoted(buffer: &Buffer, at: usize, around: bool, quote: char) -> Option<Range<usize>> {
    let (start, end) = (buffer.line_start(at), buffer.line_end(at));
    let line = &buffer.text()[start..end];
    let mut escaped = false;
    let mut quotes = Vec::new();
    for (behind, char) in line.char_indices() {
        if char == quote && !escaped {
            quotes.push(start + behind);
        }
        escaped = char == '\\' && !escaped;
    }
    let pair = quotes.chunks_exact(2).find(|pair| at <= pair[1])?;
    if !around {
        return Some(pair[0] + 1..pair[1]);
    }
    let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let behind = blanks(&buffer.text()[pair[1] + 1..end]);
    if behind > 0 {
        return Some(pair[0]..pair[1] + 1 + behind);
    }
    let before = &buffer.text()[start..pair[0]];
    let first = before.trim_end_matches([' ', '\t']).len();
    Some(start + first..pair[1] + 1)
}

fn bracketed(buffer: &Buffer, at: usize, around: bool, (open, close): (char, char)) -> Option<Range<usize>> {
    let text = buffer.text();
    let (opened, closed) = match text[at..].chars().next() {
        Some(char) if char == open => (at, closing(text, at + 1, open, close)?),
        Some(char) if char == close => (opening(text, at, open, close)?, at),
        _ => (opening(text, at, open, close)?, closing(text, at, open, close)?),
    };
    Some(if around { opened..closed + 1 } else { opened + 1..closed })
}

/// The lines around the cursor that are all empty or all not empty; around: with the empty ones after or before.
fn paragraph(buffer: &Buffer, at: usize, around: bool) -> Option<Range<usize>> {
    let (start, end) = block(buffer, at);
    if !around {
        return Some(start..end);
    }
    if end < buffer.text().len() {
        return Some(start..block(buffer, end + 1).1);
    }
    let before = start.checked_sub(1)?;
    Some(block(buffer, before).0..end)
}

fn block(buffer: &Buffer, at: usize) -> (usize, usize) {
    let blank = is_line_blank(buffer, at);
    let (mut start, mut end) = (buffer.line_start(at), buffer.line_end(at));
    while start > 0 && is_line_blank(buffer, start - 1) == blank {
        start = buffer.line_start(start - 1);
    }
    while end < buffer.text().len() && is_line_blank(buffer, end + 1) == blank {
        end = buffer.line_end(end + 1);
    }
    (start, end)
}
