//! A row that shows an activity, its duration, and how to stop it. It has no clock: the application passes the time and
//! learns whether the row changed.

use std::time::{Duration, Instant};

use omp_stdx::display_width;

use super::one_line;
use crate::component::{Component, Space};
use crate::line::Line;
use crate::theme::{Spinner, Token};

#[derive(Clone, Debug)]
pub struct Loader {
    message: String,
    hint: String,
    started: Instant,
    elapsed: Duration,
}

impl Loader {
    /// Duration of one frame of the spinner.
    pub const FRAME: Duration = Duration::from_millis(80);

    pub fn new(message: impl Into<String>, now: Instant) -> Self {
        Self { message: message.into(), hint: String::new(), started: now, elapsed: Duration::ZERO }
    }

    pub fn set_message(&mut self, message: impl Into<String>) {
        self.message = message.into();
    }

    /// Sets the text after the elapsed time, such as the key that stops the activity.
    pub fn set_hint(&mut self, hint: impl Into<String>) {
        self.hint = hint.into();
    }

    /// Returns whether the row changed.
    pub fn tick(&mut self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.started);
        let turned = steps(elapsed) != steps(self.elapsed);
        self.elapsed = elapsed;
        turned
    }

    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

impl Component for Loader {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let frame = space.theme.symbols().frame(Spinner::Activity, steps(self.elapsed)).to_owned();
        let mut about = format!(" ({}", short_time(self.elapsed));
        if !self.hint.is_empty() {
            about.push_str(", ");
            about.push_str(&one_line(&self.hint));
        }
        about.push(')');
        let mut line = Line::styled(frame, space.theme.fg(Token::Accent));
        let mut add = |text: &str, token| {
            let room = space.width.saturating_sub(line.width());
            line.push(display_width::ellipsize(text, room).into_owned(), space.theme.fg(token));
        };
        add(&format!(" {}", one_line(&self.message)), Token::Muted);
        add(&about, Token::Dim);
        vec![line]
    }
}

fn steps(elapsed: Duration) -> usize {
    (elapsed.as_millis() / Loader::FRAME.as_millis()) as usize
}

/// Formats `7s`, `2m 05s`, `1h 02m`.
pub(crate) fn short_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}
