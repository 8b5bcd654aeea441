//! The built-in themes: dark, light, and two of high contrast.
//!
//! Each consists of a few text colours and backgrounds. The tests check the contrast of every text colour against typical
//! terminal backgrounds and the theme's own backgrounds: at least 4.5, and 7 for high contrast.

use super::{Rgb, Theme, Token};
use crate::style::Color;

type MakeTheme = fn() -> Theme;

/// Name and constructor, in the order in which they are offered.
pub const BUILT_IN: [(&str, MakeTheme); 4] = [
    ("dark", Theme::dark),
    ("light", Theme::light),
    ("high-contrast", Theme::high_contrast),
    ("high-contrast-light", Theme::high_contrast_light),
];

impl Theme {
    pub fn dark() -> Self {
        DARK.theme("dark")
    }

    pub fn light() -> Self {
        LIGHT.theme("light")
    }

    /// For black terminals.
    pub fn high_contrast() -> Self {
        CONTRAST.theme("high-contrast")
    }

    /// For white terminals.
    pub fn high_contrast_light() -> Self {
        CONTRAST_LIGHT.theme("high-contrast-light")
    }

    /// Returns the theme that is readable on the background of the terminal.
    pub fn for_background(background: Rgb) -> Self {
        if background.is_light() { Self::light() } else { Self::dark() }
    }
}

struct ThemePalette {
    ink: Inks,
    ground: Grounds,
}

/// The text colours.
struct Inks {
    text: Color,
    muted: Color,
    dim: Color,
    accent: Color,
    green: Color,
    red: Color,
    yellow: Color,
    purple: Color,
    orange: Color,
    teal: Color,
    blue: Color,
    pink: Color,
}

/// The backgrounds, and the colours of borders.
struct Grounds {
    border: Color,
    line: Color,
    selected: Color,
    user: Color,
    custom: Color,
    pending: Color,
    success: Color,
    error: Color,
    status: Color,
    added: Color,
    removed: Color,
    added_word: Color,
    removed_word: Color,
}

impl ThemePalette {
    fn theme(&self, name: &str) -> Theme {
        Theme::of_colors(name, |token| self.color(token))
    }

    fn color(&self, token: Token) -> Color {
        use Token::*;
        let (ink, ground) = (&self.ink, &self.ground);
        match token {
            Text | UserMessageText | CustomMessageText | ToolTitle | SyntaxVariable | MdCodeBlock => ink.text,
            Muted | ThinkingText | ToolOutput | MdQuote | ToolDiffContext | SyntaxPunctuation | StatusLineContext => {
                ink.muted
            }
            Dim | MdLinkUrl | SyntaxComment | ThinkingOff => ink.dim,
            Accent | BorderAccent | MdListBullet | SyntaxFunction | StatusLineSubagents | ThinkingMedium => ink.accent,
            Success | ToolDiffAdded | SyntaxString | StatusLineGitClean | StatusLineStaged => ink.green,
            Error | ToolDiffRemoved | ThinkingMax => ink.red,
            Warning | MdHeading | PythonMode | StatusLineGitDirty | StatusLineDirty => ink.yellow,
            CustomMessageLabel | SyntaxKeyword | ThinkingHigh | StatusLineModel => ink.purple,
            MdCode | SyntaxNumber | StatusLineCost | StatusLineSpend => ink.orange,
            SyntaxType | BashMode | StatusLinePath | ThinkingLow => ink.teal,
            MdLink | SyntaxOperator | StatusLineUntracked | ThinkingMinimal => ink.blue,
            ThinkingXhigh | StatusLineOutput => ink.pink,
            Border => ground.border,
            BorderMuted | MdCodeBlockBorder | MdQuoteBorder | MdHr | StatusLineSep => ground.line,
            SelectedBg => ground.selected,
            UserMessageBg => ground.user,
            CustomMessageBg => ground.custom,
            ToolPendingBg => ground.pending,
            ToolSuccessBg => ground.success,
            ToolErrorBg => ground.error,
            StatusLineBg => ground.status,
            ToolDiffAddedBg => ground.added,
            ToolDiffRemovedBg => ground.removed,
            ToolDiffAddedWordBg => ground.added_word,
            ToolDiffRemovedWordBg => ground.removed_word,
        }
    }
}

const fn hex(value: u32) -> Color {
    Color::Rgb((value >> 16) as u8, (value >> 8) as u8, value as u8)
}

const DARK: ThemePalette = ThemePalette {
    ink: Inks {
        text: Color::Default,
        muted: hex(0xa9b1c0),
        dim: hex(0x959eae),
        accent: hex(0x8db9ff),
        green: hex(0x8fd18a),
        red: hex(0xff9090),
        yellow: hex(0xe9c46a),
        purple: hex(0xcba8f7),
        orange: hex(0xf0b287),
        teal: hex(0x77d3c6),
        blue: hex(0x86cbf5),
        pink: hex(0xf49fd2),
    },
    ground: Grounds {
        border: hex(0x6a7c9e),
        line: hex(0x4b5363),
        selected: hex(0x2b3549),
        user: hex(0x252b38),
        custom: hex(0x2c2639),
        pending: hex(0x22272f),
        success: hex(0x1d2821),
        error: hex(0x33222a),
        status: hex(0x1b1f27),
        added: hex(0x102b1a),
        removed: hex(0x381b22),
        added_word: hex(0x1c4a2b),
        removed_word: hex(0x642a3a),
    },
};

const LIGHT: ThemePalette = ThemePalette {
    ink: Inks {
        text: Color::Default,
        muted: hex(0x4e5561),
        dim: hex(0x5f6672),
        accent: hex(0x1c57b0),
        green: hex(0x17652a),
        red: hex(0xab2119),
        yellow: hex(0x7d5200),
        purple: hex(0x7338b0),
        orange: hex(0x964300),
        teal: hex(0x006163),
        blue: hex(0x005f96),
        pink: hex(0x9d2267),
    },
    ground: Grounds {
        border: hex(0x8795b0),
        line: hex(0xa9b3c4),
        selected: hex(0xdbe6f8),
        user: hex(0xeef1f6),
        custom: hex(0xf3ecfa),
        pending: hex(0xeef0f3),
        success: hex(0xe6f4e8),
        error: hex(0xfbe9e8),
        status: hex(0xe9ecf1),
        added: hex(0xe2f6e6),
        removed: hex(0xfde8e6),
        added_word: hex(0xb9e8c3),
        removed_word: hex(0xfac8c4),
    },
};

const CONTRAST: ThemePalette = ThemePalette {
    ink: Inks {
        text: hex(0xffffff),
        muted: hex(0xe2e2e2),
        dim: hex(0xcccccc),
        accent: hex(0xffd75f),
        green: hex(0x8cff8c),
        red: hex(0xffb3b3),
        yellow: hex(0xffe97a),
        purple: hex(0xe3c2ff),
        orange: hex(0xffc48a),
        teal: hex(0x7ff5e6),
        blue: hex(0x9edcff),
        pink: hex(0xffb8e6),
    },
    ground: Grounds {
        border: hex(0xffffff),
        line: hex(0xb0b0b0),
        selected: hex(0x00327a),
        user: hex(0x1c1c1c),
        custom: hex(0x24123a),
        pending: hex(0x101820),
        success: hex(0x00210a),
        error: hex(0x3a0508),
        status: hex(0x000000),
        added: hex(0x00260c),
        removed: hex(0x40060c),
        added_word: hex(0x004016),
        removed_word: hex(0x6c0812),
    },
};

const CONTRAST_LIGHT: ThemePalette = ThemePalette {
    ink: Inks {
        text: hex(0x000000),
        muted: hex(0x2b2b2b),
        dim: hex(0x3d3d3d),
        accent: hex(0x003c9e),
        green: hex(0x004a14),
        red: hex(0x8a0008),
        yellow: hex(0x593900),
        purple: hex(0x520a94),
        orange: hex(0x6b2c00),
        teal: hex(0x00474a),
        blue: hex(0x00446e),
        pink: hex(0x7a0049),
    },
    ground: Grounds {
        border: hex(0x000000),
        line: hex(0x595959),
        selected: hex(0xcfe2ff),
        user: hex(0xf0f0f0),
        custom: hex(0xf3e8ff),
        pending: hex(0xeef2f6),
        success: hex(0xe2f6e6),
        error: hex(0xffe6e6),
        status: hex(0xffffff),
        added: hex(0xdcf7e1),
        removed: hex(0xffe6e6),
        added_word: hex(0xb0ebbc),
        removed_word: hex(0xffcfcf),
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ground(token: Token) -> bool {
        token.name().ends_with("Bg")
    }

    fn is_line(token: Token) -> bool {
        use Token::*;
        matches!(token, Border | BorderMuted | MdCodeBlockBorder | MdQuoteBorder | MdHr | StatusLineSep)
    }

    /// Returns the backgrounds of a token besides the terminal's.
    fn grounds_of(token: Token) -> Vec<Token> {
        use Token::*;
        let name = token.name();
        let mut grounds = match token {
            UserMessageText => vec![UserMessageBg],
            CustomMessageText | CustomMessageLabel => vec![CustomMessageBg],
            Text | Muted | Dim | Accent | Success | Error | Warning => {
                vec![SelectedBg, UserMessageBg, StatusLineBg, ToolPendingBg, ToolSuccessBg, ToolErrorBg]
            }
            _ => vec![],
        };
        if name.starts_with("tool") || name.starts_with("syntax") {
            grounds.extend([ToolPendingBg, ToolSuccessBg, ToolErrorBg]);
        }
        if name.starts_with("syntax")
            || matches!(token, ToolDiffAdded | ToolDiffRemoved | ToolDiffContext | MdCodeBlock | Dim)
        {
            grounds.extend([ToolDiffAddedBg, ToolDiffRemovedBg]);
        }
        // Changed words are never drawn in the faint colours.
        if name.starts_with("syntax") && !matches!(token, SyntaxComment | SyntaxPunctuation) || token == MdCodeBlock {
            grounds.extend([ToolDiffAddedWordBg, ToolDiffRemovedWordBg]);
        }
        if name.starts_with("statusLine") || name.starts_with("thinking") {
            grounds.push(StatusLineBg);
        }
        grounds
    }

    #[track_caller]
    fn check(theme: &Theme, own_text: Rgb, backgrounds: &[Rgb], least: f64) {
        let mut low = Vec::new();
        for token in Token::ALL.iter().copied().filter(|token| !is_ground(*token)) {
            let ink = Rgb::of(theme.color(token)).unwrap_or(own_text);
            let least = if is_line(token) { 1.5 } else { least };
            let own = grounds_of(token).into_iter().filter_map(|ground| Rgb::of(theme.color(ground)));
            for ground in backgrounds.iter().copied().chain(own) {
                let contrast = ink.contrast(ground);
                if contrast < least {
                    low.push(format!("{} {ink:?} on {ground:?}: {contrast:.2}", token.name()));
                }
            }
        }
        assert!(low.is_empty(), "{}: {low:#?}", theme.name);
    }

    #[test]
    fn all_text_can_be_read() {
        let rgb = |value| Rgb::of(hex(value)).unwrap();
        let dark = [0x000000, 0x1e1e1e, 0x1e1e2e, 0x282c34, 0x002b36, 0x282a36].map(rgb);
        let light = [0xffffff, 0xfafafa, 0xfdf6e3, 0xeff1f5, 0xf2f2f2].map(rgb);
        check(&Theme::dark(), rgb(0xd4d4d4), &dark, 4.5);
        check(&Theme::light(), rgb(0x333333), &light, 4.5);
        check(&Theme::high_contrast(), rgb(0xffffff), &[rgb(0), rgb(0x1e1e1e)], 7.0);
        check(&Theme::high_contrast_light(), rgb(0), &[rgb(0xffffff), rgb(0xf2f2f2)], 7.0);
    }

    #[test]
    fn the_background_chooses() {
        assert_eq!(Theme::for_background(Rgb(0, 0x2b, 0x36)), Theme::dark());
        assert_eq!(Theme::for_background(Rgb(0xfd, 0xf6, 0xe3)), Theme::light());
    }

    #[test]
    fn each_has_its_own_id() {
        let mut ids: Vec<u64> = BUILT_IN.iter().map(|(_, theme)| theme().id()).collect();
        ids.push(Theme::colorless().id());
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), BUILT_IN.len() + 1);
        for (name, theme) in BUILT_IN {
            assert_eq!((theme().name.as_str(), theme().id()), (name, theme().id()));
        }
    }
}
