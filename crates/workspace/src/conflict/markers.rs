//! Finds conflict markers with two sides, or three if the merge style shows the base.

use std::ops::Range;

use crate::text_file::TextFile;

/// Line ranges of a conflict block, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictBlock {
    /// The whole block, including markers.
    pub lines: Range<usize>,
    pub ours: Range<usize>,
    pub base: Option<Range<usize>>,
    pub theirs: Range<usize>,
}

impl ConflictBlock {
    pub fn bytes<'a>(&self, file: &'a TextFile) -> &'a [u8] {
        &file.bytes()[file.line_start(self.lines.start)..file.line_start(self.lines.end)]
    }
}

/// Finds complete blocks; a marker without its counterparts is text.
pub fn find_blocks(file: &TextFile) -> Vec<ConflictBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<Open> = None;
    for (number, line) in file.raw_lines().enumerate() {
        match (marker(line), &mut open) {
            // A second start marker means that the first one was text.
            (Some(b'<'), _) => open = Some(Open { start: number, base: None, middle: None }),
            (Some(b'|'), Some(Open { base: base @ None, middle: None, .. })) => *base = Some(number),
            (Some(b'='), Some(Open { middle: middle @ None, .. })) => *middle = Some(number),
            (Some(b'>'), Some(Open { start, base, middle: Some(middle) })) => {
                blocks.push(ConflictBlock {
                    lines: *start..number + 1,
                    ours: *start + 1..base.unwrap_or(*middle),
                    base: base.map(|base| base + 1..*middle),
                    theirs: *middle + 1..number,
                });
                open = None;
            }
            _ => {}
        }
    }
    blocks
}

struct Open {
    start: usize,
    base: Option<usize>,
    middle: Option<usize>,
}

/// A marker is seven equal characters followed by nothing or a blank. The middle marker has no label.
fn marker(line: &[u8]) -> Option<u8> {
    let first = *line.first()?;
    let seven = b"<|=>".contains(&first) && line.len() >= 7 && line[..7].iter().all(|byte| *byte == first);
    let ends = match line.get(7) {
        None => true,
        Some(b' ') => first != b'=',
        Some(_) => false,
    };
    (seven && ends).then_some(first)
}
