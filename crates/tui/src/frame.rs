//! What is to be seen: every row from the first ever drawn to the last, of which the terminal shows the end.

use crate::line::Line;

/// All rows of a frame. The renderer asks only for those it has not committed to the scrollback yet, and for a few
/// before them, so a long transcript costs nothing.
pub trait Rows {
    fn len(&self) -> usize;

    /// `at` is less than [`Rows::len`].
    fn row(&self, at: usize) -> &Line;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Rows for [Line] {
    fn len(&self) -> usize {
        self.len()
    }

    fn row(&self, at: usize) -> &Line {
        &self[at]
    }
}

impl Rows for Vec<Line> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn row(&self, at: usize) -> &Line {
        &self[at]
    }
}

pub struct Frame<'a> {
    pub rows: &'a dyn Rows,
    /// Rows before this one never change again; the others stay out of the scrollback.
    pub settled: usize,
    /// Covers part of the screen; while it is there nothing enters the scrollback.
    pub overlay: Option<Overlay<'a>>,
}

/// Rows that lie over the window, in screen coordinates.
pub struct Overlay<'a> {
    pub lines: &'a [Line],
    pub top: usize,
    pub left: usize,
    pub width: usize,
}

/// Where the cursor is, in rows of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub row: usize,
    pub column: usize,
}
