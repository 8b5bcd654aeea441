//! The animated row: what runs, for how long, and how to stop it.

use omp_stdx::sanitize;
use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};
use tokio::time::Instant;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

#[derive(Clone, Debug)]
pub struct Working {
    pub since: Instant,
    /// What runs besides the model's answer.
    pub doing: Option<String>,
    pub retry: Option<Retry>,
    /// Whether the conversation is being compacted.
    pub compacting: bool,
    /// Whether an abandoned branch is being summarized.
    pub summing_up: bool,
    pub step: usize,
}

/// A failed request is being retried; the transcript shows the reason.
#[derive(Clone, Debug)]
pub struct Retry {
    pub attempt: u32,
    pub max_attempts: u32,
    pub at: Instant,
}

impl Working {
    pub fn new(now: Instant) -> Self {
        Self { since: now, doing: None, retry: None, compacting: false, summing_up: false, step: 0 }
    }

    pub fn row(&self, now: Instant, stop_key: &str, space: &Space<'_>) -> Line {
        let theme = space.theme;
        let sign = FRAMES[self.step % FRAMES.len()];
        let stop = if stop_key.is_empty() { String::new() } else { format!(" · {stop_key} to interrupt") };
        let line = match &self.retry {
            Some(retry) => {
                let left = retry.at.saturating_duration_since(now).as_secs_f64().ceil() as u64;
                let Retry { attempt, max_attempts, .. } = retry;
                Line::styled(format!("{sign} "), theme.fg(Token::Warning))
                    .with(format!("retry {attempt}/{max_attempts} in {left}s{stop}"), theme.fg(Token::Warning))
            }
            None => {
                let what = match &self.doing {
                    _ if self.compacting => "Compacting…".to_owned(),
                    _ if self.summing_up => "Summing up the branch…".to_owned(),
                    Some(doing) => one_line(doing),
                    None => "Working…".to_owned(),
                };
                let what =
                    omp_stdx::display_width::ellipsize(&what, space.width.saturating_sub(36).max(12)).into_owned();
                let elapsed = elapsed(now.saturating_duration_since(self.since).as_secs());
                Line::styled(format!("{sign} "), theme.fg(Token::Accent))
                    .with(what, theme.fg(Token::Text))
                    .with(format!(" · {elapsed}{stop}"), theme.fg(Token::Muted))
            }
        };
        clip(line, space.width)
    }
}

fn elapsed(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn one_line(text: &str) -> String {
    let text = sanitize::strip_control(text);
    sanitize::reveal_invisible(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}
