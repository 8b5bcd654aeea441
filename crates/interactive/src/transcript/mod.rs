//! What was said and done, as blocks of rows.

mod call;
mod card;
mod compacted;
mod fired;
mod gallery;
mod log;
mod note;
mod past;
mod prose;
mod reads;
mod retrying;
mod scribe;
mod shell;

use std::cell::RefCell;
use std::rc::Rc;

use omp_tui::{Line, Space};

pub use gallery::{Developed, Gallery, PictureWishes};
pub use log::Log;
pub use note::{Note, Tone};
pub use past::Past;
pub use scribe::{COST_SETTINGS, CostLines, Scribe};
pub use shell::ShellBlock;

/// One thing in the transcript: a message, a tool call, a notice. Drawn again only when its version changed.
pub trait Block {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// The same from a row on, for a block whose rows before it have settled and which can leave them out. `None`: all of
    /// it has to be drawn.
    fn draw_from(&mut self, _space: &Space<'_>, _row: usize) -> Option<Vec<Line>> {
        None
    }

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
