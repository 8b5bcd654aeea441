//! The parts of a screen.

use crate::input::Input;
use crate::line::Line;
use crate::theme::Theme;

/// Draws itself as rows and may handle input.
pub trait Component {
    /// Returns the rows at this width. Called for every frame that may have changed, so expensive layouts must be cached.
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// Handles a key, a paste or a click. Ignored input goes to the parent component.
    fn input(&mut self, _input: &Input) -> Reaction {
        Reaction::Ignored
    }
}

/// The space that a component draws in.
#[derive(Clone, Copy)]
pub struct Space<'a> {
    pub width: usize,
    /// Rows of the terminal, for components that scroll their own content.
    pub height: usize,
    pub theme: &'a Theme,
    /// Whether the component has the focus and shows its cursor.
    pub focused: bool,
    pub keys: &'a dyn KeyNames,
}

/// Names the keys in hints. Components know only the default keys, but the user may have bound others.
pub trait KeyNames {
    /// Returns the key to show instead of a default one; `None` if no key does the same.
    fn shown(&self, default: &str) -> Option<String>;
}

/// For a place where no keys can be bound.
pub struct DefaultKeys;

impl KeyNames for DefaultKeys {
    fn shown(&self, default: &str) -> Option<String> {
        Some(default.to_owned())
    }
}

impl<'a> Space<'a> {
    pub fn narrower(self, columns: usize) -> Space<'a> {
        Space { width: self.width.saturating_sub(columns), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    Ignored,
    /// The input was handled and the component may look different now.
    Taken,
}
