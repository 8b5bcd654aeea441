//! The terminal around the application: title, notifications, background, suspending, the end.

use std::time::Duration;

use omp_interactive::{Habits, Leave, TtyEvent};
use omp_policy::ApprovalMode;
use omp_testkit::{Reply, Turn};
use omp_tui::{Input, Rgb};
use omp_types::{ErrorKind, ModelError};
use serde_json::json;

use crate::stage::{Options, play};

#[tokio::test]
async fn the_title_is_that_of_the_session() {
    let mut options = Options::recorded([Turn::text("One.")]);
    options.keys = "app.session.resume: f3";
    play(options, async |stage| {
        stage.until_title("omp: project").await;
        stage.say("hello").await;
        stage.until("One.").await;
        stage.until_gone("to interrupt").await;
        stage.press("f3").await;
        stage.until("✓ hello").await;
        stage.press("ctrl+r").await;
        stage.type_text(" there").await;
        stage.press("enter").await;
        stage.until_title("omp: hello there").await;
    })
    .await;
}

#[tokio::test]
async fn long_work_is_told_to_somebody_who_looks_elsewhere() {
    let short = Duration::from_secs(600);
    for (long, focused, told) in [(Duration::ZERO, false, true), (Duration::ZERO, true, false), (short, false, false)] {
        let habits = Habits::read(long, |_| None);
        let options = Options { habits, ..Options::new([Turn::text("One.")]) };
        play(options, async |stage| {
            stage.send(TtyEvent::Input(Input::Focus(focused))).await;
            stage.say("go").await;
            stage.until("One.").await;
            stage.until_gone("to interrupt").await;
            let expect: &[&str] = if told { &["Finished: project"] } else { &[] };
            assert_eq!(stage.notices(), expect, "{long:?} {focused}");
        })
        .await;
    }
}

#[tokio::test]
async fn who_is_called_and_when_is_the_users_to_say() {
    let fault = || ModelError::new(ErrorKind::BadRequest, "One. fault");
    let long = Duration::from_secs(600);
    for (key, word, long, reply, expect) in [
        ("completion.notify", "off", Duration::ZERO, Reply::from(Turn::text("One.")), &[][..]),
        ("error.notify", "off", long, Reply::fail(fault()), &[]),
        ("error.notify", "on", long, Reply::fail(fault()), &["Stopped: project"]),
        ("error.notify", "on", long, Reply::from(Turn::text("One.")), &[]),
        (
            "ask.notify",
            "on",
            long,
            Reply::from(Turn::call("bash", json!({"command": "touch One."}))),
            &["Waiting for your answer: project"],
        ),
        ("ask.notify", "off", long, Reply::from(Turn::call("bash", json!({"command": "touch One."}))), &[]),
    ] {
        let habits = Habits::read(long, |asked| (asked == key).then(|| word.into()));
        let mode = ApprovalMode::AskAll;
        play(Options { habits, mode, ..Options::new([reply]) }, async |stage| {
            stage.send(TtyEvent::Input(Input::Focus(false))).await;
            stage.say("go").await;
            stage.until("One.").await;
            // A question waits for its answer.
            if key != "ask.notify" {
                stage.until_gone("to interrupt").await;
            } else {
                stage.until_asked("y  Yes").await;
            }
            assert_eq!(stage.notices(), expect, "{key} {word}");
        })
        .await;
    }
}

#[tokio::test]
async fn escape_twice_opens_what_the_user_wants() {
    for (word, shown) in [("branch", Some("Go back to")), ("tree", Some("Session tree")), ("none", None)] {
        let habits =
            Habits::read(Duration::from_secs(10), |asked| (asked == "doubleEscapeAction").then(|| word.into()));
        play(Options { habits, ..Options::recorded([Turn::text("One.")]) }, async |stage| {
            stage.say("go").await;
            stage.until("One.").await;
            stage.until_gone("to interrupt").await;
            stage.press("escape escape").await;
            match shown {
                Some(shown) => stage.until(shown).await,
                None => {
                    stage.type_text("still writing").await;
                    stage.until("still writing").await;
                    assert!(!stage.text().contains("Go back to") && !stage.text().contains("Session tree"));
                }
            }
        })
        .await;
    }
}

#[tokio::test]
async fn the_theme_follows_the_background() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        let plain = stage.colors();
        stage.send(TtyEvent::Background(Rgb(0, 0, 0))).await;
        stage.until_colors_other_than(&plain).await;
        let dark = stage.colors();
        stage.send(TtyEvent::Background(Rgb(255, 255, 255))).await;
        stage.say("/theme").await;
        stage.until("❯ light ✓").await;
        assert_ne!(stage.colors(), dark);
        stage.press("enter").await;
        stage.until_gone("❯ light").await;
        assert_eq!(stage.world.setting("theme.light").unwrap(), "light");
        assert_eq!(stage.world.setting("theme.dark"), None);
    })
    .await;
}

#[tokio::test]
async fn nothing_is_painted_while_the_shell_has_the_terminal() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        stage.type_text("draft").await;
        stage.until("> draft").await;
        stage.press("ctrl+z").await;
        stage.until_suspended().await;
        let before = stage.bytes();
        stage.type_text("x").await;
        tokio::task::yield_now().await;
        assert_eq!(stage.bytes(), before);
        stage.send(TtyEvent::Continued).await;
        stage.until("> draftx").await;
    })
    .await;
}

#[tokio::test]
async fn it_is_suspended_whatever_is_open() {
    let one = json!({"id": "x", "question": "Which?", "options": [{"label": "a"}, {"label": "b"}]});
    let asks = Turn::call("ask", json!({"questions": [one]}));
    let runs = Turn::call("bash", json!({"command": "touch x"}));
    for (turn, said, opens) in
        [(asks, "go", "Which?"), (runs, "go", "Allow bash?"), (Turn::text("One."), "/thinking", "❯ high ✓")]
    {
        let mut options = Options::new([turn, Turn::text("Two.")]);
        (options.mode, options.keys) = (ApprovalMode::AskAll, "app.suspend: f7");
        play(options, async |stage| {
            stage.say(said).await;
            stage.until(opens).await;
            stage.press("ctrl+z f7").await;
            stage.until_suspended().await;
            stage.send(TtyEvent::Continued).await;
            stage.until(opens).await;
        })
        .await;
    }
}

#[tokio::test]
async fn hints_name_the_keys_that_are_bound() {
    let runs = Turn::call("bash", json!({"command": "touch x; seq 20"}));
    let mut options = Options::new([runs, Turn::text("Fine.").thinking("hm")]);
    options.mode = ApprovalMode::AskAll;
    options.keys = "app.tools.expand: f4\napp.thinking.toggle: f5\napp.approval.cycle: f6\napp.clear: f8\n\
                    tui.select.confirm: f9\ntui.select.cancel: null\n";
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("f9 choose").await;
        let shown = stage.text();
        assert!(shown.contains("f6 mode") && !shown.contains("refuse") && !shown.contains("shift+tab"), "{shown}");
        stage.press("f9").await;
        stage.until("… 12 more lines (f4)").await;
        stage.until("Fine.").await;
        stage.until_gone("to interrupt").await;
        stage.press("f5").await;
        stage.until("Thought (f5 shows it)").await;
        stage.press("f8").await;
        stage.until("press f8 again to exit").await;
    })
    .await;
}

#[tokio::test]
async fn it_ends_when_the_terminal_does() {
    let events = [(TtyEvent::Closed, Leave::HungUp), (TtyEvent::Terminated(Leave::Terminated), Leave::Terminated)];
    for (event, why) in events {
        play(Options::new([Turn::text("One.")]), async |stage| {
            stage.until("main").await;
            stage.send(event).await;
            assert_eq!(stage.left().await, why);
        })
        .await;
    }
}

#[tokio::test]
async fn commands_end_it() {
    for typed in ["/exit", "/quit"] {
        play(Options::new([Turn::text("One.")]), async |stage| {
            stage.say(typed).await;
            assert_eq!(stage.left().await, Leave::Wanted);
        })
        .await;
    }
}
