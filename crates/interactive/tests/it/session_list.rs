//! The list of sessions and its actions.

use omp_testkit::Turn;

use crate::stage::{Options, Stage, play, play_whole};

fn answers(count: usize) -> Options {
    Options::recorded((1..=count).map(|number| Turn::text(format!("answer {number}"))))
}

/// Sends a message in a new session.
async fn talk(stage: &mut Stage, number: usize) {
    stage.press("f2").await;
    stage.until_gone("answer").await;
    stage.say(&format!("question-{number}")).await;
    stage.until(&format!("answer {number}")).await;
    stage.until_gone("to interrupt").await;
}

async fn three(scene: impl AsyncFnOnce(&mut Stage)) {
    let mut options = answers(5);
    options.keys = "app.session.new: f2\napp.session.resume: f3\napp.session.fork: f4";
    play(options, async |stage| {
        stage.until("main").await;
        for number in 1..=3 {
            talk(stage, number).await;
        }
        stage.press("f3").await;
        stage.until("3 of 3").await;
        scene(stage).await;
    })
    .await;
}

fn below(stage: &Stage) -> String {
    stage.text().rsplit_once("auto\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn another_session_is_found_and_gone_on_with() {
    three(async |stage| {
        insta::assert_snapshot!(below(stage), @"
        ╭─ Sessions  3 of 3 · this folder ─────────────────────────╮
        │ > type to search                                         │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ ✓ question-3                                       now │
        │   question-2                                         now │
        │   question-1                                         now │
        ├──────────────────────────────────────────────────────────┤
        │ enter open · esc close · tab scope · ctrl+r rename       │
        │ ctrl+d delete · ctrl+s sort                              │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.type_text("question-1").await;
        stage.until("1 of 3").await;
        stage.press("enter").await;
        stage.until("answer 1").await;
        assert!(!stage.all().contains("answer 3"), "{}", stage.all());
        stage.say("more").await;
        stage.until("answer 4").await;
        assert_eq!(stage.llm.requests().last().unwrap().messages.len(), 3);
        stage.say("/resume").await;
        stage.until("✓ question-1").await;
        stage.press("enter").await;
        stage.until_gone("Sessions").await;
    })
    .await;
}

#[tokio::test]
async fn sessions_are_renamed_open_or_not() {
    three(async |stage| {
        stage.press("ctrl+r").await;
        stage.until("Title: question-3").await;
        stage.press("ctrl+u").await;
        stage.type_text("Open one").await;
        stage.press("enter").await;
        stage.until("✓ Open one").await;
        stage.until_title("omp: Open one").await;
        stage.press("down ctrl+r ctrl+u").await;
        stage.type_text("Other one").await;
        stage.press("enter").await;
        stage.until("❯ Other one").await;
        stage.press("escape").await;
        stage.until_gone("Sessions").await;
        stage.press("f3").await;
        stage.until("❯ Other one").await;
        assert!(stage.text().contains("✓ Open one"), "{}", stage.text());
        // A failed action is reported, and the list does not change.
        stage.press("ctrl+r ctrl+u").await;
        stage.type_text("refused").await;
        stage.press("enter").await;
        stage.until("✗ this title is refused").await;
        stage.until("Other one").await;
        stage.until_gone("❯ refused").await;
        stage.press("escape").await;
        stage.until_gone("Sessions").await;
    })
    .await;
}

#[tokio::test]
async fn sessions_are_deleted_but_not_the_open_one() {
    three(async |stage| {
        stage.press("ctrl+d").await;
        stage.until("This session is open").await;
        stage.press("down ctrl+d").await;
        stage.until("Delete this session?").await;
        stage.press("n").await;
        stage.until("3 of 3").await;
        stage.press("ctrl+d y").await;
        stage.until("2 of 2").await;
        stage.press("escape").await;
        stage.until_gone("Sessions").await;
        stage.press("f3").await;
        stage.until("2 of 2").await;
        assert!(!stage.text().contains("question-2"), "{}", stage.text());
    })
    .await;
}

#[tokio::test]
async fn the_list_is_ordered_and_shows_folders() {
    three(async |stage| {
        stage.press("ctrl+s").await;
        stage.until("by title").await;
        let text = stage.text();
        assert!(text.find("question-1").unwrap() < text.find("✓ question-3").unwrap(), "{text}");
        assert!(!text.contains("/project  "), "{text}");
        stage.press("ctrl+p").await;
        stage.until("project  ").await;
        stage.press("tab").await;
        stage.until("all folders").await;
    })
    .await;
}

#[tokio::test]
async fn a_session_is_forked() {
    three(async |stage| {
        stage.press("escape f4").await;
        stage.until_gone("Sessions").await;
        stage.say("in the copy").await;
        stage.until("answer 4").await;
        stage.until_gone("to interrupt").await;
        stage.press("f3").await;
        stage.until("4 of 4").await;
    })
    .await;
}

#[tokio::test]
async fn resume_without_a_name_offers_the_list_at_once() {
    let choosing = || Options { choose_session: true, ..answers(2) };
    let said = async |mut stage: Stage| {
        stage.until("no sessions yet").await;
        stage.say("hello").await;
        stage.until("answer 1").await;
        stage.until_gone("to interrupt").await;
        stage.press("ctrl+d").await;
        stage.left().await;
        let mut stage = stage.again(choosing()).await;
        stage.until("❯ hello").await;
        stage.press("enter").await;
        stage.until("› hello").await;
        stage.until("answer 1").await;
    };
    play_whole(choosing(), said).await;
}
