//! Converts operations to splices: every number refers to a line of the original, regardless of the order of operations.

use std::collections::BTreeMap;

use super::HashlineError;
use super::ops::{Anchor, HashlineOp, HashlineOpKind};
use crate::text_file::Splice;

/// Refuses line numbers beyond the end of the file.
pub(super) fn check_bounds(ops: &[HashlineOp], line_count: usize) -> Result<(), HashlineError> {
    let beyond = ops.iter().filter_map(|op| op.kind.anchors()).find(|(_, last)| *last > line_count);
    match beyond {
        Some((first, last)) => {
            let line = if first > line_count { first } else { last };
            Err(HashlineError(format!("Line {line} does not exist (file has {line_count} lines)")))
        }
        None => Ok(()),
    }
}

/// Refuses two operations that remove the same line.
pub(super) fn check_overlaps(ops: &[HashlineOp]) -> Result<(), HashlineError> {
    let mut removed: Vec<(usize, usize, usize)> =
        ops.iter().filter_map(|op| op.kind.removed().map(|(first, last)| (first, last, op.line))).collect();
    removed.sort_unstable();
    for pair in removed.windows(2) {
        let ((_, last, line), (next_first, _, next_line)) = (pair[0], pair[1]);
        if next_first <= last {
            let (earlier, later) = (line.min(next_line), line.max(next_line));
            return Err(HashlineError::at(
                later,
                format!("anchor line {next_first} is already targeted by the :/! op on line {earlier}"),
            ));
        }
    }
    Ok(())
}

/// Lines inserted in front of one line, in their final order.
#[derive(Default)]
struct InsertSlot {
    /// Inserted after the previous line, directly adjacent to it.
    after: Vec<String>,
    before: Vec<String>,
    /// The number of lines removed from here and their replacement.
    replaced: Option<(usize, Vec<String>)>,
}

/// Returns splices for all operations that name lines, in ascending order and without overlap.
pub(super) fn line_splices(ops: &[HashlineOp]) -> Vec<Splice> {
    let mut slots: BTreeMap<usize, InsertSlot> = BTreeMap::new();
    for op in ops {
        match &op.kind {
            HashlineOpKind::Insert { at: Anchor::Before(line), payload } => {
                slots.entry(line - 1).or_default().before.extend_from_slice(payload);
            }
            HashlineOpKind::Insert { at: Anchor::After(line), payload } => {
                slots.entry(*line).or_default().after.extend_from_slice(payload);
            }
            HashlineOpKind::Insert { .. } => {}
            HashlineOpKind::Replace { first, last, payload } => {
                slots.entry(first - 1).or_default().replaced = Some((last + 1 - first, payload.clone()));
            }
            HashlineOpKind::Delete { first, last } => {
                slots.entry(first - 1).or_default().replaced = Some((last + 1 - first, Vec::new()));
            }
        }
    }
    in_order(slots)
}

fn in_order(slots: BTreeMap<usize, InsertSlot>) -> Vec<Splice> {
    let mut splices: Vec<Splice> = Vec::new();
    for (at, slot) in slots {
        let insert: Vec<String> = slot.after.into_iter().chain(slot.before).collect();
        match splices.last_mut() {
            // An insert inside removed lines has no position of its own; it follows their replacement.
            Some(last) if at < last.at + last.delete => last.insert.extend(insert),
            _ if !insert.is_empty() => splices.push(Splice { at, delete: 0, insert }),
            _ => {}
        }
        if let Some((delete, insert)) = slot.replaced {
            splices.push(Splice { at, delete, insert });
        }
    }
    splices
}

/// Adds the inserts at the start and end of the file.
pub(super) fn with_boundaries(ops: &[HashlineOp], mut splices: Vec<Splice>, line_count: usize) -> Vec<Splice> {
    let collect = |wanted: Anchor| -> Vec<String> {
        let payloads = ops.iter().filter_map(|op| match &op.kind {
            HashlineOpKind::Insert { at, payload } if *at == wanted => Some(payload),
            _ => None,
        });
        payloads.flatten().cloned().collect()
    };
    let (start, end) = (collect(Anchor::Start), collect(Anchor::End));
    if !start.is_empty() {
        splices.insert(0, Splice { at: 0, delete: 0, insert: start });
    }
    if !end.is_empty() {
        splices.push(Splice { at: line_count, delete: 0, insert: end });
    }
    splices
}
