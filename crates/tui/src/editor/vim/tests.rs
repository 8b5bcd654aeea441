//! Tests modal editing: a text with `|` before the cursor, keys, and the text that comes of it.

use proptest::prelude::*;

use super::super::Editor;
use super::{VimMode, VimReply};
use crate::component::{Component, Reaction};
use crate::input::{Input, Key, KeyCode};
use crate::style::Attrs;
use crate::widgets::testing::{press, rows};

/// An editor in normal mode with the cursor at the `|`.
fn editor(start: &str) -> Editor {
    let at = start.find('|').unwrap_or(0);
    let mut editor = Editor::default();
    editor.set_vim(true);
    editor.set_text(&start.replacen('|', "", 1));
    press(&mut editor, "escape");
    editor.set_cursor(at);
    editor
}

fn shown(editor: &Editor) -> String {
    let (before, after) = editor.text().split_at(editor.cursor());
    format!("{before}|{after}")
}

/// Types each character; `⎋` is Esc, `⏎` a new line, `®` ctrl+r.
fn type_keys(editor: &mut Editor, keys: &str) {
    for char in keys.chars() {
        let key = match char {
            '⎋' => Key::plain(KeyCode::Escape),
            '⏎' => Key::ctrl('j'),
            '®' => Key::ctrl('r'),
            char => Key::plain(KeyCode::Char(char)),
        };
        editor.input(&Input::Key(key));
    }
}

#[track_caller]
fn check(table: &[(&str, &str, &str)]) {
    for (start, keys, want) in table {
        let mut editor = editor(start);
        type_keys(&mut editor, keys);
        assert_eq!(shown(&editor), *want, "{keys} on {start:?}");
    }
}

#[test]
fn motions() {
    check(&[
        ("|one two", "l", "o|ne two"),
        ("|one two", "3l", "one| two"),
        ("|one", "9l", "on|e"),
        ("on|e", "h", "o|ne"),
        ("a\n|b", "h", "a\n|b"),
        ("|one two three", "w", "one |two three"),
        ("|one two three", "2w", "one two |three"),
        ("|one.two", "w", "one|.two"),
        ("|one.two three", "W", "one.two |three"),
        ("|one\n\ntwo", "w", "one\n|\ntwo"),
        ("one two |three", "b", "one |two three"),
        ("one.two |three", "B", "|one.two three"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "e", "one tw|o"),
        ("|one.two x", "E", "one.tw|o x"),
        ("one |two", "0", "|one two"),
        ("  on|e", "^", "  |one"),
        ("|one", "$", "on|e"),
        ("|one two one", "fo", "one tw|o one"),
        ("|one two one", "2fo", "one two |one"),
        ("|one two", "to", "one t|wo"),
        ("one tw|o", "Fo", "|one two"),
        ("one tw|o", "To", "o|ne two"),
        ("|a.b.c.d", "f.;", "a.b|.c.d"),
        ("|a.b.c.d", "f.;,", "a|.b.c.d"),
        ("|a.b.c.d", "t.;", "a.|b.c.d"),
        ("|one", "fz", "|one"),
        ("on|e\ntwo\nthree", "j", "one\ntw|o\nthree"),
        ("three\nto\nthre|e", "kk", "thre|e\nto\nthree"),
        ("|a\nbb\ncc", "$jj", "a\nbb\nc|c"),
        ("a\nb\n  |c", "gg", "|a\nb\n  c"),
        ("|a\nb\n  c", "G", "a\nb\n  |c"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("|a\nb\nc", ":3\u{0}", "|a\nb\nc"),
        ("|a\nb\n\nc\n\nd", "}", "a\nb\n|\nc\n\nd"),
        ("|a\nb\n\nc\n\nd", "2}", "a\nb\n\nc\n|\nd"),
        ("a\n\nb\n|c", "{", "a\n|\nb\nc"),
        ("|f(a[1], b)", "%", "f(a[1], b|)"),
        ("f(a[1], b|)", "%", "f|(a[1], b)"),
        ("日|本語", "l", "日本|語"),
        ("|", "wbe$0^GG{}%", "|"),
    ]);
}

#[test]
fn operators() {
    check(&[
        ("|one two", "dw", "|two"),
        ("one |two three four", "2dw", "one |four"),
        ("one |two three four", "d2w", "one |four"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("|one two", "de", "| two"),
        ("one tw|o", "db", "one |o"),
        ("one |two", "d$", "one| "),
        ("one |two", "D", "one| "),
        ("one |two", "d0", "|two"),
        ("|f(a) b", "df)", "| b"),
        ("|f(a) b", "dt)", "|) b"),
        ("f(a|) b", "dF(", "f|) b"),
        ("|f(a) b", "d%", "| b"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a", "dd", "|"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dk", "|a"),
        ("a\n|b\nc", "dG", "|a"),
        ("a\n|b\nc", "dgg", "|c"),
        ("|a\nb\n\nc", "d}", "|\nc"),
        ("|one two", "cwx⎋", "|x two"),
        ("|one two three", "c2wx⎋", "|x three"),
        ("one| two", "cwx⎋", "one|xtwo"),
        ("one |two", "Cx⎋", "one |x"),
        ("a\n  |b\nc", "ccx⎋", "a\n|x\nc"),
        ("a\n  |b\nc", "Sx⎋", "a\n|x\nc"),
        ("|one", "sx⎋", "|xne"),
        ("|one", "2sx⎋", "|xe"),
        ("|", "sx⎋", "|x"),
        ("|one", "x", "|ne"),
        ("on|e", "x", "o|n"),
        ("|one", "2x", "|e"),
        ("on|e", "X", "o|e"),
        ("|one", "rx", "|xne"),
        ("|one", "3rx", "xx|x"),
        ("|one", "4rx", "|one"),
        ("|oNe", "3~", "On|E"),
        ("|one\n  two", "J", "one| two"),
        ("|f(\n)", "J", "f(|)"),
        ("|a\nb\nc", "3J", "a b| c"),
        ("|a", "J", "|a"),
        ("|one", "dz", "|one"),
        ("|one", "d⎋x", "|ne"),
    ]);
}

#[test]
fn text_objects() {
    check(&[
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one t|wo", "daw", "on|e"),
        ("one| two", "diw", "one|two"),
        ("one a.|b two", "diW", "one | two"),
        ("say \"a |b\" now", "di\"", "say \"|\" now"),
        ("say \"a |b\" now", "da\"", "say |now"),
        ("|say \"a b\"", "ci\"x⎋", "say \"|x\""),
        ("it's '|a'", "di'", "it's '|a'"),
        ("f(a, (b|), c)", "di(", "f(a, (|), c)"),
        ("f(a, |b)", "dib", "f(|)"),
        ("f(a, |b)", "da)", "|f"),
        ("[1, |2]", "di[", "[|]"),
        ("{\n|a\n}", "diB", "{|}"),
        ("<a |b>", "ci<x⎋", "<|x>"),
        ("f|(a)", "di(", "f(|)"),
        ("|one", "di(", "|one"),
        ("a\nb|b\n\nc", "dip", "|\nc"),
        ("a\nb|b\n\nc", "dap", "|c"),
        ("a\n\n|b", "dap", "|a"),
        ("o|ne two", "yiwP", "on|eone two"),
    ]);
}

#[test]
fn registers() {
    check(&[
        ("|one two", "dwp", "tone| wo"),
        ("|one two", "dwP", "one| two"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("|a\nb", "yyjp", "a\nb\n|a"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|a\nb", "Yjp", "a\nb\n|a"),
        ("|a\nb\nc", "ddp", "b\n|a\nc"),
        ("|a", "yy3p", "a\n|a\na\na"),
        ("|ab", "yl3p", "aaa|ab"),
        ("|one two", "\"ayw$\"byl\"ap", "one twoone| "),
        ("|one", "p", "|one"),
        ("one t|wo", "ybP", "one |ttwo"),
        ("|a\nb", "\"qyyj\"qp", "a\nb\n|a"),
    ]);
}

#[test]
fn inserting() {
    check(&[
        ("o|ne", "ix⎋", "o|xne"),
        ("o|ne", "ax⎋", "on|xe"),
        ("  o|ne", "Ix⎋", "  |xone"),
        ("o|ne", "Ax⎋", "one|x"),
        ("o|ne\ntwo", "ox⎋", "one\n|x\ntwo"),
        ("o|ne\ntwo", "Ox⎋", "|x\none\ntwo"),
        ("|", "ix⏎y⎋", "x\n|y"),
        ("|", "3ixy⎋", "xyxyx|y"),
        ("|a", "2ox⎋", "a\nx\n|x"),
    ]);
}

#[test]
fn repeating_and_undoing() {
    check(&[
        ("|one two three", "dw.", "|three"),
        ("|one two three four", "dw2.", "|four"),
        ("|one two three", "cwx⎋w.", "x |x three"),
        ("|a b c", "x.", "|b c"),
        ("|a\nb", "A;⎋j.", "a;\nb|;"),
        ("|a", "ox⎋.", "a\nx\n|x"),
        ("|abcd", "vld.", "|"),
        ("|one two", "dwu", "|one two"),
        ("|one two", "cwsome new words⎋u", "|one two"),
        ("|one two", "dwu®", "|two"),
        ("|a b c", "xx2u", "|a b c"),
        ("|a b c", "xxu.", "|b c"),
        ("|one", "i1 2 3⎋u", "|one"),
        ("|one", ".", "|one"),
    ]);
}

#[test]
fn visual() {
    check(&[
        ("|one two", "vld", "|e two"),
        ("|one two", "vwd", "|wo"),
        ("|one two", "v$d", "|"),
        ("one |two", "vbd", "|wo"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("|a\nb\nc", "Vjyp", "a\n|a\nb\nb\nc"),
        ("o|ne two", "viwcx⎋", "|x two"),
        ("f(|a, b)", "vi(d", "f(|)"),
        ("|one", "ve~", "|ONE"),
        ("|One", "veu", "|one"),
        ("|one", "veU", "|ONE"),
        ("|one", "verx", "|xxx"),
        ("one |two", "vohhd", "on|wo"),
        ("|a\nb\nc", "VjJ", "a| b\nc"),
        ("|one two", "yiwwviwp", "one |one"),
        ("|one", "v⎋x", "|ne"),
        ("|one", "vvx", "|ne"),
        ("|one\ntwo", "vVd", "|two"),
        ("|a\nb\n\nc", "vipd", "|\nc"),
    ]);
}

#[test]
fn modes_have_names_and_the_selection_is_seen() {
    let mut editor = editor("|one two");
    let mut modes = Vec::new();
    for key in ["i", "escape", "v", "V", "escape", ":", "q"] {
        press(&mut editor, key);
        modes.push(editor.vim_word().unwrap());
    }
    assert_eq!(modes, ["INSERT", "NORMAL", "VISUAL", "V-LINE", "NORMAL", ":", ":q"]);
    press(&mut editor, "escape v e");
    let space = crate::Space {
        width: 20,
        height: 24,
        theme: &crate::Theme::colorless(),
        focused: true,
        keys: &crate::DefaultKeys,
    };
    let lines = editor.draw(&space);
    let marked: String =
        lines[0].spans.iter().filter(|span| span.style.attrs.has(Attrs::REVERSE)).map(|span| &*span.text).collect();
    assert_eq!(marked, "one");
}

#[test]
fn keys_of_the_application_stay_its_own() {
    let mut editor = editor("|one");
    let escape = Key::plain(KeyCode::Escape);
    assert!(!editor.vim_wants(&escape), "it interrupts what runs");
    assert!(!editor.vim_wants(&Key::plain(KeyCode::Enter)) && !editor.vim_wants(&Key::ctrl('c')));
    assert!(editor.vim_wants(&Key::ctrl('r')) && editor.vim_wants(&Key::plain(KeyCode::Char('x'))));
    press(&mut editor, "d");
    assert!(editor.vim_wants(&escape), "it drops the command first");
    press(&mut editor, "escape i");
    assert!(editor.vim_wants(&escape) && !editor.vim_wants(&Key::ctrl('r')));
    assert_eq!(press(&mut editor, "x"), Reaction::Taken);
    assert_eq!(editor.text(), "xone");
    assert_eq!((editor.take(), editor.vim_mode()), ("xone".to_owned(), Some(VimMode::Insert)));
    editor.set_vim(false);
    assert!(!editor.vim_wants(&escape) && editor.vim_mode().is_none());
}

#[test]
fn a_colon_leaves() {
    for (keys, reply) in [
        ("q", VimReply::Leave),
        ("wq", VimReply::Leave),
        ("2", VimReply::Taken),
        ("", VimReply::Taken),
        ("s/a/b", VimReply::Unknown("s/a/b".to_owned())),
    ] {
        let mut editor = editor("|one\ntwo");
        type_keys(&mut editor, &format!(":{keys}"));
        assert_eq!(editor.vim_key(&Key::plain(KeyCode::Enter)), reply, "{keys}");
        assert_eq!(editor.vim_mode(), Some(VimMode::Normal));
        assert_eq!(shown(&editor), if keys == "2" { "one\n|two" } else { "|one\ntwo" });
    }
    let mut editor = editor("|one");
    press(&mut editor, ": q backspace backspace x");
    assert_eq!(editor.text(), "ne", "backspace leaves the command");
}

#[test]
fn earlier_messages_are_reached_at_the_edges() {
    let mut editor = editor("|draft");
    editor.set_history(vec!["first\nmessage".to_owned()]);
    press(&mut editor, "k");
    assert_eq!(editor.text(), "first\nmessage");
    press(&mut editor, "j");
    assert_eq!(editor.text(), "draft");
}

#[test]
fn a_marker_is_one_character() {
    let mut editor = editor("|a  b");
    editor.set_cursor(2);
    editor.paste(&"line\n".repeat(20));
    press(&mut editor, "escape 0 w");
    assert!(editor.text()[editor.cursor()..].starts_with("[paste"), "{}", shown(&editor));
    press(&mut editor, "d i [");
    assert!(!editor.text().contains("paste"), "its label is not cut");
    press(&mut editor, "u x p");
    assert_eq!(editor.expanded_text().matches("line\n").count(), 20);
    press(&mut editor, "0 v $ d");
    assert_eq!(editor.text(), "");
}

const KEYS: &str = "hjklwbeWBE0^$fFtT;,gG{}%dcyxXsSrRJ~pPoOAIaiuvV\"'`([<.:123ab⎋⏎® \u{301}日";

proptest! {
    #[test]
    fn no_keys_panic_and_undo_comes_back(
        text in "[a-c .(\"\n日\u{301})]{0,24}",
        keys in proptest::collection::vec(proptest::sample::select(KEYS.chars().collect::<Vec<_>>()), 0..60),
        pastes in any::<bool>(),
    ) {
        let mut editor = Editor::default();
        editor.set_vim(true);
        let at = text.chars().count() / 2;
        editor.set_text(&text);
        let start = editor.text().to_owned();
        let version = editor.version();
        editor.set_cursor(text.char_indices().nth(at).map_or(0, |(at, _)| at));
        press(&mut editor, "escape");
        for (number, key) in keys.iter().enumerate() {
            type_keys(&mut editor, &key.to_string());
            if pastes && number % 13 == 5 {
                editor.input(&Input::Paste("x\n".repeat(20)));
            }
            rows(&mut editor, 17);
        }
        type_keys(&mut editor, "⎋⎋");
        let last = editor.cursor();
        let on_a_character = editor.text()[last..].chars().next().is_some_and(|char| char != '\n');
        prop_assert!(on_a_character || last == 0 || editor.text()[..last].ends_with('\n'), "{}", shown(&editor));
        // The first step set the text.
        for _ in 0..400 {
            if editor.text() == start && editor.version() > version {
                break;
            }
            press(&mut editor, "u");
        }
        prop_assert!(editor.text() == start || editor.text().is_empty(), "{:?} is not {start:?}", editor.text());
    }
}
