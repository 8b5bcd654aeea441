//! Differences between two versions of a file: as line changes, as a unified diff, as a short preview.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag};

use crate::text_file::TextFile;

/// Context lines around a change.
const UNIFIED_CONTEXT: usize = 3;
/// Time limit for minimizing a diff. A diff that is cut off by it is correct, but longer.
const DIFF_TIME: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    changes: Vec<LineChange>,
}

/// Replacement of lines `old` by lines `new` (ranges counted from 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    pub old: std::ops::Range<usize>,
    pub new: std::ops::Range<usize>,
}

/// One line of a diff, with its number counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiffRow {
    Kept { old: usize, new: usize },
    Removed(usize),
    Added(usize),
}

/// The only use of the diff algorithm: it is generic, and large for each type of line.
fn line_ops(old: &[&[u8]], new: &[&[u8]], deadline: Option<Instant>) -> Vec<DiffOp> {
    similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

/// Compares two short texts without a time limit.
pub(crate) fn text_ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let old: Vec<_> = old.iter().map(|line| line.as_bytes()).collect();
    let new: Vec<_> = new.iter().map(|line| line.as_bytes()).collect();
    line_ops(&old, &new, None)
}

impl FileDiff {
    pub fn between(old: &TextFile, new: &TextFile) -> Self {
        let before: Vec<&[u8]> = old.raw_lines().collect();
        let after: Vec<&[u8]> = new.raw_lines().collect();
        let same = |(a, b): &(&&[u8], &&[u8])| a == b;
        let head = before.iter().zip(&after).take_while(same).count();
        let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(same).count();
        let ops = line_ops(
            &before[head..before.len() - tail],
            &after[head..after.len() - tail],
            Some(Instant::now() + DIFF_TIME),
        );
        let shift = |range: std::ops::Range<usize>| range.start + head..range.end + head;
        let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
        let mut changes: Vec<LineChange> = Vec::new();
        for op in changed {
            let (next_old, next_new) = (shift(op.old_range()), shift(op.new_range()));
            match changes.last_mut() {
                Some(last) if last.old.end == next_old.start && last.new.end == next_new.start => {
                    last.old.end = next_old.end;
                    last.new.end = next_new.end;
                }
                _ => changes.push(LineChange { old: next_old, new: next_new }),
            }
        }
        Self { changes }
    }

    pub fn changes(&self) -> &[LineChange] {
        &self.changes
    }

    /// Number of the first changed line in the new version, counted from 1.
    pub fn first_changed_line(&self) -> Option<usize> {
        self.changes.first().map(|change| change.new.start + 1)
    }

    /// Returns the numbers of added and removed lines.
    pub fn counts(&self) -> (usize, usize) {
        self.changes.iter().fold((0, 0), |(added, removed), it| (added + it.new.len(), removed + it.old.len()))
    }

    /// Formats a unified diff with three lines of context.
    pub fn unified(&self, path: &str, old: &TextFile, new: &TextFile) -> String {
        if self.changes.is_empty() {
            return String::new();
        }
        let mut out = format!("--- a/{path}\n+++ b/{path}\n");
        for group in self.groups(UNIFIED_CONTEXT) {
            let rows = rows(group, old.line_count(), UNIFIED_CONTEXT);
            let (first, last) = (&group[0], &group[group.len() - 1]);
            let lead = first.old.start.min(UNIFIED_CONTEXT);
            let trail = (old.line_count() - last.old.end).min(UNIFIED_CONTEXT);
            let old_len = last.old.end + trail + lead - first.old.start;
            let new_len = last.new.end + trail + lead - first.new.start;
            let start = |at: usize, len: usize| if len == 0 { at - lead } else { at - lead + 1 };
            let (old_start, new_start) = (start(first.old.start, old_len), start(first.new.start, new_len));
            // Writing to a string cannot fail.
            let _ = writeln!(out, "@@ -{old_start},{old_len} +{new_start},{new_len} @@");
            for row in rows {
                let _ = match row {
                    DiffRow::Kept { new: at, .. } => writeln!(out, " {}", new.line(at - 1)),
                    DiffRow::Removed(at) => writeln!(out, "-{}", old.line(at - 1)),
                    DiffRow::Added(at) => writeln!(out, "+{}", new.line(at - 1)),
                };
            }
        }
        out
    }

    /// Formats a short summary for the model: numbered lines of the new version with the removed lines between them.
    pub fn preview(&self, old: &TextFile, new: &TextFile, limits: PreviewLimits) -> String {
        let mut lines = Vec::new();
        for (index, group) in self.groups(limits.context).enumerate() {
            if index > 0 {
                lines.push("…".to_owned());
            }
            let rows = rows(group, old.line_count(), limits.context);
            for run in rows.chunk_by(same_kind) {
                push_run(&mut lines, run, old, new, limits);
            }
        }
        let hidden = lines.len().saturating_sub(limits.lines);
        lines.truncate(limits.lines);
        if hidden > 0 {
            lines.push(format!("… {hidden} more lines of this diff are not shown"));
        }
        lines.join("\n")
    }

    fn groups(&self, context: usize) -> impl Iterator<Item = &[LineChange]> {
        self.changes.chunk_by(move |a, b| b.old.start - a.old.end <= 2 * context)
    }
}

/// Size limits of a preview.
#[derive(Clone, Copy, Debug)]
pub struct PreviewLimits {
    pub context: usize,
    pub lines: usize,
    /// Longest run of added or removed lines that is shown in full.
    pub run: usize,
    pub line_chars: usize,
}

impl Default for PreviewLimits {
    fn default() -> Self {
        Self { context: 2, lines: 60, run: 8, line_chars: 160 }
    }
}

fn rows(group: &[LineChange], old_lines: usize, context: usize) -> Vec<DiffRow> {
    let mut rows = Vec::new();
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let mut at = first.old.start.saturating_sub(context);
    let mut shift = first.new.start as isize - first.old.start as isize;
    let kept = |at: usize, shift: isize| DiffRow::Kept { old: at + 1, new: (at as isize + shift) as usize + 1 };
    for change in group {
        rows.extend((at..change.old.start).map(|at| kept(at, shift)));
        rows.extend(change.old.clone().map(|at| DiffRow::Removed(at + 1)));
        rows.extend(change.new.clone().map(|at| DiffRow::Added(at + 1)));
        at = change.old.end;
        shift = change.new.end as isize - change.old.end as isize;
    }
    rows.extend((at..(last.old.end + context).min(old_lines)).map(|at| kept(at, shift)));
    rows
}

fn same_kind(a: &DiffRow, b: &DiffRow) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn push_run(lines: &mut Vec<String>, run: &[DiffRow], old: &TextFile, new: &TextFile, limits: PreviewLimits) {
    let hidden = if run.len() > limits.run { run.len() - 2 * (limits.run / 2) } else { 0 };
    for (index, row) in run.iter().enumerate() {
        let (sign, number, text) = match row {
            DiffRow::Kept { new: at, .. } => (' ', at, new.line(at - 1)),
            DiffRow::Removed(at) => ('-', at, old.line(at - 1)),
            DiffRow::Added(at) => ('+', at, new.line(at - 1)),
        };
        if hidden > 0 && index == limits.run / 2 {
            lines.push(format!("{sign}… {hidden} more lines"));
        }
        if hidden == 0 || index < limits.run / 2 || index >= run.len() - limits.run / 2 {
            lines.push(format!("{sign}{number}:{}", clipped(&text, limits.line_chars)));
        }
    }
}

fn clipped(text: &str, chars: usize) -> String {
    let text = omp_stdx::sanitize::reveal_invisible(text);
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn diff(old: &str, new: &str) -> (FileDiff, TextFile, TextFile) {
        let (old, new) = (TextFile::parse(old.as_bytes()), TextFile::parse(new.as_bytes()));
        (FileDiff::between(&old, &new), old, new)
    }

    #[test]
    fn unified() {
        let (it, old, new) = diff("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\ne\nf\ng\nh\ni\n");
        insta::assert_snapshot!(it.unified("x.txt", &old, &new), @r"
        --- a/x.txt
        +++ b/x.txt
        @@ -1,8 +1,9 @@
         a
        -b
        +B
         c
         d
         e
         f
         g
         h
        +i
        ");
        assert_eq!((it.first_changed_line(), it.counts()), (Some(2), (2, 1)));
    }

    #[test]
    fn created_and_emptied() {
        let (it, old, new) = diff("", "a\nb\n");
        assert!(it.unified("x", &old, &new).contains("@@ -0,0 +1,2 @@\n+a\n+b\n"));
        let (it, old, new) = diff("a\n", "");
        assert!(it.unified("x", &old, &new).contains("@@ -1,1 +0,0 @@\n-a\n"));
        let (it, old, new) = diff("a\n", "a\n");
        assert_eq!(it.unified("x", &old, &new), "");
    }

    #[test]
    fn preview_is_numbered_and_short() {
        let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
        let (it, old, new) = diff(&before, &after);
        insta::assert_snapshot!(it.preview(&old, &new, PreviewLimits::default()), @r"
         3:3
         4:4
        -5:5
        +5:five
         6:6
         7:7
        …
         28:28
         29:29
        -30:30
         30:31
         31:32
        ");
        let (it, old, new) = diff("", &before);
        let limits = PreviewLimits { run: 4, ..PreviewLimits::default() };
        assert_eq!(it.preview(&old, &new, limits), "+1:1\n+2:2\n+… 36 more lines\n+39:39\n+40:40");
        let limits = PreviewLimits { run: 100, lines: 2, ..PreviewLimits::default() };
        assert_eq!(it.preview(&old, &new, limits), "+1:1\n+2:2\n… 38 more lines of this diff are not shown");
    }

    proptest! {
        #[test]
        fn changes_lead_from_old_to_new(old in "([abc]\n){0,12}", new in "([abc]\n){0,12}") {
            let (it, before, after) = diff(&old, &new);
            let splices: Vec<_> = it.changes().iter().map(|change| crate::text_file::Splice {
                at: change.old.start,
                delete: change.old.len(),
                insert: change.new.clone().map(|at| after.line(at).into_owned()).collect(),
            }).collect();
            prop_assert_eq!(String::from_utf8(before.splice(&splices)).unwrap(), new);
        }
    }
}
