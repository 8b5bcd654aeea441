//! Brings the terminal from one frame to the next, on the normal screen, with the terminal's own scrollback.
//!
//! Nobody can know how far a reader has scrolled, so what is in the scrollback is never touched again: rows enter it
//! once, in order, when the frame says that they are settled, and everything else happens in the window below. The
//! arithmetic of that is in `ledger`, the bytes are in `paint`, `row` and `sgr`. Everything is put relative to the
//! cursor, so the program starts wherever the shell left off and wipes nothing.

mod ledger;
mod model;
mod origin;
mod paint;
mod painted;
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
pub use profile::{ColorDepth, Profile};
use recent::Recent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: usize,
    pub height: usize,
}

/// What the next frame has to do besides showing itself. Only the user causes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gesture {
    /// Begins where the cursor is.
    Begin,
    /// What was shown is another conversation's, or has another width.
    Replace,
    /// The rows of the window may have wrapped or moved, what is above them stays.
    Repaint,
}

pub struct Renderer {
    profile: Profile,
    size: Size,
    /// The size when the window was painted.
    painted: Size,
    /// The rows have been laid out for another width since.
    rewrapped: bool,
    ledger: RowLedger,
    window: ScreenWindow,
    gesture: Option<Gesture>,
    /// Rows of the last frame that never change again and were shown as they are.
    settled: usize,
    /// What was painted while the terminal may have had another size already,
    recent: Recent,
    last: Painted,
    /// and, since the news of another size, how many rows had been committed before that.
    certain: Option<usize>,
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
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// From the next frame on. The scrollback is not touched.
    pub fn set_profile(&mut self, profile: Profile) {
        self.profile = profile;
    }

    /// How long a multiplexer may keep a new size to itself: what entered the scrollback in that time before a resize
    /// may have been cut, and enters it again. Half a second unless it is set.
    pub fn set_resize_lag(&mut self, lag: Duration) {
        self.recent = Recent::new(lag);
    }

    /// Rows of the frame that are in the scrollback.
    pub fn committed(&self) -> usize {
        self.ledger.committed()
    }

    /// How the last frame was painted.
    pub fn painted(&self) -> Painted {
        self.last
    }

    /// The terminal has another size. Outside a multiplexer everything is written anew at the next frame, so that the
    /// scrollback wraps as the window does; a multiplexer keeps its history, and only the window is painted again.
    pub fn resize(&mut self, size: Size) {
        let size = usable(size);
        if size == self.size {
            return;
        }
        self.rewrapped |= size.width != self.size.width;
        self.size = size;
        // The frame may wait until the size has settled; what counts is the time of the news.
        self.certain = self.certain.into_iter().chain(self.recent.take_committed()).min();
        match self.gesture {
            Some(_) => {}
            None if self.profile.multiplexer => self.gesture = Some(Gesture::Repaint),
            None => self.gesture = Some(Gesture::Replace),
        }
    }

    /// The next frame belongs to another conversation, or shows the same one in another way.
    pub fn replace(&mut self) {
        self.ledger = RowLedger::default();
        self.recent.clear();
        self.certain = None;
        if self.gesture != Some(Gesture::Begin) {
            self.gesture = Some(Gesture::Replace);
        }
    }

    /// Something else has written to the terminal, such as an editor; the next frame begins where the cursor is now.
    pub fn begin_again(&mut self) {
        self.window = ScreenWindow::default();
        self.gesture = Some(Gesture::Begin);
    }

    /// Adds the bytes that show the frame, or none when it is shown already.
    pub fn paint(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.follow_resize();
        let gesture = self.gesture.take();
        if gesture == Some(Gesture::Replace) {
            self.ledger = RowLedger::default();
        }
        if std::mem::take(&mut self.rewrapped) {
            self.ledger.realign(frame.rows);
        }
        self.recent.painting(self.ledger.committed());
        self.settled = if frame.overlay.is_some() { 0 } else { frame.settled };
        let (before, committed) = (out.len(), self.ledger.committed());
        let how = match gesture {
            // Rows that were committed before something else wrote to the terminal are not written again.
            Some(Gesture::Begin) => self.rewrite(frame, Erase::Below, out, "begin"),
            Some(Gesture::Repaint) => self.rewrite(frame, Erase::Below, out, "repaint"),
            // The history of a multiplexer cannot be taken back: the new rows follow the old ones.
            Some(Gesture::Replace) if self.profile.multiplexer => self.rewrite(frame, Erase::Below, out, "append"),
            Some(Gesture::Replace) => self.rewrite(frame, Erase::Everything, out, "replace"),
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

    /// Rows of the last frame below the cursor.
    pub fn rows_below(&self) -> usize {
        self.window.rows.len().saturating_sub(self.window.cursor_row + 1)
    }

    /// Puts the cursor below what was painted, visible, for the shell.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        self.follow_resize();
        let mut paint = Paint::new(&self.profile, self.size.width, &mut self.window, out);
        paint.move_below();
        paint.show_cursor(true);
        paint.finish();
        self.begin_again();
    }

    /// Finds out where the terminal has put what was painted, and what of it is in the scrollback now.
    fn follow_resize(&mut self) {
        let from = std::mem::replace(&mut self.painted, self.size);
        let gone = if from == self.size { 0 } else { self.window.resized(from, self.size) };
        let certain = self.certain.take();
        // A size may have come and gone between two frames.
        if self.gesture != Some(Gesture::Repaint) {
            return;
        }
        if let Some(committed) = certain {
            return self.ledger.forget_from(committed);
        }
        let settled = self.settled.saturating_sub(self.window.top).min(gone);
        self.ledger.scrolled_off(self.window.top, &self.window.rows[..settled]);
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

    /// How the rows that are shown no longer leave the window, `None` when it must be written as a whole.
    fn leave(&self, all: &dyn Rows, plan: &RowPlan) -> Option<LeavingRows> {
        let from = self.window.top;
        let leaving = plan.top.checked_sub(from).filter(|leaving| *leaving <= self.window.rows.len())?;
        if plan.commit.is_empty() {
            return Some(LeavingRows::Hidden(leaving));
        }
        // Into the scrollback goes exactly what is committed, as it stands there.
        let untouched = || (0..leaving).all(|at| self.window.rows[at].looks_like(all.row(from + at)));
        (plan.commit == (from..plan.top) && untouched()).then_some(LeavingRows::Scrolled(leaving))
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

    /// The rows of the window with the overlay over them, when there is one.
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
    // There is always a row to stand in.
    if rows.is_empty() {
        rows.push(&EMPTY);
    }
    rows
}

/// A terminal that tells no size, or a silly one, still gets something to see.
fn usable(size: Size) -> Size {
    Size { width: size.width.clamp(1, 2000), height: size.height.clamp(1, 2000) }
}

#[cfg(test)]
mod tests;
