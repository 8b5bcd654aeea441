//! A row that shows the time until an automatic action. The application provides the clock.

use std::time::{Duration, Instant};

use omp_stdx::display_width;

use super::loader::short_time;
use super::one_line;
use crate::component::{Component, Space};
use crate::line::Line;
use crate::theme::Token;

#[derive(Clone, Debug)]
pub struct Countdown {
    message: String,
    until: Instant,
    left: Duration,
}

impl Countdown {
    pub fn new(message: impl Into<String>, now: Instant, left: Duration) -> Self {
        Self { message: message.into(), until: now + left, left }
    }

    /// Returns whether the row changed.
    pub fn tick(&mut self, now: Instant) -> bool {
        let before = self.seconds();
        self.left = self.until.saturating_duration_since(now);
        self.seconds() != before
    }

    pub fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    /// A started second counts as a whole one.
    fn seconds(&self) -> u64 {
        self.left.as_secs() + u64::from(self.left.subsec_nanos() > 0)
    }
}

impl Component for Countdown {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let text = format!("{} ({})", one_line(&self.message), short_time(Duration::from_secs(self.seconds())));
        let shown = display_width::ellipsize(&text, space.width).into_owned();
        vec![Line::styled(shown, space.theme.fg(Token::Muted))]
    }
}
