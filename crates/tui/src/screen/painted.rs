//! Statistics of a painted frame, to debug the renderer.

use std::fmt::{Display, Formatter, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Painted {
    /// `begin`, `repaint`, `append`, `replace`, `rewrite`, `scroll` or `change`.
    pub how: &'static str,
    /// Rows of the frame.
    pub rows: usize,
    pub settled: usize,
    /// The first row of the window.
    pub top: usize,
    /// Rows in the scrollback, before and after.
    pub committed: (usize, usize),
    /// Bytes written for the frame.
    pub bytes: usize,
}

impl Display for Painted {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Painted { how, rows, settled, top, committed: (before, after), bytes } = self;
        write!(out, "{how} rows={rows} settled={settled} top={top} committed={before}..{after} bytes={bytes}")
    }
}
