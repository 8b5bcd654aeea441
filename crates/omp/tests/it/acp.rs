//! `omp acp` as editors meet it: the official TypeScript client drives the built binary.

use std::path::PathBuf;

use omp_testkit::{After, Fault, Moment, Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene};

/// `scripts/test` installs this version where it is missing.
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

/// The client has the file open with a line that was not saved.
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

/// Node with a script that finds the binary, the client library and the project.
fn client(scene: &Scene, script: &str) -> Omp {
    let sdk = cache().join(SDK);
    assert!(sdk.is_dir(), "{} is missing\nhint: scripts/test installs it", sdk.display());
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/acp").join(script);
    let model = format!("{}/{}", omp_testkit::MOCK_PROVIDER, omp_testkit::MOCK_MODEL);
    let args = json!(["acp", "--model", model, "--approval-mode", "always-ask"]);
    Omp::of("node".as_ref(), &scene.workspace)
        .args([script])
        .env("ACP_SDK", sdk)
        .env("OMP", env!("CARGO_BIN_EXE_omp"))
        .env("OMP_ARGS", args.to_string())
        .env("PROJECT", scene.workspace.project().canonicalize().unwrap())
        .env("PI_EDIT_VARIANT", "replace")
}

/// Where `scripts/test` keeps what it installs.
#[expect(clippy::disallowed_methods, reason = "a test asks where the machine's user keeps caches")]
fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.expect("neither XDG_CACHE_HOME nor HOME is set").join("omp-tests")
}
