//! What the status line shows, by preset, separator, option and width.

use omp_tui::Symbols;
use serde_json::{Value, json};

use super::*;

fn status() -> StatusBar {
    let mut usage = Usage { input: 1_000, output: 2_345, cache_read: 9_000, cache_write: 500, ..Usage::default() };
    usage.cost.total = 0.123;
    StatusBar {
        model: "mock/mock-model".into(),
        thinking: Some(ThinkingLevel::Medium),
        context: ContextSize { tokens: 6_000, is_estimate: false },
        window: 200_000,
        usage,
        rate: Some(42.04),
        git: Some(GitFacts { branch: "main".into(), unstaged: Some(2), staged: Some(1), untracked: Some(0) }),
        mode: ApprovalMode::AskAll,
        contained: Some(("sandboxed".into(), false)),
        folder: "/home/user/src/deep/thing".into(),
        home: "/home/user".into(),
        title: Some("A\x1b[31m title".into()),
        session: "0123456789abcdef".into(),
        host: "box.example.org".into(),
        spent: Duration::from_secs(303),
        clock: (13, 5, 9),
        ..StatusBar::default()
    }
}

fn drawn(status: &StatusBar, settings: &Value, width: usize, theme: &Theme) -> Line {
    let (look, problems) = StatusLook::read(|key| settings.get(key.strip_prefix("statusLine.")?).cloned());
    assert_eq!(problems, Vec::<String>::new());
    status_line(status, &look, &Space { width, height: 10, theme, focused: true, keys: &omp_tui::DefaultKeys })
}

#[track_caller]
fn check(status: &StatusBar, settings: Value, width: usize, expect: &str) {
    let line = drawn(status, &settings, width, &Theme::colorless());
    assert!(line.width() <= width, "{}", line.text());
    assert_eq!(line.text(), expect);
}

#[track_caller]
fn check_segment(segment: &str, options: Value, expect: &str) {
    let settings = json!({"preset": "custom", "leftSegments": [segment], "segmentOptions": options});
    check(&status(), settings, 200, expect);
}

#[test]
fn the_default_has_five_items() {
    check(&StatusBar::default(), json!({}), 80, "starting…");
    check(&status(), json!({}), 100, "mock/mock-model medium · 3.0%/200k · $0.12 · main *2 +1 · ask-all");
}

#[test]
fn what_matters_least_goes_first_when_there_is_no_room() {
    for (width, expect) in [
        (62, "mock/mock-model medium · 3.0%/200k · main *2 +1 · ask-all"),
        (45, "mock/mock-model medium · 3.0%/200k · ask-all"),
        (40, "mock/mock-model medium · ask-all"),
        (24, "mock/mock-mod… · ask-all"),
        (16, "ask-all"),
        (4, "ask…"),
    ] {
        check(&status(), json!({}), width, expect);
    }
}

#[test]
fn every_preset() {
    let words = |preset: &str| {
        let line = drawn(&status(), &json!({"preset": preset}), 110, &Theme::colorless()).text();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (preset, expect) in [
        ("default", "mock/mock-model medium · 3.0%/200k · $0.12 · main *2 +1 · ask-all"),
        ("minimal", "~/src/deep/thing / main A title / ask-all / 3.0%/200k"),
        ("compact", "mock/mock-model > ask-all > main *2 +1 A title < $0.12 < 3.0%/200k"),
        (
            "ascii",
            "mock/mock-model medium > ask-all > ~/src/deep/thing > main *2 +1 A title < 3.8k tokens < $0.12 < 3.0%/200k",
        ),
    ] {
        assert_eq!(words(preset), expect);
    }
    let full = drawn(&status(), &json!({"preset": "full"}), 200, &Theme::colorless()).text();
    let left = "π ▶ box ▶ mock/mock-model medium ▶ ask-all ▶ ~/src/deep/thing ▶ main *2 +1   ";
    let right = "   A title ◀ 85.71% cached ◀ ↑1k ◀ ↓2.3k ◀ 42.0/s ◀ 9k cached ◀ $0.12 ◀ 3.0%/200k ◀ 5m 3s ◀ 13:05";
    assert!(full.starts_with(left) && full.ends_with(right), "{full}");
    let nerd = drawn(&status(), &json!({"preset": "nerd"}), 240, &Theme::colorless()).text();
    for part in ["01234567", "500 cache writes", "200k window", "13:05:09"] {
        assert!(nerd.contains(part), "{part}: {nerd}");
    }
    let custom = json!({"preset": "custom", "leftSegments": ["cost"], "rightSegments": ["mode"]});
    check(&status(), custom, 20, "$0.12        ask-all");
}

#[test]
fn every_separator() {
    let two = |separator: &str| json!({"preset": "custom", "leftSegments": ["cost", "mode"], "separator": separator});
    for (separator, expect) in [
        ("dot", "$0.12 · ask-all"),
        ("powerline", "$0.12 ▶ ask-all"),
        ("powerline-thin", "$0.12 > ask-all"),
        ("slash", "$0.12 / ask-all"),
        ("pipe", "$0.12 │ ask-all"),
        ("block", "$0.12 ▌ ask-all"),
        ("none", "$0.12 ask-all"),
        ("ascii", "$0.12 > ask-all"),
    ] {
        check(&status(), two(separator), 40, expect);
    }
}

#[test]
fn segments_and_their_options() {
    check_segment("model", json!({"model": {"showThinkingLevel": false}}), "mock/mock-model");
    check_segment("path", json!({}), "~/src/deep/thing");
    check_segment("path", json!({"path": {"maxLength": 8}}), "…p/thing");
    check_segment("path", json!({"path": {"abbreviate": false}}), "/home/user/src/deep/thing");
    check_segment("git", json!({"git": {"showBranch": false}}), "*2 +1");
    check_segment("git", json!({"git": {"showStaged": false, "showUnstaged": false}}), "main");
    check_segment("time", json!({"time": {"format": "12h"}}), "1:05pm");
    check_segment("time", json!({"time": {"showSeconds": true}}), "13:05:09");
    check_segment("sandbox", json!({}), "sandboxed");
    for unknown in ["pr", "subagents", "collab", "usage", "command"] {
        check_segment(unknown, json!({}), "");
    }
    let work = StatusBar { folder: "/home/user/Projects/thing".into(), ..status() };
    let path = |strip: bool| json!({"preset": "custom", "leftSegments": ["path"], "segmentOptions": {"path": {"stripWorkPrefix": strip}}});
    check(&work, path(true), 40, "thing");
    check(&work, path(false), 40, "~/Projects/thing");
    let short = json!({"preset": "custom", "leftSegments": ["model"], "compactThinkingLevel": true});
    check(&status(), short, 40, "mock/mock-model med");
}

#[test]
fn the_mode_tells_what_the_agent_may_do() {
    let only = || json!({"preset": "custom", "leftSegments": ["mode"]});
    check(&StatusBar { plans: true, ..status() }, only(), 60, "plan, ask-all");
    check(&StatusBar { repeats: true, ..status() }, only(), 60, "loop, ask-all");
    let weak = StatusBar { contained: Some(("no sandbox".into(), true)), ..status() };
    check(&weak, only(), 60, "ask-all, no sandbox");
    let both = json!({"preset": "custom", "leftSegments": ["mode", "sandbox"], "separator": "dot"});
    check(&weak, both, 60, "ask-all · no sandbox");
}

#[test]
fn a_command_shows_one_clean_line() {
    let status = StatusBar { command: Some("\x1b[2J a\tb\x07".into()), ..status() };
    check(&status, json!({"preset": "custom", "leftSegments": ["cost"], "command": "x"}), 20, "$0.12            a b");
}

#[test]
fn a_long_line_of_a_command_is_cut_and_takes_nothing_away() {
    let status = StatusBar { command: Some("x".repeat(90)), ..status() };
    let settings = || json!({"preset": "custom", "leftSegments": ["cost", "mode"], "separator": "dot", "command": "x"});
    check(&status, settings(), 30, &format!("$0.12 · ask-all  {}…", "x".repeat(12)));
    check(&status, settings(), 20, &format!("ask-all  {}…", "x".repeat(10)));
}

#[test]
fn an_estimated_context_is_marked() {
    let about = StatusBar { context: ContextSize { tokens: 6_000, is_estimate: true }, ..status() };
    check(&about, json!({"preset": "custom", "leftSegments": ["context_pct"]}), 40, "~3.0%/200k");
}

#[test]
fn the_context_changes_its_color_by_share_and_by_count() {
    let theme = Theme::dark();
    let style = |tokens: u64, window: u64| {
        let status = StatusBar { context: ContextSize { tokens, is_estimate: false }, window, ..status() };
        let settings = json!({"preset": "custom", "leftSegments": ["context_pct"], "transparent": true});
        drawn(&status, &settings, 40, &theme).spans[0].style
    };
    for (tokens, window, token) in [
        (99, 200, Token::StatusLineContext),
        (100, 200, Token::Warning),
        (150_000, 1_000_000, Token::Warning),
        (140, 200, Token::ThinkingXhigh),
        (270_000, 1_000_000, Token::ThinkingXhigh),
        (180, 200, Token::Error),
        (500_000, 1_000_000, Token::Error),
    ] {
        assert_eq!(style(tokens, window), theme.fg(token), "{tokens} of {window}");
    }
}

#[test]
fn a_background_goes_with_transparent_and_arrows_need_a_font_with_icons() {
    let theme = Theme::dark();
    let two = |transparent: bool| {
        json!({
            "preset": "custom", "leftSegments": ["cost"], "rightSegments": ["mode"], "separator": "powerline",
            "transparent": transparent,
        })
    };
    let opaque = drawn(&status(), &two(false), 30, &theme);
    assert_eq!(opaque.text(), " $0.12                ask-all ");
    assert!(opaque.spans.iter().any(|span| span.style.bg == theme.color(Token::StatusLineBg)));
    let clear = drawn(&status(), &two(true), 30, &theme);
    assert_eq!(clear.text(), "$0.12                  ask-all");
    assert!(clear.spans.iter().all(|span| span.style.bg == omp_tui::Color::Default));
    let nerd = theme.with_symbols(Symbols::new(SymbolPreset::Nerd));
    let text = drawn(&status(), &two(false), 40, &nerd).text();
    assert!(text.contains(" \u{e0b0} ") && text.contains("\u{e0b2} ask-all "), "{text:?}");
}

#[test]
fn a_title_has_its_own_color_unless_that_is_off() {
    let theme = Theme::dark();
    let style = |title: &str, accent: bool| {
        let status = StatusBar { title: Some(title.into()), ..status() };
        let settings = json!({
            "preset": "custom", "leftSegments": ["session_name"], "sessionAccent": accent, "transparent": true,
        });
        drawn(&status, &settings, 40, &theme).spans[0].style
    };
    assert_eq!(style("one", true), style("one", true));
    assert_ne!(style("one", true), style("two", true));
    assert_eq!(style("one", false), theme.fg(Token::Muted));
}
