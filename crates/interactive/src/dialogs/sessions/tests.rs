//! Finding a session among few and among many, renaming it, deleting it.

use std::time::Duration;

use omp_testkit::Effort;

use super::super::screen::{both, draw, press, says, type_text};
use super::*;

fn listing(id: &str, cwd: &str, title: Option<&str>, first: Option<&str>, minutes: u64) -> SessionListing {
    SessionListing {
        id: id.into(),
        file: format!("/s/{id}.jsonl").into(),
        title: title.map(str::to_owned),
        cwd: cwd.into(),
        modified: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 - minutes * 60),
        first_message: first.map(str::to_owned),
    }
}

pub(in crate::dialogs) fn sessions() -> Sessions {
    Sessions {
        listings: vec![
            listing("one", "/code/me/project", Some("Fix the parser"), Some("the parser fails\non empty input"), 0),
            listing("two", "/code/me/project", None, Some("add a test for the walker of folders and all that"), 300),
            listing("three", "/code/me/another/long/folder", Some("Another \u{1b}[31mplace"), None, 60 * 24 * 40),
            listing("four", "/code/me/project", None, None, 60 * 24 * 800),
        ],
        cwd: "/code/me/project".into(),
        open: Some("/s/one.jsonl".into()),
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
    }
}

#[test]
fn sessions_of_the_folder() {
    insta::assert_snapshot!(both(&mut SessionsDialog::new(sessions())), @"
    ╭─ Sessions  3 of 3 · this folder ─────────────────────────╮
    │ > type to search                                         │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ ✓ Fix the parser                                   now │
    │   add a test for the walker of folders and all th…    5h │
    │   (empty, four)                                       2y │
    ├──────────────────────────────────────────────────────────┤
    │   the parser fails on empty input                        │
    ├──────────────────────────────────────────────────────────┤
    │ enter open · esc close · tab scope · ctrl+r rename       │
    │ ctrl+d delete · ctrl+s sort                              │
    ╰──────────────────────────────────────────────────────────╯
    ------------------------------
    ── Sessions  3 of 3 · this… ──
    > type to search
    ❯ ✓ Fix the parser         now
      add a test for the wa…    5h
      (empty, four)             2y
      the parser fails on empty i…
    enter open · esc close
    tab scope · ctrl+r rename
    ctrl+d delete · ctrl+s sort
    ");
}

#[test]
fn sessions_of_all_folders() {
    let mut dialog = SessionsDialog::new(sessions());
    press(&mut dialog, "tab ctrl+s");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Sessions  4 of 4 · all folders · by title ──────────────╮
    │ > type to search                                         │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ (empty, four)               /code/me/project        2y │
    │   add a test for the walker…  /code/me/project        5h │
    │   Another place               …another/long/folder    5w │
    │   ✓ Fix the parser            /code/me/project       now │
    ├──────────────────────────────────────────────────────────┤
    │ enter open · esc close · tab scope · ctrl+r rename       │
    │ ctrl+d delete · ctrl+s sort                              │
    ╰──────────────────────────────────────────────────────────╯
    ------------------------------
    ── Sessions  4 of 4 · all … ──
    > type to search
    ❯ (empty, four)
      add a test for the walker o…
      Another place
      ✓ Fix the parser
    enter open · esc close
    tab scope · ctrl+r rename
    ctrl+d delete · ctrl+s sort
    ");
}

#[test]
fn a_new_title() {
    let mut dialog = SessionsDialog::new(sessions());
    press(&mut dialog, "down ctrl+r ctrl+u");
    type_text(&mut dialog, "Walker");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Sessions  3 of 3 · this folder ─────────────────────────╮
    │ > type to search                                         │
    ├──────────────────────────────────────────────────────────┤
    │   ✓ Fix the parser                                   now │
    │ ❯ add a test for the walker of folders and all th…    5h │
    │   (empty, four)                                       2y │
    ├──────────────────────────────────────────────────────────┤
    │ Title: Walker                                            │
    ├──────────────────────────────────────────────────────────┤
    │ enter rename · esc back                                  │
    ╰──────────────────────────────────────────────────────────╯
    ------------------------------
    ── Sessions  3 of 3 · this… ──
    > type to search
      ✓ Fix the parser         now
    ❯ add a test for the wa…    5h
      (empty, four)             2y
    Title: Walker
    enter rename · esc back
    ");
    assert_eq!(says(&mut dialog, "enter"), r#"Do(RenameSession { file: "/s/two.jsonl", title: "Walker" })"#);
    assert!(draw(&mut dialog, 60).contains("❯ Walker"));
    press(&mut dialog, "ctrl+r x escape");
    assert!(draw(&mut dialog, 60).contains("❯ Walker "));
    assert!(matches!(press(&mut dialog, "ctrl+r ctrl+u enter"), DialogStep::Redraw), "no title is no rename");
}

#[test]
fn deleting_is_asked_about() {
    let mut dialog = SessionsDialog::new(sessions());
    press(&mut dialog, "down ctrl+d");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Sessions  3 of 3 · this folder ─────────────────────────╮
    │ > type to search                                         │
    ├──────────────────────────────────────────────────────────┤
    │   ✓ Fix the parser                                   now │
    │ ❯ add a test for the walker of folders and all th…    5h │
    │   (empty, four)                                       2y │
    ├──────────────────────────────────────────────────────────┤
    │ Delete this session?                                     │
    ├──────────────────────────────────────────────────────────┤
    │ y delete · any other key keep                            │
    ╰──────────────────────────────────────────────────────────╯
    ------------------------------
    ── Sessions  3 of 3 · this… ──
    > type to search
      ✓ Fix the parser         now
    ❯ add a test for the wa…    5h
      (empty, four)             2y
    Delete this session?
    y delete · any other key keep
    ");
    assert!(matches!(press(&mut dialog, "n"), DialogStep::Redraw));
    assert_eq!(says(&mut dialog, "ctrl+d y"), r#"Do(DeleteSession("/s/two.jsonl"))"#);
    assert!(!draw(&mut dialog, 60).contains("walker"));
    assert_eq!(says(&mut dialog, "ctrl+backspace y"), r#"Do(DeleteSession("/s/four.jsonl"))"#);
    press(&mut dialog, "ctrl+d");
    assert!(draw(&mut dialog, 60).contains("cannot be deleted"));
    assert_eq!(says(&mut dialog, "escape"), "Close(None)");
}

#[test]
fn keys_choose() {
    for (keys, step) in [
        ("enter", "Close(None)"),
        ("down enter", r#"Close(Some(Switch(Resume { file: "/s/two.jsonl", cwd: None })))"#),
        ("w a l k space t e s t enter", r#"Close(Some(Switch(Resume { file: "/s/two.jsonl", cwd: None })))"#),
        ("tab p l a c e enter", r#"Close(Some(Switch(Resume { file: "/s/three.jsonl", cwd: None })))"#),
        ("p l a c e enter", "Ignored"),
        ("escape", "Close(None)"),
        ("x ctrl+backspace", "Redraw"),
    ] {
        assert_eq!(says(&mut SessionsDialog::new(sessions()), keys), step, "{keys}");
    }
}

#[test]
fn a_folder_without_sessions_shows_those_of_others() {
    let mut dialog = SessionsDialog::new(Sessions { cwd: "/elsewhere".into(), ..sessions() });
    assert!(draw(&mut dialog, 60).contains("4 of 4 · all folders"));
    let mut dialog = SessionsDialog::new(Sessions { listings: Vec::new(), ..sessions() });
    assert!(draw(&mut dialog, 30).contains("Nothing here."));
    for keys in ["enter", "ctrl+r enter", "ctrl+d y", "ctrl+s enter"] {
        assert!(!says(&mut dialog, keys).contains("Some"), "{keys}");
    }
}

#[test]
fn ten_thousand_sessions_are_searched_while_one_types() {
    let first = "a first message that is rather long, as they often are when something is explained. ".repeat(20);
    let many = (0..10_000).map(|at| listing(&format!("s{at}"), "/p", Some(&format!("title {at}")), Some(&first), at));
    let mut dialog = SessionsDialog::new(Sessions { listings: many.collect(), ..sessions() });
    draw(&mut dialog, 60);
    let effort = Effort::begin();
    type_text(&mut dialog, "title 9999");
    let took = effort.spent() / 10;
    assert!(draw(&mut dialog, 60).contains("1 of 10000"));
    // Measured in a debug build; a release build is much faster.
    assert!(took < Duration::from_millis(160), "{took:?} a key");
}
