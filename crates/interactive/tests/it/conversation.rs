//! Messages, answers, tool calls, and interruptions.

use std::time::Duration;

use omp_interactive::Leave;
use omp_policy::ApprovalMode;
use omp_testkit::{Gate, Reply, ScriptedLlm, TokenCounts, Turn};
use omp_types::{ErrorKind, ModelError};
use serde_json::json;

use crate::stage::{Options, play};

#[tokio::test]
async fn the_context_is_estimated_for_a_server_that_does_not_report_it() {
    let counted = Turn::text("Two.").usage(TokenCounts { input: 4_000, ..TokenCounts::default() });
    play(Options::new([Turn::text("One."), counted]), async |stage| {
        stage.until("· 0%/200k").await;
        stage.until_context(false).await;
        stage.say("go").await;
        stage.until("One.").await;
        stage.until_context(true).await;
        stage.say("go on").await;
        stage.until("Two.").await;
        stage.until("· 2.0%/200k").await;
    })
    .await;
}

#[tokio::test]
async fn it_starts_with_a_prompt() {
    play(Options::new([Turn::text("hi")]), async |stage| {
        stage.until("main").await;
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        assert_eq!(stage.titles().last().unwrap(), "omp: project");
        stage.press("ctrl+c").await;
        stage.until("ctrl+c again").await;
        stage.press("ctrl+c").await;
        assert_eq!(stage.left().await, Leave::Wanted);
    })
    .await;
}

/// A second ctrl+c exits exactly as long as the hint is shown.
#[tokio::test]
async fn the_second_ctrl_c_leaves_while_that_is_said() {
    play(Options::new([Turn::text("hi")]), async |stage| {
        stage.until("main").await;
        stage.press("ctrl+c").await;
        stage.until("ctrl+c again").await;
        stage.until_gone("ctrl+c again").await;
        stage.press("ctrl+c").await;
        stage.until("ctrl+c again").await;
        stage.press("x").await;
        stage.until_gone("ctrl+c again").await;
        stage.press("ctrl+c").await;
        stage.until("ctrl+c again").await;
        stage.press("ctrl+c").await;
        assert_eq!(stage.left().await, Leave::Wanted);
    })
    .await;
}

#[tokio::test]
async fn ctrl_c_stops_what_runs_before_it_clears_and_leaves() {
    let gate = Gate::new();
    let mut options = Options::new([Turn::text("One.")]);
    options.llm = ScriptedLlm::new([Turn::text("One.")]).gated(&gate);
    play(options, async |stage| {
        stage.say("go").await;
        stage.until("to interrupt").await;
        stage.type_text("draft").await;
        stage.press("ctrl+c").await;
        stage.until("⏹ interrupted").await;
        stage.until_gone("to interrupt").await;
        stage.until("draft").await;
        stage.press("ctrl+c").await;
        stage.until_gone("draft").await;
        stage.until("ctrl+c again").await;
        stage.press("ctrl+c").await;
        assert_eq!(stage.left().await, Leave::Wanted);
    })
    .await;
}

#[tokio::test]
async fn the_status_row_names_the_branch_that_is_checked_out_now() {
    let call = Turn::call("read", json!({"path": "a.txt"}));
    play(Options::new([call, Turn::text("Read.")]), async |stage| {
        let world = stage.world.clone();
        let check_out = |branch: &str| *world.branch.lock().unwrap() = Some(branch.to_owned());
        check_out("by-a-command");
        stage.say("!ls").await;
        stage.until("· by-a-command ·").await;
        check_out("by-a-tool");
        stage.say("read it").await;
        stage.until("· by-a-tool ·").await;
        check_out("elsewhere");
        stage.send(omp_interactive::TtyEvent::Input(omp_tui::Input::Focus(true))).await;
        stage.until("· elsewhere ·").await;
    })
    .await;
}

#[tokio::test]
async fn what_people_type_to_leave_a_shell_leaves() {
    for word in ["exit", ":q"] {
        play(Options::new([Turn::text("hi")]), async |stage| {
            stage.say(word).await;
            assert_eq!(stage.left().await, Leave::Wanted);
            assert!(stage.llm.requests().is_empty());
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_not_used_is_told_in_one_line() {
    let mut options = Options::new([Turn::text("hi")]);
    options.unused = Some("found and not used: 1 agent".to_owned());
    play(options, async |stage| {
        stage.until("main").await;
        assert_eq!(stage.text().lines().nth(2), Some("found and not used: 1 agent"), "{}", stage.text());
        // Another session of the same run does not show it again.
        stage.say("/earlier").await;
        stage.until_gone("found and not used").await;
    })
    .await;
}

#[tokio::test]
async fn a_message_and_its_answer() {
    play(Options::new([Turn::text("It is **bold**.\n\n- one\n- two\n")]), async |stage| {
        stage.say("what is it?").await;
        stage.until("two").await;
        stage.until_gone("interrupt").await;
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › what is it?

        It is bold.

        • one
        • two

        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        stage.press("ctrl+d").await;
        assert_eq!(stage.left().await, Leave::Wanted);
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › what is it?

        It is bold.

        • one
        • two
        ");
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
        let took = stage.all().split("30  ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or("?").to_owned();
        insta::assert_snapshot!(stage.all().replace(&took, "[time]"), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › go

        Looking.

        read 2 files
          ✓ a.txt  lines 1-3 of 3
          ✓ b.txt  lines 1-1 of 1

        ✓ $ seq 1 30  [time]
          … 22 more lines (ctrl+o)
          23
          24
          25
          26
          27
          28
          29
          30

        Done.

        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        stage.press("ctrl+o").await;
        stage.until_gone("ctrl+o").await;
        let all = stage.all();
        assert!(all.contains("  3\n") && all.contains("three"), "{all}");
    })
    .await;
}

#[tokio::test]
async fn escape_leaves_a_mark_and_gives_waiting_messages_back() {
    let gate = Gate::new();
    let mut options = Options::new([Turn::text("never told to the end")]);
    options.llm = ScriptedLlm::new([Turn::text("never told to the end")]).gated(&gate);
    play(options, async |stage| {
        stage.say("go").await;
        gate.pass(3);
        stage.until("never").await;
        stage.say("and then this").await;
        stage.until("next: and then this").await;
        stage.press("alt+up").await;
        stage.until("> and then this").await;
        stage.press("ctrl+enter").await;
        stage.until("after: and then this").await;
        insta::assert_snapshot!(stage.still(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › go

        never told to the end

          after: and then this  (alt+up to edit)
        * Working… · 0s · esc to interrupt
        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        stage.press("escape").await;
        stage.until("⏹ interrupted").await;
        stage.until("> and then this").await;
        stage.until_gone("to interrupt").await;
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_fails_is_seen_while_it_is_tried_again() {
    let overloaded = || ModelError::new(ErrorKind::Overloaded, "the provider is overloaded");
    let mut options = Options::new([Reply::fail(overloaded()), Turn::text("Here it is.").into()]);
    options.retry = Duration::from_secs(30);
    play(options, async |stage| {
        stage.say("go").await;
        stage.until("! the provider is overloaded; retry 1 of 10 in 2").await;
        stage.until("Waiting to retry").await;
        assert!(stage.text().contains("esc to interrupt"), "{}", stage.text());
        // The line counts down where it stands.
        let seconds = |text: &str| -> u32 {
            let rest = text.split("1 of 10 in ").nth(1).and_then(|rest| rest.split('s').next());
            rest.and_then(|seconds| seconds.parse().ok()).expect("seconds")
        };
        let left = seconds(&stage.text()) - 1;
        stage.until(&format!("; retry 1 of 10 in {left}s")).await;
        assert_eq!(stage.text().matches("overloaded").count(), 1, "{}", stage.text());
        stage.press("escape").await;
        stage.until_gone("Waiting to retry").await;
        stage.until("✗ the provider is overloaded").await;
        stage.until("hint: /retry asks again").await;
        assert_eq!(stage.text().matches("overloaded").count(), 1, "{}", stage.text());
    })
    .await;
}

#[tokio::test]
async fn retries_take_one_line_and_their_reason_is_told_in_full_once() {
    let dead = || ModelError::new(ErrorKind::Network, "no connection to x: refused\nhint: is it running?");
    let failing = (0..11).map(|_| Reply::fail(dead())).chain([Reply::fail(dead()), Turn::text("Here it is.").into()]);
    play(Options::new(failing), async |stage| {
        stage.say("go").await;
        stage.until("✗ no connection to x: refused").await;
        stage.until_gone("to interrupt").await;
        let text = stage.text();
        assert_eq!(text.matches("no connection").count(), 1, "{text}");
        assert_eq!(text.matches("hint: is it running?; /retry asks again").count(), 1, "{text}");
        // A successful retry leaves its line in the transcript.
        stage.say("again").await;
        stage.until("Here it is.").await;
        stage.until_gone("to interrupt").await;
        let text = stage.text();
        assert!(text.contains("! no connection to x: refused; retried once"), "{text}");
    })
    .await;
}

#[tokio::test]
async fn an_unknown_command_is_not_guessed() {
    play(Options::new([Turn::text("no")]), async |stage| {
        stage.say("/ehco it").await;
        stage.until("unknown command /ehco").await;
        let text = stage.text();
        assert!(text.contains("/echo?") && !text.contains("> /ehco it"), "{text}");
        stage.press("up").await;
        stage.until("> /ehco it").await;
        stage.press("ctrl+u").await;
        for (typed, told) in [
            ("/hotkeys now", "/hotkeys takes no arguments"),
            ("/xyzzy is a spell", "unknown command /xyzzy"),
            ("/mcp list", "omp has no command /mcp"),
            ("/quit now", "/quit takes no arguments"),
            ("/earlier now", "/earlier takes no arguments"),
        ] {
            stage.say(typed).await;
            stage.until(told).await;
        }
        stage.say("/thinking low").await;
        stage.until("mock/mock-model low").await;
        stage.say("/echo it").await;
        stage.until("it says it").await;
        stage.say("!ls").await;
        stage.until("ran ls").await;
        stage.say("!wait").await;
        stage.until("ran wait").await;
        // The animated row names the command, its time and the key that stops it.
        stage.until("wait · 0s · esc to interrupt").await;
        stage.press("ctrl+d").await;
        stage.until("a turn is running; press esc to stop it").await;
        stage.press("escape").await;
        stage.until("⏹ interrupted").await;
        stage.until_gone("to interrupt").await;
        assert!(stage.llm.requests().is_empty());
    })
    .await;
}

#[tokio::test]
async fn tasks_stand_above_the_editor_until_they_are_done() {
    let init = json!({"ops": [{"op": "init", "list": [{"phase": "Work", "items": ["First", "Second"]}]}]});
    let calls = [Turn::call("todo", init), Turn::text("Set.")];
    play(Options::new(calls), async |stage| {
        stage.say("plan it").await;
        stage.until("Set.").await;
        stage.until("Todo 0/2").await;
        stage.until("▸ First").await;
    })
    .await;
}

#[tokio::test]
async fn a_call_that_needs_approval_asks() {
    let calls = || [Turn::call("bash", json!({"command": "touch made"})), Turn::text("Fine.")];
    for (key, made) in [("y", true), ("n", false)] {
        let mut options = Options::new(calls());
        options.mode = ApprovalMode::AskAll;
        play(options, async |stage| {
            stage.send(omp_interactive::TtyEvent::Input(omp_tui::Input::Focus(false))).await;
            stage.say("go").await;
            stage.until_asked("y  Yes").await;
            assert!(stage.text().contains("touch made"), "{}", stage.text());
            assert_eq!(stage.notices(), ["Waiting for your answer: project"]);
            stage.press(key).await;
            stage.until("Fine.").await;
            assert_eq!(stage.workspace.path("made").exists(), made, "{key}");
        })
        .await;
    }
}

#[tokio::test]
async fn at_idle_nothing_is_written() {
    play(Options::new([Turn::text("Done.")]), async |stage| {
        stage.say("go").await;
        stage.until("Done.").await;
        stage.until("main").await;
        stage.until_gone("to interrupt").await;
        let before = stage.bytes();
        // The absence of output cannot be awaited, so this waits for three animation steps.
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert_eq!(stage.bytes(), before);
    })
    .await;
}

#[tokio::test]
async fn what_a_prompt_took_and_a_lost_cache_are_told() {
    let turn = |text: &str, input, cache_read| {
        Turn::text(text).usage(TokenCounts { input, cache_read, output: 40, ..TokenCounts::default() })
    };
    let turns = [turn("One.", 1000, 8000), turn("Two.", 100, 9000), turn("Three.", 9200, 0)];
    play(Options::new(turns), async |stage| {
        stage.say("a").await;
        stage.until("9.0k in (88% cached), 40 out").await;
        stage.say("b").await;
        stage.until("9.1k in (98% cached), 40 out").await;
        assert!(!stage.text().contains("cache miss"), "{}", stage.text());
        stage.say("c").await;
        stage.until("! prompt cache miss (unexpected)").await;
        stage.until("9.2k in (0% cached), 40 out").await;
        stage.press("ctrl+d").await;
        assert_eq!(stage.left().await, Leave::Wanted);
    })
    .await;
}
