//! Messages and tool calls, rendered as blocks of rows.

mod call;
mod card;
mod compacted;
#[cfg(test)]
mod every;
mod fired;
mod folded;
mod gallery;
mod log;
mod note;
mod page;
mod past;
mod prose;
mod reads;
mod retrying;
mod scribe;
mod shell;

use std::cell::RefCell;
use std::rc::Rc;

use omp_tui::{Line, Space};

pub(crate) use call::{AskedAbout, DENIED};
pub use gallery::{Developed, Gallery, PictureWishes};
pub use log::Log;
pub use note::{Note, Tone};
pub use past::Past;
pub use scribe::{COST_SETTINGS, CostLines, Scribe};
pub use shell::ShellBlock;

/// One item of the transcript: a message, a tool call, a notice. Drawn again only if its version has changed.
pub trait Block {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// Draws from a row on, for a block that can skip its settled rows. `None` means that all of it must be drawn.
    fn draw_from(&mut self, _space: &Space<'_>, _row: usize) -> Option<Vec<Line>> {
        None
    }

    /// Changes with everything that affects its appearance, besides the space.
    fn version(&self) -> u64;

    /// Whether the block never changes again, except by a user action such as expanding it.
    fn is_final(&self) -> bool;

    /// The number of leading rows of the last drawing that will not change although the block is not final.
    fn settled_rows(&self) -> usize {
        0
    }

    /// Expands or collapses the block.
    fn set_expanded(&mut self, _expanded: bool) {}
}

impl<B: Block> Block for Rc<RefCell<B>> {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.borrow_mut().draw(space)
    }

    fn draw_from(&mut self, space: &Space<'_>, row: usize) -> Option<Vec<Line>> {
        self.borrow_mut().draw_from(space, row)
    }

    fn version(&self) -> u64 {
        self.borrow().version()
    }

    fn is_final(&self) -> bool {
        self.borrow().is_final()
    }

    fn settled_rows(&self) -> usize {
        self.borrow().settled_rows()
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.borrow_mut().set_expanded(expanded);
    }
}
