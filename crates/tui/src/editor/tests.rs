//! Tests the editor: keys in, text and rows out.

use std::time::Duration;

use insta::assert_snapshot;
use omp_testkit::Effort;

use super::*;
use crate::widgets::testing::{press, rows, screen};

fn editor(text: &str) -> Editor {
    let mut editor = Editor::default();
    editor.set_text(text);
    editor
}

/// Returns the text with a `|` at the cursor.
fn shown(editor: &Editor) -> String {
    let (before, after) = editor.text().split_at(editor.cursor());
    format!("{before}|{after}")
}

fn check(start: &str, keys: &str, want: &str) {
    let mut editor = editor(start);
    press(&mut editor, keys);
    assert_eq!(shown(&editor), want, "{keys} on {start:?}");
}

fn paste(editor: &mut Editor, text: &str) {
    editor.input(&Input::Paste(text.to_owned()));
}

#[test]
fn moves() {
    for (start, keys, want) in [
        ("", "h i left X", "hX|i"),
        ("one two", "ctrl+a", "|one two"),
        ("one two", "home ctrl+f ctrl+f ctrl+b", "o|ne two"),
        ("one two", "ctrl+a ctrl+e", "one two|"),
        ("a\nbc", "home", "a\n|bc"),
        ("a\nbc", "ctrl+a left", "a|\nbc"),
        ("a\nbc", "ctrl+home end right", "a\n|bc"),
        ("one, two_x", "alt+b", "one, |two_x"),
        ("one, two_x", "ctrl+left alt+left", "one|, two_x"),
        ("one, two_x", "ctrl+a alt+f ctrl+right", "one,| two_x"),
        ("e\u{301}👩‍👩‍👧日", "left left", "e\u{301}|👩‍👩‍👧日"),
        ("one\ntwo", "alt+<", "|one\ntwo"),
        ("one\ntwo", "alt+< alt+>", "one\ntwo|"),
    ] {
        check(start, keys, want);
    }
}

#[test]
fn a_character_is_jumped_to() {
    for (keys, want) in [
        ("ctrl+home ctrl+] o", "one tw|o three"),
        ("ctrl+alt+] t", "one two |three"),
        ("ctrl+alt+] t ctrl+alt+] t", "one |two three"),
        ("ctrl+alt+] z x", "one two threex|"),
        ("ctrl+] left x", "one two threx|e"),
    ] {
        check("one two three", keys, want);
    }
}

#[test]
fn up_and_down_keep_the_column() {
    for (start, keys, want) in [
        ("abcd\nx\nefgh", "up up", "abcd|\nx\nefgh"),
        ("abcd\nx\nefgh", "left up", "abcd\nx|\nefgh"),
        ("abcd\nx\nefgh", "left up up down down", "abcd\nx\nefg|h"),
        ("ab\ncd", "up up", "|ab\ncd"),
        ("ab\ncd", "ctrl+home down down", "ab\ncd|"),
        ("日本\nabcd", "left up", "日|本\nabcd"),
    ] {
        check(start, keys, want);
    }
}

#[test]
fn rows_of_a_wrapped_line_are_moved_over_too() {
    let mut editor = editor("hello big world");
    assert_eq!(rows(&mut editor, 8), ["> hello", "  big", "  world▏"]);
    press(&mut editor, "up");
    assert_eq!(shown(&editor), "hello big| world");
    press(&mut editor, "up");
    assert_eq!(rows(&mut editor, 8), ["> hello▏", "  big", "  world"]);
    press(&mut editor, "down down");
    assert_eq!(shown(&editor), "hello big world|");
}

#[test]
fn deletes() {
    for (start, keys, want) in [
        ("ab", "backspace", "a|"),
        ("ab", "left delete", "a|"),
        ("ab", "ctrl+a ctrl+d", "|b"),
        ("e\u{301}", "backspace", "|"),
        ("🇩🇪🇫🇷", "backspace", "🇩🇪|"),
        ("a\nb", "left backspace", "a|b"),
        ("one two", "ctrl+w", "one |"),
        ("one two", "alt+backspace ctrl+backspace", "|"),
        ("one two", "ctrl+a alt+d", "| two"),
        ("one two", "ctrl+a alt+delete", "| two"),
        ("one two", "ctrl+left ctrl+k", "one |"),
        ("one two", "ctrl+left ctrl+u", "|two"),
        ("a\nb", "ctrl+a ctrl+u", "a|b"),
        ("a\nb", "ctrl+home end ctrl+k", "a|b"),
        ("x", "ctrl+d", "x|"),
    ] {
        check(start, keys, want);
    }
}

#[test]
fn what_is_cut_can_be_yanked() {
    for (start, keys, want) in [
        ("one two", "ctrl+w ctrl+y ctrl+y", "one twotwo|"),
        ("one two", "ctrl+w ctrl+w ctrl+y", "one two|"),
        ("one two", "ctrl+a alt+d alt+d ctrl+y", "one two|"),
        ("one two", "ctrl+w left right ctrl+w ctrl+y alt+y", "two|"),
        ("one two", "ctrl+w left right ctrl+w ctrl+y alt+y alt+y", "one |"),
        ("one two", "ctrl+w alt+y", "one |"),
        ("", "ctrl+y", "|"),
    ] {
        check(start, keys, want);
    }
}

#[test]
fn undo_takes_back_words_and_runs() {
    for (keys, want) in [
        ("o n e _ t w o ctrl+-", "one |"),
        ("o n e _ t w o ctrl+_ ctrl+_", "|"),
        ("o n e backspace backspace ctrl+-", "one|"),
        ("o n e backspace backspace ctrl+- ctrl+-", "|"),
        ("o n e ctrl+- alt+_", "one|"),
        ("o n e ctrl+- x alt+_", "x|"),
        ("o n left x ctrl+-", "o|n"),
        ("o ctrl+u ctrl+-", "o|"),
        ("a shift+enter b ctrl+- ctrl+-", "a|"),
        ("ctrl+-", "|"),
    ] {
        check("", keys, want);
    }
}

#[test]
fn lines_are_broken_without_enter() {
    for (keys, want) in [("a shift+enter b", "a\nb|"), ("a alt+enter b", "a\nb|"), ("a ctrl+j b", "a\nb|")] {
        check("", keys, want);
    }
    let mut editor = editor("a\\");
    assert!(editor.continue_line());
    assert_eq!(shown(&editor), "a\n|");
    assert!(!editor.continue_line());
    assert_eq!(press(&mut editor, "ctrl+-"), Reaction::Taken);
    assert_eq!(shown(&editor), "a\\|");
    editor.insert_attachment("[odd\\", 1);
    assert!(!editor.continue_line(), "what belongs to a marker is not for that");
}

#[test]
fn keys_of_the_application_are_left_to_it() {
    for keys in
        ["enter", "escape", "tab", "ctrl+c", "ctrl+d", "ctrl+l", "f5", "up", "down", "pageUp", "alt+up", "backspace"]
    {
        assert_eq!(press(&mut Editor::default(), keys), Reaction::Ignored, "{keys}");
    }
    assert_eq!(press(&mut editor("x"), "ctrl+d"), Reaction::Taken);
}

#[test]
fn short_pastes_are_put_in_as_they_are() {
    for (pasted, want) in [
        ("e\u{301} \u{212b}", "e\u{301} \u{212b}|"),
        ("a\tb\nc", "a\tb\nc|"),
        ("a\u{1b}[31mb\u{0}\u{7}c\r\nd", "abc\nd|"),
        ("", "|"),
    ] {
        let mut editor = Editor::default();
        paste(&mut editor, pasted);
        assert_eq!(shown(&editor), want);
    }
}

#[test]
fn long_pastes_become_markers() {
    let mut editor = editor("see ");
    let lines = "line\n".repeat(123);
    paste(&mut editor, &lines);
    paste(&mut editor, &"é".repeat(1001));
    assert_eq!(shown(&editor), "see [paste #1 +123 lines][paste #2 1001 chars]|");
    assert_eq!(editor.expanded_text(), format!("see {lines}{}", "é".repeat(1001)));
    press(&mut editor, "left left");
    assert_eq!(editor.cursor(), 4);
    press(&mut editor, "delete");
    assert_eq!(shown(&editor), "see |[paste #2 1001 chars]");
    press(&mut editor, "ctrl+- right ctrl+w");
    assert_eq!(shown(&editor), "see |[paste #2 1001 chars]");
    press(&mut editor, "ctrl+y x");
    assert_eq!(editor.take(), format!("see {lines}x{}", "é".repeat(1001)));
    assert!(editor.is_empty() && editor.take().is_empty());
    paste(&mut editor, &lines);
    assert_eq!(editor.text(), "[paste #1 +123 lines]");
}

#[test]
fn attachments_are_units_of_the_text() {
    let mut editor = editor("a");
    editor.insert_attachment("[image #1]", 7);
    editor.insert_attachment("[image\n#2]", 9);
    assert_eq!(editor.text(), "a[image #1][image #2]");
    let payloads = |editor: &Editor| editor.attachments().into_iter().map(|item| item.payload).collect::<Vec<_>>();
    assert_eq!(payloads(&editor), [7, 9]);
    press(&mut editor, "left backspace");
    assert_eq!((editor.text(), payloads(&editor)), ("a[image #2]", vec![9]));
    press(&mut editor, "ctrl+-");
    assert_eq!(payloads(&editor), [7, 9]);
    assert_eq!(editor.take(), "a[image #1][image #2]");
}

#[test]
fn a_marker_is_never_entered() {
    let mut editor = editor("123456\n");
    editor.insert_attachment("[image #1]", 1);
    press(&mut editor, "ctrl+home right right right down");
    assert_eq!(shown(&editor), "123456\n[image #1]|");
    press(&mut editor, "left up down \u{301}");
    assert_eq!(editor.text(), "123456\n\u{301}[image #1]");
    assert_eq!(rows(&mut editor, 6), ["> 123", "  456", "  \u{301}▏[im", "  age", "  #1]"]);
}

#[test]
fn up_and_down_walk_the_history() {
    let mut editor = editor("draft");
    editor.set_history(vec!["one".into(), "two\nlines".into()]);
    editor.remember("three");
    press(&mut editor, "up");
    assert_eq!(shown(&editor), "three|");
    press(&mut editor, "up up");
    assert_eq!(shown(&editor), "one|");
    assert_eq!(press(&mut editor, "up"), Reaction::Taken);
    press(&mut editor, "down");
    assert_eq!(shown(&editor), "two\nlines|");
    press(&mut editor, "left up");
    assert_eq!(shown(&editor), "two|\nlines");
    press(&mut editor, "down down down");
    assert_eq!(shown(&editor), "draft|");
    press(&mut editor, "up up x");
    assert_eq!(shown(&editor), "two\nlinesx|");
    press(&mut editor, "down");
    assert_eq!(shown(&editor), "two\nlinesx|");
}

fn completing() -> Editor {
    let mut editor = editor("/mo");
    let complete = |label: &str, detail: &str| Completion {
        label: label.into(),
        detail: detail.into(),
        replace: 0..3,
        insert: label.into(),
        ..Completion::default()
    };
    editor.set_completions(vec![complete("/model", "choose a model"), complete("/move", ""), complete("/mo", "")]);
    editor
}

#[test]
fn completions_are_chosen_with_keys() {
    for (keys, want, open) in [
        ("tab", "/model|", false),
        ("down enter", "/move|", false),
        ("up up tab", "/move|", false),
        ("escape", "/mo|", false),
        ("x", "/mox|", false),
        ("left", "/m|o", false),
        ("down", "/mo|", true),
    ] {
        let mut editor = completing();
        press(&mut editor, keys);
        assert_eq!((shown(&editor).as_str(), editor.completing()), (want, open), "{keys}");
    }
    assert_eq!(press(&mut completing(), "x tab"), Reaction::Ignored);
    assert_eq!(press(&mut completing(), "x escape"), Reaction::Taken);
    assert_eq!(press(&mut completing(), "x escape escape"), Reaction::Ignored);
    assert_eq!(press(&mut completing(), "down down enter"), Reaction::Ignored, "nothing to complete: enter sends");
    assert_eq!(press(&mut completing(), "down down tab"), Reaction::Taken);
}

#[test]
fn completions_stand_below() {
    let mut editor = completing();
    assert_snapshot!(screen(&mut editor, 30), @"
    > /mo▏
    ❯ /model  choose a model
      /move
      /mo
    ");
    press(&mut editor, "x");
    assert_eq!(rows(&mut editor, 30).len(), 4, "the list stays until the next one comes");
    editor.set_completions(Vec::new());
    assert_eq!(rows(&mut editor, 30).len(), 1);
}

#[test]
fn a_completion_that_does_not_fit_changes_nothing() {
    for (start, end) in [(0, 99), (1, 2), (3, 2)] {
        let mut editor = editor("é");
        editor.set_completions(vec![Completion { insert: "x".into(), replace: start..end, ..Completion::default() }]);
        press(&mut editor, "tab");
        assert_eq!(editor.text(), "é");
    }
}

#[test]
fn long_text_scrolls_with_marks() {
    let mut editor = editor("1\n2\n3\n4\n5");
    editor.set_max_rows(3);
    assert_snapshot!(screen(&mut editor, 12), @"
    ↑ 3
      4
      5▏
    ");
    press(&mut editor, "up up up");
    assert_snapshot!(screen(&mut editor, 12), @"
    ↑ 2▏
      3
    ↓ 4
    ");
    press(&mut editor, "pageUp");
    assert_snapshot!(screen(&mut editor, 12), @"
    > 1▏
      2
    ↓ 3
    ");
    press(&mut editor, "pageDown pageDown");
    assert_eq!(shown(&editor), "1\n2\n3\n4\n5|");
}

#[test]
fn the_placeholder_gives_way() {
    let mut editor = Editor::default();
    editor.set_placeholder("Ask anything about this code");
    editor.set_prompt("! ", Token::BashMode);
    assert_eq!(rows(&mut editor, 12), ["! ▏Ask anyth…"]);
    press(&mut editor, "a tab");
    assert_eq!(rows(&mut editor, 12), ["! a▏"]);
}

#[test]
fn tabs_take_their_columns() {
    let mut editor = editor("\ta\tb");
    assert_eq!(rows(&mut editor, 20), [">     a    b▏"]);
}

/// Returns the shortest of several runs, because other processes disturb the timing.
fn quickest(mut run: impl FnMut()) -> Duration {
    let tries = (0..5).map(|_| {
        let effort = Effort::begin();
        run();
        effort.spent()
    });
    tries.min().unwrap()
}

#[test]
fn big_pastes_are_quick() {
    let garbage: String = (0..200_000u32).map(|at| char::from((at * 7919 % 251) as u8)).collect();
    let repeated = ["\u{1b}]", "\u{9d}0;", "\u{1b}[1", "\n", "\u{301}", "👩\u{200d}", "🇩"];
    for text in repeated.into_iter().map(|piece| piece.repeat(200_000 / piece.len())).chain([garbage]) {
        let taken = quickest(|| {
            let mut editor = Editor::default();
            paste(&mut editor, &text);
            rows(&mut editor, 80);
        });
        // The limit is 50 ms; an unoptimized build takes longer, but not seconds.
        assert!(taken < Duration::from_secs(1), "{taken:?} for {:?}", text.chars().take(2).collect::<String>());
    }
}

#[test]
fn keys_stay_quick_in_a_big_text() {
    let lines = "some words in a line of source text\n".repeat(30_000);
    let line = "some words in a line that goes on and on, 日本 ".repeat(20_000);
    for text in [lines, line] {
        let mut editor = editor(&text);
        rows(&mut editor, 80);
        press(&mut editor, "up up up");
        let taken = quickest(|| {
            press(&mut editor, "x up left");
            rows(&mut editor, 80);
        });
        assert!(taken < Duration::from_millis(100), "{taken:?}");
    }
}
