//! Text styles: colours and attributes, without terminal bytes.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The default colour of the terminal.
    #[default]
    Default,
    /// One of the 256 palette colours.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// A set of attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attrs(u8);

impl Attrs {
    pub const NONE: Attrs = Attrs(0);
    pub const BOLD: Attrs = Attrs(1);
    pub const DIM: Attrs = Attrs(1 << 1);
    pub const ITALIC: Attrs = Attrs(1 << 2);
    pub const UNDERLINE: Attrs = Attrs(1 << 3);
    pub const REVERSE: Attrs = Attrs(1 << 4);
    pub const STRIKE: Attrs = Attrs(1 << 5);

    pub const fn with(self, other: Attrs) -> Attrs {
        Attrs(self.0 | other.0)
    }

    pub const fn has(self, other: Attrs) -> bool {
        self.0 & other.0 == other.0
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    pub fg: Color,
    pub bg: Color,
    pub attrs: Attrs,
}

impl Style {
    pub const PLAIN: Style = Style { fg: Color::Default, bg: Color::Default, attrs: Attrs::NONE };

    pub const fn fg(self, fg: Color) -> Style {
        Style { fg, ..self }
    }

    pub const fn bg(self, bg: Color) -> Style {
        Style { bg, ..self }
    }

    pub const fn with(self, attrs: Attrs) -> Style {
        Style { attrs: self.attrs.with(attrs), ..self }
    }

    pub const fn bold(self) -> Style {
        self.with(Attrs::BOLD)
    }

    pub const fn dim(self) -> Style {
        self.with(Attrs::DIM)
    }

    pub const fn italic(self) -> Style {
        self.with(Attrs::ITALIC)
    }

    /// Returns this style, with unset parts taken from the style below it.
    pub const fn over(self, below: Style) -> Style {
        Style {
            fg: if matches!(self.fg, Color::Default) { below.fg } else { self.fg },
            bg: if matches!(self.bg, Color::Default) { below.bg } else { self.bg },
            attrs: self.attrs.with(below.attrs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_style_leaves_open_comes_from_below() {
        let below = Style::PLAIN.bg(Color::Indexed(4)).fg(Color::Indexed(1)).bold();
        let over = Style::PLAIN.fg(Color::Rgb(1, 2, 3)).italic().over(below);
        let attrs = Attrs::BOLD.with(Attrs::ITALIC);
        assert_eq!(over, Style { fg: Color::Rgb(1, 2, 3), bg: Color::Indexed(4), attrs });
        assert!(over.attrs.has(Attrs::BOLD) && !over.attrs.has(Attrs::DIM));
    }
}
