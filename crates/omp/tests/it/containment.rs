//! Writes outside the workspace, through the binary: denied without a client, asked about with one.
#![cfg(target_os = "linux")]

use std::path::PathBuf;

use omp_testkit::{Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{QUICK_RETRIES, Scene};
use crate::rpc::Client;
use crate::seat::{Seat, at_a_seat};

async fn scene(turns: impl FnOnce(&str) -> Vec<Turn>) -> (Scene, PathBuf) {
    let folder = tempfile::Builder::new().prefix("omp-outside-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = folder.keep().canonicalize().unwrap();
    let scene = Scene::new(Wire::Anthropic, Script::new(turns(outside.to_str().unwrap()))).await;
    scene.workspace.write_config_yml(QUICK_RETRIES).unwrap();
    (scene, outside)
}

fn bash(command: String) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

fn told(scene: &Scene) -> String {
    scene.last_request().json().unwrap()["messages"].to_string()
}

#[tokio::test]
async fn where_nobody_answers_nothing_outside_is_written() {
    let (scene, outside) = scene(|outside| {
        vec![
            Turn::call("write", json!({"path": format!("{outside}/a"), "content": "x"})),
            bash(format!("echo x > {outside}/b")),
            bash(format!("f={outside}/c; touch \"$f\"")),
            Turn::call("bash", json!({"command": "true", "write": [format!("{outside}/d")]})),
            Turn::text("Done."),
        ]
    })
    .await;
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    let (told, at) = (told(&scene), outside.display());
    for name in ["a", "b", "d"] {
        assert!(
            told.contains(&format!("was not run: it would write to {at}/{name} (outside the workspace)")),
            "{told}"
        );
    }
    let hint = format!("hint: only the user can allow it: `containment.writable: [{at}/a]` in config.yml allows it");
    assert!(told.contains(&hint), "{told}");
    assert!(told.contains(&format!("Sandbox: {at}/c may not be written")), "{told}");
    assert!(told.contains("hint: nobody can be asked in this run") && !told.contains("the user is asked"), "{told}");
    std::fs::remove_dir_all(outside).unwrap();
}

#[tokio::test]
async fn a_path_with_spaces_is_told_whole() {
    let (scene, outside) = scene(|outside| {
        let write = format!("f='{outside}/my home/zz1'; sh -c 'echo x > \"$0\"' \"$f\"");
        vec![bash(write), Turn::text("Done.")]
    })
    .await;
    std::fs::create_dir(outside.join("my home")).unwrap();
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let (told, at) = (told(&scene), outside.display());
    assert!(told.contains(&format!("Sandbox: {at}/my home/zz1 may not be written")), "{told}");
    assert!(told.contains(&format!("`containment.writable: [\\\"{at}/my home/zz1\\\"]`")), "{told}");
    assert!(!told.contains(&format!("{at}/my may")), "{told}");
    std::fs::remove_dir_all(outside).unwrap();
}

#[tokio::test]
async fn once_is_once_and_always_is_written_down() {
    let (scene, outside) = scene(|outside| {
        let write = |name: &str| Turn::call("write", json!({"path": format!("{outside}/{name}"), "content": "x"}));
        let with =
            json!({"command": format!("f={outside}/made; mkdir -p $f/deep"), "write": [format!("{outside}/made/")]});
        vec![
            write("a"),
            write("a"),
            bash(format!("echo more >> {outside}/a")),
            bash(format!("echo b > {outside}/b")),
            Turn::call("bash", with),
            Turn::text("Done."),
        ]
    })
    .await;
    let at = outside.display().to_string();
    let mut client = Client::start(&scene, &["--yolo"]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    // After `once` the same question is asked again; after `always` it is not, also for the shell.
    for (name, answer) in [("a", "Approve"), ("a", "Always"), ("b", "Approve"), ("made", "Approve")] {
        let asked = client.until("extension_ui_request").await;
        let wish = format!("write to {at}/{name}");
        assert!(asked["title"].as_str().unwrap().contains(&format!("{wish} (outside the workspace)")), "{asked}");
        let always = format!("Always allow: {wish}");
        assert!(asked["options"].as_array().unwrap().contains(&Value::from(always.clone())), "{asked}");
        let value = if answer == "Always" { always } else { answer.to_owned() };
        client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": value})).await;
    }
    client.until("agent_end").await;
    assert_eq!(client.finish().await, Some(0));
    let read = |name: &str| std::fs::read_to_string(outside.join(name)).unwrap_or_default();
    assert_eq!((read("a"), read("b")), ("xmore\n".to_owned(), "b\n".to_owned()), "{}", told(&scene));
    assert!(outside.join("made/deep").is_dir(), "{}", told(&scene));
    assert!(!told(&scene).contains("may not be"), "what was allowed once: {}", told(&scene));
    let config = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    assert!(config.contains(&format!("writable:\n    - \"{at}/a\"\n")), "{config}");
    assert!(!config.contains(&format!("{at}/b")), "{config}");
    std::fs::remove_dir_all(outside).unwrap();
}

const SANDBOX_SHOWN: &str =
    "statusLine: { preset: custom, leftSegments: [context_pct, mode, sandbox], separator: dot }\n";

/// Each row: the settings, the arguments, the expected `get_state`, the expected status row of the terminal.
#[tokio::test(flavor = "multi_thread")]
async fn the_faces_tell_how_commands_are_kept() {
    for (config, args, mode, network, trusted, row) in [
        ("", &[][..], "workspace-write", "on", false, "auto · sandboxed"),
        ("containment: { network: 'off' }\n", &[], "workspace-write", "off", false, "auto · sandboxed, net off"),
        ("containment: { mode: read-only }\n", &["--trust"], "read-only", "on", true, "auto · read-only"),
        ("containment: { mode: 'off' }\nundo: { enabled: false }\n", &[], "off", "on", false, "auto · no sandbox"),
    ] {
        let (scene, outside) = scene(|_| Vec::new()).await;
        scene.workspace.write_config_yml(&format!("{config}{SANDBOX_SHOWN}")).unwrap();
        let mut client = Client::start(&scene, args).await;
        let state = client.ask(json!({"type": "get_state"})).await["data"].take();
        let told = &state["containment"];
        let rung = if mode == "off" { "none" } else { omp_contain::standing().rung().name() };
        assert_eq!((&told["mode"], &told["network"], &told["rung"]), (&json!(mode), &json!(network), &json!(rung)));
        assert_eq!((&state["trusted"], &state["undo"]["enabled"]), (&json!(trusted), &json!(!config.contains("undo"))));
        assert_eq!(client.finish().await, Some(0));
        let is_partly = !omp_contain::standing().missing.is_empty();
        let row = if is_partly { row.replace("· sandboxed", "· partly sandboxed") } else { row.to_owned() };
        at_a_seat(|| {
            let seat = Seat::ready(&scene, args);
            seat.until(&row);
            seat.leaves();
        })
        .await;
        std::fs::remove_dir_all(outside).unwrap();
    }
}

#[tokio::test]
async fn settings_need_no_quotes() {
    for (written, mode, network) in [
        ("mode: off", "off", "on"),
        ("network: off", "workspace-write", "off"),
        ("network: on", "workspace-write", "on"),
    ] {
        let (scene, outside) = scene(|_| vec![Turn::text("unused")]).await;
        scene.workspace.write_config_yml(&format!("{QUICK_RETRIES}containment:\n  {written}\n")).unwrap();
        let mut client = Client::start(&scene, &[]).await;
        let state = client.ask(json!({"type": "get_state"})).await;
        let contained = &state["data"]["containment"];
        assert_eq!((&contained["mode"], &contained["network"]), (&json!(mode), &json!(network)), "{written}");
        client.finish().await;
        std::fs::remove_dir_all(outside).unwrap();
    }
}
