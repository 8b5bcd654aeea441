//! A frame: every row from the first one ever drawn to the last; the terminal shows the end.

use crate::line::Line;

/// All rows of a frame. The renderer reads only rows that it has not committed to the scrollback yet and a few before them,
/// so a long transcript costs nothing.
pub trait Rows {
    fn len(&self) -> usize;

    /// `at` must be less than [`Rows::len`].
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
    /// Rows before this one never change again; only they may enter the scrollback.
    pub settled: usize,
    /// Covers part of the screen; nothing enters the scrollback while it is shown.
    pub overlay: Option<Overlay<'a>>,
}

/// Rows drawn over the window, in screen coordinates.
pub struct Overlay<'a> {
    pub lines: &'a [Line],
    pub top: usize,
    pub left: usize,
    pub width: usize,
}

/// The cursor position, in rows of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub row: usize,
    pub column: usize,
}
