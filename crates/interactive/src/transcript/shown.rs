//! A card that a slash command shows.

use omp_tui::{Line, Space};
use omp_view::View;

use super::Block;
use super::card;

pub struct ShownCard {
    view: View,
    expanded: bool,
}

impl ShownCard {
    pub fn new(view: View) -> Self {
        Self { view, expanded: false }
    }
}

impl Block for ShownCard {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut rows = vec![card::title(&self.view, space)];
        rows.extend(card::body(&self.view, space, self.expanded, self.view.keep));
        rows
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
