//! Time limits and signals.

use std::time::Duration;

use omp_interactive::{Leave, TtyEvent};
use omp_testkit::{Gate, Turn};

use crate::stage::{Options, play, play_unready};

#[tokio::test]
async fn the_terminal_knows_how_far_below_the_cursor_the_picture_goes() {
    play(Options::new([Turn::text("hi")]), async |stage| {
        stage.until("main").await;
        stage.type_text("one").await;
        stage.press("alt+enter alt+enter").await;
        stage.type_text("three").await;
        stage.until("three").await;
        let (cursor, last, below) = stage.below_cursor();
        assert_eq!(last - cursor, below);
        stage.press("up up").await;
        stage.type_text("!").await;
        stage.until("one!").await;
        let (cursor, last, below) = stage.below_cursor();
        assert_eq!((last - cursor, below), (below, 3), "{}", stage.text());
    })
    .await;
}

#[tokio::test]
async fn it_ends_as_it_is_told() {
    for (event, expect) in [
        (TtyEvent::Terminated(Leave::HungUp), Leave::HungUp),
        (TtyEvent::Terminated(Leave::Interrupted), Leave::Interrupted),
        (TtyEvent::Terminated(Leave::Terminated), Leave::Terminated),
        (TtyEvent::Closed, Leave::HungUp),
    ] {
        play(Options::new([Turn::text("hi")]), async |stage| {
            stage.send(event).await;
            assert_eq!(stage.left().await, expect);
        })
        .await;
    }
}

#[tokio::test]
async fn it_ends_when_its_time_is_up() {
    let gate = Gate::new();
    let mut options = Options::new([Turn::text("never")]);
    options.llm = options.llm.gated(&gate);
    options.limit = Some(Duration::from_millis(700));
    // A busy machine may need all of that time to start.
    play_unready(options, async |mut stage| {
        stage.say("go").await;
        assert_eq!(stage.left().await, Leave::TimeUp);
    })
    .await;
}
