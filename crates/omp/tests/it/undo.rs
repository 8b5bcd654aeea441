//! `/undo` through the binary: what a scripted model destroys comes back.

use std::fs;
use std::process::Command;
use std::time::Duration;

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::Scene;
use crate::rpc::Client;
use crate::seat::{Seat, at_a_seat};

fn bash(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

#[tokio::test]
async fn a_removed_folder_comes_back_also_in_the_next_run() {
    let turns = [bash("rm -rf src && echo new > made.txt"), Turn::text("Cleaned.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    let project = scene.workspace.project();
    fs::create_dir_all(project.join("src/deep")).unwrap();
    fs::write(project.join("src/deep/main.rs"), "fn main() {}\n").unwrap();
    scene.omp(&["-p", "clean up"]).run().await.exits(0).prints("Cleaned.\n");
    assert!(!project.join("src").exists() && project.join("made.txt").exists());

    let shown = scene.omp(&["-c", "-p", "/changes"]).run().await.exits(0);
    let listed = shown.stdout;
    assert!(listed.contains("1: clean up") && listed.contains("- src/deep/main.rs +0 -1"), "{listed}");
    assert!(listed.contains("+ made.txt +1 -0"), "{listed}");

    scene.omp(&["-c", "-p", "/undo"]).run().await.exits(0);
    assert_eq!(fs::read_to_string(project.join("src/deep/main.rs")).unwrap(), "fn main() {}\n");
    assert!(!project.join("made.txt").exists());
    scene.omp(&["-c", "-p", "/redo"]).run().await.exits(0);
    assert!(!project.join("src").exists() && project.join("made.txt").exists());
}

#[tokio::test]
async fn what_git_threw_away_comes_back_over_rpc() {
    let turns = [bash("git checkout -- ."), Turn::text("Reset.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    let project = scene.workspace.project();
    fs::write(project.join("work.txt"), "committed\n").unwrap();
    for arguments in [
        &["init", "-q"][..],
        &["add", "work.txt"],
        &["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"],
    ] {
        git(&project, arguments);
    }
    fs::write(project.join("work.txt"), "hours of work\n").unwrap();
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("reset").await;
    assert_eq!(fs::read_to_string(project.join("work.txt")).unwrap(), "committed\n");
    client.ask(json!({"type": "prompt", "message": "/undo"})).await;
    client.finish().await;
    assert_eq!(fs::read_to_string(project.join("work.txt")).unwrap(), "hours of work\n");
}

#[tokio::test]
async fn switched_off_it_keeps_nothing_and_says_so() {
    let scene = Scene::new(Wire::Anthropic, Script::new([bash("echo 1 > a"), Turn::text("Done.")])).await;
    fs::write(scene.workspace.agent_dir().join("config.yml"), "undo:\n  enabled: false\n").unwrap();
    scene.omp(&["-p", "go"]).run().await.exits(0);
    assert!(!scene.workspace.agent_dir().join("undo").exists());
    scene.omp(&["-c", "-p", "/undo"]).run().await.exits(2).complains(&["undo.enabled"]);
}

#[tokio::test]
async fn without_a_session_it_works_and_leaves_nothing() {
    let scene = Scene::new(Wire::Anthropic, Script::new([bash("echo 2 > a.txt"), Turn::text("Done.")])).await;
    scene.workspace.write("a.txt", "1\n").unwrap();
    let mut client = Client::start(&scene, &["--no-session"]).await;
    client.prompt("go").await;
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "2\n");
    assert!(told(&mut client, "/undo").await.starts_with("1 path taken back"));
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "1\n");
    assert_eq!(client.finish().await, Some(0));
    let left = fs::read_dir(scene.workspace.agent_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name != "config.yml" && name != "models.yml").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_the_user_changed_since_is_overwritten_only_when_told_to() {
    let turns = [bash("echo 2 > mine.txt; echo 2 > theirs.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    let both = || ["mine.txt", "theirs.txt"].map(|name| scene.workspace.read(name).unwrap());
    scene.workspace.write("mine.txt", "1\n").unwrap();
    scene.workspace.write("theirs.txt", "1\n").unwrap();
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("go").await;
    scene.workspace.write("mine.txt", "the user's\n").unwrap();

    let text = told(&mut client, "/undo mine.txt").await;
    assert!(text.starts_with("nothing was taken back") && text.contains("mine.txt (changed since)"), "{text}");
    let text = told(&mut client, "/undo").await;
    assert!(text.contains("1 path taken back") && text.contains("mine.txt (changed since)"), "{text}");
    assert!(text.contains("hint: `force`"), "{text}");
    assert_eq!(both(), ["the user's\n", "1\n"]);
    told(&mut client, "/undo force").await;
    assert_eq!(both(), ["1\n", "1\n"]);
    told(&mut client, "/redo").await;
    assert_eq!(both(), ["the user's\n", "1\n"]);

    scene.workspace.write("theirs.txt", "the user's too\n").unwrap();
    let text = told(&mut client, "/redo").await;
    assert!(text.contains("theirs.txt (changed since)") && !text.contains("/redo gives"), "{text}");
    assert_eq!(both(), ["the user's\n", "the user's too\n"]);
    told(&mut client, "/redo force").await;
    assert_eq!(both(), ["the user's\n", "2\n"]);
    client.finish().await;
}

#[tokio::test]
async fn going_back_takes_files_along_when_the_client_says_so() {
    for (answer, changed_since, expect) in
        [(REWIND, false, "1\n"), (LEAVE, false, "2\n"), (REWIND, true, "the user's\n"), (LEAVE, true, "the user's\n")]
    {
        let scene = changing().await;
        let mut client = Client::start(&scene, &[]).await;
        client.prompt("hello").await;
        client.prompt("go").await;
        if changed_since {
            scene.workspace.write("a.txt", "the user's\n").unwrap();
        }
        let entry = first_answer(&scene);
        client.send(&json!({"type": "prompt", "message": format!("/tree {entry}")})).await;
        let asked = client.until("extension_ui_request").await;
        let title = asked["title"].as_str().unwrap();
        let line = if changed_since { "left as it is: a.txt (changed since)" } else { "~ a.txt" };
        assert!(title.contains("Files were changed since then") && title.contains(line), "{title}");
        client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": answer})).await;
        if answer == REWIND {
            let notice = client.until("notice").await;
            let done = if changed_since { "nothing was taken back" } else { "1 path taken back" };
            assert!(notice["message"].as_str().unwrap().starts_with(done), "{notice}");
        }
        client.finish().await;
        assert_eq!(scene.workspace.read("a.txt").unwrap(), expect, "{answer}, {changed_since}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn going_back_takes_files_along_when_the_user_says_so() {
    for (keys, changed_since, told, expect) in [
        ("\r", false, "1 path taken back", "1\n"),
        ("\x1b[B\r", false, "", "2\n"),
        ("\r", true, "nothing was taken back", "the user's\n"),
    ] {
        let scene = changing().await;
        at_a_seat(|| {
            let seat = Seat::ready(&scene, &[]);
            seat.says("hello", "Hi.");
            seat.says("go", "Done.");
            if changed_since {
                scene.workspace.write("a.txt", "the user's\n").unwrap();
            }
            seat.keys("\x1b");
            seat.keys("\x1b");
            seat.until("Go back to");
            seat.keys("\r");
            seat.until("Files were changed since then");
            // A question does not take keys that were meant for something else.
            seat.until_quiet(Duration::from_millis(500));
            seat.keys(keys);
            seat.until_gone("Files were changed since then");
            seat.until(told);
        })
        .await;
        assert_eq!(scene.workspace.read("a.txt").unwrap(), expect, "{told}");
    }
}

const REWIND: &str = "Rewind the files too";
const LEAVE: &str = "Leave the files as they are";

/// Talks first, then changes a file.
async fn changing() -> Scene {
    let turns = [Turn::text("Hi."), bash("echo 2 > a.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write("a.txt", "1\n").unwrap();
    scene
}

/// The entry of the first answer in the one session file.
fn first_answer(scene: &Scene) -> String {
    let text = fs::read_to_string(scene.session_file()).unwrap();
    let mut entries = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let answer = entries.find(|entry| entry["message"]["role"] == "assistant").unwrap();
    answer["id"].as_str().unwrap().to_owned()
}

/// What a command of the user's says.
async fn told(client: &mut Client, command: &str) -> String {
    client.send(&json!({"type": "prompt", "message": command})).await;
    let said = client.until("command_output").await;
    client.until("response").await;
    said["text"].as_str().unwrap().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
fn git(project: &std::path::Path, arguments: &[&str]) {
    assert!(Command::new("git").args(arguments).current_dir(project).status().unwrap().success());
}
