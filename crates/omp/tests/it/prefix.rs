//! Two hundred turns on each wire: every request repeats the previous one byte for byte, so that providers' caches stay
//! valid.

use std::collections::BTreeSet;

use omp_testkit::{RecordedRequest, Script, Turn, Wire, prefix};
use serde_json::{Value, json};

use crate::harness::{Scene, outline};

const TURNS: usize = 200;

/// Alternates reads, commands and edits, sometimes two at once, with text at the end.
fn long_work() -> Script {
    Script::generate(TURNS, |number| {
        let turn = Turn::text(format!("Step {number}."));
        match number {
            _ if number == TURNS - 1 => Turn::text("All done."),
            _ if number % 10 == 9 => {
                let read = turn.thinking("two at once").and_call("read", json!({"path": "a.txt"}));
                read.and_call("bash", json!({"command": format!("echo {number}")}))
            }
            _ if number % 3 == 0 => turn.and_call("read", json!({"path": "a.txt"})),
            _ if number % 3 == 1 => turn.thinking("hm").and_call("bash", json!({"command": "cat a.txt"})),
            _ => turn.and_call("edit", json!({"input": format!("[notes-{number}.txt]\nBOF↓note {number}")})),
        }
    })
}

async fn check(wire: Wire) {
    let mut script = long_work();
    script.turns.push(Turn::text("Gone on."));
    let scene = Scene::new(wire, script).await;
    scene.omp(&["-p", "do a lot"]).run().await.exits(0).prints("All done.\n");
    scene.omp(&["-c", "-p", "and more"]).run().await.exits(0).prints("Gone on.\n");
    let requests = scene.server.model_requests();
    assert_eq!(requests.len(), TURNS + 1);
    prefix::assert_prefix_stable(&requests);
    assert_eq!(scene.workspace.read("notes-101.txt").unwrap(), "note 101\n");
    assert_eq!(outline(&scene.messages()).last().unwrap(), "assistant: Gone on.");
    check_cache_hints(wire, &requests);
}

fn check_cache_hints(wire: Wire, requests: &[RecordedRequest]) {
    let mut keys = BTreeSet::new();
    for body in requests.iter().map(|request| request.json().unwrap()) {
        if wire == Wire::Anthropic {
            check_markers(&body);
        }
        keys.insert(body["prompt_cache_key"].as_str().map(str::to_owned));
    }
    if wire == Wire::Responses {
        assert!(keys.len() == 1 && !keys.contains(&None), "{keys:?}");
    }
}

/// Checks for one marker after the system prompt, one at the end of the conversation, and at most four.
fn check_markers(body: &Value) {
    let marked = |value: &Value| value.to_string().matches("\"cache_control\"").count();
    let (newest, earlier) = body["messages"].as_array().unwrap().split_last().unwrap();
    assert_eq!((marked(&body["system"]), marked(newest)), (1, 1), "{newest}");
    let recent = earlier.iter().rev().take(6);
    assert!(recent.map(marked).sum::<usize>() + marked(&body["tools"]) <= 2, "{body}");
}

#[tokio::test]
async fn two_hundred_turns_on_anthropic_messages() {
    check(Wire::Anthropic).await;
}

#[tokio::test]
async fn two_hundred_turns_on_openai_completions() {
    check(Wire::Completions).await;
}

#[tokio::test]
async fn two_hundred_turns_on_openai_responses() {
    check(Wire::Responses).await;
}

#[tokio::test]
async fn two_hundred_turns_on_google_generative_ai() {
    check(Wire::Google).await;
}
