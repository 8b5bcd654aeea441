//! A progress bar.

use omp_stdx::display_width;

use super::one_line;
use crate::component::{Component, Space};
use crate::line::Line;
use crate::theme::{SymbolPreset, Token};

const WIDEST: usize = 40;

#[derive(Clone, Debug, Default)]
pub struct ProgressBar {
    message: String,
    done: u64,
    total: u64,
}

impl ProgressBar {
    pub fn new(message: impl Into<String>, total: u64) -> Self {
        Self { message: message.into(), done: 0, total }
    }

    pub fn set_message(&mut self, message: impl Into<String>) {
        self.message = message.into();
    }

    pub fn set(&mut self, done: u64, total: u64) {
        (self.done, self.total) = (done, total);
    }

    /// Returns the percentage; 100 if the total is zero.
    pub fn percent(&self) -> u64 {
        let share = u128::from(self.done.min(self.total)) * 100;
        share.checked_div(u128::from(self.total)).unwrap_or(100) as u64
    }
}

impl Component for ProgressBar {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let percent = self.percent();
        let bar = (space.width / 2).min(WIDEST);
        let filled = bar * percent as usize / 100;
        let (full, empty) = match space.theme.symbols().preset() {
            SymbolPreset::Ascii => ("#", "-"),
            _ => ("█", "░"),
        };
        let mut line = Line::styled(full.repeat(filled), space.theme.fg(Token::Accent));
        line.push(empty.repeat(bar - filled), space.theme.fg(Token::Dim));
        let about = format!(" {percent:>3}% {}", one_line(&self.message));
        let room = space.width.saturating_sub(bar);
        line.push(display_width::ellipsize(about.trim_end(), room).into_owned(), space.theme.fg(Token::Muted));
        vec![line]
    }
}
