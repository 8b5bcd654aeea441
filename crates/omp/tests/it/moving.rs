//! `/move` through the binary: the session continues in another folder, or stays intact where it was.

use std::path::{Path, PathBuf};

use omp_testkit::{Script, Select, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Scene, messages_in, outline};
use crate::rpc::Client;

async fn talkative() -> Scene {
    let turns = Script::generate(9, |number| Turn::text(format!("Answer {number}."))).select(Select::Sequence);
    let scene = Scene::new(Wire::Completions, turns).await;
    std::fs::create_dir(there(&scene)).unwrap();
    scene
}

/// A folder beside the project.
fn there(scene: &Scene) -> PathBuf {
    scene.workspace.home().join("other work")
}

fn header(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap();
    let found = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    found.into_iter().find(|line| line["type"] == "session").unwrap()
}

fn only_file(scene: &Scene) -> PathBuf {
    let files = scene.workspace.session_files().unwrap();
    let [file] = &files[..] else { panic!("{files:?}") };
    file.clone()
}

fn said(scene: &Scene) -> Vec<String> {
    outline(&messages_in(&only_file(scene), &scene.workspace.agent_dir()))
}

const TALK: [&str; 4] = ["user: one", "assistant: Answer 0.", "user: two", "assistant: Answer 1."];

#[tokio::test]
async fn the_session_goes_on_in_the_other_folder() {
    let scene = talkative().await;
    let there = there(&scene);
    let frames =
        scene.omp(&["--mode", "json", "-p", "one", "/move ~/other work", "two"]).run().await.exits(0).json_lines();
    let headers: Vec<_> = frames.iter().filter(|frame| frame["type"] == "session").collect();
    assert_eq!(headers.len(), 2);
    assert_eq!(headers[0]["id"], headers[1]["id"]);
    assert_eq!(headers[1]["cwd"], there.canonicalize().unwrap().to_str().unwrap());
    assert_eq!(said(&scene), TALK);
    assert_eq!(header(&only_file(&scene))["cwd"], headers[1]["cwd"]);
    let system = scene.last_request().json().unwrap()["messages"][0].to_string();
    assert!(system.contains("other work"), "the model is told the new folder: {system}");
    // It now belongs to that folder and no longer to the old one.
    scene.omp(&["-c", "-p", "/session"]).run().await.exits(0);
    assert_eq!(said(&scene), TALK, "nothing said, nothing written");
}

#[tokio::test]
async fn what_cannot_be_moved_stays_where_it_is() {
    let scene = talkative().await;
    let file = scene.workspace.write("file", "").unwrap();
    for (typed, complaint) in [
        ("/move", "no folder given".to_owned()),
        ("/move nowhere", "hint: give a folder that exists".to_owned()),
        ("/move file", format!("{}: it is not a folder", file.canonicalize().unwrap().display())),
    ] {
        let told = scene.omp(&["-p", typed]).run().await.exits(2).stderr;
        assert!(told.contains(&complaint), "{typed}: {told}");
    }
    scene.omp(&["-p", "/move ."]).run().await.exits(0).prints(&format!(
        "the session is already in {}\n",
        scene.workspace.project().canonicalize().unwrap().display()
    ));
    let told = scene.omp(&["--no-session", "-p", "hi", "/move ~/other work"]).run().await.exits(2).stderr;
    assert!(told.contains("this session is not saved") && told.contains("hint:"), "{told}");
    assert!(scene.workspace.session_files().unwrap().is_empty());
}

#[tokio::test]
async fn a_session_in_which_nothing_was_said_begins_there() {
    let scene = talkative().await;
    scene.omp(&["-p", "/move ~/other work", "one"]).run().await.exits(0).prints("Answer 0.\n");
    let cwd = there(&scene).canonicalize().unwrap();
    assert_eq!(header(&only_file(&scene))["cwd"], cwd.to_str().unwrap());
}

/// Each way in which a move can fail, and its message.
#[tokio::test]
async fn a_client_keeps_its_session_whatever_comes_of_the_move() {
    let scene = talkative().await;
    let there = there(&scene);
    // In the new folder this name is a file that is not text, so the session can be moved but not resumed.
    std::fs::write(scene.workspace.project().join("prompt.md"), "Be brief.").unwrap();
    let mut client = Client::start(&scene, &["--system-prompt", "prompt.md"]).await;
    client.prompt("one").await;
    let before = client.ask(json!({"type": "get_state"})).await["data"].take();
    let file = PathBuf::from(before["sessionFile"].as_str().unwrap());
    std::fs::create_dir_all(file.with_extension("")).unwrap();
    std::fs::write(file.with_extension("").join("0.bash.log"), "kept").unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let command = json!({"type": "prompt", "message": "/move \"~/other work\""});

    std::fs::write(there.join("prompt.md"), b"\xff\xfe").unwrap();
    let told = client.ask(command.clone()).await;
    assert!(told["error"].as_str().unwrap().contains("cannot read the prompt file"), "{told}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert!(file.with_extension("").join("0.bash.log").is_file());
    // Without that file, the file named at the start is used.
    std::fs::remove_file(there.join("prompt.md")).unwrap();

    // The move works; the move back fails while another file has the session's path, then while a file replaces its folder.
    let moved = client.ask(command.clone()).await;
    assert_eq!(moved["data"], json!({"agentInvoked": false}), "{moved}");
    let after = client.ask(json!({"type": "get_state"})).await["data"].take();
    assert_eq!((&after["sessionId"], &after["messageCount"]), (&before["sessionId"], &json!(2)));
    let now = PathBuf::from(after["sessionFile"].as_str().unwrap());
    assert!(!file.exists() && !file.with_extension("").exists());
    assert_eq!(std::fs::read_to_string(now.with_extension("").join("0.bash.log")).unwrap(), "kept");
    let home = json!({"type": "prompt", "message": format!("/move {}", scene.workspace.project().display())});
    std::fs::write(&file, "another").unwrap();
    let told = client.ask(home.clone()).await;
    assert!(told["error"].as_str().unwrap().contains("already exists\nhint: nothing was moved"), "{told}");
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_dir(file.parent().unwrap()).unwrap();
    std::fs::write(file.parent().unwrap(), "").unwrap();
    let told = client.ask(home).await;
    assert!(told["error"].as_str().unwrap().contains("hint: nothing was changed"), "{told}");

    let ran = client.ask(json!({"type": "bash", "command": "pwd"})).await;
    assert_eq!(ran["data"]["output"], format!("{}\n", there.canonicalize().unwrap().display()));
    client.prompt("two").await;
    let fresh = client.ask(json!({"type": "new_session"})).await;
    assert_eq!(fresh["success"], true);
    let ran = client.ask(json!({"type": "bash", "command": "pwd"})).await;
    assert_eq!(ran["data"]["workingDir"], there.canonicalize().unwrap().to_str().unwrap(), "new sessions begin there");
    let back = client.ask(json!({"type": "switch_session", "sessionPath": now})).await;
    assert_eq!(back["success"], true, "{back}");
    assert_eq!(client.finish().await, Some(0));
    let talk = outline(&messages_in(&now, &scene.workspace.agent_dir()));
    assert_eq!(talk.iter().filter(|line| TALK.contains(&line.as_str())).count(), 4, "{talk:?}");
}
