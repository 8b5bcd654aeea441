//! What was said and done, as blocks of rows.

use omp_tui::{Line, Space};

/// One thing in the transcript: a message, a tool call, a notice. Drawn again only when its version changed.
pub trait Block {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// Changes with everything that makes it look different, besides the space.
    fn version(&self) -> u64;

    /// Nothing of it will ever change, but by a gesture of the user.
    fn is_final(&self) -> bool;

    /// Rows at its start, of those drawn last, that will not change although it is not final.
    fn settled_rows(&self) -> usize {
        0
    }

    /// Shows all of it, or the short form.
    fn set_expanded(&mut self, _expanded: bool) {}
}
