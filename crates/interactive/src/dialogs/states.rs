//! What dialogs look like after some keys: while something is typed, chosen or refused, and in a small window.

use std::sync::Arc;

use omp_session::OfferedModel;

use super::screen::{press, type_text};
use super::*;
use crate::looks::{looks, looks_at};

const SMALL: [(usize, usize); 2] = [(40, 12), (30, 6)];

fn approve() -> ApproveDialog {
    ApproveDialog::new(approve::tests::push(), Quiet::default())
}

/// Presses the keys, types the text, and looks.
#[track_caller]
fn check(name: &str, mut dialog: impl Dialog, keys: &str, text: &str) {
    press(&mut dialog, keys);
    type_text(&mut dialog, text);
    insta::assert_snapshot!(name, looks(|space| dialog.draw(space)));
}

#[test]
fn approval_with_words_and_another_rule() {
    check("approve-instead", approve(), "t", "push to a branch, and open a request");
    check("approve-instead-empty", approve(), "t", "");
    check("approve-edit", approve(), "e", "");
    check("approve-edit-refused", approve(), "e left x enter", "");
    check("approve-saves", approve(), "a", "");
}

/// The body and the keys in one row.
#[test]
fn approval_in_a_small_window() {
    let mut asked = approve();
    insta::assert_snapshot!("approve-small", looks_at(&SMALL, |space| asked.draw(space)));
    asked.input(&Input::Key(Key::plain(KeyCode::Char('t'))));
    type_text(&mut asked, "push to a branch");
    insta::assert_snapshot!("approve-small-instead", looks_at(&SMALL, |space| asked.draw(space)));
}

#[test]
fn another_answer_than_the_options() {
    let ask = |multi: bool| AskDialog::new(1, ask::tests::colors(multi));
    check("ask-other", ask(false), "4", "");
    check("ask-other-typed", ask(false), "4 b l u e shift+enter", "or violet");
    check("ask-many-other", ask(true), "1 3 4", "blue");
}

#[test]
fn a_plan_that_is_edited_or_kept() {
    check("plan-run", plan::tests::dialog(), "up up", "");
    check("plan-edit", plan::tests::dialog(), "2", "");
    check("plan-keep", plan::tests::dialog(), "3", "");
    check("plan-keep-typed", plan::tests::dialog(), "3", "the tests are missing");
}

#[test]
fn a_session_that_is_renamed_or_deleted() {
    let sessions = || SessionsDialog::new(sessions::tests::sessions());
    check("sessions-rename", sessions(), "down ctrl+r", "");
    check("sessions-delete", sessions(), "down ctrl+d", "");
    check("sessions-all", sessions(), "tab", "");
    check("sessions-no-match", sessions(), "tab", "zzz");
}

#[test]
fn a_tree_with_a_label_and_a_filter() {
    let tree = || TreeDialog::new(tree::tests::view());
    check("tree-label", tree(), "up up up up up down alt+left shift+l", "");
    check("tree-filter", tree(), "ctrl+o", "");
    check("tree-search", tree(), "b", "");
}

#[test]
fn a_setting_that_is_changed() {
    check("settings-value", settings::tests::dialog(), "r e t r i e s enter ctrl+u", "12");
    check("settings-refused", settings::tests::dialog(), "r e t r i e s enter x enter", "");
    check("settings-no-match", settings::tests::dialog(), "z z z", "");
    check("settings-overridden", settings::tests::dialog(), "down down enter", "");
}

#[test]
fn models_by_name_and_favourites() {
    let mut several = model::tests::choices(true);
    several.models.push(OfferedModel {
        canonical: "gpt-5".into(),
        in_scope: true,
        model: Arc::new(model::tests::model("openrouter/openai/gpt-5", true)),
    });
    check("model-by-name", ModelDialog::new(several), "ctrl+g", "");
    check("model-favourite", ModelDialog::new(model::tests::choices(true)), "ctrl+f", "");
    check("model-role", ModelDialog::new(model::tests::choices(true)), "tab tab up left", "");
}
