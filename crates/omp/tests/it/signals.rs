//! Interrupted runs: by a signal, by a closed pipe, by another omp.

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use omp_testkit::{Fault, Moment, Script, Text, Turn, Wire};
use omp_types::{Message, StopReason};
use serde_json::json;

use crate::harness::{Running, Scene, outline, within};

/// An answer that stops half way, and another one for the resumed session.
fn endless_answer() -> Script {
    Script::new([Turn::text(Text::tokens(200)).fault(Fault::stall(Moment::MidStream).times(1)), Turn::text("Gone on.")])
}

fn last_answer(scene: &Scene) -> omp_types::AssistantMessage {
    let messages = scene.messages();
    messages.iter().rev().find_map(Message::as_assistant).cloned().unwrap_or_else(|| panic!("{:?}", outline(&messages)))
}

#[tokio::test]
async fn a_signal_during_an_answer_keeps_what_was_said() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        for wire in Wire::ALL {
            let scene = Scene::new(wire, endless_answer()).await;
            let mut running = scene.omp(&["--mode", "json", "-p", "talk"]).start();
            running.until("text_delta").await;
            running.signal(signal);
            let ran = running.finish().await.exits(code);
            assert_eq!(ran.json_lines().last().unwrap()["type"], "error", "{ran}");
            let answer = last_answer(&scene);
            assert_eq!(answer.stop_reason, StopReason::Aborted);
            assert!(!answer.text().is_empty(), "{wire:?}");
            // The server repeats the interrupted turn; the second answer is for the resumed session.
            scene.omp(&["-c", "-p", "go on"]).run().await.exits(0);
        }
    }
}

#[tokio::test]
async fn a_signal_in_text_mode_prints_no_half_answer() {
    let scene = Scene::new(Wire::Anthropic, endless_answer()).await;
    let running = scene.omp(&["-p", "talk"]).start();
    within(scene.server.until(|counts| counts.stalls == 1)).await;
    running.signal(Signal::SIGINT);
    running.finish().await.exits(130).prints("").complains(&["omp: aborted"]);
}

#[tokio::test]
async fn a_signal_ends_the_wait_for_a_retry() {
    let busy = omp_testkit::FaultStatus::new(429).retry_after("120");
    let scene = Scene::new(Wire::Anthropic, [Turn::text("x").fault(busy.into())]).await;
    let mut running = scene.omp(&["--mode", "json", "-p", "talk"]).start();
    running.until("auto_retry_start").await;
    running.signal(Signal::SIGINT);
    let ran = running.finish().await.exits(130);
    let end = ran.json_lines().into_iter().find(|frame| frame["type"] == "auto_retry_end").unwrap();
    assert_eq!(end, json!({"type": "auto_retry_end", "success": false, "attempt": 1, "finalError": "Retry cancelled"}));
    assert_eq!(outline(&scene.messages())[0], "user: talk");
}

#[tokio::test]
async fn into_a_pipe_the_wait_for_a_retry_is_one_line() {
    let busy = omp_testkit::FaultStatus::new(429).retry_after("2");
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Here.").fault(Fault::from(busy).times(1))]).await;
    let ran = scene.omp(&["-p", "talk"]).run().await.exits(0).prints("Here.\n");
    let lines: Vec<_> = ran.stderr.lines().filter(|line| line.contains("trying again")).collect();
    assert_eq!(lines.len(), 1, "{ran}");
    assert!(lines[0].starts_with("omp: ") && lines[0].ends_with("; trying again in 2.0 s (1 of 10)"), "{ran}");
}

#[tokio::test]
async fn on_a_terminal_the_wait_counts_down_in_place_and_a_key_ends_it() {
    let busy = omp_testkit::FaultStatus::new(429).retry_after("120");
    let scene = Scene::new(Wire::Anthropic, [Turn::text("x").fault(busy.into())]).await;
    let env = omp_exec::ChildEnv::unattended(&scene.workspace.env_snapshot());
    let spawn = omp_exec::Spawn::new(env!("CARGO_BIN_EXE_omp"), env, &omp_exec::Containment::of_user())
        .args(scene.workspace.args(&["-p", "talk"]));
    let size = omp_exec::TerminalSize { rows: 24, columns: 200 };
    let (mut child, mut terminal) = spawn.cwd(scene.workspace.project()).start_in_terminal(size).unwrap();
    let mut seen = String::new();
    let mut interrupted = false;
    let mut buffer = [0; 4096];
    loop {
        let read = within(child.read(&mut buffer)).await.unwrap();
        if read == 0 {
            break;
        }
        seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        if !interrupted && seen.contains("trying again in 119 s") {
            interrupted = true;
            terminal.write(b"\x03").await.unwrap();
        }
    }
    assert_eq!(within(child.finish()).await.unwrap().exit.code, 130, "{seen}");
    assert!(seen.contains("\r\x1b[Komp: trying again in 119 s (1 of 10), Ctrl-C to stop"), "{seen:?}");
    assert!(seen.matches("trying again").count() <= 4 && seen.ends_with("omp: aborted\r\n"), "{seen:?}");
}

/// Returns when every process started by a command has ended, since all of them hold the pipe open.
async fn all_ended(pipe: std::path::PathBuf) {
    within(async { tokio::task::spawn_blocking(move || std::fs::read(pipe).unwrap()).await.unwrap() }).await;
}

/// Starts a run whose command prints `ready`; the pipe closes when its processes have ended.
async fn start_command(command: &str) -> (Scene, Running, tokio::task::JoinHandle<()>) {
    let turn = Turn::call("bash", json!({"command": format!("exec 9> pipe; {command}")}));
    let scene = Scene::new(Wire::Anthropic, [turn, Turn::text("Gone on.")]).await;
    nix::unistd::mkfifo(&scene.workspace.path("pipe"), Mode::S_IRWXU).unwrap();
    let ended = tokio::spawn(all_ended(scene.workspace.path("pipe")));
    let mut running = scene.omp(&["--mode", "json", "-p", "run"]).start();
    running.until(r#""text":"ready"#).await;
    (scene, running, ended)
}

#[tokio::test]
async fn a_signal_during_a_command_ends_everything_it_started() {
    for command in [
        "sh -c 'sleep 987 & echo ready; wait'",
        "sh -c 'trap \"\" INT TERM HUP; echo ready; sleep 987; sleep 987'",
        "(sleep 987 & sleep 987 & echo ready; sleep 987) | cat",
    ] {
        let (scene, running, ended) = start_command(command).await;
        running.signal(Signal::SIGINT);
        running.finish().await.exits(130);
        ended.await.unwrap();
        let held = outline(&scene.messages());
        assert!(held[1].ends_with("[bash]") && held[2].starts_with("result: "), "{held:?}");
        scene.omp(&["-c", "-p", "go on"]).run().await.exits(0).prints("Gone on.\n");
    }
}

#[tokio::test]
async fn what_a_command_leaves_in_the_background_ends_with_the_run() {
    let (_scene, running, ended) = start_command("sleep 987 >/dev/null 2>&1 & echo ready").await;
    running.finish().await.exits(0);
    ended.await.unwrap();
}

#[tokio::test]
async fn a_second_omp_is_told_that_the_session_is_taken() {
    let scene = Scene::new(Wire::Anthropic, endless_answer()).await;
    let mut first = scene.omp(&["--mode", "json", "-p", "talk"]).start();
    first.until("text_delta").await;
    let file = scene.session_file();
    let before = std::fs::read(&file).unwrap();
    for args in [&["-c", "-p", "me too"][..], &["--resume", file.to_str().unwrap(), "-p", "me too"]] {
        scene.omp(args).run().await.exits(2).complains(&["in use by another omp (process ", "hint: close it there"]);
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
    first.signal(Signal::SIGINT);
    first.finish().await.exits(130);
    scene.omp(&["-c", "-p", "now me"]).run().await.exits(0);
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_run_quietly() {
    let script = || Script::new([Turn::text(Text::tokens(2_000))]);
    let scene = Scene::new(Wire::Anthropic, script()).await;
    let mut running = scene.omp(&["--mode", "json", "-p", "talk"]).start();
    running.line().await;
    running.close_stdout();
    let ran = running.finish().await.exits(0);
    assert_eq!(ran.stderr, "", "{ran}");
    let scene = Scene::new(Wire::Anthropic, script()).await;
    for args in [&["-p", "talk"][..], &["--help"], &["completions", "bash"], &["--list-models", "a"]] {
        let mut running = crate::harness::Omp::bare(&scene.workspace).args(["--model", "mock/mock-model"]);
        if args[0] != "-p" {
            running = crate::harness::Omp::bare(&scene.workspace);
        }
        let mut running = running.args(args).start();
        running.close_stdout();
        let ran = running.finish().await.exits(0);
        assert_eq!(ran.stderr, "", "{args:?} {ran}");
    }
    assert_eq!(outline(&scene.messages())[0], "user: talk");
}
