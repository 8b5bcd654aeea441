//! Two hundred turns on each wire: every request repeats the one before it byte for byte, so that providers' caches hold.

use std::collections::{BTreeMap, BTreeSet};

use omp_testkit::{RecordedRequest, Script, Turn, Wire, prefix};
use serde_json::{Value, json};

use crate::harness::{Scene, outline};
use crate::rpc::Client;

const TURNS: usize = 200;

/// Reads, commands and edits in turn, now and then two at once, and text at the end.
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

/// One marker after the system prompt, one at the end of the conversation, and four at most.
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

const ROUNDS: usize = 20;
const TURNS_A_ROUND: usize = 10;

/// A project that brings along everything that is told or loaded, with two models to choose from.
async fn lively_scene(wire: Wire) -> Scene {
    let script = Script::generate(ROUNDS * TURNS_A_ROUND, |number| {
        let turn = Turn::text(format!("Step {number}."));
        match number % TURNS_A_ROUND {
            9 => Turn::text("Done with this."),
            0 => turn.and_call("read", json!({"path": "skill://release"})),
            1 => turn.and_call("read", json!({"path": "rule://sql"})),
            2 => turn.thinking("hm").and_call("write", json!({"path": format!("made-{number}.txt"), "content": "x"})),
            3 => turn.and_call("read", json!({"path": "sub/deep/code.txt"})),
            _ => turn.and_call("read", json!({"path": "a.txt"})),
        }
    });
    let scene = Scene::new(wire, script).await;
    let models = omp_testkit::MockProvider::new(&scene.server.base_url(), wire.api()).reasoning().models_yml();
    let first = models.find("      - id:").unwrap();
    let second = models[first..].replace("mock-model", "other-model");
    scene.workspace.write_models_yml(&format!("{models}{second}")).unwrap();
    let skill = "---\nname: release\ndescription: Cut a release\n---\nTag it.\n";
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".omp/skills/release/SKILL.md", skill),
        (".omp/rules/sql.md", "---\ndescription: How queries are written\n---\nUse joins.\n"),
        (".omp/rules/all.md", "---\nalwaysApply: true\n---\nBe exact.\n"),
        ("AGENTS.md", "Use tabs.\n"),
        ("sub/deep/AGENTS.md", "Here use spaces.\n"),
        ("sub/deep/code.txt", "code\n"),
    ] {
        scene.workspace.write(path, text).unwrap();
    }
    scene
}

/// Something else each round that must not reach what was sent already.
async fn meanwhile(scene: &Scene, client: &mut Client, round: usize) {
    let change = |path: &str, text: String| scene.workspace.write(path, text).unwrap();
    match round % 5 {
        0 => drop(change(".git/HEAD", format!("ref: refs/heads/branch-{round}\n"))),
        1 => {
            let level = if round.is_multiple_of(2) { "high" } else { "low" };
            client.ask(json!({"type": "set_thinking_level", "level": level})).await;
        }
        2 => {
            let model = if round % 10 == 2 { "other-model" } else { "mock-model" };
            let told = client.ask(json!({"type": "set_model", "provider": "mock", "modelId": model})).await;
            assert_eq!(told["success"], true, "{told}");
        }
        3 => drop(client.ask(json!({"type": "set_session_name", "name": format!("Round {round}")})).await),
        _ => {
            change(&format!(".omp/rules/new-{round}.md"), "---\ndescription: New\n---\nNew.\n".to_owned());
            change("AGENTS.md", format!("Use {round} tabs.\n"));
        }
    }
}

/// How hard to think is a parameter of a request and no part of what the model reads, so it is made the same everywhere.
fn without_level(body: &[u8]) -> String {
    let mut text = String::from_utf8(body.to_vec()).unwrap();
    for (low, high) in
        [(r#""budget_tokens":2048"#, r#""budget_tokens":16384"#), (r#""effort":"low""#, r#""effort":"high""#)]
    {
        text = text.replace(low, high);
    }
    text
}

/// What was sent to each model, in the order in which it was sent.
fn by_model(requests: &[RecordedRequest]) -> BTreeMap<String, Vec<String>> {
    let mut grouped: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in requests {
        let model = request.json().unwrap()["model"].as_str().unwrap().to_owned();
        grouped.entry(model).or_default().push(without_level(&request.body));
    }
    grouped
}

async fn check_lively(wire: Wire) {
    let scene = lively_scene(wire).await;
    let mut client = Client::start(&scene, &[]).await;
    for round in 0..ROUNDS {
        client.prompt(&format!("do part {round}")).await;
        meanwhile(&scene, &mut client, round).await;
    }
    client.finish().await;
    let requests = scene.server.model_requests();
    assert_eq!(requests.len(), ROUNDS * TURNS_A_ROUND);
    let grouped = by_model(&requests);
    assert_eq!(grouped.keys().collect::<Vec<_>>(), ["mock-model", "other-model"]);
    for (model, bodies) in &grouped {
        assert!(bodies.len() >= 50, "{model}: {}", bodies.len());
        // Also over the time in which the other model answered.
        let bodies: Vec<(Wire, &[u8])> = bodies.iter().map(|body| (wire, body.as_bytes())).collect();
        prefix::check_bodies(&bodies).unwrap();
    }
    let first = requests[0].json().unwrap().to_string();
    assert!(first.contains("Git: main") && first.contains("- release: Cut a release"), "{first}");
    assert!(!requests.last().unwrap().json().unwrap().to_string().contains("branch-"), "told once, as it was");
}

#[tokio::test]
async fn nothing_that_happens_meanwhile_changes_what_was_sent_on_anthropic_messages() {
    check_lively(Wire::Anthropic).await;
}

#[tokio::test]
async fn nothing_that_happens_meanwhile_changes_what_was_sent_on_openai_responses() {
    check_lively(Wire::Responses).await;
}
