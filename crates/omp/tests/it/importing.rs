//! `omp sessions import` through the binary: listed, imported once, and continued.

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene, outline};

const ID: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

/// A session of Claude Code about this project, with a damaged line.
async fn scene() -> Scene {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Going on.")]).await;
    let cwd = scene.workspace.project();
    let line = |uuid: &str, parent: Option<&str>, kind: &str, message: serde_json::Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "cwd": cwd, "timestamp": "2026-03-01T10:00:00.000Z",
            "message": message})
        .to_string()
    };
    let answer =
        json!({"id": "m", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "Four."}]});
    let lines = [
        line("u", None, "user", json!({"role": "user", "content": "two and two?"})),
        "{\"torn".to_owned(),
        line("a", Some("u"), "assistant", answer),
    ];
    let folder = scene.workspace.home().join(".claude/projects/-project");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{ID}.jsonl")), lines.join("\n")).unwrap();
    scene
}

#[tokio::test]
async fn a_session_of_claude_code_goes_on_in_omp() {
    let scene = scene().await;
    let omp = |args: &[&str]| Omp::bare(&scene.workspace).args(args);
    let listed = omp(&["sessions", "import", "--list"]).run().await.exits(0);
    assert!(listed.stdout.starts_with("claude  ") && listed.stdout.contains(ID), "{listed}");
    assert!(scene.workspace.session_files().unwrap().is_empty());
    let ran = omp(&["sessions", "import", "claude"]).run().await.exits(0);
    ran.prints(&format!("{}  2 messages\n", &ID[..13])).complains(&["omp: warning: ", ".jsonl: line 2: not imported"]);
    let again = omp(&["sessions", "import", "claude", "--all"]).run().await.exits(0);
    assert!(again.stdout.contains("already imported") && again.stdout.lines().count() == 1, "{again}");
    scene.omp(&["-c", "-p", "and three?"]).run().await.exits(0).prints("Going on.\n");
    let expect = ["user: two and two?", "assistant: Four.", "user: and three?", "assistant: Going on."];
    assert_eq!(outline(&scene.messages()), expect);
}

#[tokio::test]
async fn what_cannot_be_imported_is_told() {
    let scene = scene().await;
    let omp = |args: &[&str]| Omp::bare(&scene.workspace).args(["sessions", "import"]).args(args);
    omp(&["codex", "a.txt"]).run().await.exits(1).complains(&["a.txt is not a session of Codex", "hint: "]);
    omp(&["pi", "gone.jsonl"]).run().await.exits(1).complains(&["cannot read", "gone.jsonl", "hint: "]);
    let none = omp(&["codex"]).run().await.exits(0);
    assert!(none.stdout.starts_with("no sessions of Codex in this folder\nhint: "), "{none}");
    omp(&[]).run().await.exits(2).complains(&["PROGRAM"]);
    omp(&["emacs"]).run().await.exits(2).complains(&["claude, codex, pi"]);
    assert!(scene.workspace.session_files().unwrap().is_empty());
}

/// Damage in the middle of a file is reported when the session is resumed, one line for each.
#[tokio::test]
async fn damage_found_while_opening_is_told() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("First."), Turn::text("Second.")]).await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let text = std::fs::read_to_string(&file).unwrap();
    let damaged = text.replacen("\"type\":\"message\"", "\"type\":\"massage\"", 1);
    std::fs::write(&file, &damaged).unwrap();
    let ran = scene.omp(&["-c", "-p", "two"]).run().await.exits(0).prints("Second.\n");
    let told: Vec<_> = ran.stderr.lines().filter(|line| line.contains("unknown kind massage")).collect();
    assert_eq!(told.len(), 1, "{ran}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(&damaged));
}
