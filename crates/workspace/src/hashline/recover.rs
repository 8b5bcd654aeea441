//! Transfers splices from the content they were made for to the current content of the file.
//!
//! A splice is moved only with proof: it and three lines around it occur exactly once in the old content and exactly once,
//! unchanged, in the new one. The context is extended as long as there are several matches.

use std::collections::BTreeMap;

use crate::text_file::{Splice, TextFile};

const CONTEXT: usize = 3;
const MOST_CONTEXT: usize = 24;

/// Converts splices of `old` to splices of `new`, or returns `None` if the result is not certain.
pub(super) fn carry_over(splices: &[Splice], old: &TextFile, new: &TextFile) -> Option<Vec<Splice>> {
    let mut moved = Vec::with_capacity(splices.len());
    let mut free_from = 0;
    for group in splices.chunk_by(|a, b| b.at - (a.at + a.delete) <= 2 * CONTEXT) {
        let (first, last) = (group.first()?, group.last()?);
        let place = find_place(first.at, last.at + last.delete, old, new)?;
        if place < free_from {
            return None;
        }
        free_from = place + (last.at + last.delete - first.at);
        moved.extend(group.iter().map(|splice| Splice { at: place + (splice.at - first.at), ..splice.clone() }));
    }
    Some(moved)
}

/// Returns where lines `start..end` of `old` are in `new`.
fn find_place(start: usize, end: usize, old: &TextFile, new: &TextFile) -> Option<usize> {
    for context in CONTEXT..=MOST_CONTEXT {
        let from = start.saturating_sub(context);
        let block: Vec<&[u8]> = (from..(end + context).min(old.line_count())).map(|at| old.raw_line(at)).collect();
        let (count, place) = occurrences(&block, new);
        match count {
            0 => return None,
            1 if occurrences(&block, old).0 == 1 => return Some(place + (start - from)),
            _ => {}
        }
    }
    None
}

/// Returns how often a block of lines occurs (counting stops at two), and its first position.
fn occurrences(block: &[&[u8]], file: &TextFile) -> (usize, usize) {
    let starts = 0..(file.line_count() + 1).saturating_sub(block.len());
    let mut found = starts.filter(|start| block.iter().enumerate().all(|(i, line)| file.raw_line(start + i) == *line));
    match (found.next(), found.next()) {
        (None, _) => (0, 0),
        (Some(place), None) => (1, place),
        (Some(place), Some(_)) => (2, place),
    }
}

/// Checks splices when only some lines of the old content are known: the lines around each splice must be unchanged and at
/// the same position.
pub(super) fn still_valid(splices: &[Splice], known: &BTreeMap<usize, String>, new: &TextFile) -> bool {
    splices.iter().all(|splice| {
        let (first, last) = (splice.at + 1, splice.at + splice.delete);
        let removed_are_known = (first..=last).all(|number| known.contains_key(&number));
        let anchored = splice.delete > 0 || known.contains_key(&splice.at) || known.contains_key(&first);
        let around = known.range(first.saturating_sub(CONTEXT)..=last + CONTEXT);
        let unchanged = |(number, text): (&usize, &String)| {
            *number <= new.line_count() && *number > 0 && new.line(number - 1) == text.as_str()
        };
        last <= new.line_count() && removed_are_known && anchored && { around }.all(unchanged)
    })
}
