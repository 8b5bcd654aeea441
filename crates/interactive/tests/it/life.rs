//! What the window, the clock and the system do to the application.

use std::time::Duration;

use omp_interactive::{Leave, TtyEvent};
use omp_testkit::{Gate, Turn};

use crate::stage::{Options, play};

/// A conversation that is longer than the screen.
fn long() -> Options {
    Options::new([Turn::text((1..=40).map(|number| format!("row {number}\n\n")).collect::<String>())])
}

#[tokio::test]
async fn a_storm_of_sizes_is_painted_once() {
    play(long(), async |stage| {
        stage.say("go").await;
        stage.until("row 40").await;
        stage.until_gone("interrupt").await;
        stage.until("main").await;
        tokio::time::pause();
        let rest = Duration::from_millis(60);
        let before = stage.bytes();
        stage.resize(50, 16).await;
        stage.pass(rest).await;
        let one = stage.bytes() - before;
        assert!(one > 0);
        let before = stage.bytes();
        for step in 0..50 {
            stage.resize(51 + step % 7, 16).await;
            stage.pass(Duration::from_millis(15)).await;
            assert_eq!(stage.bytes(), before, "painted in the middle of the storm, at {step}");
        }
        stage.pass(rest).await;
        let storm = stage.bytes() - before;
        assert!(storm > 0 && storm < one * 5 / 4, "{storm} bytes for the storm, {one} for one size");
        // Nothing follows.
        let before = stage.bytes();
        stage.pass(Duration::from_secs(5)).await;
        assert_eq!(stage.bytes(), before);
    })
    .await;
}

#[tokio::test]
async fn a_storm_that_does_not_end_is_painted_now_and_then() {
    play(long(), async |stage| {
        stage.say("go").await;
        stage.until("row 40").await;
        stage.until_gone("interrupt").await;
        stage.until("main").await;
        tokio::time::pause();
        let (mut before, mut paints) = (stage.bytes(), 0);
        for step in 0..200 {
            stage.resize(51 + step % 7, 16).await;
            stage.pass(Duration::from_millis(15)).await;
            paints += usize::from(stage.bytes() != before);
            before = stage.bytes();
        }
        assert!((2..=3).contains(&paints), "{paints} in three seconds");
    })
    .await;
}

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
        assert_eq!((last - cursor, below), (below, 2), "{}", stage.text());
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
    play(options, async |stage| {
        stage.say("go").await;
        stage.until("interrupt").await;
        assert_eq!(stage.left().await, Leave::TimeUp);
    })
    .await;
}
