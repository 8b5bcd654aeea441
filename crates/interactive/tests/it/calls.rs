//! Tool calls while they arrive, while they run, and afterwards.

use omp_testkit::{Call, Gate, ScriptedLlm, Turn};
use serde_json::json;

use crate::stage::{Options, play};

#[tokio::test]
async fn an_edit_shows_its_diff_while_it_is_still_written() {
    let gate = Gate::new();
    let pieces = [r#"{"path": "a.txt", "edits": [{"old_text": "two", "new_text": "zw"#, r#"ei\nund"#, r#" mehr"}]}"#];
    let turns = [Turn::default().with_call(Call::raw("edit", pieces)), Turn::text("Done.")];
    let mut options = Options::new(turns.clone());
    options.llm = ScriptedLlm::new(turns).gated(&gate);
    play(options, async |stage| {
        stage.say("go").await;
        gate.pass(3);
        stage.until("zw").await;
        gate.pass(1);
        stage.until("und").await;
        insta::assert_snapshot!(stage.still().split_once("› go\n").unwrap().1, @"
        ● edit a.txt
          1   one
          2 - two
          2 + zwei
          3 + und
          4   three

        * Working… · 0s · esc to interrupt
        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        assert_eq!(stage.workspace.read("a.txt").unwrap(), "one\ntwo\nthree\n");
        gate.open();
        stage.until("Done.").await;
        stage.until("und mehr").await;
        assert_eq!(stage.workspace.read("a.txt").unwrap(), "one\nzwei\nund mehr\nthree\n");
    })
    .await;
}

#[tokio::test]
async fn a_running_command_shows_the_end_of_what_it_prints() {
    let command = "seq 1 40; while [ ! -e go ]; do sleep 0.02; done; echo over";
    let turns = [Turn::call("bash", json!({"command": command})), Turn::text("Done.")];
    play(Options::new(turns), async |stage| {
        stage.say("go").await;
        stage.until("  40").await;
        let text = stage.text();
        assert!(text.contains("to interrupt") && !text.contains("over\n") && !text.contains("  20\n"), "{text}");
        stage.workspace.write("go", "").unwrap();
        stage.until("Done.").await;
        assert!(stage.text().contains("  over"), "{}", stage.text());
    })
    .await;
}

#[tokio::test]
async fn a_running_command_is_interrupted() {
    let turns = [Turn::call("bash", json!({"command": "echo begun; sleep 600"})), Turn::text("Done.")];
    play(Options::new(turns), async |stage| {
        stage.say("go").await;
        stage.until("  begun").await;
        stage.press("escape").await;
        stage.until("⏹ interrupted").await;
        stage.until_gone("to interrupt").await;
        let text = stage.text();
        let card = text.lines().find(|row| row.starts_with("✗ $ echo begun"));
        assert!(card.is_some_and(|card| card.contains("  interrupted")), "{text}");
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_command_is_marked_in_a_copy_of_the_session_too() {
    let turns = [Turn::call("bash", json!({"command": "echo begun; sleep 600"})), Turn::text("Done.")];
    let mut options = Options::recorded(turns);
    options.keys = "app.session.fork: f4";
    play(options, async |stage| {
        stage.say("go").await;
        stage.until("  begun").await;
        stage.press("escape").await;
        stage.until("⏹ interrupted").await;
        stage.until_gone("to interrupt").await;
        stage.press("f4").await;
        stage.until("⏹ interrupted").await;
        stage.say("go on").await;
        stage.until("Done.").await;
        stage.until_gone("to interrupt").await;
        // The mark stays where it was: before what was said afterwards.
        stage.press("f4").await;
        stage.until("Done.").await;
        let text = stage.all();
        let mark = text.rfind("⏹ interrupted").expect("the mark");
        assert!(mark < text.rfind("› go on").expect("what was said"), "{text}");
        assert_eq!(text.matches("⏹ interrupted").count(), 1, "{text}");
    })
    .await;
}

#[tokio::test]
async fn cards_of_commands_and_of_the_task_list_are_short() {
    let list = json!([{"op": "init", "list": [{"phase": "Build", "items": ["parser", "printer"]}]}]);
    let turns = [
        Turn::call("bash", json!({"command": "echo one\necho two >&2\nexit 3"})),
        Turn::call("todo", json!({"ops": list})),
        Turn::text("Done."),
    ];
    play(Options::new(turns), async |stage| {
        stage.say("go").await;
        stage.until("Done.").await;
        let text = stage.all();
        assert_eq!(text.matches("echo one").count(), 1, "{text}");
        assert!(text.contains("✗ $ echo one  exit 3 · "), "{text}");
        assert!(text.contains("✓ todo  0/2 done · now parser\n\nDone."), "{text}");
        stage.press("ctrl+o").await;
        stage.until("Build").await;
    })
    .await;
}

#[tokio::test]
async fn thinking_is_shown_and_hidden() {
    play(Options::new([Turn::text("Said.").thinking("thought of it")]), async |stage| {
        stage.say("go").await;
        stage.until("Said.").await;
        stage.until("thought of it").await;
        stage.press("ctrl+t").await;
        stage.until_gone("thought of it").await;
        stage.press("ctrl+t").await;
        stage.until("thought of it").await;
    })
    .await;
}

#[tokio::test]
async fn a_call_that_fails_says_why() {
    let turns = [
        Turn::call("read", json!({"path": "nowhere.txt"})),
        Turn::call("bash", json!({"command": "echo no >&2; exit 3"})),
        Turn::text("Done."),
    ];
    play(Options::new(turns), async |stage| {
        stage.say("go").await;
        stage.until("Done.").await;
        let text = stage.text();
        assert!(text.contains("✗ read nowhere.txt") && text.contains("  no\n"), "{text}");
        assert!(text.contains("✗ $ echo no"), "{text}");
    })
    .await;
}

#[tokio::test]
async fn the_task_list_goes_on_and_away() {
    let init = json!({"ops": [{"op": "init", "list": [{"phase": "Work", "items": ["First", "Second"]}]}]});
    let done = |task: &str| json!({"ops": [{"op": "done", "task": task}]});
    let turns = [
        Turn::call("todo", init),
        Turn::text("Set."),
        Turn::call("todo", done("First")),
        Turn::text("Half."),
        Turn::call("todo", done("Second")),
        Turn::text("All."),
    ];
    play(Options::new(turns), async |stage| {
        stage.say("plan it").await;
        stage.until("Set.").await;
        stage.until("Todo 0/2  Work").await;
        stage.say("go on").await;
        stage.until("Half.").await;
        stage.until("Todo 1/2").await;
        stage.until("▸ Second").await;
        stage.say("go on").await;
        stage.until("All.").await;
        stage.until_gone("Todo 1/2").await;
    })
    .await;
}
