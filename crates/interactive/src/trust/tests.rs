//! Keys and lines in, an answer out.

use omp_tui::{Input, Key, KeyCode, Space, Theme};
use tokio::sync::mpsc;

use super::*;
use crate::looks::looks;

fn question(items: usize) -> TrustQuestion {
    let item = |n: usize| vec![format!("hook h{n}  (.claude/settings.json)"), format!("    \u{1b}[2Jrun-{n} --now")];
    TrustQuestion { folder: "/projects/repo".to_owned(), changed: false, items: (0..items).map(item).collect() }
}

fn shown(dialog: &mut TrustDialog<'_>, height: usize) -> String {
    let theme = Theme::dark();
    let rows = dialog.draw(&Space { width: 60, height, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys });
    assert!(rows.len() <= height.max(FRAME_ROWS + LEAST_ROWS), "{} rows", rows.len());
    rows.iter().map(|row| row.text()).collect::<Vec<_>>().join("\n")
}

fn key(code: KeyCode) -> Input {
    Input::Key(Key::plain(code))
}

fn press(dialog: &mut TrustDialog<'_>, keys: &[KeyCode]) -> Option<TrustAnswer> {
    keys.iter().find_map(|code| dialog.input(&key(*code)))
}

#[test]
fn what_would_run_is_shown_and_enter_alone_does_not_trust() {
    let question = question(2);
    let mut dialog = TrustDialog::new(&question);
    let text = shown(&mut dialog, 24);
    for part in ["/projects/repo", "hook h0", "run-1 --now", "❯ Not now", "Trust this folder"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains("Show more"), "{text}");
    dialog.quiet.be_over();
    assert_eq!(press(&mut dialog, &[KeyCode::Enter]), Some(TrustAnswer::NotNow));
    assert_eq!(press(&mut dialog, &[KeyCode::Down, KeyCode::Enter]), Some(TrustAnswer::Trust));
}

#[test]
fn keys_that_were_typed_before_it_could_be_read_are_no_answer() {
    let question = question(1);
    let mut dialog = TrustDialog::new(&question);
    assert_eq!(press(&mut dialog, &[KeyCode::Down, KeyCode::Enter]), None, "before it was drawn");
    shown(&mut dialog, 24);
    assert_eq!(press(&mut dialog, &[KeyCode::Down, KeyCode::Enter, KeyCode::Char('y')]), None, "right after");
    assert_eq!(dialog.selected, 0);
    assert_eq!(press(&mut dialog, &[KeyCode::Escape]), Some(TrustAnswer::NotNow));
}

#[test]
fn more_is_shown_page_by_page() {
    let question = question(20);
    let mut dialog = TrustDialog::new(&question);
    let mut seen = String::new();
    dialog.quiet.be_over();
    for _ in 0..10 {
        seen += &shown(&mut dialog, 20);
        dialog.selected = 2;
        assert_eq!(press(&mut dialog, &[KeyCode::Enter]), None);
    }
    assert!((0..20).all(|n| seen.contains(&format!("run-{n} --now"))), "{seen}");
}

#[tokio::test]
async fn in_lines_only_the_word_trusts() {
    for (typed, expect) in [
        (&["y", "yes", "trust"][..], TrustAnswer::Trust),
        (&["1", ""], TrustAnswer::NotNow),
        (&["No"], TrustAnswer::NotNow),
        (&[], TrustAnswer::Gone(Leave::HungUp)),
    ] {
        let (sender, mut lines) = mpsc::channel(8);
        let mut out = Vec::new();
        let question = question(1);
        sender.send("trust".to_owned()).await.unwrap();
        let asking = run_trust_in_text(&mut lines, &mut out, &question);
        let typing = async {
            // Waits until the question is shown.
            tokio::task::yield_now().await;
            for line in typed {
                sender.send((*line).to_owned()).await.unwrap();
            }
            drop(sender);
        };
        let (answer, ()) = tokio::join!(asking, typing);
        assert_eq!(answer.unwrap(), expect, "{typed:?}");
        assert!(String::from_utf8(out).unwrap().contains("run-0 --now"));
    }
}

#[test]
fn the_question_at_three_sizes_and_in_both_themes() {
    let question = question(8);
    let mut dialog = TrustDialog::new(&question);
    insta::assert_snapshot!(looks(|space| dialog.draw(space)));
}
