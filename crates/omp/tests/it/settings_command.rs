//! `/settings` in print mode and RPC: shows values and their sources, and changes them.

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::Scene;
use crate::rpc::Client;

async fn told(client: &mut Client, typed: &str) -> String {
    client.send(&json!({"type": "prompt", "message": typed})).await;
    let text = client.until("command_output").await["text"].as_str().unwrap().to_owned();
    client.until("response").await;
    text
}

#[tokio::test]
async fn a_client_reads_and_changes_settings() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    scene.workspace.write_config_yml("# mine\ncompaction: { keepRecentTokens: 1010 }\n").unwrap();
    scene.workspace.write(".omp/config.yml", "todo: { reminders: false }\n").unwrap();
    let mut client = Client::start(&scene, &[]).await;
    let listed = told(&mut client, "/settings").await;
    let row = |key: &str| {
        let row = listed.lines().find(|row| row.split_whitespace().next() == Some(key)).unwrap_or_default();
        row.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert!(row("compaction.keepRecentTokens").starts_with("1010 user ("), "{listed}");
    assert_eq!(row("todo.reminders"), "false project (.omp/config.yml)");
    assert_eq!(row("compaction.strategy"), "context-full default");
    let changed = told(&mut client, "/settings changed").await;
    assert!(changed.contains("todo.reminders") && !changed.contains("compaction.strategy"), "{changed}");
    let one = told(&mut client, "/settings compaction.strategy").await;
    assert!(one.starts_with("compaction.strategy = context-full (default)\n") && one.contains("handoff"), "{one}");
    let set = told(&mut client, "/settings compaction.strategy shake").await;
    assert!(
        set.starts_with("compaction.strategy = shake (") && set.ends_with("Takes effect in the next session."),
        "{set}"
    );
    let stronger = told(&mut client, "/settings todo.reminders true").await;
    assert!(stronger.contains("here `todo.reminders` is false, from project (.omp/config.yml)"), "{stronger}");
    let file = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    assert!(file.starts_with("# mine\n") && file.contains("shake"), "{file}");
    assert!(told(&mut client, "/settings reset compaction.strategy").await.contains("context-full"));
    for (typed, complaint) in [
        ("/settings compaction.strategy soon", "`soon` is not a valid value for `compaction.strategy`"),
        ("/settings compaction.stategy", "did you mean `compaction.strategy`?"),
        ("/settings reset", "no setting given"),
    ] {
        let refused = client.ask(json!({"type": "prompt", "message": typed})).await;
        assert!(refused["error"].as_str().unwrap_or_default().contains(complaint), "{typed}: {refused}");
    }
    client.finish().await;
    let file = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    assert!(!file.contains("shake") && !file.contains("soon"), "{file}");
    assert_eq!(scene.server.model_requests().len(), 0);
}

#[tokio::test]
async fn who_is_asked_changes_at_once() {
    let scene = Scene::new(Wire::Completions, [Turn::call("bash", json!({"command": "touch made"}))]).await;
    let mut client = Client::start(&scene, &[]).await;
    let set = told(&mut client, "/settings tools.approvalMode always-ask").await;
    assert!(set.starts_with("tools.approvalMode = always-ask (") && !set.contains("next session"), "{set}");
    client.send(&json!({"type": "prompt", "message": "run it"})).await;
    assert_eq!(client.until("extension_ui_request").await["method"], "select");
}
