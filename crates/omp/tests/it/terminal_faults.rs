//! Known faults of other programs at a terminal: each was measured there and must not happen here.

use std::time::Duration;

use nix::sys::signal::Signal;
use omp_testkit::{Fault, FaultStatus, Moment, PastEnd, Script, Turn, Wire};

use crate::harness::{QUICK_RETRIES, Scene, outline};
use crate::seat::{READY, RUNS, Seat, at_a_seat};

/// A provider that always gives the same answer.
async fn patient(text: &str) -> Scene {
    Scene::new(Wire::Anthropic, Script::new([Turn::text(text)]).past_end(PastEnd::RepeatLast)).await
}

/// Returns so many paragraphs, each a numbered word.
fn paragraphs(count: usize) -> String {
    (1..=count).map(|number| format!("paragraph-{number}-end\n\n")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_wipes_nothing() {
    let scene = patient("Fine.").await;
    at_a_seat(|| {
        let seat = Seat::shell(&scene);
        seat.keys("seq -f 'row-%g' 1 100; \"$OMP\" --model mock/mock-model\r");
        seat.until(READY);
        seat.until_quiet(Duration::from_millis(300));
        seat.says("hello", "Fine.");
        let raw = seat.look(|glass| glass.raw.clone());
        for wipe in ["\x1b[2J", "\x1b[3J", "\x1bc", "\x1b[?1049h", "\x1b[H"] {
            assert!(!raw.windows(wipe.len()).any(|bytes| bytes == wipe.as_bytes()), "{wipe:?} was written");
        }
        let all = seat.all();
        let rows: Vec<&str> = all.lines().map(str::trim_end).filter(|row| row.starts_with("row-")).collect();
        assert_eq!(rows, (1..=100).map(|number| format!("row-{number}")).collect::<Vec<_>>(), "{all}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_error_that_is_retried_is_on_the_screen() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"the moon is too bright"}}"#;
    let scene =
        Scene::new(Wire::Anthropic, [Turn::text("Later.").fault(FaultStatus::new(529).body(body).into())]).await;
    scene.workspace.write_config_yml("retry: { baseDelayMs: 40000, maxDelayMs: 50000 }\n").unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("hello\r");
        seat.until("the moon is too bright");
        seat.until("; retry 1");
        assert!(seat.text().contains(RUNS), "{}", seat.text());
        seat.keys("\x1b");
        seat.until_gone(RUNS);
        seat.until("the moon is too bright");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mistyped_command_runs_nothing_and_comes_back_with_up() {
    let scene = patient("Never.").await;
    for (typed, meant) in [("/modle", "/model"), ("/exti", "/exit"), ("/expotr", "/export")] {
        at_a_seat(|| {
            let seat = Seat::ready(&scene, &[]);
            // Typed key by key, because a list of commands may be open.
            typed.chars().for_each(|key| seat.keys(key.to_string()));
            seat.until(typed);
            seat.keys("\r");
            seat.until(&format!("unknown command {typed}"));
            let text = seat.text();
            assert!(text.contains(&format!("did you mean {meant}")), "{text}");
            assert!(!text.lines().any(|row| row.trim() == format!("> {typed}")), "{text}");
            seat.keys("\x1b[A");
            seat.until(&format!("> {typed}"));
            seat.keys("\x7f!");
            seat.until(&format!("{}!", &typed[..typed.len() - 1]));
        })
        .await;
    }
    assert!(scene.server.model_requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn esc_leaves_a_mark_where_it_cut_the_answer() {
    let answer = Turn::text(["Half of ", "an answer", " and the rest"]).fault(Fault::stall(Moment::AfterEvents(5)));
    let scene = Scene::new(Wire::Anthropic, [answer, Turn::text("Whole.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("hello\r");
        seat.until("Half of an answer");
        seat.keys("\x1b");
        seat.until("interrupted");
        seat.until_gone(RUNS);
        let text = seat.text();
        let (cut, mark) = (text.find("Half of an answer").unwrap(), text.find("interrupted").unwrap());
        assert!(cut < mark && !text.contains("the rest"), "{text}");
        seat.leaves();
        let again = Seat::ready(&scene, &["-c"]);
        again.until("Half of an answer");
        again.until("interrupted");
        again.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unfinished_sequence_does_not_swallow_the_keys_after_it() {
    let scene = patient("Heard.").await;
    for start in ["\x1b]52;c;QUFB", "\x1bP1;2", "\x1b_Gi=1", "\x1b[<0;1", "\x1b[", "\x1b]"] {
        at_a_seat(|| {
            let seat = Seat::ready(&scene, &[]);
            seat.until_quiet(Duration::from_millis(200));
            seat.keys(start);
            // A person does not type within the milliseconds in which the rest of a sequence may arrive.
            seat.until_quiet(Duration::from_millis(300));
            seat.keys("are you there");
            seat.until("are you there");
            seat.says("", "Heard.");
            seat.leaves();
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typed_unicode_is_sent_as_it_was_typed() {
    let scene = patient("Read.").await;
    let typed = "e\u{301}a\u{308} \u{1112}\u{1161}\u{11ab} \u{212b} \u{1f469}\u{200d}\u{1f4bb} \u{fb01} cafe\u{301}";
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        typed.chars().for_each(|key| seat.keys(key.to_string()));
        seat.keys("\r");
        seat.until("Read.");
        seat.until_gone(RUNS);
        seat.keys(format!("\x1b[200~{typed}\x1b[201~"));
        seat.says("!", "Read.");
        seat.leaves();
    })
    .await;
    let requests = scene.server.model_requests();
    let said = |at: usize| requests[at].json().unwrap()["messages"].to_string();
    assert!(said(0).contains(typed), "{}", said(0));
    assert!(said(1).contains(&format!("{typed}!")), "{}", said(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_comes_back_does_not_print_the_transcript_again() {
    let scene = patient(&paragraphs(60)).await;
    at_a_seat(|| {
        let seat = Seat::shell(&scene);
        seat.keys("\"$OMP\" --model mock/mock-model\r");
        seat.until(READY);
        seat.says("tell me", "paragraph-60-end");
        seat.keys("\x1a");
        seat.until("Stopped");
        let before = seat.shown();
        seat.keys("fg\r");
        seat.wait("the way back", |glass| String::from_utf8_lossy(&glass.raw[before..]).contains(READY));
        seat.keys("back again");
        seat.until("back again");
        let all = seat.all();
        for number in 1..=40 {
            assert_eq!(all.matches(&format!("paragraph-{number}-end")).count(), 1, "{number} in\n{all}");
        }
        let shown = seat.look(|glass| String::from_utf8_lossy(&glass.raw[before..]).into_owned());
        assert!(!shown.contains("paragraph-30-end"), "{shown:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_closed_ends_the_program_and_keeps_the_session() {
    let scene = patient("Kept.").await;
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Kept.");
        let code = seat.hangs_up();
        assert_eq!(code, 129);
    })
    .await;
    assert_eq!(outline(&scene.messages()), ["user: hello", "assistant: Kept."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_program_leaves_a_session_that_goes_on() {
    let stuck = Turn::text(["Only half", " of it"]).fault(Fault::stall(Moment::AfterEvents(4)));
    let scene = Scene::new(Wire::Anthropic, [Turn::text("The first answer."), stuck]).await;
    scene.workspace.write_config_yml(QUICK_RETRIES).unwrap();
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.says("one", "The first answer.");
        seat.keys("two\r");
        seat.until("Only half");
        seat.signal(Signal::SIGKILL);
        seat.end();
        let again = Seat::ready(&scene, &["-c"]);
        again.until("The first answer.");
        again.until("› two");
        again.leaves();
    })
    .await;
    assert_eq!(outline(&scene.messages())[..3], ["user: one", "assistant: The first answer.", "user: two"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_goes_on_shows_its_end_and_the_prompt() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text(paragraphs(50)), Turn::text("The second answer.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("tell me", "paragraph-50-end");
        seat.leaves();
        let again = Seat::ready(&scene, &["-c"]);
        again.until("paragraph-50-end");
        let all = again.all();
        assert!((1..=50).all(|number| all.matches(&format!("paragraph-{number}-end")).count() == 1), "{all}");
        assert!(all.contains("› tell me"), "{all}");
        again.says("and then?", "The second answer.");
        again.leaves();
    })
    .await;
    let said = outline(&scene.messages());
    assert_eq!(
        said,
        ["user: tell me", "assistant: paragraph-1-end", "user: and then?", "assistant: The second answer."]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_for_the_shell_and_for_python_and_plan_mode() {
    let scene = patient("Never.").await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("! echo hi-$((40 + 2)); (exit 3)\r");
        seat.until("hi-42");
        // Only one command runs at a time.
        seat.until("exit code 3");
        seat.keys("$ 1 + 1\r");
        seat.wait("the sum", |glass| glass.text().lines().any(|row| row.trim() == "2"));
        assert!(!status(&seat).contains("plan"), "{}", seat.text());
        seat.keys("/plan\r");
        seat.wait("plan mode", |glass| glass.text().lines().any(|row| row.contains(READY) && row.contains("· plan, ")));
        seat.leaves();
    })
    .await;
    assert_eq!(outline(&scene.messages()), ["bashExecution", "pythonExecution"]);
}

/// Returns the status row.
fn status(seat: &Seat) -> String {
    let text = seat.text();
    text.lines().rfind(|row| row.contains(READY)).unwrap_or_default().to_owned()
}
