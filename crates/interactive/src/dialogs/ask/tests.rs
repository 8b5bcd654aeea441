//! Questions with one answer, several answers, and a typed answer.

use omp_agent::ChoiceOption;

use super::super::screen::{both, draw, press, says};
use super::*;

pub(in crate::dialogs) fn colors(multi: bool) -> Choice {
    let option = |label: &str, description: Option<&str>| ChoiceOption {
        label: label.into(),
        description: description.map(str::to_owned),
    };
    Choice {
        question: "Which colour should the button have, given the theme?".into(),
        options: vec![
            option("Red", Some("Loud, and hard to miss for those who look at the page for the first time")),
            option("Green", None),
            option("A gradient from the one to the other", Some("Two colours")),
        ],
        multi,
        recommended: Some(1),
        is_closed: false,
    }
}

#[test]
fn one_of_the_options() {
    insta::assert_snapshot!(both(&mut AskDialog::new(1, colors(false))), @"
    ╭─ Choose one ─────────────────────────────────────────────╮
    │ Which colour should the button have, given the theme?    │
    ├──────────────────────────────────────────────────────────┤
    │   1. Red                                                 │
    │      Loud, and hard to miss for those who look at the    │
    │      page for the first time                             │
    │ ❯ 2. Green                                   recommended │
    │   3. A gradient from the one to the other                │
    │      Two colours                                         │
    │   4. Other (type your own)                               │
    ╰─ enter choose · esc skip ────────────────────────────────╯
    ------------------------------
    ── Choose one ────────────────
    Which colour should the button
    have, given the theme?
      1. Red
         Loud, and hard to miss
         for those who look at the
         page for the first time
    ❯ 2. Green         recommended
      3. A gradient from the one
      to the other
         Two colours
      4. Other (type your own)
    enter choose · esc skip
    ");
}

#[test]
fn several_of_the_options() {
    let mut dialog = AskDialog::new(1, colors(true));
    press(&mut dialog, "up space");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Choose any ─────────────────────────────────────────────╮
    │ Which colour should the button have, given the theme?    │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ 1. [x] Red                                             │
    │      Loud, and hard to miss for those who look at the    │
    │      page for the first time                             │
    │   2. [x] Green                               recommended │
    │   3. [ ] A gradient from the one to the other            │
    │      Two colours                                         │
    │   4. Other (type your own)                               │
    ╰─ enter answer · space tick · esc skip ───────────────────╯
    ------------------------------
    ── Choose any ────────────────
    Which colour should the button
    have, given the theme?
    ❯ 1. [x] Red
         Loud, and hard to miss
         for those who look at the
         page for the first time
      2. [x] Green     recommended
      3. [ ] A gradient from the
      one to the other
         Two colours
      4. Other (type your own)
    enter answer · space tick
    ");
}

#[test]
fn own_words() {
    let mut dialog = AskDialog::new(1, colors(false));
    press(&mut dialog, "4 b l u e");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Choose one ─────────────────────────────────────────────╮
    │ Which colour should the button have, given the theme?    │
    ├──────────────────────────────────────────────────────────┤
    │   1. Red                                                 │
    │      Loud, and hard to miss for those who look at the    │
    │      page for the first time                             │
    │   2. Green                                   recommended │
    │   3. A gradient from the one to the other                │
    │      Two colours                                         │
    │ ❯ blue                                                   │
    ╰─ enter answer · esc back · shift+enter new line ─────────╯
    ------------------------------
    ── Choose one ────────────────
    Which colour should the button
    have, given the theme?
      1. Red
         Loud, and hard to miss
         for those who look at the
         page for the first time
      2. Green         recommended
      3. A gradient from the one
      to the other
         Two colours
    ❯ blue
    enter answer · esc back
    ");
}

#[test]
fn keys_answer() {
    for (multi, keys, answer) in [
        (false, "enter", "Text(\"Green\")"),
        (false, "up enter", "Text(\"Red\")"),
        (false, "1", "Text(\"Red\")"),
        (false, "down down b l u e enter", "Text(\"blue\")"),
        (false, "4 b l escape 1", "Text(\"Red\")"),
        (false, "escape", "No"),
        (false, "4 ctrl+c", "No"),
        (true, "enter", "Choices([\"Green\"])"),
        (true, "1 enter", "Choices([\"Red\", \"Green\"])"),
        (true, "1 space enter", "Choices([\"Green\"])"),
        (true, "1 4 x enter", "Choices([\"Red\", \"Green\", \"x\"])"),
        (true, "4 x up enter", "Choices([\"Green\", \"x\"])"),
    ] {
        let says = says(&mut AskDialog::new(3, colors(multi)), keys);
        assert_eq!(says, format!("Close(Some(Answer {{ id: 3, answer: {answer} }}))"), "{multi} {keys}");
    }
    for (multi, keys) in [(false, "space"), (false, "9"), (false, "4 enter"), (true, "space enter"), (false, "x")] {
        assert!(matches!(press(&mut AskDialog::new(3, colors(multi)), keys), DialogStep::Ignored), "{multi} {keys}");
    }
}

#[test]
fn a_question_without_options_is_answered_in_words() {
    let choice = Choice { question: "Why?".into(), recommended: Some(4), ..Choice::default() };
    let mut dialog = AskDialog::new(1, choice.clone());
    assert!(draw(&mut dialog, 30).contains("your answer"));
    assert!(says(&mut dialog, "n o enter").contains("Text(\"no\")"));
    assert!(says(&mut AskDialog::new(1, choice), "escape").contains("No"));
}

#[test]
fn a_key_of_somebody_who_is_typing_is_no_answer() {
    let mut dialog = AskDialog::new(1, colors(false)).quiet(Quiet::after(true));
    assert_eq!(says(&mut dialog, "1"), "Do(Insert(\"1\"))");
    assert!(matches!(press(&mut dialog, "enter"), DialogStep::Ignored));
    dialog.quiet.be_over();
    assert!(says(&mut dialog, "1").contains("Red"));
}

#[test]
fn a_closed_choice_has_no_room_for_other_words() {
    let mut dialog = AskDialog::new(1, Choice { is_closed: true, ..colors(false) });
    press(&mut dialog, "down down down down");
    let shown = both(&mut dialog);
    assert!(!shown.contains("Other") && shown.contains("❯ 3. A gradient"), "{shown}");
    press(&mut dialog, "4 x");
    assert!(!both(&mut dialog).contains("your answer"));
}
