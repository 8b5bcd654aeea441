//! Fifty constraints of the user survive three hundred turns and five compactions by a model that remembers nothing, and a
//! model can read back what was removed: all through the binary.

use omp_testkit::{MockProvider, RecordedRequest, Script, Server, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{QUICK_RETRIES, Scene};
use crate::rpc::Client;

const TURNS: usize = 300;
const CONSTRAINTS: usize = 50;
const COMPACTIONS: usize = 5;
/// Turns between two constraints, and between two compactions.
const EACH: usize = TURNS / CONSTRAINTS;
const PART: usize = TURNS / COMPACTIONS;
const FORGETFUL: &str = "## State\nNothing is remembered.";
/// Requests per compaction: the earlier turns, the beginning of the split turn, and the short form.
const SUMMARY_REQUESTS: usize = 3;

/// Specific enough that no model guesses it.
fn constraint(number: usize) -> String {
    format!(
        "Constraint {number}: never touch `gen_{}/*.rs`;\n  keep ≤ {} ms — “exactly”, <files> & \\n included.",
        number * 31,
        number * 17 + 3
    )
}

fn prompt(turn: usize) -> String {
    if turn.is_multiple_of(EACH) { constraint(turn / EACH) } else { format!("Now do step {turn} of the work.") }
}

fn secret(turn: usize) -> String {
    format!("secret {turn} is {}", turn * 7919 + 13)
}

/// Reads a file in every turn.
fn script() -> Script {
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        turns.push(Turn::call("read", json!({"path": format!("part{turn}.txt")})));
        turns.push(Turn::text(format!("Step {turn} is done.")));
        if (turn + 1).is_multiple_of(PART) {
            turns.extend((0..SUMMARY_REQUESTS).map(|_| Turn::text(FORGETFUL)));
        }
    }
    Script::new(turns)
}

/// Counts how often a text was sent.
fn count(request: &RecordedRequest, text: &str) -> usize {
    let written = Value::from(text).to_string();
    String::from_utf8_lossy(&request.body).matches(written.trim_matches('"')).count()
}

#[track_caller]
fn check_constraints(request: &RecordedRequest, said: usize, compactions: usize) {
    for planted in 0..said {
        assert_eq!(count(request, &constraint(planted)), 1, "{planted} after {compactions} compactions");
    }
}

/// Returns the addresses that the summary gives for removed messages, oldest first.
fn evicted(request: &RecordedRequest) -> Vec<String> {
    let mut texts = Vec::new();
    collect(&request.json().unwrap()["messages"], &mut texts);
    let summary = texts.iter().find(|text| text.contains("<evicted>")).unwrap();
    let listed = summary.split_once("<evicted>").unwrap().1.split_once("</evicted>").unwrap().0;
    listed.split_whitespace().filter(|word| word.starts_with("history://")).map(str::to_owned).collect()
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
        _ => {}
    }
}

#[tokio::test]
async fn fifty_constraints_survive_five_compactions_and_what_was_taken_out_is_read_back() {
    let scene = Scene::new(Wire::Completions, script()).await;
    let settings = format!("{QUICK_RETRIES}compaction: {{ keepRecentTokens: 1 }}\n");
    scene.workspace.write_config_yml(&settings).unwrap();
    for turn in 0..TURNS {
        let text = format!("{}\n{}", secret(turn), "noise of a build\n".repeat(8));
        scene.workspace.write(&format!("part{turn}.txt"), text).unwrap();
    }
    let mut client = Client::start(&scene, &[]).await;
    for turn in 0..TURNS {
        client.prompt(&prompt(turn)).await;
        if turn > 0 && turn.is_multiple_of(PART) {
            check_constraints(&scene.last_request(), turn / EACH + 1, turn / PART);
        }
        if (turn + 1).is_multiple_of(PART) {
            let done = client.ask(json!({"type": "compact"})).await;
            assert_eq!(done["success"], true, "{done}");
        }
    }
    client.finish().await;
    assert_eq!(scene.server.model_requests().len(), 2 * TURNS + COMPACTIONS * SUMMARY_REQUESTS);
    let file = std::fs::read_to_string(scene.session_file()).unwrap();
    assert_eq!(file.matches(r#""type":"compaction""#).count(), COMPACTIONS);

    // Resumed by another process: the model reads the addresses in the summary.
    let told = resumed(&scene, Script::from(Turn::text("Here."))).await.remove(0);
    check_constraints(&told, CONSTRAINTS, COMPACTIONS);
    assert_eq!(count(&told, &secret(0)), 0, "old output is gone");
    let urls = evicted(&told);
    assert_eq!(urls.len(), COMPACTIONS, "{urls:?}");
    let reads = urls.iter().map(|url| Turn::call("read", json!({ "path": url })));
    let requests = resumed(&scene, Script::new(reads.chain([Turn::text("Found.")]))).await;
    let last = requests.last().unwrap();
    for (part, url) in urls.iter().enumerate() {
        let hidden = secret(part * PART);
        assert_eq!((count(&requests[0], &hidden), count(last, &hidden)), (0, 1), "{hidden} of {url}");
    }
    check_constraints(&requests[0], CONSTRAINTS, COMPACTIONS);
}

/// Resumes the session with another script.
async fn resumed(scene: &Scene, turns: Script) -> Vec<RecordedRequest> {
    let server = Server::start(turns).await.unwrap();
    let provider = MockProvider::new(&server.base_url(), Wire::Completions.api()).reasoning();
    scene.workspace.write_provider(&provider).unwrap();
    scene.omp(&["-c", "-p", "What were the secrets?"]).run().await.exits(0);
    server.model_requests()
}
