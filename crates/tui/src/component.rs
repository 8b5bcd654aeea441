//! The parts of a screen.

use crate::input::Input;
use crate::line::Line;
use crate::theme::Theme;

/// Draws itself as rows, and may take what is typed.
pub trait Component {
    /// The rows at this width. Called for every frame that may have changed: what is costly to lay out is kept.
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// Takes a key, a paste, a click. What is ignored goes to the component around it.
    fn input(&mut self, _input: &Input) -> Reaction {
        Reaction::Ignored
    }
}

/// What there is to draw in.
#[derive(Clone, Copy)]
pub struct Space<'a> {
    pub width: usize,
    /// Rows of the terminal, for components that scroll inside themselves.
    pub height: usize,
    pub theme: &'a Theme,
    /// Whether the component has the focus and shows its cursor.
    pub focused: bool,
}

impl<'a> Space<'a> {
    pub fn narrower(self, columns: usize) -> Space<'a> {
        Space { width: self.width.saturating_sub(columns), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    Ignored,
    /// Taken, and something may look different now.
    Taken,
}
