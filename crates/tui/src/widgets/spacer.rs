//! Empty rows.

use crate::component::{Component, Space};
use crate::line::Line;

#[derive(Clone, Copy, Debug)]
pub struct Spacer(pub usize);

impl Component for Spacer {
    fn draw(&mut self, _space: &Space<'_>) -> Vec<Line> {
        vec![Line::new(); self.0]
    }
}
