//! Motions of vim: where a key moves the cursor, and what an operator takes with it.

use omp_stdx::display_width;

use super::super::buffer::Buffer;
use super::super::words::{CharClass, class};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    WordForward {
        big: bool,
    },
    WordBack {
        big: bool,
    },
    WordEnd {
        big: bool,
    },
    LineStart,
    LineIndent,
    LineEnd,
    /// `gg`, or the line of the count.
    FirstLine,
    /// `G`, or the line of the count.
    LastLine,
    ParagraphForward,
    ParagraphBack,
    Pair,
    /// `again`: repeated with `;` or `,`, which goes past a target next to the cursor.
    Find {
        find: CharFind,
        again: bool,
    },
}

/// `f`, `F`, `t` or `T` with its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharFind {
    pub target: char,
    pub forward: bool,
    /// Stops one character before the target.
    pub till: bool,
}

/// What an operator takes between the cursor and the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MotionKind {
    Exclusive,
    /// The character at the target belongs to it.
    Inclusive,
    Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MotionTarget {
    pub at: usize,
    pub kind: MotionKind,
}

/// Returns `None` if the motion is not possible. `goal` is the column that vertical motions aim at.
pub(super) fn target(
    buffer: &Buffer,
    from: usize,
    motion: Motion,
    count: Option<usize>,
    goal: usize,
) -> Option<MotionTarget> {
    use MotionKind::{Exclusive, Inclusive, Lines};
    let times = count.unwrap_or(1);
    let (at, kind) = match motion {
        Motion::Left => (repeat(from, times, |at| left(buffer, at))?, Exclusive),
        Motion::Right => (repeat(from, times, |at| right(buffer, at))?, Exclusive),
        Motion::Up => (at_column(buffer, repeat(from, times, |at| line_above(buffer, at))?, goal), Lines),
        Motion::Down => (at_column(buffer, repeat(from, times, |at| line_below(buffer, at))?, goal), Lines),
        Motion::WordForward { big } => (repeat(from, times, |at| word_forward(buffer, at, big))?, Exclusive),
        Motion::WordBack { big } => (repeat(from, times, |at| word_back(buffer, at, big))?, Exclusive),
        Motion::WordEnd { big } => (repeat(from, times, |at| word_end(buffer, at, big))?, Inclusive),
        Motion::LineStart => (buffer.line_start(from), Exclusive),
        Motion::LineIndent => (indent(buffer, from), Exclusive),
        Motion::LineEnd => {
            let line = repeat(from, times - 1, |at| line_below(buffer, at)).unwrap_or(from);
            (buffer.line_end(line), Exclusive)
        }
        Motion::FirstLine => (indent(buffer, line_number(buffer, times)), Lines),
        Motion::LastLine => (indent(buffer, line_number(buffer, count.unwrap_or(usize::MAX))), Lines),
        Motion::ParagraphForward => (repeat(from, times, |at| paragraph_forward(buffer, at))?, Exclusive),
        Motion::ParagraphBack => (repeat(from, times, |at| paragraph_back(buffer, at))?, Exclusive),
        Motion::Pair => (pair(buffer, from)?, Inclusive),
        Motion::Find { find, again } => {
            let at = find_char(buffer, from, find, times, again)?;
            (at, if find.forward { Inclusive } else { Exclusive })
        }
    };
    Some(MotionTarget { at, kind })
}

/// Steps as often as possible, but at least once.
fn repeat(from: usize, times: usize, step: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut at = from;
    for done in 0..times {
        match step(at) {
            Some(next) => at = next,
            None if done == 0 => return None,
            None => break,
        }
    }
    Some(at)
}

fn left(buffer: &Buffer, at: usize) -> Option<usize> {
    (at > buffer.line_start(at)).then(|| buffer.previous(at))
}

fn right(buffer: &Buffer, at: usize) -> Option<usize> {
    (at < buffer.line_end(at)).then(|| buffer.next(at))
}

fn line_above(buffer: &Buffer, at: usize) -> Option<usize> {
    buffer.line_start(at).checked_sub(1).map(|end| buffer.line_start(end))
}

fn line_below(buffer: &Buffer, at: usize) -> Option<usize> {
    let end = buffer.line_end(at);
    (end < buffer.text().len()).then_some(end + 1)
}

/// Returns the column of a position, in terminal cells of its line.
pub(super) fn column(buffer: &Buffer, at: usize) -> usize {
    display_width::width(&buffer.text()[buffer.line_start(at)..at])
}

/// Returns the position in the line of `line` that is nearest to a column.
fn at_column(buffer: &Buffer, line: usize, goal: usize) -> usize {
    let end = buffer.line_end(line);
    let (mut at, mut passed) = (buffer.line_start(line), 0);
    while at < end {
        let next = buffer.next(at);
        passed += display_width::width(&buffer.text()[at..next]);
        if passed > goal {
            break;
        }
        at = next;
    }
    at
}

/// Returns the start of a line, counted from one; of the last line if there are fewer.
fn line_number(buffer: &Buffer, number: usize) -> usize {
    repeat(0, number.saturating_sub(1).min(buffer.text().len()), |at| line_below(buffer, at)).unwrap_or(0)
}

/// Returns the first character of the line of `at` that is not blank.
pub(super) fn indent(buffer: &Buffer, at: usize) -> usize {
    let (start, end) = (buffer.line_start(at), buffer.line_end(at));
    let line = &buffer.text()[start..end];
    let blank = line.len() - line.trim_start().len();
    if blank == line.len() { last_of_line(buffer, end) } else { start + blank }
}

/// Moves a cursor that is after the last character of its line onto that character.
pub(super) fn last_of_line(buffer: &Buffer, at: usize) -> usize {
    let behind = at == buffer.line_end(at) && at > buffer.line_start(at);
    if behind { buffer.previous(at) } else { at }
}

fn class_at(buffer: &Buffer, at: usize, big: bool) -> CharClass {
    match class(buffer, at) {
        CharClass::Sign if big => CharClass::Word,
        class => class,
    }
}

fn is_empty_line(buffer: &Buffer, at: usize) -> bool {
    buffer.text()[at..].starts_with('\n') && buffer.line_start(at) == at
}

/// Returns the end of the characters of one class around `at`.
pub(super) fn run_end(buffer: &Buffer, at: usize, big: bool) -> usize {
    let within = class_at(buffer, at, big);
    let mut end = buffer.next(at);
    while end < buffer.text().len() && within != CharClass::Marker && class_at(buffer, end, big) == within {
        end = buffer.next(end);
    }
    end
}

/// Returns the start of the characters of one class around `at`.
pub(super) fn run_start(buffer: &Buffer, at: usize, big: bool) -> usize {
    let within = class_at(buffer, at, big);
    let mut start = at;
    while start > 0 && within != CharClass::Marker {
        let before = buffer.previous(start);
        if class_at(buffer, before, big) != within {
            break;
        }
        start = before;
    }
    start
}

pub(super) fn is_blank(buffer: &Buffer, at: usize) -> bool {
    class(buffer, at) == CharClass::Space
}

fn word_forward(buffer: &Buffer, from: usize, big: bool) -> Option<usize> {
    let end = buffer.text().len();
    if from >= end {
        return None;
    }
    let mut at = if is_blank(buffer, from) { from } else { run_end(buffer, from, big) };
    while at < end && is_blank(buffer, at) && (at == from || !is_empty_line(buffer, at)) {
        at = buffer.next(at);
    }
    Some(at)
}

fn word_back(buffer: &Buffer, from: usize, big: bool) -> Option<usize> {
    if from == 0 {
        return None;
    }
    let mut at = buffer.previous(from);
    while at > 0 && is_blank(buffer, at) && !is_empty_line(buffer, at) {
        at = buffer.previous(at);
    }
    Some(if is_blank(buffer, at) { at } else { run_start(buffer, at, big) })
}

fn word_end(buffer: &Buffer, from: usize, big: bool) -> Option<usize> {
    let end = buffer.text().len();
    let mut at = buffer.next(from);
    while at < end && is_blank(buffer, at) {
        at = buffer.next(at);
    }
    let last = if at < end { run_end(buffer, at, big) } else { end };
    let to = if last > 0 { buffer.previous(last) } else { 0 };
    (to > from).then_some(to)
}

fn paragraph_forward(buffer: &Buffer, from: usize) -> Option<usize> {
    let mut at = from;
    while is_line_blank(buffer, at) {
        match line_below(buffer, at) {
            Some(below) => at = below,
            None => break,
        }
    }
    while let Some(below) = line_below(buffer, at) {
        at = below;
        if is_line_blank(buffer, at) {
            return Some(at);
        }
    }
    let end = buffer.text().len();
    (end > from).then_some(end)
}

fn paragraph_back(buffer: &Buffer, from: usize) -> Option<usize> {
    let mut at = from;
    while is_line_blank(buffer, at) {
        match line_above(buffer, at) {
            Some(above) => at = above,
            None => break,
        }
    }
    while let Some(above) = line_above(buffer, at) {
        at = above;
        if is_line_blank(buffer, at) {
            return Some(at);
        }
    }
    (from > 0).then_some(0)
}

pub(super) fn is_line_blank(buffer: &Buffer, at: usize) -> bool {
    buffer.line_start(at) == buffer.line_end(at)
}

/// The brackets that `%` and text objects know.
pub(super) const PAIRS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// Returns the partner of the first bracket at or after the cursor in its line.
fn pair(buffer: &Buffer, from: usize) -> Option<usize> {
    let text = buffer.text();
    let is_bracket = |char: char| PAIRS[..3].iter().any(|(open, close)| *open == char || *close == char);
    let (behind, bracket) = text[from..buffer.line_end(from)].char_indices().find(|(_, char)| is_bracket(*char))?;
    let at = from + behind;
    let (open, close) = *PAIRS.iter().find(|(open, close)| *open == bracket || *close == bracket)?;
    match bracket == open {
        true => closing(text, at + open.len_utf8(), open, close),
        false => opening(text, at, open, close),
    }
}

/// Returns the bracket that closes the one before `from`.
pub(super) fn closing(text: &str, from: usize, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (behind, char) in text[from..].char_indices() {
        if char == close {
            match depth.checked_sub(1) {
                None => return Some(from + behind),
                Some(less) => depth = less,
            }
        } else if char == open {
            depth += 1;
        }
    }
    None
}

/// Returns the bracket that opens what ends at `to`.
pub(super) fn opening(text: &str, to: usize, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, char) in text[..to].char_indices().rev() {
        if char == open {
            match depth.checked_sub(1) {
                None => return Some(at),
                Some(less) => depth = less,
            }
        } else if char == close {
            depth += 1;
        }
    }
    None
}

fn find_char(buffer: &Buffer, from: usize, find: CharFind, times: usize, again: bool) -> Option<usize> {
    let CharFind { target, forward, till } = find;
    let is_target = |at: usize| buffer.text()[at..].starts_with(target);
    let step = |at: usize| if forward { right(buffer, at) } else { left(buffer, at) };
    let (mut at, mut left_over) = (from, times);
    let mut before = from;
    if again && till {
        // Otherwise the cursor would stay before the same character.
        at = step(at)?;
    }
    while left_over > 0 {
        before = at;
        at = step(at)?;
        if at < buffer.line_end(from) && is_target(at) {
            left_over -= 1;
        } else if forward && at >= buffer.line_end(from) {
            return None;
        }
    }
    Some(if till { before } else { at })
}
