//! A second, naive implementation of the rules for the scrollback: it stores the text of every row.

use std::ops::Range;

use omp_tui::Line;

use super::scene::Shown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Update,
    /// Begins at the cursor, after other output.
    Begin,
    /// Rewrites everything.
    Anew,
}

#[derive(Default)]
pub struct Shadow {
    texts: Vec<String>,
}

/// The effect of a frame: the rows that enter the scrollback, and the first row of the window.
pub struct Step {
    pub chunk: Range<usize>,
    pub top: usize,
}

impl Shadow {
    pub fn step(&mut self, shown: &Shown, height: usize, mode: Mode) -> Step {
        match mode {
            Mode::Anew => self.texts.clear(),
            Mode::Begin => {}
            Mode::Update => self.audit(&shown.rows),
        }
        let (len, settled) = (shown.rows.len(), shown.settled.min(shown.rows.len()));
        if len <= self.texts.len() {
            self.texts.truncate(settled.min(len.saturating_sub(height)));
        }
        let committed = self.texts.len();
        let top = committed.max(len.saturating_sub(height));
        let end = if shown.overlay.is_some() { committed } else { committed.max(settled.min(top)) };
        self.texts.extend(shown.rows[committed..end].iter().map(Line::text));
        Step { chunk: committed..end, top }
    }

    fn audit(&mut self, rows: &[Line]) {
        let end = self.texts.len().min(rows.len());
        let differs = |at: usize| rows[at].text() != self.texts[at];
        let looked_at: Vec<usize> =
            (end.saturating_sub(24)..end).rev().filter(|at| !rows[*at].is_blank()).take(8).collect();
        if looked_at.into_iter().filter(|at| differs(*at)).count() > 1
            && let Some(first) = (0..end).find(|at| !rows[*at].is_blank() && differs(*at))
        {
            self.texts.truncate(first);
        }
    }

    /// After a resize the position is taken from the renderer; lost rows are checked elsewhere.
    pub fn adopt(&mut self, shown: &Shown, committed: usize) {
        self.texts = shown.rows[..committed.min(shown.rows.len())].iter().map(Line::text).collect();
    }
}
