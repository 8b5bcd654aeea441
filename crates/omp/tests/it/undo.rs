//! `/undo` through the binary: what a scripted model destroys comes back.

use std::fs;
use std::process::Command;

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::Scene;
use crate::rpc::Client;

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

#[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
fn git(project: &std::path::Path, arguments: &[&str]) {
    assert!(Command::new("git").args(arguments).current_dir(project).status().unwrap().success());
}
