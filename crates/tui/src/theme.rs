//! Colours by meaning. Components name a [`Token`]; the theme defines its colour.

mod builtin;
mod catalog;
mod contrast;
mod file;
mod symbols;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

pub use catalog::{ThemeProblem, Themes};
pub use contrast::Rgb;
pub use file::ThemeError;
pub use symbols::{Spinner, Symbol, SymbolPreset, Symbols};

use crate::screen::ColorDepth;
use crate::style::{Color, Style};

macro_rules! tokens {
    ($($token:ident = $name:literal,)*) => {
        /// The purpose of a colour, with the names of theme files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Token { $($token,)* }

        impl Token {
            pub const ALL: &'static [Token] = &[$(Token::$token,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Token::$token => $name,)* }
            }

            pub fn named(name: &str) -> Option<Token> {
                Token::ALL.iter().copied().find(|token| token.name() == name)
            }
        }
    };
}

tokens! {
    Accent = "accent",
    Border = "border",
    BorderAccent = "borderAccent",
    BorderMuted = "borderMuted",
    Success = "success",
    Error = "error",
    Warning = "warning",
    Muted = "muted",
    Dim = "dim",
    Text = "text",
    ThinkingText = "thinkingText",
    SelectedBg = "selectedBg",
    UserMessageBg = "userMessageBg",
    UserMessageText = "userMessageText",
    CustomMessageBg = "customMessageBg",
    CustomMessageText = "customMessageText",
    CustomMessageLabel = "customMessageLabel",
    ToolPendingBg = "toolPendingBg",
    ToolSuccessBg = "toolSuccessBg",
    ToolErrorBg = "toolErrorBg",
    ToolTitle = "toolTitle",
    ToolOutput = "toolOutput",
    MdHeading = "mdHeading",
    MdLink = "mdLink",
    MdLinkUrl = "mdLinkUrl",
    MdCode = "mdCode",
    MdCodeBlock = "mdCodeBlock",
    MdCodeBlockBorder = "mdCodeBlockBorder",
    MdQuote = "mdQuote",
    MdQuoteBorder = "mdQuoteBorder",
    MdHr = "mdHr",
    MdListBullet = "mdListBullet",
    ToolDiffAdded = "toolDiffAdded",
    ToolDiffRemoved = "toolDiffRemoved",
    ToolDiffContext = "toolDiffContext",
    ToolDiffAddedBg = "toolDiffAddedBg",
    ToolDiffRemovedBg = "toolDiffRemovedBg",
    ToolDiffAddedWordBg = "toolDiffAddedWordBg",
    ToolDiffRemovedWordBg = "toolDiffRemovedWordBg",
    SyntaxComment = "syntaxComment",
    SyntaxKeyword = "syntaxKeyword",
    SyntaxFunction = "syntaxFunction",
    SyntaxVariable = "syntaxVariable",
    SyntaxString = "syntaxString",
    SyntaxNumber = "syntaxNumber",
    SyntaxType = "syntaxType",
    SyntaxOperator = "syntaxOperator",
    SyntaxPunctuation = "syntaxPunctuation",
    ThinkingOff = "thinkingOff",
    ThinkingMinimal = "thinkingMinimal",
    ThinkingLow = "thinkingLow",
    ThinkingMedium = "thinkingMedium",
    ThinkingHigh = "thinkingHigh",
    ThinkingXhigh = "thinkingXhigh",
    ThinkingMax = "thinkingMax",
    BashMode = "bashMode",
    PythonMode = "pythonMode",
    StatusLineBg = "statusLineBg",
    StatusLineSep = "statusLineSep",
    StatusLineModel = "statusLineModel",
    StatusLinePath = "statusLinePath",
    StatusLineGitClean = "statusLineGitClean",
    StatusLineGitDirty = "statusLineGitDirty",
    StatusLineContext = "statusLineContext",
    StatusLineSpend = "statusLineSpend",
    StatusLineStaged = "statusLineStaged",
    StatusLineDirty = "statusLineDirty",
    StatusLineUntracked = "statusLineUntracked",
    StatusLineOutput = "statusLineOutput",
    StatusLineCost = "statusLineCost",
    StatusLineSubagents = "statusLineSubagents",
}

impl Token {
    /// The bands of a diff. Theme files of other programs do not have them.
    pub const DIFF_BANDS: [Token; 4] =
        [Token::ToolDiffAddedBg, Token::ToolDiffRemovedBg, Token::ToolDiffAddedWordBg, Token::ToolDiffRemovedWordBg];
}

/// A colour for every token.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub name: String,
    colors: Vec<Color>,
    symbols: Symbols,
    /// Unique per theme, so that rows laid out in one theme are not shown in another.
    id: u64,
}

impl Theme {
    /// Calls `color` once for every token.
    pub fn new(name: impl Into<String>, id: u64, color: impl FnMut(Token) -> Color) -> Self {
        let colors = Token::ALL.iter().copied().map(color).collect();
        Self { name: name.into(), id, colors, symbols: Symbols::default() }
    }

    /// Creates a theme whose id is derived from its colours.
    pub fn of_colors(name: impl Into<String>, color: impl FnMut(Token) -> Color) -> Self {
        Self::new(name, 0, color).with_symbols(Symbols::default())
    }

    /// Returns the same colours with other symbols.
    pub fn with_symbols(self, symbols: Symbols) -> Self {
        let mut hasher = DefaultHasher::new();
        (&self.colors, &symbols).hash(&mut hasher);
        Self { id: hasher.finish().max(1), symbols, ..self }
    }

    /// Returns the theme without bands in diffs for terminals whose few colours would turn them into glaring blocks.
    pub fn at_depth(&self, depth: ColorDepth) -> Self {
        if depth == ColorDepth::True {
            return self.clone();
        }
        let color = |token| match token {
            _ if Token::DIFF_BANDS.contains(&token) => Color::Default,
            _ if depth == ColorDepth::Ansi16 && self.color(token) != Color::Default => {
                named(token).unwrap_or_else(|| self.color(token))
            }
            _ => self.color(token),
        };
        Self::of_colors(self.name.clone(), color).with_symbols(self.symbols.clone())
    }

    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    pub fn symbol(&self, symbol: Symbol) -> &str {
        self.symbols.get(symbol)
    }

    /// Uses only the terminal's default colours.
    pub fn colorless() -> Self {
        Self::new("none", 0, |_| Color::Default)
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn color(&self, token: Token) -> Color {
        self.colors.get(token as usize).copied().unwrap_or_default()
    }

    /// Returns a style with the token's colour as foreground.
    pub fn fg(&self, token: Token) -> Style {
        Style::PLAIN.fg(self.color(token))
    }

    /// Returns a style with the token's colour as background.
    pub fn bg(&self, token: Token) -> Style {
        Style::PLAIN.bg(self.color(token))
    }
}

/// The terminal's own colour where the meaning matters: the nearest of sixteen to a soft red may be yellow.
fn named(token: Token) -> Option<Color> {
    match token {
        Token::Error | Token::ToolDiffRemoved => Some(Color::Indexed(1)),
        Token::Success | Token::ToolDiffAdded => Some(Color::Indexed(2)),
        Token::Warning => Some(Color::Indexed(3)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_its_own_color() {
        let theme = Theme::new("t", 1, |token| Color::Indexed(token as u8));
        assert!(Token::ALL.iter().all(|token| theme.color(*token) == Color::Indexed(*token as u8)));
        assert_eq!(Token::MdHeading.name(), "mdHeading");
        assert_eq!(theme.fg(Token::Error).bg, Color::Default);
        assert!(Token::ALL.iter().all(|token| Token::named(token.name()) == Some(*token)));
    }

    #[test]
    fn few_colors_mean_no_bands() {
        let theme = Theme::dark();
        assert_eq!(theme.at_depth(ColorDepth::True), theme);
        for depth in [ColorDepth::None, ColorDepth::Ansi16, ColorDepth::Ansi256] {
            let plain = theme.at_depth(depth);
            assert!(Token::DIFF_BANDS.iter().all(|band| plain.color(*band) == Color::Default));
            let green = if depth == ColorDepth::Ansi16 { Color::Indexed(2) } else { theme.color(Token::ToolDiffAdded) };
            assert_eq!(plain.color(Token::ToolDiffAdded), green);
            assert_ne!(plain.id(), theme.id());
        }
    }

    #[test]
    fn the_id_follows_the_looks() {
        let grey = |at| move |_| Color::Indexed(at);
        let theme = Theme::of_colors("a", grey(1));
        assert_eq!(theme.id(), Theme::of_colors("b", grey(1)).id());
        assert_ne!(theme.id(), Theme::of_colors("a", grey(2)).id());
        assert_ne!(theme.id(), theme.clone().with_symbols(Symbols::new(SymbolPreset::Ascii)).id());
    }
}
