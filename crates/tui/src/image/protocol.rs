//! Which protocol a terminal is trusted with.

/// How pictures reach the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageProtocol {
    /// They do not: a line of text stands for them.
    #[default]
    Text,
    /// With placeholders a picture is made of characters, which scroll and wrap as text does; without, it lies over the
    /// cells at which it was put.
    Kitty {
        placeholders: bool,
        /// Inside tmux, which hands on what is wrapped for the terminal around it.
        passthrough: bool,
    },
    Iterm2,
    Sixel,
}

/// What is known about the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageFacts<'a> {
    /// `kitty`, `ghostty`, `wezterm`, `iterm2`, …
    pub terminal: &'a str,
    pub multiplexer: bool,
    /// Whether the device attributes named sixels.
    pub sixel: bool,
    /// Placeholders carry the picture's number in their colour, which must arrive as it was sent.
    pub true_color: bool,
    /// `PI_FORCE_IMAGE_PROTOCOL`
    pub forced: Option<&'a str>,
    /// `PI_KITTY_PLACEHOLDERS`
    pub placeholders: Option<&'a str>,
    /// `PI_NO_KITTY_PLACEHOLDERS`
    pub no_placeholders: Option<&'a str>,
}

impl ImageProtocol {
    /// The user's word first. In a multiplexer nothing is sent by itself: what is around it is not known.
    pub fn choose(facts: &ImageFacts<'_>) -> Self {
        let kitty = ImageProtocol::Kitty { placeholders: facts.placeholders(), passthrough: facts.multiplexer };
        let forced = facts.forced.map(|forced| forced.trim().to_ascii_lowercase());
        match forced.as_deref() {
            Some("off" | "none" | "0") => return ImageProtocol::Text,
            // Only characters know where a pane is.
            Some("kitty") if facts.multiplexer && !facts.placeholders() => return ImageProtocol::Text,
            Some("kitty") => return kitty,
            Some("iterm2") => return ImageProtocol::Iterm2,
            Some("sixel") => return ImageProtocol::Sixel,
            _ if facts.multiplexer => return ImageProtocol::Text,
            _ => {}
        }
        match facts.terminal {
            "kitty" | "ghostty" => kitty,
            "iterm2" | "wezterm" | "mintty" => ImageProtocol::Iterm2,
            _ if facts.sixel => ImageProtocol::Sixel,
            _ => ImageProtocol::Text,
        }
    }
}

impl ImageFacts<'_> {
    fn placeholders(&self) -> bool {
        let forced_in_multiplexer = self.multiplexer && self.forced.is_some();
        let by_terminal = matches!(self.terminal, "kitty" | "ghostty") || forced_in_multiplexer;
        let wanted = match (self.no_placeholders.and_then(yes_or_no), self.placeholders.and_then(yes_or_no)) {
            (Some(true), _) => false,
            (_, Some(wanted)) => wanted,
            _ => by_terminal,
        };
        wanted && self.true_color
    }
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
        let kitty = |placeholders, passthrough| ImageProtocol::Kitty { placeholders, passthrough };
        let of = |terminal| ImageFacts { terminal, true_color: true, ..ImageFacts::default() };
        for (facts, expect) in [
            (of("kitty"), kitty(true, false)),
            (of("ghostty"), kitty(true, false)),
            (ImageFacts { true_color: false, ..of("kitty") }, kitty(false, false)),
            (ImageFacts { no_placeholders: Some("1"), placeholders: Some("1"), ..of("kitty") }, kitty(false, false)),
            (ImageFacts { placeholders: Some("no"), ..of("kitty") }, kitty(false, false)),
            (ImageFacts { forced: Some("kitty"), ..of("konsole") }, kitty(false, false)),
            (ImageFacts { forced: Some("kitty"), placeholders: Some("on"), ..of("konsole") }, kitty(true, false)),
            (of("iterm2"), ImageProtocol::Iterm2),
            (of("xterm"), ImageProtocol::Text),
            (ImageFacts { sixel: true, ..of("xterm") }, ImageProtocol::Sixel),
            (ImageFacts { forced: Some("OFF"), ..of("kitty") }, ImageProtocol::Text),
            (ImageFacts { forced: Some("sixel"), ..of("kitty") }, ImageProtocol::Sixel),
            (ImageFacts { forced: Some("nonsense"), ..of("iterm2") }, ImageProtocol::Iterm2),
            (ImageFacts { multiplexer: true, sixel: true, ..of("kitty") }, ImageProtocol::Text),
            (ImageFacts { multiplexer: true, forced: Some("kitty"), ..of("") }, kitty(true, true)),
            (
                ImageFacts { multiplexer: true, forced: Some("kitty"), no_placeholders: Some("1"), ..of("") },
                ImageProtocol::Text,
            ),
        ] {
            assert_eq!(ImageProtocol::choose(&facts), expect, "{facts:?}");
        }
    }
}
