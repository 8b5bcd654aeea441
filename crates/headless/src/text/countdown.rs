//! The wait before a retry: on a terminal one line that is updated every second; elsewhere a single line.

use std::io::{self, Write};
use std::time::Duration;

use omp_stdx::display_width::ellipsize;
use tokio::time::Instant;

/// Moves to the start of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

pub(super) struct Countdown {
    delay: Duration,
    until: Instant,
    attempt: u32,
    max_attempts: u32,
    /// The reason of the retry, and the maximum width of the line.
    reason: String,
    columns: usize,
    /// The number on screen; `None` before the first.
    shown: Option<u64>,
}

impl Countdown {
    pub fn new(delay: Duration, attempt: u32, max_attempts: u32) -> Self {
        let until = Instant::now() + delay;
        Self { delay, until, attempt, max_attempts, reason: String::new(), columns: usize::MAX, shown: None }
    }

    pub fn because(self, reason: &str, columns: usize) -> Self {
        Self { reason: reason.to_owned(), columns, ..self }
    }

    /// The line for output that cannot be updated.
    pub fn once(&self, reason: Option<&str>) -> String {
        let Self { delay, attempt, max_attempts, .. } = self;
        let reason = reason.map(|reason| format!("{reason}; ")).unwrap_or_default();
        format!("omp: {reason}trying again in {:.1} s ({attempt} of {max_attempts})", delay.as_secs_f64())
    }

    /// Writes the line if it has changed.
    pub fn draw(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let seconds = self.seconds_left();
        if self.shown.replace(seconds) == Some(seconds) {
            return Ok(());
        }
        let Self { attempt, max_attempts, reason, columns, .. } = self;
        let because = if reason.is_empty() { "" } else { ": " };
        let line =
            format!("omp: trying again in {seconds} s ({attempt} of {max_attempts}), Ctrl-C to stop{because}{reason}");
        // A wrapped line could not be cleared, and some terminals wrap a line of full width.
        write!(out, "{CLEAR_LINE}{}", ellipsize(&line, columns.saturating_sub(1).max(20)))?;
        out.flush()
    }

    /// Returns when the line changes next: at the end of the displayed second.
    pub fn next_tick(&self) -> Option<Instant> {
        let next = self.shown?.checked_sub(1).filter(|next| *next > 0)?;
        self.until.checked_sub(Duration::from_secs(next))
    }

    /// Clears the line when the wait ends for any reason.
    pub fn end(self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{CLEAR_LINE}")?;
        out.flush()
    }

    /// Rounds up to whole seconds.
    fn seconds_left(&self) -> u64 {
        self.until.saturating_duration_since(Instant::now()).as_millis().div_ceil(1000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(countdown: &mut Countdown) -> String {
        let mut out = Vec::new();
        countdown.draw(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[tokio::test]
    async fn a_line_is_written_anew_only_when_its_second_is_over() {
        let mut countdown = Countdown::new(Duration::from_millis(2900), 1, 3);
        assert_eq!(drawn(&mut countdown), "\r\x1b[Komp: trying again in 3 s (1 of 3), Ctrl-C to stop");
        assert_eq!(drawn(&mut countdown), "");
        let tick = countdown.next_tick().unwrap();
        assert_eq!(countdown.until - tick, Duration::from_secs(2));
        tokio::time::sleep_until(tick).await;
        assert!(drawn(&mut countdown).contains("in 2 s"));
        let mut out = Vec::new();
        countdown.end(&mut out).unwrap();
        assert_eq!(out, CLEAR_LINE.as_bytes());
    }

    #[test]
    fn the_last_second_needs_no_tick() {
        let mut countdown = Countdown::new(Duration::from_millis(500), 2, 3);
        assert_eq!(countdown.next_tick(), None);
        assert!(drawn(&mut countdown).contains("in 1 s (2 of 3)"));
        assert_eq!(countdown.next_tick(), None);
        assert_eq!(countdown.once(None), "omp: trying again in 0.5 s (2 of 3)");
        assert_eq!(countdown.once(Some("busy")), "omp: busy; trying again in 0.5 s (2 of 3)");
    }
}
