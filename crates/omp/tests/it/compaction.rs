//! Compaction through the binary: in JSON, over RPC and at the terminal, against the fake provider.

use omp_testkit::{Fault, FaultKind, Script, Turn, Wire};
use serde_json::json;

use crate::harness::{QUICK_RETRIES, Scene};
use crate::rpc::Client;
use crate::seat::{Seat, at_a_seat};

/// About a thousand tokens.
fn much(what: &str) -> String {
    format!("{what} {}", "word ".repeat(940))
}

async fn scene(turns: impl IntoIterator<Item = Turn>) -> Scene {
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write_config_yml(&format!("{QUICK_RETRIES}compaction: {{ keepRecentTokens: 1010 }}\n")).unwrap();
    scene
}

fn talk() -> Vec<Turn> {
    (0..4).map(|number| Turn::text(much(&format!("answer {number}")))).collect()
}

fn prompts() -> Vec<String> {
    (0..4).map(|number| format!("prompt {number}")).collect()
}

#[tokio::test]
async fn an_overflow_is_recovered_from_and_told_in_json() {
    let mut turns = talk();
    turns.push(Turn::text("THE SUMMARY").fault(Fault { times: Some(1), ..Fault::new(FaultKind::ContextOverflow) }));
    turns.extend(["how the turn began", "the short one", "made it"].map(Turn::text));
    let scene = scene(turns).await;
    let mut args = vec!["--mode".to_owned(), "json".to_owned(), "-p".to_owned()];
    args.extend(prompts());
    args.push("go on".to_owned());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let frames = scene.omp(&args).run().await.exits(0).json_lines();
    let told: Vec<_> = frames.iter().filter(|it| it["type"].as_str().unwrap().starts_with("auto_compaction")).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(*told[0], json!({"type": "auto_compaction_start", "reason": "overflow", "action": "context-full"}));
    assert_eq!((&told[1]["aborted"], &told[1]["willRetry"]), (&json!(false), &json!(true)));
    assert!(told[1]["result"]["summary"].as_str().unwrap().contains("THE SUMMARY"), "{}", told[1]);
    let asked = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(asked.contains("THE SUMMARY") && asked.contains("go on") && !asked.contains("answer 0 word"), "{asked}");
}

#[tokio::test]
async fn a_client_compacts_and_switches_it_off() {
    let mut turns = talk();
    turns.extend([Turn::text("THE SUMMARY"), Turn::text("the short one"), Turn::text("after")]);
    let scene = scene(turns).await;
    let mut client = Client::start(&scene, &[]).await;
    let refused = client.ask(json!({"id": "0", "type": "compact"})).await;
    assert_eq!(refused["error"], "Nothing to compact (session too small)");
    for prompt in prompts() {
        client.send(&json!({"type": "prompt", "message": prompt})).await;
        client.until("agent_end").await;
    }
    let done = client.ask(json!({"id": "1", "type": "compact", "customInstructions": "names"})).await;
    assert_eq!((&done["success"], &done["data"]["shortSummary"]), (&json!(true), &json!("the short one")), "{done}");
    assert!(done["data"]["tokensBefore"].as_u64().unwrap() > 0 && done["data"]["firstKeptEntryId"].is_string());
    client.ask(json!({"type": "set_auto_compaction", "enabled": false})).await;
    let state = client.ask(json!({"type": "get_state"})).await["data"].take();
    assert_eq!((&state["autoCompactionEnabled"], &state["isCompacting"]), (&json!(false), &json!(false)));
    client.send(&json!({"type": "prompt", "message": "go on"})).await;
    client.until("agent_end").await;
    let asked = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(asked.contains("THE SUMMARY") && !asked.contains("answer 0 word"), "{asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_terminal_shows_a_divider_the_summary_behind_a_key_and_both_again_on_resume() {
    let mut turns = talk();
    turns.extend([Turn::text("THE SUMMARY"), Turn::text("the short one")]);
    let scene = scene(turns).await;
    let mut args = vec!["-p".to_owned()];
    args.extend(prompts());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    scene.omp(&args).run().await.exits(0);
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &["-c"]);
        seat.keys("/compact\r");
        seat.wait("a divider", |glass| glass.text().contains("── compacted · the short one · ctrl+o ──"));
        seat.wait("what survived", |glass| glass.text().contains(" messages summarized, "));
        seat.keys("\x0f");
        seat.wait("the summary", |glass| glass.text().contains("THE SUMMARY"));
        seat.keys("\x0f");
        seat.keys("/compact edit\r");
        seat.wait("the summary to be corrected", |glass| {
            glass.text().contains("what the model sees instead of the removed messages")
        });
        seat.keys(" CORRECTED\r");
        seat.wait("a word on it", |glass| glass.text().contains("Summary updated"));
        seat.wait("what survived", |glass| glass.text().contains("Kept word for word"));
        seat.leaves();
        assert!(std::fs::read_to_string(scene.session_file()).unwrap().contains("CORRECTED"));
        let seat = Seat::ready(&scene, &["-c"]);
        seat.wait("the divider again", |glass| glass.text().contains("── compacted · the short one"));
        seat.leaves();
    })
    .await;
}
