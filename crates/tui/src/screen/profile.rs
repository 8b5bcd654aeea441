//! The terminal features that affect the output bytes.

use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorDepth {
    None,
    Ansi16,
    Ansi256,
    #[default]
    True,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Inside tmux, screen or zellij: their history cannot be erased, so it is never rewritten.
    pub multiplexer: bool,
    /// How late a new size may be reported: rows that entered the scrollback within this time before a resize may have been
    /// truncated and are written again.
    pub resize_lag: Duration,
    /// Whether rows that are too wide for a new size are known to be wrapped, not truncated.
    pub rewraps: bool,
    /// DEC mode 2026: a frame is shown atomically.
    pub synchronized: bool,
    pub colors: ColorDepth,
    /// OSC 8.
    pub links: bool,
}

impl Profile {
    /// The lag of a multiplexer, or over a network.
    pub const LATE: Duration = Duration::from_millis(500);
    /// The lag of a terminal on this machine.
    pub const PROMPT: Duration = Duration::from_millis(100);
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            multiplexer: false,
            resize_lag: Self::LATE,
            rewraps: true,
            synchronized: false,
            colors: ColorDepth::True,
            links: true,
        }
    }
}
