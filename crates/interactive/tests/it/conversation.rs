//! Messages, answers, tool calls, and what interrupts them.

use std::time::Duration;

use omp_interactive::Leave;
use omp_session::ApprovalMode;
use omp_testkit::{Gate, Reply, ScriptedLlm, Turn};
use omp_types::{ErrorKind, ModelError};
use serde_json::json;

use crate::stage::{Options, play};

#[tokio::test]
async fn it_starts_with_a_prompt() {
    play(Options::new([Turn::text("hi")]), async |stage| {
        stage.until("main").await;
        insta::assert_snapshot!(stage.text(), @"");
        assert_eq!(stage.titles().last().unwrap(), "omp: project");
        stage.press("ctrl+c").await;
        stage.until("ctrl+c again").await;
        stage.press("ctrl+c").await;
        assert_eq!(stage.left().await, Leave::Wanted);
    })
    .await;
}

#[tokio::test]
async fn a_message_and_its_answer() {
    play(Options::new([Turn::text("It is **bold**.\n\n- one\n- two\n")]), async |stage| {
        stage.say("what is it?").await;
        stage.until("two").await;
        stage.until_gone("interrupt").await;
        insta::assert_snapshot!(stage.text(), @"");
        stage.press("ctrl+d").await;
        assert_eq!(stage.left().await, Leave::Wanted);
        insta::assert_snapshot!(stage.text(), @"");
    })
    .await;
}

#[tokio::test]
async fn files_that_are_read_share_a_block_and_commands_show_their_end() {
    let calls = [
        Turn::text("Looking.").and_call("read", json!({"path": "a.txt"})).and_call("read", json!({"path": "b.txt"})),
        Turn::call("bash", json!({"command": "seq 1 30"})),
        Turn::text("Done."),
    ];
    play(Options::new(calls), async |stage| {
        stage.say("go").await;
        stage.until("Done.").await;
        insta::assert_snapshot!(stage.all(), @"");
        stage.press("ctrl+o").await;
        stage.until_gone("ctrl+o").await;
        let all = stage.all();
        assert!(all.contains("  3\n") && all.contains("three"), "{all}");
    })
    .await;
}
