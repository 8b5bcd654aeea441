//! The protocol by which pictures reach the terminal.

use crate::screen::ColorDepth;
use crate::terminal::{Capabilities, ImageProtocol, Multiplexer, TerminalEnv, TerminalId};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageWay {
    /// Not supported: a line of text is shown instead.
    #[default]
    Text,
    /// With placeholders a picture consists of characters, which scroll and wrap like text; without, it covers the cells
    /// where it was placed.
    Kitty {
        placeholders: bool,
        /// Inside tmux, which forwards wrapped sequences to the outer terminal.
        passthrough: bool,
    },
    Iterm2,
    Sixel,
}

impl ImageWay {
    pub fn choose(terminal: &Capabilities, env: &TerminalEnv) -> Self {
        let placeholders = placeholders(terminal, env);
        match (terminal.images, terminal.multiplexer) {
            (None, _) => ImageWay::Text,
            (Some(ImageProtocol::Iterm2), _) => ImageWay::Iterm2,
            (Some(ImageProtocol::Sixel), _) => ImageWay::Sixel,
            (Some(ImageProtocol::Kitty), None) => ImageWay::Kitty { placeholders, passthrough: false },
            // Requested by the user. Only placeholder characters stay inside a pane.
            (Some(ImageProtocol::Kitty), Some(Multiplexer::Tmux)) if placeholders => {
                ImageWay::Kitty { placeholders, passthrough: true }
            }
            (Some(ImageProtocol::Kitty), Some(_)) => ImageWay::Text,
        }
    }
}

/// Placeholders encode the picture id in their colour, so the terminal must preserve colours exactly.
fn placeholders(terminal: &Capabilities, env: &TerminalEnv) -> bool {
    let said = |name| env.get(name).and_then(yes_or_no);
    let known = matches!(terminal.id, TerminalId::Kitty | TerminalId::Ghostty) || terminal.multiplexer.is_some();
    let wanted = match (said("PI_NO_KITTY_PLACEHOLDERS"), said("PI_KITTY_PLACEHOLDERS")) {
        (Some(true), _) => false,
        (_, Some(wanted)) => wanted,
        _ => known,
    };
    wanted && terminal.colors == ColorDepth::True
}

fn yes_or_no(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" | "y" => Some(true),
        "0" | "false" | "off" | "no" | "n" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_what_they_understand() {
        const KITTY: (&str, &str) = ("KITTY_WINDOW_ID", "1");
        const FORCED: (&str, &str) = ("PI_FORCE_IMAGE_PROTOCOL", "kitty");
        const TMUX: (&str, &str) = ("TMUX", "/tmp/x");
        const TRUE: (&str, &str) = ("COLORTERM", "truecolor");
        const NOT: (&str, &str) = ("PI_NO_KITTY_PLACEHOLDERS", "1");
        let kitty = |placeholders, passthrough| ImageWay::Kitty { placeholders, passthrough };
        let rows: [(&[(&str, &str)], ImageWay); 14] = [
            (&[KITTY], kitty(true, false)),
            (&[("TERM_PROGRAM", "ghostty")], kitty(true, false)),
            (&[KITTY, ("FORCE_COLOR", "2")], kitty(false, false)),
            (&[KITTY, NOT, ("PI_KITTY_PLACEHOLDERS", "1")], kitty(false, false)),
            (&[KITTY, ("PI_KITTY_PLACEHOLDERS", "no")], kitty(false, false)),
            (&[("WEZTERM_PANE", "1")], kitty(false, false)),
            (&[("WEZTERM_PANE", "1"), ("PI_KITTY_PLACEHOLDERS", "on")], kitty(true, false)),
            (&[("ITERM_SESSION_ID", "1")], ImageWay::Iterm2),
            (&[("TERM", "xterm")], ImageWay::Text),
            (&[KITTY, ("PI_FORCE_IMAGE_PROTOCOL", "off")], ImageWay::Text),
            (&[KITTY, ("PI_FORCE_IMAGE_PROTOCOL", "sixel")], ImageWay::Sixel),
            (&[KITTY, TMUX], ImageWay::Text),
            (&[FORCED, TMUX, TRUE], kitty(true, true)),
            (&[FORCED, TMUX, TRUE, NOT], ImageWay::Text),
        ];
        for (set, expect) in rows {
            let env: TerminalEnv = set.iter().copied().chain([("TERM", "xterm-256color")]).collect();
            assert_eq!(ImageWay::choose(&Capabilities::detect(&env), &env), expect, "{set:?}");
        }
    }
}
