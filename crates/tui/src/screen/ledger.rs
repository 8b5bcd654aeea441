//! Records which rows of the frame are in the scrollback, and their content when they entered it.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use super::origin::{Stream, TextPosition};
use crate::frame::Rows;
use crate::line::Line;

/// Limits the rows whose content is stored; older ones are no longer checked.
const REMEMBERED: usize = 65_536;
/// The number of last committed rows that the audit considers.
const AUDITED: usize = 24;
/// Limits the rows that the audit checks; blank rows are skipped.
const SAMPLES: usize = 8;

/// The rows to show and the rows that enter the scrollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// The first row of the window.
    pub top: usize,
    /// The rows that enter the scrollback now.
    pub commit: Range<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct RowLedger {
    committed: usize,
    /// The content of the last committed rows.
    remembered: Vec<Remembered>,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    /// `None` for a picture.
    fingerprint: Option<u64>,
    /// The position in the text at the end of the row.
    place: TextPosition,
}

impl RowLedger {
    pub fn committed(&self) -> usize {
        self.committed
    }

    /// `settled` rows never change again. If frozen, as under an overlay, nothing enters the scrollback.
    pub fn plan(&mut self, len: usize, settled: usize, height: usize, frozen: bool) -> RowPlan {
        let settled = settled.min(len);
        let end = len.saturating_sub(height);
        if len <= self.committed {
            // The frame shrank into the committed rows: the window moves back, the old rows stay in the scrollback.
            self.forget_from(settled.min(end));
        }
        let top = end.max(self.committed);
        let to = if frozen { self.committed } else { self.committed.max(settled.min(top)) };
        RowPlan { top, commit: self.committed..to }
    }

    pub fn commit(&mut self, rows: &dyn Rows, plan: &RowPlan) {
        for at in plan.commit.clone() {
            self.remember(rows.row(at));
        }
        if self.remembered.len() > 2 * REMEMBERED {
            self.remembered.drain(..self.remembered.len() - REMEMBERED);
        }
    }

    /// The terminal itself pushed rows of the window, from `top` on, into the scrollback. They count as committed, so they
    /// are not written again.
    pub fn scrolled_off(&mut self, top: usize, rows: &[Line]) {
        if top == self.committed {
            rows.iter().for_each(|line| self.remember(line));
        }
    }

    /// The rows were laid out for another width and have new indexes. Finds the text of the committed rows among the new
    /// rows and marks those as committed. A row that was committed only in part is written again.
    pub fn realign(&mut self, rows: &dyn Rows) {
        if self.committed == 0 {
            return;
        }
        let places: Vec<TextPosition> = self.remembered.iter().map(|row| row.place).collect();
        let covered = Stream::of(rows).covered_by(&places);
        *self = RowLedger::default();
        (0..covered).for_each(|at| self.remember(rows.row(at)));
    }

    fn remember(&mut self, line: &Line) {
        let before = self.remembered.last().map_or(TextPosition::default(), |row| row.place);
        self.remembered.push(Remembered { fingerprint: fingerprint(line), place: before.after(line) });
        self.committed += 1;
    }

    /// Checks that committed rows did not change, in case a component breaks that rule. A single row that differs is
    /// ignored; if rows moved, everything from the first changed row on is written again: twice rather than never. Blank
    /// rows are skipped because components may drop old rows, and pictures because newer ones may replace them.
    pub fn audit(&mut self, rows: &dyn Rows) {
        let base = self.committed - self.remembered.len();
        let end = self.committed.min(rows.len());
        let differs = |at: usize| match (fingerprint(rows.row(at)), self.remembered[at - base].fingerprint) {
            (Some(now), Some(before)) => now != before,
            _ => false,
        };
        let is_told = |at: &usize| !rows.row(*at).is_blank() && !rows.row(*at).is_picture();
        let tail = (base.max(end.saturating_sub(AUDITED))..end).rev();
        let samples: Vec<usize> = tail.filter(is_told).take(SAMPLES).collect();
        let wrong = samples.iter().filter(|at| differs(**at)).count();
        if wrong > 1
            && let Some(first) = (base..end).find(|at| is_told(at) && differs(*at))
        {
            self.forget_from(first);
        }
    }

    /// Marks rows from this one on as not committed.
    pub fn forget_from(&mut self, row: usize) {
        let forgotten = self.committed.saturating_sub(row);
        self.remembered.truncate(self.remembered.len().saturating_sub(forgotten));
        self.committed = self.committed.min(row);
    }
}

/// Hashes the text of a row without its colours.
fn fingerprint(line: &Line) -> Option<u64> {
    if line.is_picture() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    for span in &line.spans {
        hasher.write(span.text.as_bytes());
    }
    Some(hasher.finish())
}
