//! Error message for outdated line numbers: both tags, and the current lines.

use omp_stdx::sanitize::reveal_invisible;

use super::ops::HashlineOp;
use crate::snapshot::Tag;
use crate::text_file::TextFile;

const CONTEXT: usize = 2;
const MOST_LINES: usize = 60;
const MOST_ANCHORS: usize = 50;
const MOST_CHARS: usize = 400;

pub(super) fn mismatch_report(path: &str, wanted: Tag, file: &TextFile, ops: &[HashlineOp]) -> String {
    let now = file.tag();
    let mut report = format!(
        "Stale tag for {path}: the edit was made against #{wanted}, but the file has #{now} now, and omp cannot tell \
         where the lines are now. Nothing was written.\nRead the file again for current line numbers. Its header is \
         [{path}#{now}]"
    );
    let lines = nearby(file, ops);
    if !lines.is_empty() {
        report.push_str("; the targeted lines are now:\n");
        report.push_str(&lines.join("\n"));
    }
    report
}

fn nearby(file: &TextFile, ops: &[HashlineOp]) -> Vec<String> {
    let anchors: Vec<(usize, usize)> = ops.iter().filter_map(|op| op.kind.anchors()).take(MOST_ANCHORS).collect();
    let is_anchor = |number: usize| anchors.iter().any(|(first, last)| (*first..=*last).contains(&number));
    let is_near = |number: usize| {
        anchors.iter().any(|(first, last)| number + CONTEXT >= *first && number <= last.saturating_add(CONTEXT))
    };
    let mut lines = Vec::new();
    let mut previous = None;
    for number in (1..=file.line_count()).filter(|number| is_near(*number)) {
        if lines.len() >= MOST_LINES {
            lines.push("…".into());
            break;
        }
        if previous.is_some_and(|previous| previous + 1 < number) {
            lines.push("…".into());
        }
        let mark = if is_anchor(number) { '*' } else { ' ' };
        let text: String = reveal_invisible(&file.line(number - 1)).chars().take(MOST_CHARS).collect();
        lines.push(format!("{mark}{number}:{text}"));
        previous = Some(number);
    }
    lines
}
