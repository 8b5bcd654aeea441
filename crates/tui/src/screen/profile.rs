//! The terminal features that affect the output bytes.

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
    /// DEC mode 2026: a frame is shown atomically.
    pub synchronized: bool,
    pub colors: ColorDepth,
    /// OSC 8.
    pub links: bool,
}

impl Default for Profile {
    fn default() -> Self {
        Self { multiplexer: false, synchronized: false, colors: ColorDepth::True, links: true }
    }
}
