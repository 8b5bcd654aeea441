//! Automatic choices are reported: models, and the tools of a run.

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene};

/// Two models of one provider; the session's own comes first.
fn models(scene: &Scene, ids: &[&str]) {
    let rows: String = ids.iter().map(|id| format!("      - id: {id}\n")).collect();
    let url = scene.server.base_url();
    let yml = format!(
        "providers:\n  mock:\n    baseUrl: {url}/v1\n    apiKey: mock-key\n    api: openai-completions\n    models:\n{rows}"
    );
    scene.workspace.write_models_yml(&yml).unwrap();
}

#[tokio::test]
async fn a_recorded_model_that_is_gone_is_told_and_no_similar_one_taken_for_it() {
    let scene = Scene::new(Wire::Completions, ["One.", "Two.", "Three."].map(Turn::text)).await;
    models(&scene, &["big-1", "big-1-mini"]);
    Omp::bare(&scene.workspace).args(["--model", "mock/big-1", "-p", "hi"]).run().await.exits(0);
    models(&scene, &["small", "big-1-mini", "big-10"]);
    scene.workspace.write_config_yml("modelRoles: { default: mock/small }\n").unwrap();
    let ran = Omp::bare(&scene.workspace).args(["-c", "-p", "go on"]).run().await.exits(0);
    ran.complains(&["the session's model is not available: unknown model `mock/big-1`", "using mock/small"]);
    assert_eq!(scene.last_request().json().unwrap()["model"], "small");
    // A model that is available again is used without a message.
    models(&scene, &["small", "big-1"]);
    let ran = Omp::bare(&scene.workspace).args(["-c", "-p", "go on", "--model", "mock/big-1"]).run().await.exits(0);
    assert_eq!(ran.stderr, "");
}

#[tokio::test]
async fn a_recorded_model_without_a_key_is_told() {
    let scene = Scene::new(Wire::Anthropic, ["One.", "Two."].map(Turn::text)).await;
    let url = scene.server.base_url();
    let mock = format!(
        "  mock:\n    baseUrl: {url}\n    apiKey: k\n    api: anthropic-messages\n    models:\n      - id: spare\n"
    );
    let yml = format!("providers:\n  anthropic:\n    baseUrl: {url}\n{mock}");
    scene.workspace.write_models_yml(&yml).unwrap();
    let first = Omp::bare(&scene.workspace).args(["--model", "anthropic/claude-sonnet-4-5", "-p", "hi"]);
    first.env("ANTHROPIC_API_KEY", "sk-ant-1").run().await.exits(0);
    let ran = Omp::bare(&scene.workspace).args(["-c", "-p", "go on"]).run().await.exits(0);
    ran.complains(&[
        "the session's model is not available",
        "anthropic/claude-sonnet-4-5",
        "ANTHROPIC_API_KEY",
        "using mock/spare",
    ]);
}

#[tokio::test]
async fn what_a_part_of_a_name_stands_for_is_told() {
    let scene = Scene::new(Wire::Completions, ["One.", "Two.", "Three."].map(Turn::text)).await;
    models(&scene, &["big-1"]);
    let ask = async |model: &str| Omp::bare(&scene.workspace).args(["--model", model, "-p", "hi"]).run().await.exits(0);
    assert_eq!(ask("big").await.stderr, "omp: `big` is mock/big-1\n");
    assert_eq!(ask("mock/big-1:high").await.stderr, "");
    assert_eq!(ask("big-1").await.stderr, "");
}

#[tokio::test]
async fn tools_that_are_off_by_default_can_be_named() {
    let scene = Scene::new(Wire::Completions, [(); 4].map(|()| Turn::text("One."))).await;
    let offered = async |tools: &str| -> Vec<String> {
        scene.omp(&["--tools", tools, "-p", "hi"]).run().await.exits(0);
        let body = scene.last_request().json().unwrap();
        let names = body["tools"].as_array().unwrap().iter();
        names.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(offered("read,calc,render_mermaid").await, ["read", "calc", "render_mermaid"]);
    assert_eq!(offered("checkpoint,bash,job").await, ["bash", "job", "checkpoint", "rewind"]);
    assert_eq!(offered("ast_edit").await, ["ast_edit", "resolve"]);
    scene.workspace.write_config_yml("bash: { enabled: false }\n").unwrap();
    assert_eq!(offered("bash").await, ["bash"]);
    let ran = scene.omp(&["--tools", "frobnicate", "-p", "hi"]).run().await.exits(2);
    ran.complains(&["unknown tool `frobnicate`", "off by default: job, calc"]);
    scene.omp(&["--tools", "ask", "-p", "hi"]).run().await.exits(2).complains(&["needs a user to answer", "hint: "]);
}

#[tokio::test]
async fn one_pattern_may_be_a_string_where_a_list_is_asked_for() {
    let turns = [
        Turn::call("ast_grep", json!({"pat": "fn $A() {}", "path": "x.rs"})),
        Turn::call("search", json!({"pattern": "two", "paths": "a.txt"})),
        Turn::call("find", json!({"paths": "*.txt"})),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.workspace.write("x.rs", "fn here() {}\n").unwrap();
    scene.omp(&["-p", "go"]).run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("here()") && told.contains("two") && told.contains("a.txt"), "{told}");
    assert!(!told.contains("expected array"), "{told}");
}
