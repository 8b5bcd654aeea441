//! The end of a background job: reported at once, and starting a run if the setting says so.

use omp_testkit::{Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{QUICK_RETRIES, Scene};
use crate::rpc::Client;

const WAITS: &str = "while [ ! -e go ]; do sleep 0.05; done; echo built";

async fn scene(settings: &str, last: &str) -> Scene {
    let turns = [
        Turn::call("bash", json!({"command": WAITS, "async": true})),
        Turn::text("Started."),
        Turn::text(last.to_owned()),
    ];
    let scene = Scene::new(Wire::Completions, turns).await;
    let config = format!("{QUICK_RETRIES}async: {{ enabled: true, {settings} }}\n");
    scene.workspace.write_config_yml(&config).unwrap();
    scene
}

/// Starts a job, waits until the session is idle, then ends the job.
async fn end_while_idle(scene: &Scene) -> (Client, Value) {
    let mut client = Client::start(scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "build it"})).await;
    while client.until("agent_end").await["isTerminal"] != true {}
    client.ask(json!({"type": "get_state"})).await;
    scene.workspace.write("go", "").unwrap();
    let ended = client.until("job_ended").await;
    (client, ended)
}

#[tokio::test]
async fn it_is_told_at_once_and_costs_nothing() {
    let scene = scene("maxJobs: 2", "I know.").await;
    let (mut client, ended) = end_while_idle(&scene).await;
    assert_eq!(
        (&ended["jobId"], &ended["status"], &ended["command"]),
        (&json!("bash-1"), &json!("completed"), &json!(WAITS))
    );
    assert!(ended["durationMs"].is_u64(), "{ended}");
    let state = client.ask(json!({"type": "get_state"})).await;
    assert_eq!((&state["data"]["isStreaming"], scene.server.model_requests().len()), (&json!(false), 2));
    // The model is notified with the next prompt, without an extra request.
    client.prompt("and now?").await;
    let heard = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(heard.contains("Background jobs have ended") && heard.contains("bash-1 completed"), "{heard}");
    assert_eq!(scene.server.model_requests().len(), 3);
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn it_wakes_an_idle_session_where_that_is_set() {
    let scene = scene("wakeIdle: true", "It is built.").await;
    let (mut client, _) = end_while_idle(&scene).await;
    client.until("agent_start").await;
    while client.until("agent_end").await["isTerminal"] != true {}
    let text = client.ask(json!({"type": "get_last_assistant_text"})).await;
    assert_eq!(text["data"]["text"], "It is built.");
    let heard = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(heard.contains("bash-1 completed"), "{heard}");
    assert_eq!(scene.server.model_requests().len(), 3, "one request");
    assert_eq!(client.finish().await, Some(0));
}

/// Only the user can set this: a repository cannot make omp send requests by itself.
#[tokio::test]
async fn a_project_cannot_set_it() {
    let scene = scene("maxJobs: 2", "Never.").await;
    scene.workspace.write(".omp/config.yml", "async: { wakeIdle: true }\n").unwrap();
    let (mut client, _) = end_while_idle(&scene).await;
    client.ask(json!({"type": "get_state"})).await;
    assert_eq!(scene.server.model_requests().len(), 2);
    assert_eq!(client.finish().await, Some(0));
}
