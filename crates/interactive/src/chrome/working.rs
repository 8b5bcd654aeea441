//! The animated row: what runs, for how long, and how to stop it. It stands still while a question waits.

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
    /// Whether a failed request waits to be retried; the transcript shows the reason and counts the seconds.
    pub retrying: bool,
    /// Whether the conversation is being compacted.
    pub compacting: bool,
    /// Whether an abandoned branch is being summarized.
    pub summing_up: bool,
    /// Whether a question waits for the user's answer.
    pub asking: bool,
    pub step: usize,
}

impl Working {
    pub fn new(now: Instant) -> Self {
        Self { since: now, doing: None, retrying: false, compacting: false, summing_up: false, asking: false, step: 0 }
    }

    pub fn row(&self, now: Instant, stop_key: &str, space: &Space<'_>) -> Line {
        let theme = space.theme;
        // Nothing moves while the user reads a question. Its keys are shown below it.
        if self.asking {
            let line =
                Line::styled("● ", theme.fg(Token::Warning)).with("Waiting for your answer", theme.fg(Token::Text));
            return clip(line, space.width);
        }
        let sign = FRAMES[self.step % FRAMES.len()];
        let stop = if stop_key.is_empty() { String::new() } else { format!(" · {stop_key} to interrupt") };
        let what = match &self.doing {
            _ if self.compacting => "Compacting…".to_owned(),
            _ if self.summing_up => "Summarizing the branch…".to_owned(),
            _ if self.retrying => "Waiting to retry".to_owned(),
            Some(doing) => one_line(doing),
            None => "Working…".to_owned(),
        };
        let what = omp_stdx::display_width::ellipsize(&what, space.width.saturating_sub(36).max(12)).into_owned();
        let elapsed = elapsed(now.saturating_duration_since(self.since).as_secs());
        let line = Line::styled(format!("{sign} "), theme.fg(Token::Accent))
            .with(what, theme.fg(Token::Text))
            .with(format!(" · {elapsed}{stop}"), theme.fg(Token::Muted));
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
