//! A block that never changes, except that the user can expand it.

use omp_tui::{Line, Space};
use omp_view::View;

use super::{Block, card};

/// What a [`Folded`] block shows.
pub trait Foldable {
    fn draw(&self, space: &Space<'_>, expanded: bool) -> Vec<Line>;
}

/// A card that a slash command shows.
impl Foldable for View {
    fn draw(&self, space: &Space<'_>, expanded: bool) -> Vec<Line> {
        let mut rows = vec![card::title(self, space)];
        rows.extend(card::body(self, space, expanded, self.keep));
        rows
    }
}

pub struct Folded<T> {
    content: T,
    expanded: bool,
}

impl<T> Folded<T> {
    pub fn new(content: T) -> Self {
        Self { content, expanded: false }
    }
}

impl<T: Foldable> Block for Folded<T> {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.content.draw(space, self.expanded)
    }

    fn version(&self) -> u64 {
        u64::from(self.expanded)
    }

    fn is_final(&self) -> bool {
        true
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.expanded = expanded;
    }
}
