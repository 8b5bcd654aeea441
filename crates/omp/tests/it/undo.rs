//! `/undo` through the binary restores what a scripted model destroys.

use std::fs;
use std::process::Command;
use std::time::Duration;

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene};
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

#[cfg(unix)]
#[tokio::test]
async fn after_a_crash_the_list_and_the_undo_agree() {
    let turns = [bash("echo 2 > a.txt; echo begun-$((1 + 1)); sleep 600"), Turn::text("never")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write("a.txt", "1\n").unwrap();
    let mut running = scene.omp(&["--mode", "json", "-p", "go"]).start();
    running.until("begun-2").await;
    running.signal(nix::sys::signal::Signal::SIGKILL);
    while running.line().await.is_some() {}
    running.finish().await;
    for _ in 0..2 {
        let listed = scene.omp(&["-c", "-p", "/changes"]).run().await.exits(0).stdout;
        assert!(listed.contains("1: go") && listed.contains("~ a.txt +1 -1"), "{listed}");
    }
    let told = scene.omp(&["-c", "-p", "/undo"]).run().await.exits(0).stdout;
    assert!(told.contains("1 path undone"), "{told}");
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "1\n");
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
    assert!(told(&mut client, "/undo").await.starts_with("1 path undone"));
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
    assert!(text.starts_with("nothing undone") && text.contains("mine.txt (changed since)"), "{text}");
    let text = told(&mut client, "/undo").await;
    assert!(text.contains("1 path undone") && text.contains("mine.txt (changed since)"), "{text}");
    assert!(text.contains("hint: add `force`"), "{text}");
    assert_eq!(both(), ["the user's\n", "1\n"]);
    told(&mut client, "/undo force").await;
    assert_eq!(both(), ["1\n", "1\n"]);
    told(&mut client, "/redo").await;
    assert_eq!(both(), ["the user's\n", "1\n"]);

    scene.workspace.write("theirs.txt", "the user's too\n").unwrap();
    let text = told(&mut client, "/redo").await;
    assert!(text.contains("theirs.txt (changed since)") && !text.contains("/redo restores"), "{text}");
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
        let line = if changed_since { "skipped: a.txt (changed since)" } else { "~ a.txt" };
        assert!(title.contains("Files changed since then") && title.contains(line), "{title}");
        client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": answer})).await;
        if answer == REWIND {
            let notice = client.until("notice").await;
            let done = if changed_since { "nothing undone" } else { "1 path undone" };
            assert!(notice["message"].as_str().unwrap().starts_with(done), "{notice}");
        }
        client.finish().await;
        assert_eq!(scene.workspace.read("a.txt").unwrap(), expect, "{answer}, {changed_since}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn going_back_takes_files_along_when_the_user_says_so() {
    for (keys, changed_since, told, expect) in [
        ("\x1b[B\r", false, "1 path undone", "1\n"),
        ("\r", false, "files kept", "2\n"),
        ("\x1b", false, "files kept", "2\n"),
        ("\x1b[B\r", true, "nothing undone", "the user's\n"),
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
            seat.until("Files changed since then");
            assert!(!seat.text().contains("type your own"), "{}", seat.text());
            // A question ignores keys that were typed before it could be read.
            seat.until_quiet(Duration::from_millis(500));
            seat.keys(keys);
            seat.until_gone("Files changed since then");
            seat.until(told);
        })
        .await;
        assert_eq!(scene.workspace.read("a.txt").unwrap(), expect, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_terminal_changes_are_shown_taken_back_and_done_again() {
    let turns = [bash("echo 2 > a.txt; echo new > b.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write("a.txt", "1\n").unwrap();
    scene.workspace.write(".gitignore", "target/\n").unwrap();
    scene.workspace.write("target/built", "x").unwrap();
    let read = |name: &str| scene.workspace.read(name).ok();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("go", "Done.");
        for (line, told, a, b) in [
            ("/changes", "target (ignored by .gitignore)", "2\n", Some("new\n")),
            ("/changes diff", "+2", "2\n", Some("new\n")),
            ("/undo b.txt", "1 path undone", "2\n", None),
            ("/undo", "~ a.txt", "1\n", None),
            ("/redo", "~ a.txt", "2\n", None),
            ("/redo", "+ b.txt", "2\n", Some("new\n")),
            ("/redo", "nothing to redo", "2\n", Some("new\n")),
        ] {
            obeys(&seat, line, told);
            assert_eq!((read("a.txt").as_deref(), read("b.txt").as_deref()), (Some(a), b), "{line}");
        }
    })
    .await;
}

/// A failed command is removed from the editor: the next command works, and nothing is sent to the model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_failed_leaves_the_editor_empty() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Hi.")])).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Hi.");
        obeys(&seat, "/undo", "nothing to undo");
        obeys(&seat, "/redo", "nothing to redo");
        obeys(&seat, "/compact", "Nothing to compact");
        obeys(&seat, "/undo", "nothing to undo");
        seat.keys("/undo/redo\r");
        seat.until("unknown command /undo/redo");
        seat.until("did you mean /undo, /redo?");
    })
    .await;
    assert_eq!(scene.server.model_requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_terminal_the_user_decides_about_files_that_were_changed_since() {
    for (keys, told, expect) in
        [("\r", "", "the user's\n"), ("\x1b", "", "the user's\n"), ("\x1b[B\r", "1 path undone", "1\n")]
    {
        let scene = Scene::new(Wire::Anthropic, Script::new([bash("echo 2 > a.txt"), Turn::text("Done.")])).await;
        scene.workspace.write("a.txt", "1\n").unwrap();
        at_a_seat(|| {
            let seat = Seat::ready(&scene, &[]);
            seat.says("go", "Done.");
            scene.workspace.write("a.txt", "the user's\n").unwrap();
            seat.keys("/undo\r");
            seat.until("nothing undone");
            seat.until(IN_THE_WAY);
            assert_eq!(scene.workspace.read("a.txt").unwrap(), "the user's\n");
            // A question ignores keys that were typed before it could be read.
            seat.until_quiet(Duration::from_millis(500));
            seat.keys(keys);
            seat.until_gone("Overwrite them");
            seat.until(told);
            assert_eq!(scene.workspace.read("a.txt").unwrap(), expect, "{keys:?}");
            obeys(&seat, "/redo", if expect == "1\n" { "1 path redone" } else { "nothing to redo" });
            assert_eq!(scene.workspace.read("a.txt").unwrap(), "the user's\n");
        })
        .await;
    }
}

#[tokio::test]
async fn a_client_decides_about_files_that_were_changed_since() {
    for (answer, expect) in [("Overwrite them", "1\n"), (LEAVE, "the user's\n")] {
        let scene = Scene::new(Wire::Anthropic, Script::new([bash("echo 2 > a.txt"), Turn::text("Done.")])).await;
        scene.workspace.write("a.txt", "1\n").unwrap();
        let mut client = Client::start(&scene, &[]).await;
        client.prompt("go").await;
        scene.workspace.write("a.txt", "the user's\n").unwrap();
        client.send(&json!({"type": "prompt", "message": "/undo"})).await;
        let asked = client.until("extension_ui_request").await;
        assert!(asked["title"].as_str().unwrap().contains(IN_THE_WAY), "{asked}");
        assert!(asked["title"].as_str().unwrap().contains("a.txt"), "{asked}");
        client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": answer})).await;
        if answer != LEAVE {
            let notice = client.until("notice").await;
            assert!(notice["message"].as_str().unwrap().starts_with("1 path undone"), "{notice}");
        }
        client.finish().await;
        assert_eq!(scene.workspace.read("a.txt").unwrap(), expect);
    }
}

#[tokio::test]
async fn an_editor_takes_back_and_decides_about_files_that_were_changed_since() {
    let turns = [bash("echo 2 > a.txt; echo 2 > b.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    for name in ["a.txt", "b.txt"] {
        scene.workspace.write(name, "1\n").unwrap();
    }
    let model = format!("{}/{}", omp_testkit::MOCK_PROVIDER, omp_testkit::MOCK_MODEL);
    let mut editor = Client::of(Omp::bare(&scene.workspace).args(["acp", "--model", &model]));
    request(&mut editor, 0, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await;
    let cwd = scene.workspace.project().canonicalize().unwrap();
    let (new, _) = request(&mut editor, 1, "session/new", json!({"cwd": cwd, "mcpServers": []})).await;
    let session = new["result"]["sessionId"].as_str().unwrap().to_owned();
    let said = |text: &str| json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    request(&mut editor, 2, "session/prompt", said("go")).await;
    scene.workspace.write("a.txt", "the user's\n").unwrap();
    let (ended, mut seen) = request(&mut editor, 3, "session/prompt", said("/undo")).await;
    assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
    assert!(seen.iter().any(|frame| frame.to_string().contains("1 path undone")), "{seen:?}");
    assert_eq!(scene.workspace.read("b.txt").unwrap(), "1\n");
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "the user's\n");
    let asked = loop {
        match seen.iter().position(|frame| frame["method"] == "session/request_permission") {
            Some(at) => break seen.remove(at),
            None => seen.push(editor.next().await),
        }
    };
    assert!(asked.to_string().contains(IN_THE_WAY), "{asked}");
    let options = asked["params"]["options"].as_array().unwrap();
    let wanted = options.iter().find(|option| option["name"] == "Overwrite them").unwrap();
    let chosen = json!({"outcome": {"outcome": "selected", "optionId": wanted["optionId"]}});
    editor.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": chosen})).await;
    while !editor.next().await.to_string().contains("1 path undone") {}
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "1\n");
    request(&mut editor, 4, "session/prompt", said("/redo")).await;
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "the user's\n");
    editor.finish().await;
}

/// Sends a request over ACP; returns the response, and the updates before it.
async fn request(
    editor: &mut Client,
    id: u64,
    method: &str,
    params: serde_json::Value,
) -> (serde_json::Value, Vec<serde_json::Value>) {
    editor.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    let mut seen = Vec::new();
    loop {
        let frame = editor.next().await;
        if frame["id"] == id && frame.get("method").is_none() {
            return (frame, seen);
        }
        seen.push(frame);
    }
}

#[tokio::test]
async fn what_hooks_of_a_turn_write_is_taken_back_with_it() {
    let turns = [bash("echo 2 > a.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write("a.txt", "1\n").unwrap();
    let hook = |line: &str| json!([{"hooks": [{"type": "command", "command": line}]}]);
    let hooks = json!({"hooks": {
        "PreToolUse": hook("cat > before.json"),
        "PostToolUse": hook("cat > /dev/null; echo formatted >> a.txt"),
        "Stop": hook("cat > /dev/null; echo formatted again >> a.txt; echo x > stopped.txt"),
    }});
    fs::create_dir_all(scene.workspace.home().join(".claude")).unwrap();
    fs::write(scene.workspace.home().join(".claude/settings.json"), hooks.to_string()).unwrap();
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("go").await;
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "2\nformatted\nformatted again\n");
    let text = told(&mut client, "/changes").await;
    assert!(text.contains("Stop hooks stop-0") && text.contains("PreToolUse hooks"), "{text}");
    let text = told(&mut client, "/undo").await;
    assert!(text.starts_with("3 paths undone") && !text.contains("skipped"), "{text}");
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "1\n");
    for name in ["before.json", "stopped.txt"] {
        assert!(!scene.workspace.path(name).exists(), "{name}");
    }
    client.finish().await;
}

#[tokio::test]
async fn a_home_or_the_whole_disk_is_not_kept_and_that_is_told() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Hi."), Turn::text("Hi.")])).await;
    let home = scene.workspace.home().canonicalize().unwrap();
    for folder in [home.to_str().unwrap(), "/"] {
        let ran = scene.omp(&["--cwd", folder, "-p", "hello"]).run().await.exits(0);
        assert!(ran.stderr.contains("undo is off in this session: its folder contains a home"), "{ran}");
        scene
            .omp(&["--cwd", folder, "-c", "-p", "/undo"])
            .run()
            .await
            .exits(2)
            .complains(&["undo is not available in this session"]);
    }
    assert!(!scene.workspace.agent_dir().join("undo").exists());
}

#[tokio::test]
async fn a_workspace_beyond_the_quota_is_told_once_and_the_call_runs() {
    let turns = [bash("echo 2 > small.txt"), bash("echo 3 > small.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write_config_yml("undo: { quotaMb: 1 }\n").unwrap();
    for file in 0..3_u8 {
        let noise: Vec<u8> = (0..300_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 ^ file).collect();
        scene.workspace.write(&format!("large{file}"), noise).unwrap();
    }
    scene.workspace.write("small.txt", "1\n").unwrap();
    let ran = scene.omp(&["-p", "go"]).run().await.exits(0).prints("Done.\n");
    assert_eq!(ran.stderr.matches("/undo does not cover all of this workspace").count(), 1, "{ran}");
    assert!(
        ran.stderr.contains("over the storage limit of one workspace") && ran.stderr.contains("undo.quotaMb"),
        "{ran}"
    );
    assert_eq!(scene.workspace.read("small.txt").unwrap(), "3\n");
    let listed = scene.omp(&["-c", "-p", "/changes"]).run().await.exits(0).stdout;
    assert!(listed.contains("(over the storage limit of one workspace)"), "{listed}");
}

#[tokio::test]
async fn a_file_of_two_gigabytes_is_told_of_before_the_call_and_costs_the_users_edit_nothing() {
    let turns = [bash("rm mine.txt"), Turn::text("Done."), bash("echo lost > mine.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    fs::File::create(scene.workspace.project().join("huge.bin")).unwrap().set_len(2 << 30).unwrap();
    scene.workspace.write("mine.txt", "1\n").unwrap();
    let ran = scene.omp(&["-p", "go"]).run().await.exits(0);
    assert_eq!(ran.stderr.matches("huge.bin: larger than undo.maxFileMb").count(), 1, "{ran}");
    scene.omp(&["-c", "-p", "/undo"]).run().await.exits(0);
    assert_eq!(scene.workspace.read("mine.txt").unwrap(), "1\n");
    scene.workspace.write("mine.txt", "the user's edit\n").unwrap();
    scene.omp(&["-c", "-p", "again"]).run().await.exits(0);
    assert_eq!(scene.workspace.read("mine.txt").unwrap(), "lost\n");
    scene.omp(&["-c", "-p", "/undo"]).run().await.exits(0);
    assert_eq!(scene.workspace.read("mine.txt").unwrap(), "the user's edit\n");
}

/// The number of files that compress badly, enough to take longer than the shortest timeout.
const LARGE: usize = 64;
const LEAST_PATIENCE: &str = "undo: { patienceMs: 100 }\n";
const MOST_PATIENCE: &str = "undo: { patienceMs: 600000 }\n";

fn noise(mut seed: u64) -> Vec<u8> {
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.to_le_bytes()
    };
    (0..125_000).flat_map(|_| next()).collect()
}

#[tokio::test]
async fn a_tree_that_is_not_covered_in_time_is_told_of_before_the_command_runs() {
    let turns = [bash("echo begun; cat gate; echo 2 > f7"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write_config_yml(LEAST_PATIENCE).unwrap();
    for file in 0..LARGE {
        scene.workspace.write(&format!("f{file}"), noise(file as u64 + 1)).unwrap();
    }
    let gate = scene.workspace.path("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut client = Client::start(&scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let notice = loop {
        let frame = client.next().await;
        assert!(!frame.to_string().contains("begun\\n"), "the command runs: {frame}");
        if frame["type"] == "notice" {
            break frame;
        }
    };
    let text = notice["message"].as_str().unwrap();
    assert!(text.starts_with("/undo does not cover all of this workspace:\n"), "{text}");
    assert!(text.contains("not copied yet (") && text.contains("undo.patienceMs"), "{text}");
    // The command waits for this.
    tokio::task::spawn_blocking(move || fs::write(gate, "go on\n").unwrap());
    client.until("agent_end").await;
    assert_eq!(scene.workspace.read("f7").unwrap(), "2\n");
    let text = told(&mut client, "/undo").await;
    let is_back = fs::read(scene.workspace.path("f7")).unwrap() == noise(8);
    assert!(if is_back { text.starts_with("1 path undone") } else { text.contains("f7 (not stored: ") }, "{text}");
    client.finish().await;
}

/// A scene whose scan never ends: the file that it reads first is a pipe.
async fn endless() -> Scene {
    let turns = [bash("true"), Turn::text("Done."), bash("echo ran > ran.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write_config_yml(MOST_PATIENCE).unwrap();
    scene.omp(&["-p", "begin"]).run().await.exits(0);
    let index = fs::read_dir(scene.workspace.agent_dir().join("undo/workspaces")).unwrap().next().unwrap().unwrap();
    fs::remove_file(index.path()).unwrap();
    nix::unistd::mkfifo(&index.path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    scene
}

#[tokio::test]
async fn an_abort_ends_the_look_before_a_command_which_does_not_run() {
    let scene = endless().await;
    let mut client = Client::start(&scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    client.until("tool_execution_start").await;
    client.send(&json!({"type": "abort"})).await;
    let end = client.until("tool_execution_end").await;
    assert!(end.to_string().contains("Aborted by the user"), "{end}");
    client.until("agent_end").await;
    assert_eq!(client.finish().await, Some(0));
    assert!(!scene.workspace.path("ran.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn escape_ends_the_look_before_a_command_which_does_not_run() {
    let scene = endless().await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("go\r");
        seat.until("echo ran > ran.txt");
        seat.keys("\x1b");
        seat.until("Aborted by the user");
        // The next prompt is answered although the scan has not ended.
        seat.says("again", "Done.");
        seat.leaves();
    })
    .await;
    assert!(!scene.workspace.path("ran.txt").exists());
}

#[tokio::test]
async fn a_long_look_after_a_command_goes_on_by_itself_and_loses_nothing() {
    const NEW: usize = LARGE / 2;
    let command = format!(
        "mkdir new; for i in $(seq {NEW}); do head -c 1000000 /dev/urandom > new/$i; done; echo 2 > a.txt; rm b.txt"
    );
    for in_one_process in [true, false] {
        let scene = Scene::new(Wire::Anthropic, Script::new([bash(&command), Turn::text("Done.")])).await;
        scene.workspace.write_config_yml(LEAST_PATIENCE).unwrap();
        for name in ["a.txt", "b.txt"] {
            scene.workspace.write(name, "1\n").unwrap();
        }
        let is_told =
            |text: &str| text.contains("scanning for changes takes longer than 0.1 s") && text.contains("hint: /undo");
        if in_one_process {
            let mut client = Client::start(&scene, &[]).await;
            client.send(&json!({"type": "prompt", "message": "go"})).await;
            let notice = client.until("notice").await;
            assert!(is_told(notice["message"].as_str().unwrap()), "{notice}");
            client.until("agent_end").await;
            let text = told(&mut client, "/undo").await;
            assert!(text.starts_with(&format!("{} paths undone", NEW + 3)), "{text}");
            client.finish().await;
        } else {
            // The run ends before the scan is complete; the next run continues it.
            let ran = scene.omp(&["-p", "go"]).run().await.exits(0);
            assert!(is_told(&ran.stderr), "{ran}");
            let text = scene.omp(&["-c", "-p", "/undo"]).run().await.exits(0).stdout;
            assert!(text.starts_with(&format!("{} paths undone", NEW + 3)), "{text}");
        }
        assert_eq!(["a.txt", "b.txt"].map(|name| scene.workspace.read(name).unwrap()), ["1\n"; 2]);
        assert!(!scene.workspace.path("new").exists());
    }
}

/// Types a command and waits for its output, which may have been on the screen before.
#[track_caller]
fn obeys(seat: &Seat, line: &str, told: &str) {
    let before = seat.shown();
    seat.keys(format!("{line}\r"));
    seat.until_after(before, told);
    seat.until_quiet(Duration::from_millis(300));
}

const IN_THE_WAY: &str = "These files were changed later, so they were skipped";
const REWIND: &str = "Rewind the files too";
const LEAVE: &str = "Keep the files";

/// Answers first, then changes a file.
async fn changing() -> Scene {
    let turns = [Turn::text("Hi."), bash("echo 2 > a.txt"), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write("a.txt", "1\n").unwrap();
    scene
}

/// Returns the entry of the first answer in the only session file.
fn first_answer(scene: &Scene) -> String {
    let text = fs::read_to_string(scene.session_file()).unwrap();
    let mut entries = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let answer = entries.find(|entry| entry["message"]["role"] == "assistant").unwrap();
    answer["id"].as_str().unwrap().to_owned()
}

/// Returns the output of a slash command.
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
