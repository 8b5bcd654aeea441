//! A row of page names, one of which is open.

use omp_stdx::display_width;

use super::one_line;
use crate::component::{Component, Reaction, Space};
use crate::input::{Input, KeyCode, Mods};
use crate::line::Line;
use crate::style::{Attrs, Style};
use crate::theme::Token;

#[derive(Clone, Debug, Default)]
pub struct TabBar {
    tabs: Vec<String>,
    selected: usize,
    /// The first visible tab, if there is not room for all.
    first: usize,
}

impl TabBar {
    pub fn new(tabs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { tabs: tabs.into_iter().map(|tab| one_line(&tab.into())).collect(), selected: 0, first: 0 }
    }

    pub fn selected(&self) -> usize {
        self.selected
    }

    pub fn select(&mut self, index: usize) {
        self.selected = index.min(self.tabs.len().saturating_sub(1));
    }

    fn step(&mut self, by: usize) {
        self.selected = (self.selected + by) % self.tabs.len().max(1);
    }

    /// Returns how many tabs fit from `first` on, at least one.
    fn fitting(&self, first: usize, width: usize) -> usize {
        let mut left = width.saturating_sub(if first > 0 { 2 } else { 0 });
        let mut count = 0;
        for tab in &self.tabs[first..] {
            let is_final = first + count + 1 == self.tabs.len();
            let needs = display_width::width(tab) + 2 + if is_final { 0 } else { 2 };
            if needs > left && count > 0 {
                break;
            }
            left = left.saturating_sub(display_width::width(tab) + 2);
            count += 1;
        }
        count.max(1)
    }
}

impl Component for TabBar {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        if self.tabs.is_empty() {
            return Vec::new();
        }
        self.first = self.first.min(self.selected);
        while self.first < self.selected && self.first + self.fitting(self.first, space.width) <= self.selected {
            self.first += 1;
        }
        let dim = space.theme.fg(Token::Dim);
        let mut line = Line::new();
        if self.first > 0 {
            line.push("‹ ", dim);
        }
        let end = self.first + self.fitting(self.first, space.width);
        for at in self.first..end {
            let style = match at == self.selected {
                true => space.theme.fg(Token::Accent).with(Attrs::BOLD).with(Attrs::REVERSE),
                false => space.theme.fg(Token::Muted),
            };
            let room = space.width.saturating_sub(line.width());
            line.push(display_width::ellipsize(&format!(" {} ", self.tabs[at]), room).into_owned(), style);
        }
        if end < self.tabs.len() && line.width() + 2 <= space.width {
            line.push(" ", Style::PLAIN).push("›", dim);
        }
        vec![line]
    }

    fn input(&mut self, input: &Input) -> Reaction {
        let Input::Key(key) = input else { return Reaction::Ignored };
        let back = self.tabs.len().saturating_sub(1);
        match (key.code, key.mods) {
            (KeyCode::Tab | KeyCode::Right, Mods::NONE) => self.step(1),
            (KeyCode::Tab, Mods::SHIFT) | (KeyCode::Left, Mods::NONE) => self.step(back),
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }
}
