//! How the status line looks: its segments, what separates them, and their options, from a preset and the settings.

use std::time::Duration;

use omp_tui::{Symbol, Theme};
use serde_json::Value;

use super::segment::Segment;
use super::settings::STATUS_SETTINGS;

pub const PRESETS: &[&str] = &["default", "minimal", "compact", "full", "nerd", "ascii", "custom"];
pub const SEPARATORS: &[&str] = &["dot", "powerline", "powerline-thin", "slash", "pipe", "block", "none", "ascii"];

/// How often a segment that shows the time is drawn again.
const CLOCK: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLook {
    pub left: Vec<Segment>,
    pub right: Vec<Segment>,
    pub separator: Separator,
    pub options: SegmentOptions,
    /// Whether the session has a colour of its own.
    pub accent: bool,
    pub transparent: bool,
    /// How often the user's command runs if nothing happens.
    pub interval: Option<Duration>,
}

/// The options of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentOptions {
    pub thinking: bool,
    /// Short names of thinking levels.
    pub short_thinking: bool,
    pub abbreviate: bool,
    pub path_length: usize,
    pub strip_work: bool,
    pub branch: bool,
    pub staged: bool,
    pub unstaged: bool,
    pub untracked: bool,
    pub half_days: bool,
    pub seconds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    Dot,
    Powerline,
    PowerlineThin,
    Slash,
    Pipe,
    Block,
    Nothing,
    Ascii,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self {
            thinking: true,
            short_thinking: false,
            abbreviate: true,
            path_length: 40,
            strip_work: true,
            branch: true,
            staged: true,
            unstaged: true,
            untracked: true,
            half_days: false,
            seconds: false,
        }
    }
}

impl Default for StatusLook {
    fn default() -> Self {
        Self::read(|_| None).0
    }
}

impl StatusLook {
    /// Reads the settings; `get` returns the value of a key. The second value says what is wrong with segment options.
    pub fn read(get: impl Fn(&str) -> Option<Value>) -> (Self, Vec<String>) {
        let get = |key: &str| get(key).or_else(|| default_of(key));
        let text = |key: &str| get(key).and_then(|value| value.as_str().map(str::to_owned));
        let is = |key: &str| get(key).and_then(|value| value.as_bool());
        let name = text("statusLine.preset").unwrap_or_default();
        let mut look = Self::preset(&name);
        if name == "custom" {
            let list = |key: &str| get(key).map(|value| segments(&value)).filter(|list| !list.is_empty());
            let (left, right) = (list("statusLine.leftSegments"), list("statusLine.rightSegments"));
            // Both lists are empty until the user fills one.
            if left.is_some() || right.is_some() {
                look.left = left.unwrap_or_default();
                look.right = right.unwrap_or_default();
            }
        }
        if let Some(separator) = text("statusLine.separator").and_then(|name| Separator::named(&name)) {
            look.separator = separator;
        }
        look.accent = is("statusLine.sessionAccent").unwrap_or_default();
        look.transparent = is("statusLine.transparent").unwrap_or_default();
        look.options.short_thinking = is("statusLine.compactThinkingLevel").unwrap_or_default();
        let interval = get("statusLine.commandInterval").and_then(|value| value.as_f64());
        look.interval = interval.filter(|seconds| *seconds > 0.0).map(Duration::from_secs_f64);
        let problems = look.options.lay_over(&get("statusLine.segmentOptions").unwrap_or_default());
        let is_wanted = text("statusLine.command").is_some_and(|command| !command.trim().is_empty());
        if is_wanted && !look.shows(Segment::Command) {
            look.right.push(Segment::Command);
        }
        look.say_once();
        (look, problems)
    }

    fn preset(name: &str) -> Self {
        use Segment::*;
        let plain = SegmentOptions::default();
        let (left, right, separator, options): (&[Segment], &[Segment], _, _) = match name {
            "minimal" => (
                &[Path, Git],
                &[SessionName, Mode, ContextPct],
                Separator::Slash,
                SegmentOptions { path_length: 30, staged: false, unstaged: false, untracked: false, ..plain },
            ),
            "compact" => (
                &[Model, Mode, Git, Pr],
                &[SessionName, Cost, ContextPct],
                Separator::PowerlineThin,
                SegmentOptions { thinking: false, untracked: false, ..plain },
            ),
            "full" => (
                &[Pi, Hostname, Model, Mode, Path, Git, Pr, Subagents],
                &[SessionName, CacheHit, TokenIn, TokenOut, TokenRate, CacheRead, Cost, ContextPct, TimeSpent, Time],
                Separator::Powerline,
                SegmentOptions { path_length: 50, ..plain },
            ),
            "nerd" => (
                &[Pi, Hostname, Model, Mode, Path, Git, Pr, Session, Subagents],
                &[
                    SessionName,
                    TokenIn,
                    TokenOut,
                    CacheRead,
                    CacheWrite,
                    TokenRate,
                    Cost,
                    ContextPct,
                    ContextTotal,
                    TimeSpent,
                    Time,
                ],
                Separator::Powerline,
                SegmentOptions { path_length: 60, seconds: true, ..plain },
            ),
            "ascii" => {
                (&[Model, Mode, Path, Git, Pr], &[SessionName, TokenTotal, Cost, ContextPct], Separator::Ascii, plain)
            }
            "custom" => (
                &[Model, Mode, Path, Git, Pr],
                &[SessionName, TokenTotal, Cost, ContextPct],
                Separator::PowerlineThin,
                plain,
            ),
            _ => (&[Model, ContextPct, Cost, Git, Mode], &[], Separator::Dot, plain),
        };
        Self {
            left: left.to_vec(),
            right: right.to_vec(),
            separator,
            options,
            accent: true,
            transparent: false,
            interval: None,
        }
    }

    pub fn shows(&self, segment: Segment) -> bool {
        self.left.contains(&segment) || self.right.contains(&segment)
    }

    /// Whether the changes in the work tree are shown, which take time to count.
    pub fn counts_changes(&self) -> bool {
        let SegmentOptions { staged, unstaged, untracked, .. } = self.options;
        self.shows(Segment::Git) && (staged || unstaged || untracked)
    }

    /// Returns how often the line is drawn again if nothing happens.
    pub fn ticks(&self) -> Option<Duration> {
        (self.shows(Segment::Time) || self.shows(Segment::TimeSpent)).then_some(CLOCK)
    }

    /// Leaves out segments that are listed twice.
    fn say_once(&mut self) {
        let mut seen = Vec::new();
        for list in [&mut self.left, &mut self.right] {
            list.retain(|segment| {
                let is_new = !seen.contains(segment);
                seen.push(*segment);
                is_new
            });
        }
    }
}

fn default_of(key: &str) -> Option<Value> {
    let setting = STATUS_SETTINGS.iter().find(|setting| setting.key == key)?;
    Some(setting.default_value()).filter(|value| !value.is_null())
}

fn segments(list: &Value) -> Vec<Segment> {
    let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.filter_map(Segment::named).collect()
}

impl SegmentOptions {
    /// Returns a message for each option that does not exist or has the wrong type.
    fn lay_over(&mut self, options: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        for (segment, fields) in options.as_object().into_iter().flatten() {
            for (name, value) in fields.as_object().into_iter().flatten() {
                if let Err(problem) = self.set(segment, name, value) {
                    problems.push(format!("statusLine.segmentOptions.{segment}.{name}: {problem}"));
                }
            }
            if Segment::named(segment).is_none() || !fields.is_object() {
                problems.push(format!(
                    "statusLine.segmentOptions.{segment} is not a segment with options\nhint: {OPTIONS_HINT}"
                ));
            }
        }
        problems
    }

    fn set(&mut self, segment: &str, name: &str, value: &Value) -> Result<(), String> {
        let flag = match (segment, name) {
            ("model", "showThinkingLevel") => &mut self.thinking,
            ("path", "abbreviate") => &mut self.abbreviate,
            ("path", "stripWorkPrefix") => &mut self.strip_work,
            ("git", "showBranch") => &mut self.branch,
            ("git", "showStaged") => &mut self.staged,
            ("git", "showUnstaged") => &mut self.unstaged,
            ("git", "showUntracked") => &mut self.untracked,
            ("time", "showSeconds") => &mut self.seconds,
            ("path", "maxLength") => {
                let length = value.as_u64().filter(|length| (4..=400).contains(length));
                self.path_length = length.ok_or("expected a number from 4 to 400")? as usize;
                return Ok(());
            }
            ("time", "format") => {
                self.half_days = match value.as_str() {
                    Some("12h") => true,
                    Some("24h") => false,
                    _ => return Err("expected 12h or 24h".to_owned()),
                };
                return Ok(());
            }
            _ if Segment::named(segment).is_none() => return Ok(()),
            _ => return Err(format!("unknown option\nhint: {OPTIONS_HINT}")),
        };
        *flag = value.as_bool().ok_or("expected true or false")?;
        Ok(())
    }
}

const OPTIONS_HINT: &str = "model, path, git and time have options; see docs/status-line.md";

impl Separator {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "dot" => Self::Dot,
            "powerline" => Self::Powerline,
            "powerline-thin" => Self::PowerlineThin,
            "slash" => Self::Slash,
            "pipe" => Self::Pipe,
            "block" => Self::Block,
            "none" => Self::Nothing,
            "ascii" => Self::Ascii,
            _ => return None,
        })
    }

    /// Returns the text between two segments on the left or right side.
    pub fn text(self, is_left: bool, theme: &Theme) -> String {
        let spaced = |symbol| format!(" {} ", theme.symbol(symbol));
        match (self, is_left) {
            (Self::Dot, _) => theme.symbol(Symbol::SepDot).to_owned(),
            (Self::Slash, _) => theme.symbol(Symbol::SepSlash).to_owned(),
            (Self::Pipe, _) => theme.symbol(Symbol::SepPipe).to_owned(),
            (Self::Block, _) => spaced(Symbol::SepBlock),
            (Self::Nothing, _) => " ".to_owned(),
            (Self::Powerline, true) => spaced(Symbol::SepPowerlineLeft),
            (Self::Powerline, false) => spaced(Symbol::SepPowerlineRight),
            (Self::PowerlineThin, true) => spaced(Symbol::SepPowerlineThinLeft),
            (Self::PowerlineThin, false) => spaced(Symbol::SepPowerlineThinRight),
            (Self::Ascii, true) => " > ".to_owned(),
            (Self::Ascii, false) => " < ".to_owned(),
        }
    }

    /// Whether the ends of a side are drawn as arrows.
    pub fn has_caps(self) -> bool {
        matches!(self, Self::Powerline | Self::PowerlineThin)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::segment::SEGMENTS;
    use super::*;

    fn read(settings: &Value) -> (StatusLook, Vec<String>) {
        StatusLook::read(|key| settings.get(key).cloned())
    }

    #[test]
    fn the_default_has_at_most_five_items_and_every_preset_shows_the_mode() {
        let (look, problems) = read(&json!({}));
        assert_eq!((look.clone(), problems), (StatusLook::default(), Vec::new()));
        assert!(look.left.len() + look.right.len() <= 5);
        for name in PRESETS {
            let (look, _) = read(&json!({"statusLine.preset": name}));
            assert!(look.shows(Segment::Mode), "{name}");
        }
    }

    #[test]
    fn lists_count_only_for_the_custom_preset_and_say_nothing_twice() {
        let lists = json!({"statusLine.leftSegments": ["cost", "model", "cost"], "statusLine.rightSegments": ["model", "time"]});
        assert_eq!(read(&lists).0.left, StatusLook::default().left);
        let mut custom = lists;
        custom["statusLine.preset"] = json!("custom");
        let (look, _) = read(&custom);
        assert_eq!((look.left, look.right), (vec![Segment::Cost, Segment::Model], vec![Segment::Time]));
        let (empty, _) = read(&json!({"statusLine.preset": "custom"}));
        assert!(empty.shows(Segment::TokenTotal), "the preset's own lists");
    }

    #[test]
    fn a_command_is_shown_wherever_it_is_not_listed() {
        let (look, _) = read(&json!({"statusLine.command": "date"}));
        assert_eq!(look.right, [Segment::Command]);
        let (look, _) = read(&json!({
            "statusLine.preset": "custom", "statusLine.leftSegments": ["command", "mode"], "statusLine.command": "date"
        }));
        assert_eq!((look.left, look.right), (vec![Segment::Command, Segment::Mode], vec![]));
    }

    #[test]
    fn options_are_laid_over_the_preset() {
        let options = json!({
            "model": {"showThinkingLevel": false},
            "path": {"abbreviate": false, "maxLength": 12, "stripWorkPrefix": false},
            "git": {"showBranch": false, "showStaged": false, "showUnstaged": false, "showUntracked": false},
            "time": {"format": "12h", "showSeconds": true},
        });
        let (look, problems) = read(&json!({"statusLine.segmentOptions": options}));
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            look.options,
            SegmentOptions {
                thinking: false,
                short_thinking: false,
                abbreviate: false,
                path_length: 12,
                strip_work: false,
                branch: false,
                staged: false,
                unstaged: false,
                untracked: false,
                half_days: true,
                seconds: true,
            }
        );
        assert!(!look.counts_changes());
    }

    #[test]
    fn wrong_options_are_told() {
        for (options, expect) in [
            (json!({"path": {"maxLength": 2}}), "path.maxLength: expected a number from 4 to 400"),
            (json!({"time": {"format": "1h"}}), "time.format: expected 12h or 24h"),
            (json!({"git": {"showStaged": "no"}}), "git.showStaged: expected true or false"),
            (json!({"git": {"color": true}}), "git.color: unknown option\nhint: "),
            (json!({"gti": {"showStaged": true}}), "gti is not a segment with options\nhint: "),
            (json!({"git": true}), "git is not a segment with options\nhint: "),
        ] {
            let (_, problems) = read(&json!({"statusLine.segmentOptions": options}));
            assert!(problems.len() == 1 && problems[0].contains(expect), "{problems:?}");
        }
    }

    #[test]
    fn separators_have_a_text_in_every_preset_of_symbols() {
        let theme = Theme::colorless();
        for name in SEPARATORS {
            let separator = Separator::named(name).unwrap();
            assert!(!separator.text(true, &theme).is_empty() && !separator.text(false, &theme).is_empty());
        }
        assert_eq!(Separator::named("x"), None);
        assert!(SEGMENTS.iter().all(|name| Segment::named(name).is_some()));
    }
}
