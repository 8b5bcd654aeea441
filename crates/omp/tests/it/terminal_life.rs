//! Job control and limits at a terminal: suspended and resumed by a shell, terminated, idle, out of time.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use omp_testkit::{Fault, Moment, PastEnd, Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Scene, outline};
use crate::seat::{READY, RUNS, Seat, at_a_seat};

/// A provider that always gives the same answer.
async fn patient(text: &str) -> Scene {
    Scene::new(Wire::Anthropic, Script::new([Turn::text(text)]).past_end(PastEnd::RepeatLast)).await
}

/// Longer than the screen.
fn paragraphs() -> String {
    (1..=60).map(|number| format!("paragraph-{number}-end\n\n")).collect()
}

/// Starts the program in a shell and waits for an answer that is longer than the screen.
#[track_caller]
fn at_work_in(scene: &Scene, shell: &[&str]) -> Seat {
    let seat = Seat::shell_of(scene, shell);
    seat.keys("modes=$(stty -g)\r");
    seat.keys("\"$OMP\" --model mock/mock-model\r");
    seat.until(READY);
    seat.says("tell me", "paragraph-60-end");
    seat
}

/// Suspends the job and checks that the terminal modes are restored for the shell.
#[track_caller]
fn stops(seat: &Seat) {
    let before = seat.shown();
    seat.keys("\x1a");
    seat.until_after(before, "shell$ ");
    let before = seat.shown();
    seat.keys("test \"$(stty -g)\" = \"$modes\" && echo sa''me || stty -a\r");
    seat.until_after(before, "same");
    seat.until_after(before, "shell$ ");
}

/// Exits the program and then the shell, which has its own modes.
#[track_caller]
fn ends(mut seat: Seat) {
    let before = seat.shown();
    seat.keys("\x04");
    seat.until_after(before, "shell$ ");
    seat.keys("exit\r");
    seat.end();
    seat.is_sane();
}

/// Suspends and resumes repeatedly, with keys typed at different moments.
#[track_caller]
fn comes_and_goes(scene: &Scene, shell: &[&str], rounds: usize) {
    let seat = at_work_in(scene, shell);
    for round in 1..=rounds {
        stops(&seat);
        let before = seat.shown();
        match round % 3 {
            // Typed in the line mode of the shell.
            0 => {
                seat.keys("echo go''ing; sleep 0.1; fg\r");
                seat.until_after(before, "going");
            }
            // Typed at any time.
            1 => seat.keys("fg\r"),
            // Typed once the prompt is shown.
            _ => {
                seat.keys("fg\r");
                seat.until_after(before, READY);
            }
        }
        seat.keys(format!("word-{round}\r"));
        seat.until_after(before, &format!("› word-{round}"));
        seat.until_after(before, "paragraph-60-end");
        seat.until_gone(RUNS);
        let shown = seat.look(|glass| String::from_utf8_lossy(&glass.raw[before..]).into_owned());
        // The answer was given once; its rows are not shown again.
        assert_eq!(shown.matches("paragraph-20-end").count(), 1, "round {round}: {shown:?}");
    }
    ends(seat);
    assert!(scene.server.model_requests().len() > rounds);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_bash_comes_and_goes_as_often_as_one_likes() {
    let scene = patient(&paragraphs()).await;
    at_a_seat(|| comes_and_goes(&scene, &["bash", "--norc", "--noprofile", "-i"], 20)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_other_shells_comes_and_goes() {
    for shell in [&["dash", "-i"][..], &["zsh", "-f", "-i"]] {
        if !["/bin", "/usr/bin"].iter().any(|folder| std::path::Path::new(folder).join(shell[0]).exists()) {
            continue;
        }
        let scene = patient(&paragraphs()).await;
        at_a_seat(|| comes_and_goes(&scene, shell, 4)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_went_on_in_the_background_comes_back() {
    let scene = patient(&paragraphs()).await;
    at_a_seat(|| {
        let seat = at_work_in(&scene, &["bash", "--norc", "--noprofile", "-i"]);
        stops(&seat);
        // A running job is moved to the foreground without a signal.
        for command in ["bg", "jobs", "echo still the sh''ell"] {
            let before = seat.shown();
            seat.keys(format!("{command}\r"));
            seat.until_after(before, "shell$ ");
        }
        seat.until("still the shell");
        let before = seat.shown();
        seat.keys("fg\r");
        seat.until_after(before, READY);
        seat.keys("back again");
        seat.until("back again");
        seat.keys("\x03");
        seat.until_gone("back again");
        ends(seat);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_was_begun_in_the_background_waits_for_its_turn() {
    let scene = patient("Fine.").await;
    at_a_seat(|| {
        let seat = Seat::shell(&scene);
        seat.keys("modes=$(stty -g)\r");
        seat.keys("\"$OMP\" --model mock/mock-model &\r");
        seat.until("[1] ");
        seat.keys("while [ -z \"$(jobs -s)\" ]; do sleep 0.05; done; echo stop''ped\r");
        seat.until("stopped");
        seat.keys("fg\r");
        seat.until(READY);
        seat.says("hello", "Fine.");
        stops(&seat);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_that_cannot_be_caught_is_survived() {
    let scene = patient(&paragraphs()).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("tell me", "paragraph-60-end");
        for round in 1..=5 {
            let before = seat.shown();
            seat.signal(Signal::SIGSTOP);
            seat.keys(format!("typed-{round}"));
            seat.signal(Signal::SIGCONT);
            seat.until(&format!("typed-{round}"));
            seat.until_after(before, READY);
            let shown = seat.look(|glass| String::from_utf8_lossy(&glass.raw[before..]).into_owned());
            assert!(!shown.contains("paragraph-40-end"), "{shown:?}");
        }
        seat.keys("\x03");
        seat.until_gone("typed-5");
        seat.leaves();
    })
    .await;
}

/// A provider that stops in the middle of an answer.
async fn stuck() -> Scene {
    let answer = Turn::text(["Half", " an answer"]).fault(Fault::stall(Moment::AfterEvents(4)));
    Scene::new(Wire::Anthropic, Script::new([answer]).past_end(PastEnd::RepeatLast)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_signal_has_its_exit_code() {
    let scene = stuck().await;
    for (signal, code) in [(Signal::SIGHUP, 129), (Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        for works in [false, true] {
            at_a_seat(|| {
                let mut seat = Seat::ready(&scene, &[]);
                if works {
                    seat.keys("hello\r");
                    seat.until("Half");
                }
                seat.signal(signal);
                assert_eq!(seat.end(), code, "{signal}: {}", seat.text());
                seat.is_sane();
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_closed_during_work_ends_it_at_once() {
    let turns = [Turn::text("Waiting.").and_call("bash", json!({"command": "sleep 300"})), Turn::text("Never.")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.keys("wait\r");
        seat.until("sleep 300");
        let start = Instant::now();
        assert_eq!(seat.hangs_up(), 129);
        assert!(start.elapsed() < Duration::from_secs(100), "{:?}", start.elapsed());
    })
    .await;
    assert_eq!(outline(&scene.messages())[..2], ["user: wait", "assistant: Waiting. [bash]"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_ends_the_talk_and_says_so() {
    let turns = [Turn::text("Waiting.").and_call("bash", json!({"command": "sleep 300"})), Turn::text("Never.")];
    // Enough time for a busy machine to start the command.
    for args in [&["--max-time", "8s"][..], &["--plain", "--max-time", "8s"]] {
        let scene = Scene::new(Wire::Anthropic, turns.clone()).await;
        at_a_seat(|| {
            let mut seat = Seat::omp(&scene, &[args, &["wait"]].concat());
            assert_eq!(seat.end(), 3, "{}", seat.text());
            assert!(seat.text().contains("stopped: the time limit of --max-time was reached"), "{}", seat.text());
            seat.is_sane();
        })
        .await;
        let said = outline(&scene.messages());
        assert_eq!(said[..2], ["user: wait", "assistant: Waiting. [bash]"], "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_sizes_is_one_picture() {
    let scene = patient(&paragraphs()).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("tell me", "paragraph-60-end");
        seat.until_quiet(Duration::from_millis(300));
        let whole = |seat: &Seat, from: usize| {
            seat.look(|glass| String::from_utf8_lossy(&glass.raw[from..]).matches(READY).count())
        };
        let before = seat.shown();
        seat.resize(70, 20);
        seat.until_after(before, READY);
        seat.until_quiet(Duration::from_millis(300));
        let one = seat.shown() - before;
        let before = seat.shown();
        (0..50).for_each(|step| seat.resize(100 - step, 20 + step % 5));
        seat.until_after(before, READY);
        seat.until_quiet(Duration::from_millis(300));
        // A pause of the machine can split the burst in two.
        let (pictures, bytes) = (whole(&seat, before), seat.shown() - before);
        assert!(pictures <= 2 && bytes <= one * 5 / 2, "{pictures} pictures, {bytes} bytes; one takes {one}");
        seat.leaves();
    })
    .await;
}
