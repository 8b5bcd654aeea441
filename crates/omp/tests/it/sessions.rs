//! Where sessions are stored, how they are found again, and that nothing written ever changes.

use omp_testkit::{Fault, FaultKind, Moment, Turn, Wire, prefix};
use serde_json::json;

use crate::harness::{Omp, Scene, messages_in, outline};

fn two_answers() -> [Turn; 2] {
    [Turn::text("Reading.").and_call("read", json!({"path": "a.txt"})), Turn::text("First.")]
}

async fn scene() -> Scene {
    let turns = two_answers().into_iter().chain([Turn::text("Second."), Turn::text("Third.")]);
    Scene::new(Wire::Anthropic, omp_testkit::Script::new(turns)).await
}

#[tokio::test]
async fn a_session_goes_on_where_it_ended() {
    for how in ["continue", "id", "path"] {
        let scene = scene().await;
        scene.omp(&["-p", "one"]).run().await.exits(0).prints("First.\n");
        let file = scene.session_file();
        let before = std::fs::read(&file).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let id = name.split_once('_').unwrap().1.to_owned();
        let path = file.to_str().unwrap();
        let args = match how {
            "continue" => vec!["-c", "-p", "two"],
            "id" => vec!["--resume", &id[..13], "-p", "two"],
            _ => vec!["--resume", path, "-p", "two"],
        };
        // The model comes from the session.
        Omp::bare(&scene.workspace).args(&args).run().await.exits(0).prints("Second.\n");
        let after = std::fs::read(scene.session_file()).unwrap();
        assert!(after.starts_with(&before) && after.len() > before.len(), "{how}");
        let expect =
            ["user: one", "assistant: Reading. [read]", "result: [a.txt#2543]", "assistant: First.", "user: two"];
        assert_eq!(outline(&scene.messages())[..5], expect, "{how}");
        prefix::assert_prefix_stable(&scene.server.requests());
    }
}

#[tokio::test]
async fn a_retried_answer_is_not_repeated_when_the_session_goes_on() {
    for kind in [FaultKind::Close { at: Moment::MidStream }, FaultKind::NoTerminal] {
        let turns = [Turn::text(["First ", "answer."]).fault(Fault::new(kind).times(1)), Turn::text("Second.")];
        let scene = Scene::new(Wire::Anthropic, turns).await;
        scene.omp(&["-p", "one"]).run().await.exits(0).prints("First answer.\n");
        scene.omp(&["-c", "-p", "two"]).run().await.exits(0);
        let sent = scene.last_request().json().unwrap()["messages"].to_string();
        assert_eq!(sent.matches("First answer.").count(), 1, "{sent}");
        prefix::assert_prefix_stable(&scene.server.requests());
    }
}

#[tokio::test]
async fn sessions_are_listed_newest_first() {
    let scene = scene().await;
    scene.omp(&["--resume"]).run().await.exits(0).prints("no sessions in this folder yet\n");
    scene.omp(&["-p", "the first task"]).run().await.exits(0);
    scene.omp(&["-p", "the second task"]).run().await.exits(0);
    let ran = scene.omp(&["--resume"]).run().await.exits(0);
    let about: Vec<_> = ran.stdout.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect();
    assert_eq!(about, ["the second task", "the first task"], "{ran}");
}

#[tokio::test]
async fn a_session_that_cannot_be_found_is_told() {
    let scene = scene().await;
    for (args, words) in [
        (&["-p", "x", "--resume", "ffffffff"][..], &["no session id starts with `ffffffff`", "hint: "][..]),
        (&["-p", "x", "--resume", "./gone.jsonl"], &["gone.jsonl", "no such file", "hint: "]),
        (&["-p", "x", "--resume", "./a.txt"], &["is not a session file", "hint: "]),
        (&["-p", "x", "--resume", "/"], &["hint: "]),
        (&["-p", "x", "--resume", "/dev/null"], &["not a regular file", "hint: "]),
    ] {
        scene.omp(args).run().await.exits(2).prints("").complains(words);
    }
    assert!(scene.server.requests().is_empty());
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn an_id_that_fits_several_sessions_is_told() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    scene.omp(&["-p", "two"]).run().await.exits(0);
    let ran = scene.omp(&["-p", "x", "--resume", "0"]).run().await;
    ran.exits(2).complains(&["several session ids start with `0`", "hint: give more of the id"]);
}

#[tokio::test]
async fn a_session_of_another_folder_is_refused() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let before = std::fs::read(&file).unwrap();
    scene.workspace.write("inner/b.txt", "b\n").unwrap();
    let args = ["-p", "two", "--model", "mock/mock-model", "--cwd", "inner", "--resume", file.to_str().unwrap()];
    let ran = Omp::bare(&scene.workspace).args(args).run().await;
    ran.exits(2).complains(&["belongs to another folder", "hint: continue there with --cwd"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn continue_without_a_session_starts_one() {
    let scene = scene().await;
    scene.omp(&["-c", "-p", "one"]).run().await.exits(0).prints("First.\n");
    assert_eq!(outline(&scene.messages())[0], "user: one");
}

#[tokio::test]
async fn no_session_leaves_no_file() {
    let scene = scene().await;
    scene.omp(&["--no-session", "-p", "one"]).run().await.exits(0).prints("First.\n");
    assert!(scene.workspace.session_files().unwrap().is_empty());
    let mut left: Vec<_> =
        std::fs::read_dir(scene.workspace.agent_dir()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["config.yml", "models.yml"]);
}

#[tokio::test]
async fn sessions_can_be_kept_elsewhere() {
    let scene = scene().await;
    scene.omp(&["--session-dir", "kept", "-p", "one"]).run().await.exits(0);
    scene.omp(&["--session-dir", "kept", "-c", "-p", "two"]).run().await.exits(0).prints("Second.\n");
    assert!(scene.workspace.session_files().unwrap().is_empty());
    let kept: Vec<_> = std::fs::read_dir(scene.workspace.path("kept")).unwrap().map(|e| e.unwrap().path()).collect();
    let files: Vec<_> = kept.iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    assert_eq!(files.len(), 1, "{kept:?}");
    assert_eq!(outline(&messages_in(files[0], &scene.workspace.agent_dir())).last().unwrap(), "assistant: Second.");
}

#[tokio::test]
async fn damage_in_a_session_is_told_and_left_alone() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"torn");
    std::fs::write(&file, &bytes).unwrap();
    let ran = scene.omp(&["-c", "-p", "two"]).run().await;
    ran.exits(0).prints("Second.\n").complains(&["warning: ", file.to_str().unwrap()]);
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
    assert!(std::fs::read(&file).unwrap().starts_with(&bytes[..=whole]));
    let last = messages_in(&file, &scene.workspace.agent_dir());
    assert_eq!(outline(&last).last().unwrap(), "assistant: Second.");
}
