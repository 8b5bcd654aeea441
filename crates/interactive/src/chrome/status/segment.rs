//! The segments of the status line: their names and what each shows. A segment without a value is left out.

use omp_session::ContextSize;
use omp_stdx::format;
use omp_tui::{Style, Symbol, Theme, Token};
use omp_types::ThinkingLevel;

use super::look::StatusLook;
use super::{GitFacts, StatusBar};

/// The share of the window and the number of tokens from which the context is shown in each colour.
const CONTEXT_COLORS: [(f64, u64, Token); 3] =
    [(90.0, 500_000, Token::Error), (70.0, 270_000, Token::ThinkingXhigh), (50.0, 150_000, Token::Warning)];
/// The characters of a session's id that are shown.
const ID_SHOWN: usize = 8;
/// Folders that say nothing about a project below them.
const WORK_PREFIXES: [&str; 2] = ["/work", "~/Projects"];

/// A text with a style of its own, part of a segment.
pub type Piece = (String, Style);

macro_rules! segments {
    ($($segment:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Segment { $($segment,)* }

        pub const SEGMENTS: &[&str] = &[$($name,)*];

        impl Segment {
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$segment),)* _ => None }
            }
        }
    };
}

segments! {
    Pi = "pi",
    Model = "model",
    Mode = "mode",
    Path = "path",
    Git = "git",
    Pr = "pr",
    Subagents = "subagents",
    TokenIn = "token_in",
    TokenOut = "token_out",
    TokenTotal = "token_total",
    TokenRate = "token_rate",
    CacheRead = "cache_read",
    CacheWrite = "cache_write",
    CacheHit = "cache_hit",
    Cost = "cost",
    ContextPct = "context_pct",
    ContextTotal = "context_total",
    TimeSpent = "time_spent",
    Time = "time",
    Session = "session",
    SessionName = "session_name",
    Hostname = "hostname",
    Collab = "collab",
    Usage = "usage",
    Sandbox = "sandbox",
    Command = "command",
}

impl Segment {
    /// Segments with a low number stay longest when there is no room for all.
    pub fn rank(self) -> u8 {
        match self {
            Self::Mode => 0,
            Self::Model => 1,
            Self::ContextPct => 2,
            Self::Git => 3,
            Self::Command => 4,
            Self::Cost => 5,
            Self::Path | Self::SessionName => 6,
            _ => 7,
        }
    }

    /// Returns no pieces if there is nothing to show.
    pub fn pieces(self, status: &StatusBar, look: &StatusLook, theme: &Theme) -> Vec<Piece> {
        let one = |text: String, token: Token| vec![(text, theme.fg(token))];
        let count = |sign: &str, tokens: u64, after: &str| match tokens {
            0 => Vec::new(),
            tokens => one(format!("{sign}{}{after}", format::compact(tokens)), Token::StatusLineSpend),
        };
        let usage = &status.usage;
        match self {
            Self::Pi => one(theme.symbol(Symbol::IconPi).to_owned(), Token::Accent),
            Self::Model => model(status, look, theme),
            Self::Mode => mode(status, look, theme),
            Self::Path => one(path(status, look, theme), Token::StatusLinePath),
            Self::Git => status.git.as_ref().map(|facts| git(facts, look, theme)).unwrap_or_default(),
            // omp has no pull requests, sub-agents, shared sessions or plan limits yet.
            Self::Pr | Self::Subagents | Self::Collab | Self::Usage => Vec::new(),
            Self::TokenIn => count(theme.symbol(Symbol::IconInput), usage.input, ""),
            Self::TokenOut => count(theme.symbol(Symbol::IconOutput), usage.output, ""),
            Self::TokenTotal => count("", usage.input + usage.output + usage.cache_write, " tokens"),
            Self::CacheRead => count("", usage.cache_read, " cached"),
            Self::CacheWrite => count("", usage.cache_write, " cache writes"),
            Self::CacheHit => cache_hit(usage).map(|text| one(text, Token::StatusLineSpend)).unwrap_or_default(),
            Self::TokenRate => match status.rate {
                Some(rate) => one(format!("{rate:.1}/s"), Token::StatusLineOutput),
                None => Vec::new(),
            },
            Self::Cost if usage.cost.total > 0.0 => {
                let icon = theme.symbol(Symbol::IconCost);
                one(format!("{icon}${:.2}", usage.cost.total), Token::StatusLineCost)
            }
            Self::Cost => Vec::new(),
            Self::ContextPct => context(status, theme),
            Self::ContextTotal => count("", status.window, " window"),
            Self::TimeSpent => {
                one(format!("{}{}", theme.symbol(Symbol::IconTime), spent(status.spent.as_secs())), Token::Muted)
            }
            Self::Time => one(clock(status.clock, look), Token::Muted),
            Self::Session => {
                let id: String = status.session.chars().take(ID_SHOWN).collect();
                one(if id.is_empty() { "new".to_owned() } else { id }, Token::Muted)
            }
            Self::SessionName => status.title.iter().map(|title| (title.clone(), accent(title, look, theme))).collect(),
            Self::Hostname => {
                let host = status.host.split('.').next().filter(|host| !host.is_empty());
                host.map(|host| one(format!("{}{host}", theme.symbol(Symbol::IconHost)), Token::Muted))
                    .unwrap_or_default()
            }
            Self::Sandbox => {
                status.contained.iter().map(|(text, weak)| (text.clone(), sandbox_style(*weak, theme))).collect()
            }
            Self::Command => status.command.iter().map(|text| (text.clone(), theme.fg(Token::Muted))).collect(),
        }
    }
}

/// The style of a session's title: one of the theme's colours, the same for the same title.
fn accent(title: &str, look: &StatusLook, theme: &Theme) -> Style {
    const COLORS: [Token; 7] = [
        Token::Accent,
        Token::MdHeading,
        Token::SyntaxString,
        Token::SyntaxKeyword,
        Token::SyntaxFunction,
        Token::SyntaxNumber,
        Token::SyntaxType,
    ];
    let sum = title.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    theme.fg(if look.accent { COLORS[sum % COLORS.len()] } else { Token::Muted })
}

fn sandbox_style(weak: bool, theme: &Theme) -> Style {
    theme.fg(if weak { Token::Warning } else { Token::Muted })
}

fn model(status: &StatusBar, look: &StatusLook, theme: &Theme) -> Vec<Piece> {
    let name = format!("{}{}", theme.symbol(Symbol::IconModel), status.model);
    let mut pieces = vec![(name, theme.fg(Token::StatusLineModel))];
    if let Some(level) = status.thinking.filter(|_| look.options.thinking) {
        let name = if look.options.short_thinking { short_level(level) } else { level.as_str() };
        pieces.push((format!(" {name}"), theme.fg(thinking_token(level))));
    }
    pieces
}

/// What the agent may do: plan mode and loops come before the approval mode, a weak sandbox after it.
fn mode(status: &StatusBar, look: &StatusLook, theme: &Theme) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if status.plans {
        pieces.push((format!("{}plan, ", theme.symbol(Symbol::IconPlan)), theme.fg(Token::Warning)));
    }
    if status.repeats {
        pieces.push(("loop, ".to_owned(), theme.fg(Token::Accent)));
    }
    pieces.push((status.mode.as_str().to_owned(), theme.fg(Token::Muted)));
    if let Some((text, true)) = &status.contained
        && !look.shows(Segment::Sandbox)
    {
        pieces.push((format!(", {text}"), theme.fg(Token::Warning)));
    }
    pieces
}

fn path(status: &StatusBar, look: &StatusLook, theme: &Theme) -> String {
    let options = &look.options;
    let mut path = match options.abbreviate {
        true => super::super::short_path(&status.folder, &status.home),
        false => status.folder.display().to_string(),
    };
    if options.strip_work
        && let Some(inner) = WORK_PREFIXES.iter().find_map(|prefix| path.strip_prefix(prefix)?.strip_prefix('/'))
    {
        path = inner.to_owned();
    }
    let length = path.chars().count();
    if length > options.path_length {
        let end: String = path.chars().skip(length - options.path_length + 1).collect();
        path = format!("…{end}");
    }
    format!("{}{path}", theme.symbol(Symbol::IconFolder))
}

fn git(facts: &GitFacts, look: &StatusLook, theme: &Theme) -> Vec<Piece> {
    let options = &look.options;
    let counts = [
        (options.unstaged, '*', facts.unstaged, Token::StatusLineDirty),
        (options.staged, '+', facts.staged, Token::StatusLineStaged),
        (options.untracked, '?', facts.untracked, Token::StatusLineUntracked),
    ];
    let shown = counts.into_iter().filter(|(wanted, _, count, _)| *wanted && count.unwrap_or_default() > 0);
    let shown: Vec<_> = shown.collect();
    let mut pieces = Vec::new();
    if options.branch {
        let token = if shown.is_empty() { Token::StatusLineGitClean } else { Token::StatusLineGitDirty };
        pieces.push((format!("{}{}", theme.symbol(Symbol::IconBranch), facts.branch), theme.fg(token)));
    }
    for (_, sign, count, token) in shown {
        let space = if pieces.is_empty() { "" } else { " " };
        pieces.push((format!("{space}{sign}{}", count.unwrap_or_default()), theme.fg(token)));
    }
    pieces
}

fn cache_hit(usage: &omp_types::Usage) -> Option<String> {
    let all = usage.cache_read + usage.cache_write + usage.input;
    (usage.cache_read > 0).then(|| format!("{:.2}% cached", usage.cache_read as f64 / all as f64 * 100.0))
}

fn context(status: &StatusBar, theme: &Theme) -> Vec<Piece> {
    let (ContextSize { tokens, is_estimate }, window) = (status.context, status.window);
    if window == 0 {
        return Vec::new();
    }
    let percent = tokens as f64 / window as f64 * 100.0;
    let reached = CONTEXT_COLORS.iter().find(|(share, count, _)| percent >= *share || tokens >= *count);
    let token = reached.map_or(Token::StatusLineContext, |(_, _, token)| *token);
    let shown = if tokens == 0 { "0".to_owned() } else { format!("{percent:.1}") };
    let icon = theme.symbol(Symbol::IconContext);
    let about = if is_estimate { "~" } else { "" };
    vec![(format!("{icon}{about}{shown}%/{}", format::compact(window)), theme.fg(token))]
}

/// Returns a duration without fractions: `42s`, `5m 3s`, `2h 5m`.
fn spent(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}

fn clock((hour, minute, second): (u8, u8, u8), look: &StatusLook) -> String {
    let seconds = if look.options.seconds { format!(":{second:02}") } else { String::new() };
    match look.options.half_days {
        false => format!("{hour}:{minute:02}{seconds}"),
        true => {
            let half = if hour < 12 { "am" } else { "pm" };
            format!("{}:{minute:02}{seconds}{half}", (hour + 11) % 12 + 1)
        }
    }
}

fn short_level(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Minimal => "min",
        ThinkingLevel::Medium => "med",
        other => other.as_str(),
    }
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
