//! What stands in the place of the editor for a while: questions, selectors.

mod approve;
mod ask;
mod card;
mod field;
mod picker;
mod pointer;
mod query;
#[cfg(test)]
mod screen;
mod sheet;

use omp_tui::{Input, Line, Space};

pub use approve::{Approval, ApproveDialog};
pub use ask::AskDialog;

use crate::action::Action;

/// Takes the place of the editor until it is done.
pub trait Dialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    fn input(&mut self, input: &Input) -> Step;
}

#[derive(Debug)]
pub enum Step {
    /// Nothing to see.
    Ignored,
    Redraw,
    /// Done on the way, the dialog stays: a theme is tried, a session deleted.
    Do(Action),
    /// The editor comes back. `None` when nothing was chosen.
    Close(Option<Action>),
}
