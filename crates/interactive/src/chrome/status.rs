//! The status row.

use std::path::PathBuf;

use omp_policy::ApprovalMode;
use omp_stdx::{format, sanitize};
use omp_tui::{Line, Space, Style, Token};
use omp_types::ThinkingLevel;

#[derive(Clone, Debug, Default)]
pub struct StatusBar {
    /// `provider/id`; empty while no session is open.
    pub model: String,
    /// `None` for a model without thinking.
    pub thinking: Option<ThinkingLevel>,
    /// Tokens of the newest prompt, and of the model's context window.
    pub context: Option<(u64, u64)>,
    pub cost: f64,
    pub tokens: u64,
    pub branch: Option<String>,
    pub mode: ApprovalMode,
    /// Whether plan mode is on.
    pub plans: bool,
    /// The sandbox mode of commands, and whether it is weaker than usual.
    pub contained: Option<(String, bool)>,
    pub folder: PathBuf,
    pub home: PathBuf,
    pub title: Option<String>,
}

/// The most important parts come first; parts that do not fit are left out.
pub fn status_line(status: &StatusBar, space: &Space<'_>) -> Line {
    let mut line = Line::new();
    let mut width = 0;
    for (text, style) in parts(status, space) {
        let text = sanitize::strip_control(&sanitize::strip_ansi(&text)).replace(['\n', '\t'], " ");
        let separator = if width == 0 { "" } else { " · " };
        let needed = omp_stdx::display_width::width(separator) + omp_stdx::display_width::width(&text);
        if width > 0 && width + needed > space.width {
            continue;
        }
        if !separator.is_empty() {
            line.push(separator, space.theme.fg(Token::StatusLineSep));
        }
        line.push(text, style);
        width += needed;
    }
    line
}

fn parts(status: &StatusBar, space: &Space<'_>) -> Vec<(String, Style)> {
    let theme = space.theme;
    if status.model.is_empty() {
        return vec![("starting…".to_owned(), theme.fg(Token::Muted))];
    }
    let mut parts = vec![(status.model.clone(), theme.fg(Token::StatusLineModel))];
    if let Some(level) = status.thinking {
        parts.push((level.to_string(), theme.fg(thinking_token(level))));
    }
    if let Some((tokens, window)) = status.context.filter(|(_, window)| *window > 0) {
        let percent = tokens as f64 / window as f64 * 100.0;
        let token = if percent >= 90.0 { Token::Error } else { Token::StatusLineContext };
        parts.push((format!("{percent:.0}%/{}", format::compact(window)), theme.fg(token)));
    }
    if status.cost > 0.0 {
        parts.push((format!("${:.2}", status.cost), theme.fg(Token::StatusLineCost)));
    }
    if let Some(branch) = &status.branch {
        parts.push((branch.clone(), theme.fg(Token::StatusLineGitClean)));
    }
    if status.plans {
        parts.push(("plan".to_owned(), theme.fg(Token::Warning)));
    }
    parts.push((status.mode.as_str().to_owned(), theme.fg(Token::Muted)));
    if let Some((contained, is_weak)) = &status.contained {
        parts.push((contained.clone(), theme.fg(if *is_weak { Token::Warning } else { Token::Muted })));
    }
    parts.push((super::short_path(&status.folder, &status.home), theme.fg(Token::StatusLinePath)));
    if status.tokens > 0 {
        parts.push((format!("{} tokens", format::compact(status.tokens)), theme.fg(Token::Muted)));
    }
    if let Some(title) = &status.title {
        parts.push((title.clone(), theme.fg(Token::Muted)));
    }
    parts
}

fn thinking_token(level: ThinkingLevel) -> Token {
    match level {
        ThinkingLevel::Off => Token::ThinkingOff,
        ThinkingLevel::Minimal => Token::ThinkingMinimal,
        ThinkingLevel::Low => Token::ThinkingLow,
        ThinkingLevel::Medium => Token::ThinkingMedium,
        ThinkingLevel::High => Token::ThinkingHigh,
        ThinkingLevel::Xhigh => Token::ThinkingXhigh,
    }
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::*;

    #[track_caller]
    fn check(status: &StatusBar, width: usize, expect: &str) {
        let theme = Theme::colorless();
        let space = Space { width, height: 10, theme: &theme, focused: true };
        assert_eq!(status_line(status, &space).text(), expect);
    }

    #[test]
    fn what_matters_most_comes_first_and_the_rest_goes_when_there_is_no_room() {
        let status = StatusBar {
            model: "mock/mock-model".into(),
            thinking: Some(ThinkingLevel::High),
            context: Some((6_000, 200_000)),
            cost: 0.012,
            tokens: 12_345,
            branch: Some("main".into()),
            mode: ApprovalMode::AskAll,
            plans: false,
            contained: Some(("contained".into(), false)),
            folder: "/home/user/work/thing".into(),
            home: "/home/user".into(),
            title: Some("A\x1b[31m title".into()),
        };
        check(&StatusBar::default(), 80, "starting…");
        check(
            &status,
            120,
            "mock/mock-model · high · 3%/200k · $0.01 · main · ask-all · contained · ~/work/thing · 12k tokens · A title",
        );
        check(&status, 76, "mock/mock-model · high · 3%/200k · $0.01 · main · ask-all · contained");
        check(&status, 64, "mock/mock-model · high · 3%/200k · $0.01 · main · ask-all");
        check(&status, 20, "mock/mock-model");
        check(&status, 5, "mock/mock-model");
    }
}
