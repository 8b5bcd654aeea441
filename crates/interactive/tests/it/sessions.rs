//! Switching to other sessions.

use omp_session::{TTSR_INJECTION, Wish};
use omp_testkit::Turn;
use omp_types::{Api, AssistantMessage, Content, CustomMessage, Message, StopReason, UserMessage};

use crate::stage::{Options, play};

fn talk(turns: usize) -> Vec<Message> {
    let turn = |number: usize| {
        let mut answer = AssistantMessage::empty(Api::Demo, "mock", "mock-model");
        answer.content = vec![Content::text(format!("answer {number}"))];
        [Message::User(UserMessage::text(format!("question {number}"))), Message::Assistant(answer)]
    };
    (1..=turns).flat_map(turn).collect()
}

#[tokio::test]
async fn a_session_that_goes_on_shows_what_was_said() {
    let mut options = Options::new([Turn::text("next answer")]);
    options.history = talk(2);
    options.wish = Wish::Resume { file: "earlier.jsonl".into(), cwd: None };
    play(options, async |stage| {
        stage.until("answer 2").await;
        stage.until("main").await;
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › question 1

        answer 1

        › question 2

        answer 2

        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        stage.say("go on").await;
        stage.until("next answer").await;
    })
    .await;
}

#[tokio::test]
async fn the_approval_mode_that_the_user_chose_outlasts_the_session() {
    let mut options = Options::recorded([Turn::text("first answer")]);
    options.keys = "app.session.new: f2";
    play(options, async |stage| {
        stage.until("main · auto").await;
        stage.say("one").await;
        stage.until("first answer").await;
        stage.until_gone("to interrupt").await;
        stage.press("shift+tab").await;
        stage.until("main · ask-writes").await;
        stage.press("f2").await;
        stage.until_gone("first answer").await;
        stage.until("main · ask-writes").await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_a_rule_stopped_was_interrupted_by_nobody() {
    let stopped = |text: &str| {
        let mut answer = AssistantMessage::empty(Api::Demo, "mock", "mock-model");
        (answer.content, answer.stop_reason) = (vec![Content::text(text)], StopReason::Aborted);
        Message::Assistant(answer)
    };
    let told = CustomMessage {
        custom_type: TTSR_INJECTION.to_owned(),
        content: vec![Content::text("Never say foo.")],
        display: false,
        details: Some(serde_json::json!({"rules": ["no-foo"]})),
        timestamp: 0,
    };
    let mut options = Options::new([Turn::text("next answer")]);
    let question = |text: &str| Message::User(UserMessage::text(text));
    options.history =
        vec![question("one"), stopped("so foo"), Message::Custom(told), question("two"), stopped("by hand")];
    options.wish = Wish::Resume { file: "earlier.jsonl".into(), cwd: None };
    play(options, async |stage| {
        stage.until("by hand").await;
        let text = stage.text();
        assert_eq!(text.matches("⏹ interrupted").count(), 1, "{text}");
        let by_rule = text.split("› two").next().unwrap();
        assert!(by_rule.contains("so foo") && by_rule.contains("no-foo") && !by_rule.contains('⏹'), "{text}");
    })
    .await;
}

#[tokio::test]
async fn another_session_takes_the_place_of_this_one() {
    let mut options = Options::new([Turn::text("first answer")]);
    options.history = talk(400);
    play(options, async |stage| {
        stage.say("hello").await;
        stage.until("first answer").await;
        stage.say("/earlier").await;
        stage.until("answer 400").await;
        let all = stage.all();
        assert!(!all.contains("first answer"), "{all}");
        assert!(all.contains("500 earlier messages above") && all.contains("question 251"), "{all}");
        stage.resize(40, 12).await;
        stage.until("answer 400").await;
    })
    .await;
}
