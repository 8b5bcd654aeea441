//! Corrects a common mistake: a payload that repeats the lines next to its target.
//!
//! Models copy a context line into the payload but leave it out of the range. Applied literally, the line would be
//! duplicated. A repetition is dropped only if it is almost certainly unintended: the line is distinctive, or brackets
//! balance only without it.

use super::ops::{Anchor, HashlineOp, HashlineOpKind};
use crate::text_file::TextFile;

/// Drops repeated lines at the edges of payloads and returns a description of what was dropped.
pub(super) fn absorb_duplicates(ops: &mut [HashlineOp], file: &TextFile, pure_inserts: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    for index in 0..ops.len() {
        let kind = &ops[index].kind;
        let Some((first, last, payload)) = edges(kind, pure_inserts) else { continue };
        let spot = EditSpot { file, first, last, payload };
        let leading = if touched(ops, index, first.wrapping_sub(1)) { 0 } else { spot.leading() };
        let trailing = if touched(ops, index, last + 1) { 0 } else { spot.trailing(leading) };
        let line = ops[index].line;
        if leading > 0 {
            warnings.push(warning(line, leading, first - leading, first - 1));
        }
        if trailing > 0 {
            warnings.push(warning(line, trailing, last + 1, last + trailing));
        }
        if let Some(payload) = ops[index].kind.payload_mut() {
            payload.truncate(payload.len() - trailing);
            payload.drain(..leading);
        }
    }
    warnings
}

/// Returns the first and last removed line (an empty range for an insert) and the payload.
fn edges(kind: &HashlineOpKind, pure_inserts: bool) -> Option<(usize, usize, &[String])> {
    match kind {
        HashlineOpKind::Replace { first, last, payload } => Some((*first, *last, payload)),
        HashlineOpKind::Insert { at: Anchor::Before(line), payload } if pure_inserts => {
            Some((*line, line - 1, payload))
        }
        HashlineOpKind::Insert { at: Anchor::After(line), payload } if pure_inserts => Some((line + 1, *line, payload)),
        _ => None,
    }
}

/// Returns whether another operation changes the neighbouring line, so that it is not stable context.
fn touched(ops: &[HashlineOp], own: usize, neighbour: usize) -> bool {
    ops.iter().enumerate().any(|(index, op)| {
        index != own && op.kind.anchors().is_some_and(|(first, last)| first <= neighbour + 1 && neighbour <= last + 1)
    })
}

struct EditSpot<'a> {
    file: &'a TextFile,
    first: usize,
    last: usize,
    payload: &'a [String],
}

impl EditSpot<'_> {
    /// Returns how many payload lines repeat the lines right before the target.
    fn leading(&self) -> usize {
        let most = self.payload.len().saturating_sub(1).min(self.first - 1);
        let repeats = |count: &usize| (0..*count).all(|i| self.is_line(i, self.first - count + i));
        let longest = (1..=most).rev().find(repeats).unwrap_or(0);
        self.if_a_slip(longest, 0..longest, longest..self.payload.len())
    }

    /// Returns how many payload lines repeat the lines right after the target.
    fn trailing(&self, leading: usize) -> usize {
        let length = self.payload.len();
        let most = (length - leading).saturating_sub(1).min(self.file.line_count().saturating_sub(self.last));
        let repeats = |count: &usize| (0..*count).all(|i| self.is_line(length - count + i, self.last + 1 + i));
        let longest = (1..=most).rev().find(repeats).unwrap_or(0);
        self.if_a_slip(longest, length - longest..length, leading..length - longest)
    }

    fn is_line(&self, index: usize, number: usize) -> bool {
        self.payload[index].as_bytes() == self.file.raw_line(number - 1)
    }

    fn if_a_slip(&self, count: usize, repeated: std::ops::Range<usize>, rest: std::ops::Range<usize>) -> usize {
        let removed: Vec<_> = (self.first..=self.last).map(|number| self.file.line(number - 1)).collect();
        let (repeated, rest) = (&self.payload[repeated], &self.payload[rest]);
        let once = |line: &String| removed.iter().all(|old| *old != line.as_str()) && !rest.contains(line);
        let distinctive = repeated.iter().any(|line| is_telling(line) && once(line));
        let removed_balance = balance(removed.iter().map(|line| &**line));
        let literal = balance(repeated.iter().chain(rest).map(String::as_str));
        let mended = balance(rest.iter().map(String::as_str));
        let unbalances = literal != removed_balance;
        let slip = if unbalances { mended == removed_balance } else { distinctive && mended == removed_balance };
        if count > 0 && slip { count } else { 0 }
    }
}

/// Returns whether a line has more than brackets and two-letter keywords.
fn is_telling(line: &str) -> bool {
    line.chars().filter(|char| char.is_alphanumeric()).count() >= 4
}

/// Returns opening minus closing brackets, for round, square and curly ones.
fn balance<'a>(lines: impl Iterator<Item = &'a str>) -> [i32; 3] {
    let mut balance = [0; 3];
    for char in lines.flat_map(str::chars) {
        match char {
            '(' => balance[0] += 1,
            ')' => balance[0] -= 1,
            '[' => balance[1] += 1,
            ']' => balance[1] -= 1,
            '{' => balance[2] += 1,
            '}' => balance[2] -= 1,
            _ => {}
        }
    }
    balance
}

fn warning(op: usize, count: usize, first: usize, last: usize) -> String {
    let lines = if count == 1 { format!("line {first}") } else { format!("lines {first}-{last}") };
    format!(
        "line {op}: the payload repeated {lines} next to its range; the repetition was dropped. Insert it with ↑ or ↓ if it was meant."
    )
}
