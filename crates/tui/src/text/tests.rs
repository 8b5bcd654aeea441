//! Tests wrapping, clipping and parsing of printed text, and the width of difficult strings in real terminals.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::term::Config;
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::{Term, vte};
use proptest::prelude::*;

use super::marks::{marked, plain};
use super::*;
use crate::style::Attrs;

fn rows(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::text).collect()
}

#[test]
fn words_wrap() {
    for (text, width, want) in [
        ("the quick brown fox", 10, vec!["the quick", "brown fox"]),
        ("the quick brown fox", 9, vec!["the quick", "brown fox"]),
        ("  indented text here", 10, vec!["  indented", "text here"]),
        ("a  b", 10, vec!["a  b"]),
        ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
        ("x abcdefghij y", 4, vec!["x", "abcd", "efgh", "ij y"]),
        ("日本語のテキスト", 7, vec!["日本語", "のテキ", "スト"]),
        ("日本語。次", 6, vec!["日本", "語。次"]),
        ("abc日本", 5, vec!["abc日", "本"]),
        ("👩‍👩‍👧👩‍👩‍👧", 3, vec!["👩‍👩‍👧", "👩‍👩‍👧"]),
        ("e\u{301}e\u{301}e\u{301}", 2, vec!["e\u{301}e\u{301}", "e\u{301}"]),
        ("end  ", 4, vec!["end "]),
        ("", 5, vec![""]),
        ("日", 1, vec!["日"]),
        ("ab", 0, vec!["a", "b"]),
    ] {
        assert_eq!(rows(&wrap_text(text, width, Style::PLAIN)), want, "{text:?} at {width}");
    }
}

#[test]
fn untrusted_text_is_cleaned_and_tabs_are_expanded() {
    let text = "a\tb\u{1b}[31mred\u{7}\nabcd\te\r\nnext";
    assert_eq!(rows(&wrap_text(text, 40, Style::PLAIN)), ["a   bred", "abcd    e", "next"]);
}

#[test]
fn long_words_break_at_their_joints_in_narrow_columns() {
    for (text, width, expect) in [
        ("anthropic/claude-sonnet-4-5", 22, "anthropic/claude-|sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5", 12, "anthropic/|claude-|sonnet-4-5"),
        ("a name/of-a thing", 6, "a|name/|of-a|thing"),
        ("abcdefghij/k", 4, "abcd|efgh|ij/k"),
        ("short-word", 10, "short-word"),
    ] {
        assert_eq!(rows(&wrap_narrow(&Line::from(text), width)).join("|"), expect, "{text}");
    }
}

#[test]
fn styles_and_links_go_along() {
    let mut line = Line::from("plain ").with("bold words here", Style::PLAIN.bold()).with(" and more", Style::PLAIN);
    line.spans[1].link = Some("http://x".into());
    insta::assert_snapshot!(marked(&wrap(&line, 12)), @"
    plain {b @http://x|bold}
    {b @http://x|words here}
    and more
    ");
    insta::assert_snapshot!(marked(&split(&line, 12)), @"
    plain {b @http://x|bold w}
    {b @http://x|ords here} an
    d more
    ");
}

#[test]
fn clipping_shows_that_something_is_missing() {
    let line = Line::from("plain ").with("日本語", Style::PLAIN.bold());
    for (width, want) in
        [(12, "plain 日本語"), (11, "plain 日本…"), (10, "plain 日…"), (7, "plain …"), (1, "…"), (0, "")]
    {
        let clipped = clip(line.clone(), width);
        assert_eq!(clipped.text(), want);
        assert!(clipped.width() <= width);
    }
    assert!(clip(line, 9).spans.last().unwrap().style.attrs.has(Attrs::BOLD));
}

#[test]
fn printed_text_becomes_spans() {
    let text = "plain \u{1b}[1;31mbold red\u{1b}[0m \u{1b}[38;5;208morange\u{1b}[m \u{1b}[38;2;1;200;3mrgb\u{1b}[39m\n\
        \u{1b}[38:2::9:8:7mcolon\u{1b}[0m \u{1b}[48:5:22mon green\u{1b}[49m \u{1b}[4:3mcurly\u{1b}[4:0m\u{1b}[58;2;1;2;3m off\n\
        \u{1b}[92mbright\u{1b}[2;3;7;9m all\u{1b}[22;23;27;29m none\u{1b}[0m\n\
        \u{1b}]8;id=1;https://example.com\u{1b}\\link\u{1b}]8;;\u{7} after";
    insta::assert_snapshot!(marked(&from_ansi(text)), @"
    plain {b 1|bold red} {208|orange} {#01c803|rgb}
    {#090807|colon} {on 22|on green} {u|curly} off
    {10|bright}{dirs 10| all}{10| none}
    {@https://example.com|link} after
    ");
}

#[test]
fn carriage_returns_overwrite() {
    for (text, want) in [
        ("10%\r20%\r100%\ndone", vec!["100%", "done"]),
        ("long line\rab", vec!["abng line"]),
        ("long line\r\u{1b}[Kab", vec!["ab"]),
        ("long\u{1b}[2K\rab", vec!["ab  "]),
        ("abc\u{8}\u{8}X", vec!["aXc"]),
        ("\u{8}\u{8}a", vec!["a"]),
        ("日本\rab", vec!["ab本"]),
        ("日本\ra", vec!["a 本"]),
        ("abc\r日", vec!["日c"]),
        ("日本\rab日", vec!["ab日"]),
        ("a日\rx\u{8}\u{8}y日", vec!["y日"]),
        ("a\r\nb\r\n", vec!["a", "b"]),
        ("a\tb", vec!["a       b"]),
        ("", vec![""]),
    ] {
        assert_eq!(rows(&from_ansi(text)), want, "{text:?}");
    }
}

#[test]
fn hostile_output_is_harmless() {
    for (text, want) in [
        ("a\u{1b}[2J\u{1b}[10;10Hb", vec!["ab"]),
        ("a\u{1b}]0;title\u{7}b\u{1b}Pq#0\u{1b}\\c", vec!["abc"]),
        ("a\u{1b}]8;;http://unfinished", vec!["a8;;http://unfinished"]),
        ("a\u{1b}[31", vec!["a"]),
        ("a\u{1b}", vec!["a"]),
        ("\u{0}\u{7f}\u{85}x", vec!["x"]),
        ("\u{1b}[38;5mx\u{1b}[38;2;300;1;1my\u{1b}[99999999999mz", vec!["xyz"]),
    ] {
        assert_eq!(rows(&from_ansi(text)), want, "{text:?}");
    }
    let long = from_ansi(&"x".repeat(20_000));
    assert_eq!(long.iter().map(Line::width).collect::<Vec<_>>(), [8192, 8192, 3616]);
    assert_eq!(from_ansi(&"\u{1b}[31m\u{1b}[32m".repeat(100_000)).len(), 1);
}

/// Compares the widths of difficult strings with vt100 and alacritty. Both count code points, so joined characters take more
/// columns there; where the numbers differ, ours matches terminals that shape text.
#[test]
fn widths_of_hard_strings() {
    for (text, ours, vt100, alacritty) in [
        ("ascii", 5, 5, 5),
        ("e\u{301}", 1, 1, 1),
        ("日本語", 6, 6, 6),
        ("한국", 4, 4, 4),
        ("\u{1112}\u{1161}\u{11ab}", 2, 2, 2),
        ("ｱｲ", 2, 2, 2),
        ("Ａ", 2, 2, 2),
        ("±°", 2, 2, 2),
        ("…–─│", 4, 4, 4),
        ("\u{200b}x", 1, 1, 1),
        ("क्षि", 3, 3, 3),
        ("นี่", 1, 1, 1),
        ("👍", 2, 2, 2),
        ("👍🏽", 2, 4, 4),
        ("👩‍👩‍👧", 2, 6, 6),
        ("🇩🇪", 2, 2, 2),
        ("❤\u{fe0f}", 2, 2, 1),
        ("☺\u{fe0e}", 1, 1, 1),
        ("1\u{fe0f}\u{20e3}", 2, 2, 1),
        ("🏴\u{e0067}\u{e0062}\u{e007f}", 2, 2, 2),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", 4, 4, 4),
    ] {
        let got = (display_width::width(text), by_vt100(text), by_alacritty(text));
        assert_eq!(got, (ours, vt100, alacritty), "{text:?}");
    }
}

fn by_vt100(text: &str) -> usize {
    let nonzero = |value| std::num::NonZeroU16::new(value).unwrap();
    let mut parser = vt100::Parser::new(nonzero(2), nonzero(40), 0);
    parser.process(text.as_bytes());
    usize::from(parser.screen().cursor_position().1)
}

fn by_alacritty(text: &str) -> usize {
    let mut term = Term::new(Config::default(), &TermSize::new(40, 2), VoidListener);
    vte::ansi::Processor::<vte::ansi::StdSyncHandler>::new().advance(&mut term, text.as_bytes());
    term.grid().cursor.point.column.0
}

proptest! {
    #[test]
    fn wrapping_loses_only_spaces(text in "([a-z日é👩‍👧 ]|\u{301}){0,60}", width in 1usize..20) {
        let line = Line::from(text.clone());
        let wrapped = wrap(&line, width);
        let solid = |text: &str| text.chars().filter(|char| *char != ' ').collect::<String>();
        prop_assert_eq!(solid(&plain(&wrapped)).replace('\n', ""), solid(&text));
        prop_assert!(wrapped.iter().all(|row| row.width() <= width.max(2)));
        let split = split(&line, width);
        prop_assert_eq!(rows(&split).concat(), text);
        prop_assert!(split.iter().all(|row| row.width() <= width.max(2)));
    }

    #[test]
    fn printed_text_never_steers(text in "([a-z日]|[\u{1b}\u{9b}\u{9d}\u{7}\u{8}\r\n\t]|[\\[\\];:0-9mK])*") {
        for line in from_ansi(&text) {
            prop_assert!(!line.text().contains(char::is_control));
            prop_assert!(line.spans.iter().all(|span| span.link.as_ref().is_none_or(|link| !link.contains(char::is_control))));
        }
    }
}
