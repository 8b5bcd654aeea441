//! Updates the terminal from one frame to the next, on the normal screen, with the terminal's own scrollback.
//!
//! A program cannot know how far the user has scrolled, so the scrollback is never changed: rows enter it once, in order,
//! when the frame marks them as settled, and all other updates happen in the window below. `ledger` computes which rows to
//! write; `paint`, `row` and `sgr` produce the bytes. All positions are relative to the cursor, so the program starts below
//! the shell's output and erases nothing.

mod ledger;
mod model;
mod origin;
mod paint;
mod painted;
mod pane;
mod profile;
mod recent;
mod row;
mod sgr;

use std::time::Duration;

use crate::frame::{Frame, Rows};
use crate::line::Line;
use ledger::{RowLedger, RowPlan};
use model::ScreenWindow;
use paint::{Erase, LeavingRows, Paint};
pub use painted::Painted;
pub use pane::PaneContent;
use pane::{HeldRows, KnownRows};
pub use profile::{ColorDepth, Profile};
use recent::Recent;

/// Limits the screens of rows that enter the scrollback step by step; more are written at once.
const MOST_STEPS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: usize,
    pub height: usize,
}

/// An additional task of the next frame. Only user actions cause one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gesture {
    /// Begins at the cursor.
    Begin,
    /// The old content belongs to another conversation, or has another width.
    Replace,
    /// The rows of the window may have wrapped or moved; the rows above stay.
    Repaint,
    /// The same, at a position that is known.
    Redraw,
}

pub struct Renderer {
    profile: Profile,
    size: Size,
    /// The size when the window was painted.
    painted: Size,
    /// The rows have been laid out for another width since then.
    rewrapped: bool,
    ledger: RowLedger,
    window: ScreenWindow,
    gesture: Option<Gesture>,
    /// Rows of the last frame that never change again and were shown in full.
    settled: usize,
    /// Frames painted while the terminal may already have had another size.
    recent: Recent,
    last: Painted,
    /// Set by a resize notification: the number of rows committed before these recent frames.
    certain: Option<usize>,
    /// What the multiplexer has reported since the last resize.
    pane: Option<PaneContent>,
    /// The row whose first letters are in the scrollback, after a resize in a multiplexer.
    continued: Option<HeldRows>,
    behind: bool,
}

/// The rows of a frame, one of them without the part that is in the scrollback.
struct ContinuedRows<'a> {
    rows: &'a dyn Rows,
    row: usize,
    rest: Line,
}

impl Rows for ContinuedRows<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, at: usize) -> &Line {
        if at == self.row { &self.rest } else { self.rows.row(at) }
    }

    fn chrome(&self) -> usize {
        self.rows.chrome()
    }
}

impl Renderer {
    pub fn new(profile: Profile, size: Size) -> Self {
        let size = usable(size);
        Self {
            profile,
            size,
            painted: size,
            rewrapped: false,
            ledger: RowLedger::default(),
            window: ScreenWindow::default(),
            gesture: Some(Gesture::Begin),
            settled: 0,
            recent: Recent::default(),
            last: Painted::default(),
            certain: None,
            pane: None,
            continued: None,
            behind: false,
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Takes effect with the next frame. The scrollback is not changed.
    pub fn set_profile(&mut self, profile: Profile) {
        self.profile = profile;
    }

    /// Sets how late a multiplexer may report a new size: rows that entered the scrollback within this time before a resize
    /// may have been truncated and are written again. The default is half a second.
    pub fn set_resize_lag(&mut self, lag: Duration) {
        self.recent = Recent::new(lag);
    }

    /// Returns the number of rows of the frame that are in the scrollback.
    pub fn committed(&self) -> usize {
        self.ledger.committed()
    }

    /// Returns how the last frame was painted.
    pub fn painted(&self) -> Painted {
        self.last
    }

    /// The terminal has shown all frames so far at the size they were painted for.
    pub fn confirm(&mut self) {
        self.recent.clear();
    }

    /// Tells what the multiplexer holds, read after the last resize, while nothing was painted: the next frame continues
    /// exactly where its history ends. Without it the renderer estimates, and may write rows twice.
    pub fn found(&mut self, pane: PaneContent) {
        self.resize(pane.size);
        // The size may have changed and come back.
        self.gesture.get_or_insert(Gesture::Repaint);
        self.pane = Some(pane);
    }

    /// Handles a new terminal size. Outside a multiplexer the next frame rewrites everything, so that the scrollback wraps
    /// like the window; a multiplexer keeps its history, and only the window is repainted.
    pub fn resize(&mut self, size: Size) {
        let size = usable(size);
        if size == self.size {
            return;
        }
        self.rewrapped |= size.width != self.size.width;
        self.size = size;
        // The frame may be delayed until the size is stable, but the time of the notification counts.
        self.certain = self.certain.into_iter().chain(self.recent.take_committed()).min();
        match self.gesture {
            Some(_) => {}
            None if self.profile.multiplexer => self.gesture = Some(Gesture::Repaint),
            None => self.gesture = Some(Gesture::Replace),
        }
    }

    /// The next frame belongs to another conversation, or shows the same one differently.
    pub fn replace(&mut self) {
        self.ledger = RowLedger::default();
        self.recent.clear();
        self.certain = None;
        self.continued = None;
        if self.gesture != Some(Gesture::Begin) {
            self.gesture = Some(Gesture::Replace);
        }
    }

    /// Another program wrote to the terminal, such as an editor; the next frame begins at the current cursor position.
    pub fn begin_again(&mut self) {
        self.window = ScreenWindow::default();
        self.gesture = Some(Gesture::Begin);
    }

    /// Appends the bytes that show the frame, or none if it is already shown.
    pub fn paint(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let hidden = self.window.top > self.ledger.committed();
        self.follow_resize();
        let gesture = self.gesture.take();
        if gesture == Some(Gesture::Replace) {
            self.ledger = RowLedger::default();
            self.continued = None;
        }
        if std::mem::take(&mut self.rewrapped) {
            self.ledger.realign(frame.rows);
            self.continued = None;
        }
        let mut gesture = gesture;
        if let Some(pane) = self.pane.take().filter(|_| gesture == Some(Gesture::Repaint))
            && self.follow_history(&pane, hidden, frame.rows)
        {
            gesture = Some(Gesture::Redraw);
        }
        match self.continued_rows(frame.rows) {
            Some(rows) => {
                let overlay = frame.overlay.clone();
                self.paint_rows(gesture, &Frame { rows: &rows, settled: frame.settled, overlay }, out);
            }
            None => self.paint_rows(gesture, frame, out),
        }
    }

    /// Whether the last frame was only a step: the rest follows once the terminal has confirmed it.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Takes the position in the scrollback from the multiplexer's own report. Returns whether it was found.
    fn follow_history(&mut self, pane: &PaneContent, hidden: bool, rows: &dyn Rows) -> bool {
        let known = KnownRows { committed: self.ledger.committed(), hidden };
        let held = pane::held_rows(&pane.history, rows, known);
        if let Some(held) = held.or_else(|| pane::rows_above_screen(&pane.screen, rows, known)) {
            self.ledger.restart_at(rows, held);
            self.continued = (held.letters > 0).then_some(held);
            self.window.on_screen(0, pane);
        } else if let Some(first) = pane.first_row(rows).filter(|first| *first <= pane.cursor_row) {
            self.ledger = RowLedger::default();
            self.continued = None;
            self.window.on_screen(first, pane);
        } else {
            return false;
        }
        true
    }

    fn continued_rows<'a>(&mut self, rows: &'a dyn Rows) -> Option<ContinuedRows<'a>> {
        let held = self.continued?;
        let row = held.rows;
        let rest = (row < rows.len()).then(|| pane::rest_of(rows.row(row), held));
        if rest.is_none() || self.ledger.is_settled_beyond(row) {
            self.continued = None;
        }
        Some(ContinuedRows { rows, row, rest: rest? })
    }

    fn paint_rows(&mut self, gesture: Option<Gesture>, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.behind = false;
        self.recent.painting(self.ledger.committed());
        self.settled = if frame.overlay.is_some() { 0 } else { frame.settled };
        let (before, committed) = (out.len(), self.ledger.committed());
        let how = match gesture {
            // Rows committed before another program wrote to the terminal are not written again.
            Some(Gesture::Begin) => self.rewrite(frame, Erase::Below, out, "begin"),
            Some(Gesture::Repaint) => self.rewrite(frame, Erase::Below, out, "repaint"),
            // The history of a multiplexer cannot be erased, so the new rows follow the old ones.
            Some(Gesture::Replace) if self.profile.multiplexer => self.rewrite(frame, Erase::Below, out, "append"),
            Some(Gesture::Replace) => self.rewrite(frame, Erase::Everything, out, "replace"),
            Some(Gesture::Redraw) => self.redraw(frame, out),
            None if self.profile.reports_size => self.update_in_steps(frame, out),
            None => self.update(frame, out),
        };
        self.last = Painted {
            how,
            rows: frame.rows.len(),
            settled: frame.settled,
            top: self.window.top,
            committed: (committed, self.ledger.committed()),
            bytes: out.len() - before,
        };
    }

    /// Returns the rows of the last frame below the cursor.
    pub fn rows_below(&self) -> usize {
        self.window.rows.len().saturating_sub(self.window.cursor_row + 1)
    }

    /// Puts the cursor below the painted rows and shows it, for the shell.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        self.follow_resize();
        let mut paint = Paint::new(&self.profile, self.size.width, &mut self.window, out);
        paint.move_below();
        paint.show_cursor(true);
        paint.finish();
        self.begin_again();
    }

    /// Determines where the terminal moved the painted rows, and which of them are now in the scrollback.
    fn follow_resize(&mut self) {
        let from = std::mem::replace(&mut self.painted, self.size);
        let gone = if from == self.size { 0 } else { self.window.resized(from, self.size) };
        let certain = self.certain.take();
        // Several size changes may happen between two frames.
        if self.gesture != Some(Gesture::Repaint) {
            return;
        }
        if let Some(committed) = certain {
            return self.ledger.forget_from(committed);
        }
        let settled = self.settled.saturating_sub(self.window.top).min(gone);
        self.ledger.scrolled_off(self.window.top, &self.window.rows[..settled]);
    }

    /// Draws the window where the multiplexer's history ends.
    fn redraw(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> &'static str {
        let goal = self.plan(frame);
        let at = self.ledger.committed();
        self.take_step(frame, &goal, &RowPlan { top: at, commit: at..at }, None, out);
        "redraw"
    }

    /// Updates a terminal that may have another size already. No step writes rows into the scrollback that were not on the
    /// screen before, so that a step at the wrong size spoils only the screen.
    fn update_in_steps(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> &'static str {
        self.ledger.audit(frame.rows);
        let goal = self.plan(frame);
        if goal.commit.len() > MOST_STEPS * self.size.height {
            self.rewrite_as(frame, &goal, Erase::Nothing, out);
            return "rewrite";
        }
        let (step, leave) = self.next_step(frame.rows, &goal);
        self.take_step(frame, &goal, &step, leave, out);
        match leave {
            None => "redraw",
            Some(LeavingRows::Scrolled(_)) => "scroll",
            Some(LeavingRows::Hidden(_)) => "change",
        }
    }

    fn next_step(&self, all: &dyn Rows, goal: &RowPlan) -> (RowPlan, Option<LeavingRows>) {
        let (from, shown) = (self.window.top, self.window.rows.len());
        if goal.commit.is_empty() {
            let leaving = goal.top.checked_sub(from).filter(|leaving| *leaving <= shown);
            return (goal.clone(), leaving.map(LeavingRows::Hidden));
        }
        let start = goal.commit.start;
        let count = goal.commit.len().min(shown);
        let end = start + count;
        if from == start && self.is_untouched(all, count) {
            return (RowPlan { top: end, commit: start..end }, Some(LeavingRows::Scrolled(count)));
        }
        (RowPlan { top: start, commit: start..start }, None)
    }

    fn take_step(
        &mut self,
        frame: &Frame<'_>,
        goal: &RowPlan,
        step: &RowPlan,
        leave: Option<LeavingRows>,
        out: &mut Vec<u8>,
    ) {
        self.behind = step != goal;
        let covered = self.covered(frame, step);
        let mut rows = visible(frame, step, &covered);
        rows.truncate(self.size.height);
        self.ledger.commit(frame.rows, step);
        self.window.top = step.top;
        let mut paint = Paint::new(&self.profile, self.size.width, &mut self.window, out);
        match leave {
            Some(leave) => paint.change_to(leave, &rows),
            None => paint.redraw(&rows),
        }
        paint.finish();
    }

    fn update(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> &'static str {
        self.ledger.audit(frame.rows);
        let plan = self.plan(frame);
        match self.leave(frame.rows, &plan) {
            None => {
                self.rewrite_as(frame, &plan, Erase::Nothing, out);
                "rewrite"
            }
            Some(leave) => {
                let how = if plan.commit.is_empty() { "change" } else { "scroll" };
                let covered = self.covered(frame, &plan);
                let rows = visible(frame, &plan, &covered);
                self.ledger.commit(frame.rows, &plan);
                self.window.top = plan.top;
                let mut paint = Paint::new(&self.profile, self.size.width, &mut self.window, out);
                paint.change_to(leave, &rows);
                paint.finish();
                how
            }
        }
    }

    /// Returns how rows leave the window; `None` if the whole window must be written.
    fn leave(&self, all: &dyn Rows, plan: &RowPlan) -> Option<LeavingRows> {
        let from = self.window.top;
        let leaving = plan.top.checked_sub(from).filter(|leaving| *leaving <= self.window.rows.len())?;
        if plan.commit.is_empty() {
            return Some(LeavingRows::Hidden(leaving));
        }
        // The terminal scrolls off exactly the committed rows, as they are on the screen.
        (plan.commit == (from..plan.top) && self.is_untouched(all, leaving)).then_some(LeavingRows::Scrolled(leaving))
    }

    /// Whether the first rows of the window are shown as they are now.
    fn is_untouched(&self, all: &dyn Rows, count: usize) -> bool {
        (0..count).all(|at| self.window.rows[at].looks_like(all.row(self.window.top + at)))
    }

    fn rewrite(&mut self, frame: &Frame<'_>, erase: Erase, out: &mut Vec<u8>, how: &'static str) -> &'static str {
        let plan = self.plan(frame);
        self.rewrite_as(frame, &plan, erase, out);
        how
    }

    fn rewrite_as(&mut self, frame: &Frame<'_>, plan: &RowPlan, erase: Erase, out: &mut Vec<u8>) {
        let covered = self.covered(frame, plan);
        let rows = visible(frame, plan, &covered);
        self.ledger.commit(frame.rows, plan);
        self.window.top = plan.top;
        let chunk = plan.commit.clone().map(|at| frame.rows.row(at));
        let mut paint = Paint::new(&self.profile, self.size.width, &mut self.window, out);
        paint.rewrite(erase, chunk, &rows);
        paint.finish();
    }

    fn plan(&mut self, frame: &Frame<'_>) -> RowPlan {
        self.ledger.plan(frame.rows.len(), frame.settled, self.size.height, frame.overlay.is_some())
    }

    /// Returns the rows of the window covered by the overlay, if there is one.
    fn covered(&self, frame: &Frame<'_>, plan: &RowPlan) -> Option<Vec<Line>> {
        let overlay = frame.overlay.as_ref()?;
        let mut rows: Vec<Line> = (plan.top..frame.rows.len()).map(|at| frame.rows.row(at).clone()).collect();
        model::lay_over(&mut rows, overlay, self.size);
        Some(rows)
    }
}

fn visible<'a>(frame: &Frame<'a>, plan: &RowPlan, covered: &'a Option<Vec<Line>>) -> Vec<&'a Line> {
    static EMPTY: Line = Line { spans: Vec::new(), fill: None, cursor: None, escape: None };
    let mut rows: Vec<&Line> = match covered {
        Some(rows) => rows.iter().collect(),
        None => (plan.top..frame.rows.len()).map(|at| frame.rows.row(at)).collect(),
    };
    // The window always has a row for the cursor.
    if rows.is_empty() {
        rows.push(&EMPTY);
    }
    rows
}

/// Replaces a missing or implausible size by a usable one.
fn usable(size: Size) -> Size {
    Size { width: size.width.clamp(1, 2000), height: size.height.clamp(1, 2000) }
}

#[cfg(test)]
mod tests;
