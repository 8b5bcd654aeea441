//! The one account of what is in the scrollback: which rows of the frame, and what they said when they entered.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use super::origin::{Stream, TextPosition};
use crate::frame::Rows;
use crate::line::Line;

/// Rows whose content is remembered. Older ones are out of reach of any mistake.
const REMEMBERED: usize = 65_536;
/// The audit looks at the last of the committed rows,
const AUDITED: usize = 24;
/// and of them at so many that are not blank.
const SAMPLES: usize = 8;

/// Which rows are shown and which enter the scrollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// The first row of the window.
    pub top: usize,
    /// The rows that enter the scrollback now.
    pub commit: Range<usize>,
}

#[derive(Debug, Default)]
pub struct RowLedger {
    committed: usize,
    /// What the last committed rows said.
    remembered: Vec<Remembered>,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    /// Of a picture there is none.
    fingerprint: Option<u64>,
    /// How much text there is up to the end of the row.
    place: TextPosition,
}

impl RowLedger {
    pub fn committed(&self) -> usize {
        self.committed
    }

    /// `settled` rows never change again. Frozen, as under an overlay, nothing enters the scrollback.
    pub fn plan(&mut self, len: usize, settled: usize, height: usize, frozen: bool) -> RowPlan {
        let settled = settled.min(len);
        let end = len.saturating_sub(height);
        if len <= self.committed {
            // The frame shrank into what is in the scrollback: the window goes back, the old rows stay up there.
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

    /// The terminal itself has pushed rows of the window, from `top` on, into the scrollback. They are there now, so
    /// they do not enter it a second time.
    pub fn scrolled_off(&mut self, top: usize, rows: &[Line]) {
        if top == self.committed {
            rows.iter().for_each(|line| self.remember(line));
        }
    }

    /// The rows have another width, and so other numbers. What the committed ones said is looked for among them, and the
    /// rows that say it are the committed ones now. A row of which only a part was committed enters again.
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

    /// Rows in the scrollback must not change, but a component may break that. One row that reads differently is left
    /// as it is; when rows moved, everything from the first changed one on enters again: twice rather than never. Blank
    /// rows do not count, as what is long gone may have been let go; nor do pictures, which make room for newer ones.
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

    /// Rows from this one on are to enter again.
    pub fn forget_from(&mut self, row: usize) {
        let forgotten = self.committed.saturating_sub(row);
        self.remembered.truncate(self.remembered.len().saturating_sub(forgotten));
        self.committed = self.committed.min(row);
    }
}

/// What a row says, whatever its colours.
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
