//! `omp acp` with the official TypeScript client, which drives the built binary.

use std::path::{Path, PathBuf};

use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{After, Fault, Moment, Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene};

/// `scripts/test` installs this version if it is missing.
const SDK: &str = "acp-sdk-2.4.0";

#[tokio::test]
async fn the_official_client() {
    let edit = || Turn::call("edit", json!({"path": "a.txt", "edits": [{"old_text": "two", "new_text": "2"}]}));
    let plan = json!({"ops": [{"op": "init", "list": [{"phase": "All", "items": ["look", "leap"]}]}]});
    let scene = Scene::new(
        Wire::Anthropic,
        Script::new([
            Turn::text("A file and a picture.").thinking("Let me see."),
            edit(),
            Turn::text("As you like."),
            edit(),
            Turn::text("Done."),
            Turn::call("bash", json!({"command": "echo hello from bash"})),
            Turn::text("It ran."),
            Turn::call("todo", plan),
            Turn::text("Planned."),
            Turn::text("word ".repeat(200)).fault(Fault::stall(Moment::AfterEvents(4)).after(After::Next)),
            Turn::text("Hello."),
            Turn::text("Still here."),
        ]),
    )
    .await;
    scene.workspace.write_config_yml("todo: { reminders: false }\n").unwrap();
    let ran = client(&scene, "client.mjs").run().await;
    assert!(ran.status.success(), "{}\n{}", ran.stdout, ran.stderr);
    let requests = scene.server.model_requests();
    let first = requests[0].json().unwrap()["messages"][0]["content"].to_string();
    for part in ["what is this?", "image/png", "b.rs", "fn b() {}", "[a.txt]"] {
        assert!(first.contains(part), "{part} is not in {first}");
    }
}

/// The client has the file open with an unsaved line.
#[tokio::test]
async fn files_of_the_client() {
    let scene = Scene::new(
        Wire::Anthropic,
        Script::new([
            Turn::call("read", json!({"path": "a.txt"})),
            Turn::call("edit", json!({"path": "a.txt", "edits": [{"old_text": "two", "new_text": "2"}]})),
            Turn::call("write", json!({"path": "new/b.txt", "content": "b\n"})),
            Turn::text("Done."),
        ]),
    )
    .await;
    let ran = client(&scene, "files.mjs").run().await;
    assert!(ran.status.success(), "{}\n{}", ran.stdout, ran.stderr);
    let seen = scene.server.model_requests()[1].json().unwrap()["messages"].to_string();
    assert!(seen.contains("1:zero\\n2:one"), "{seen}");
}

/// The client has its own terminals, and compaction has removed the beginning of the session.
#[cfg(unix)]
#[tokio::test]
async fn the_official_client_with_terminals() {
    let ask = json!({"questions": [{"id": "q", "question": "Which ways?", "multi": true, "options": [
        {"label": "left", "description": "to the west"}, {"label": "right"}]}]});
    let run = |command: &str| Turn::call("bash", json!({"command": command}));
    let scene = Scene::new(
        Wire::Anthropic,
        Script::new([
            run("mkdir sub; cd sub; export KEPT=kept"),
            run("echo \"${PWD##*/} [$OPENAI_API_KEY] $KEPT\""),
            Turn::text("Ran."),
            Turn::call("ask", ask),
            Turn::text("Asked."),
            run("sleep 300"),
        ]),
    )
    .await;
    scene.workspace.write_config_yml("containment: { editorTerminals: true }\n").unwrap();
    let project = scene.workspace.project().canonicalize().unwrap();
    let folder = scene.workspace.agent_dir().join("kept-here");
    std::fs::create_dir_all(&folder).unwrap();
    let held = folder.join("2026-11-15T20-00-03-186Z_held-one.jsonl");
    std::fs::write(&held, compacted(&project).replace("old-one", "held-one")).unwrap();
    let (holder, _) = LoadedSession::open(&held, BlobStore::new(&folder)).unwrap().into_writer().unwrap();
    std::fs::write(folder.join("2026-11-15T20-00-03-186Z_old-one.jsonl"), compacted(&project)).unwrap();
    let more =
        ["--session-dir".to_owned(), folder.display().to_string(), "--approval-mode".to_owned(), "yolo".to_owned()];
    let ran = client_with(&scene, "terminal.mjs", &more)
        .env("OLD", "old-one")
        .env("HELD", "held-one")
        .env("HOLDER", std::process::id().to_string())
        .run()
        .await;
    assert!(ran.status.success(), "{}\n{}", ran.stdout, ran.stderr);
    let told = scene.server.model_requests()[2].json().unwrap()["messages"].to_string();
    assert!(told.contains("sub [] kept"), "{told}");
    let told = scene.server.model_requests()[4].json().unwrap()["messages"].to_string();
    assert!(told.contains("User selected: right") && told.contains("and up"), "{told}");
    assert!(holder.path().is_file());
}

fn compacted(project: &Path) -> String {
    let call = json!({"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}});
    let usage = json!({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    let content = json!([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I looked."}, call]);
    let answer = json!({"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "mock",
        "model": "mock", "usage": usage, "stopReason": "toolUse", "timestamp": 2});
    let result = json!({"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": false, "timestamp": 3,
        "content": [{"type": "text", "text": "old output"}]});
    let user = |text: &str| json!({"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}});
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "old-one", "cwd": project,
        "timestamp": "2026-11-15T20:00:03.186Z"})];
    let entries = [
        user("the very first"),
        json!({"type": "message", "message": answer}),
        json!({"type": "message", "message": result}),
        json!({"type": "compaction", "summary": "things happened", "firstKeptEntryId": "e3", "tokensBefore": 9}),
        user("after the summary"),
    ];
    for (index, mut entry) in entries.into_iter().enumerate() {
        entry["id"] = json!(format!("e{index}"));
        entry["parentId"] = index.checked_sub(1).map_or(json!(null), |before| json!(format!("e{before}")));
        entry["timestamp"] = json!("2026-11-15T20:00:03.186Z");
        lines.push(entry);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Starts Node with a script that finds the binary, the client library and the project.
fn client(scene: &Scene, script: &str) -> Omp {
    client_with(scene, script, &["--approval-mode".to_owned(), "always-ask".to_owned()])
}

fn client_with(scene: &Scene, script: &str, more: &[String]) -> Omp {
    let sdk = cache().join(SDK);
    assert!(sdk.is_dir(), "{} is missing\nhint: scripts/test installs it", sdk.display());
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/acp").join(script);
    let model = format!("{}/{}", omp_testkit::MOCK_PROVIDER, omp_testkit::MOCK_MODEL);
    let args: Vec<String> = ["acp", "--model", &model].map(str::to_owned).iter().chain(more).cloned().collect();
    Omp::of("node".as_ref(), &scene.workspace)
        .args([script])
        .env("ACP_SDK", sdk)
        .env("OMP", env!("CARGO_BIN_EXE_omp"))
        .env("OMP_ARGS", json!(args).to_string())
        .env("PROJECT", scene.workspace.project().canonicalize().unwrap())
        .env("PI_EDIT_VARIANT", "replace")
}

/// Returns the folder where `scripts/test` keeps installed files.
#[expect(clippy::disallowed_methods, reason = "a test asks where the machine's user keeps caches")]
fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.expect("neither XDG_CACHE_HOME nor HOME is set").join("omp-tests")
}
