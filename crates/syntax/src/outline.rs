//! Outline of a file: declarations stay, and bodies of functions, long literals and long comments are folded.
//!
//! Folds are found by shape (a node in braces or brackets, an indented block, a long comment), not by a list of declarations
//! for each language. Containers of functions (a class, a module) stay open. If little is left to see, the outermost folds
//! are opened one after the other.

mod fold;

use crate::Language;
use crate::parse::{ParseError, parse};
use fold::Fold;

/// Which lines of a file are shown. The segments cover all lines in order, alternating between shown and hidden ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    pub segments: Vec<Segment>,
}

/// Lines `first..=last`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub first: usize,
    pub last: usize,
    /// `false` for hidden lines.
    pub kept: bool,
}

impl Outline {
    pub fn kept_lines(&self) -> usize {
        self.count(true)
    }

    pub fn elided_lines(&self) -> usize {
        self.count(false)
    }

    fn count(&self, kept: bool) -> usize {
        self.segments.iter().filter(|segment| segment.kept == kept).map(|it| it.last - it.first + 1).sum()
    }
}

/// The `read.summarize.*` settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineLimits {
    /// Minimum number of lines in a body to hide.
    pub min_body_lines: usize,
    /// Minimum number of lines of a whole comment to hide.
    pub min_comment_lines: usize,
    /// Shorter files are shown whole.
    pub min_total_lines: usize,
    /// Bodies are opened, outermost first, until this number of lines is visible.
    pub unfold_until: usize,
    /// A body is not opened if that would exceed this number of lines.
    pub unfold_limit: usize,
}

/// Returns `None` if there is nothing to hide: the file is short, or consists only of declarations.
pub fn outline(source: &str, language: Language, limits: OutlineLimits) -> Result<Option<Outline>, ParseError> {
    let lines: Vec<&str> = source.lines().collect();
    if lines.len() < limits.min_total_lines.max(1) {
        return Ok(None);
    }
    let tree = parse(source, language)?;
    let folds = fold::find(&tree, &lines, limits);
    let mut cover = Cover::new(lines.len(), &folds);
    cover.unfold(&folds, limits);
    let segments = cover.segments();
    Ok(segments.iter().any(|segment| !segment.kept).then_some(Outline { segments }))
}

/// The number of closed folds that hide each line.
struct Cover {
    hidden_by: Vec<u16>,
    visible: usize,
}

impl Cover {
    fn new(lines: usize, folds: &[Fold]) -> Self {
        let mut cover = Self { hidden_by: vec![0; lines], visible: lines };
        for fold in folds.iter().filter(|fold| !fold.container) {
            cover.close(fold);
        }
        cover
    }

    fn unfold(&mut self, folds: &[Fold], limits: OutlineLimits) {
        let mut open: Vec<bool> = folds.iter().map(|fold| fold.container).collect();
        let mut order: Vec<usize> = (0..folds.len()).filter(|at| !folds[*at].container).collect();
        order.sort_by_key(|at| folds[*at].depth);
        for at in order {
            if self.visible >= limits.unfold_until {
                return;
            }
            if folds[at].parent.is_some_and(|parent| !open[parent]) {
                continue;
            }
            self.open(&folds[at]);
            open[at] = self.visible <= limits.unfold_limit;
            if !open[at] {
                self.close(&folds[at]);
            }
        }
    }

    fn close(&mut self, fold: &Fold) {
        for count in &mut self.hidden_by[fold.first..=fold.last] {
            self.visible -= usize::from(*count == 0);
            *count += 1;
        }
    }

    fn open(&mut self, fold: &Fold) {
        for count in &mut self.hidden_by[fold.first..=fold.last] {
            *count -= 1;
            self.visible += usize::from(*count == 0);
        }
    }

    fn segments(&self) -> Vec<Segment> {
        let mut next = 1;
        let mut segment = |run: &[u16]| {
            let first = next;
            next += run.len();
            Segment { first, last: next - 1, kept: run[0] == 0 }
        };
        self.hidden_by.chunk_by(|a, b| (*a == 0) == (*b == 0)).map(&mut segment).collect()
    }
}

#[cfg(test)]
mod tests;
