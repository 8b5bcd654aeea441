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

use crate::frame::{Frame, Rows};
use crate::line::Line;
use ledger::{RowLedger, RowPlan};
use model::ScreenWindow;
use paint::{Erase, LeavingRows, Paint};
pub use painted::Painted;
pub use pane::{MOST_TEXT as MOST_PANE_TEXT, PaneFacts, PaneText};
pub use profile::{ColorDepth, Profile};
use recent::Recent;

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
    /// The old content belongs to another conversation, or is shown differently.
    Replace,
    /// Everything from the text above the first frame on is written again.
    Rewrite,
    /// The rows of the window may have wrapped or moved; the rows above stay.
    Repaint,
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
    /// In tmux: the text above the first frame since the last [`Self::begin_again`].
    above: Option<PaneText>,
    /// The committed rows that are part of that text.
    rows_above: RowLedger,
}

impl Renderer {
    pub fn new(profile: Profile, size: Size) -> Self {
        let size = usable(size);
        Self {
            recent: Recent::new(profile.resize_lag),
            profile,
            size,
            painted: size,
            rewrapped: false,
            ledger: RowLedger::default(),
            window: ScreenWindow::default(),
            gesture: Some(Gesture::Begin),
            settled: 0,
            last: Painted::default(),
            certain: None,
            above: None,
            rows_above: RowLedger::default(),
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
        self.recent.set_lag(profile.resize_lag);
        self.profile = profile;
    }

    /// Returns the number of rows of the frame that are in the scrollback.
    pub fn committed(&self) -> usize {
        self.ledger.committed()
    }

    /// Returns how the last frame was painted.
    pub fn painted(&self) -> Painted {
        self.last
    }

    /// Gives the text above the next frame, which begins at the cursor, in a pane of tmux. From then on a resize writes the
    /// whole history of the pane again. Without it, rows may be in the scrollback twice after a resize.
    pub fn set_above(&mut self, above: Option<PaneText>) {
        self.above = above;
        self.rows_above = self.ledger.clone();
    }

    /// Returns the number of rows that a resize writes again at most; `None` if it leaves the scrollback as it is.
    pub fn rewrites(&self) -> Option<usize> {
        self.above.as_ref().map(PaneText::history_limit)
    }

    /// Handles a notification of the terminal size. If the text above is known, the next frame writes all rows again;
    /// otherwise only the window is repainted, and the scrollback stays.
    pub fn resize(&mut self, size: Size) {
        let size = usable(size);
        // Tmux may have changed the size and changed it back.
        if size == self.size && self.above.is_none() {
            return;
        }
        self.rewrapped |= size.width != self.size.width;
        self.size = size;
        // The frame may be delayed until the size is stable, but the time of the notification counts.
        self.certain = self.certain.into_iter().chain(self.recent.take_committed()).min();
        match self.gesture {
            Some(_) => {}
            None if self.above.is_some() => self.gesture = Some(Gesture::Rewrite),
            None => self.gesture = Some(Gesture::Repaint),
        }
    }

    /// The next frame belongs to another conversation, or shows the same one differently.
    pub fn replace(&mut self) {
        self.ledger = RowLedger::default();
        self.recent.clear();
        self.certain = None;
        if self.gesture != Some(Gesture::Begin) {
            self.gesture = Some(Gesture::Replace);
        }
    }

    /// Another program wrote to the terminal, such as an editor; the next frame begins at the current cursor position.
    pub fn begin_again(&mut self) {
        self.window = ScreenWindow::default();
        self.gesture = Some(Gesture::Begin);
        self.above = None;
    }

    /// Appends the bytes that show the frame, or none if it is already shown.
    pub fn paint(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.follow_resize();
        let gesture = self.gesture.take();
        let rewrapped = std::mem::take(&mut self.rewrapped);
        match gesture {
            Some(Gesture::Replace) => self.ledger = RowLedger::default(),
            Some(Gesture::Rewrite) => {
                self.ledger = self.rows_above.clone();
                self.ledger.realign(frame.rows);
            }
            _ if rewrapped => self.ledger.realign(frame.rows),
            _ => {}
        }
        self.recent.painting(self.ledger.committed());
        self.settled = if frame.overlay.is_some() { 0 } else { frame.settled };
        let (before, committed) = (out.len(), self.ledger.committed());
        let how = match gesture {
            // Rows committed before another program wrote to the terminal are not written again.
            Some(Gesture::Begin) => self.rewrite(frame, Erase::Below, out, "begin"),
            Some(Gesture::Repaint) => self.rewrite(frame, Erase::Below, out, "repaint"),
            // The history of a multiplexer is only erased if it can be written again; else the new rows follow the old ones.
            Some(Gesture::Replace) if self.profile.multiplexer && self.above.is_none() => {
                self.rewrite(frame, Erase::Below, out, "append")
            }
            Some(Gesture::Replace | Gesture::Rewrite) => self.rewrite(frame, Erase::Everything, out, "replace"),
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
        let gone = if from == self.size { 0 } else { self.window.resized(from, self.size, self.profile.rewraps) };
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
        let mut commit = plan.commit.clone();
        let above = match &self.above {
            Some(text) if erase == Erase::Everything => {
                let (above, lost) = text.above(commit.len());
                commit.start += lost;
                above
            }
            _ => &[],
        };
        let chunk = commit.map(|at| frame.rows.row(at));
        let mut paint = Paint::new(&self.profile, self.size.width, &mut self.window, out);
        paint.rewrite(erase, above, chunk, &rows);
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
