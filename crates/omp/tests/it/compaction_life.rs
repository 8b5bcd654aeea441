//! Compaction through the binary without a model's summary: by the provider, by an endpoint, by fixed rules.

use omp_testkit::{Fault, FaultKind, MockProvider, Script, Server, TokenCounts, Turn, Wire, prefix};
use serde_json::{Value, json};

use crate::harness::{Omp, QUICK_RETRIES, Scene};
use crate::rpc::Client;

/// About a thousand tokens.
fn much(what: &str) -> String {
    format!("{what} {}", "word ".repeat(940))
}

fn talk() -> Vec<Turn> {
    (0..4).map(|number| Turn::text(much(&format!("answer {number}")))).collect()
}

fn set(scene: &Scene, compaction: &str) {
    let yml = format!("{QUICK_RETRIES}compaction: {{ keepRecentTokens: 1010{compaction} }}\n");
    scene.workspace.write_config_yml(&yml).unwrap();
}

/// Sends prompts, compacts and returns the result.
async fn compacted(scene: &Scene) -> Value {
    let mut client = Client::start(scene, &[]).await;
    for number in 0..4 {
        client.send(&json!({"type": "prompt", "message": format!("prompt {number}")})).await;
        client.until("agent_end").await;
    }
    let done = client.ask(json!({"id": "1", "type": "compact"})).await;
    client.send(&json!({"type": "prompt", "message": "go on"})).await;
    client.until("agent_end").await;
    client.finish().await;
    done
}

/// A provider that supports compaction, with a second model.
async fn native(answer: Option<Value>) -> Scene {
    let mut turns = talk();
    turns.extend(["THE SUMMARY", "the short one", "after", "resumed", "by another"].map(Turn::text));
    let mut script = Script::new(turns);
    script.compact = answer;
    let scene = Scene::new(Wire::Responses, script).await;
    set(&scene, "");
    let provider = MockProvider::new(&scene.server.base_url(), Wire::Responses.api());
    let offer = "compat: { remoteCompaction: { enabled: true } }";
    let other = "      - id: other\n        contextWindow: 200000\n        maxTokens: 32000";
    let yml = format!("{}        {offer}\n{other}\n", provider.models_yml());
    scene.workspace.write_models_yml(&yml).unwrap();
    scene
}

fn native_requests(scene: &Scene) -> Vec<Value> {
    let requests = scene.server.requests().into_iter().filter(|request| request.path.ends_with("/responses/compact"));
    requests.map(|request| request.json().unwrap()).collect()
}

#[tokio::test]
async fn what_the_provider_shortened_itself_is_sent_again_until_another_model_goes_on() {
    let sealed = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "SEALED"});
    let usage = json!({"input_tokens": 4000, "output_tokens": 90});
    let scene = native(Some(json!({"object": "response.compaction", "output": [sealed], "usage": usage}))).await;
    let done = compacted(&scene).await;
    assert_eq!(done["data"]["preserveData"]["openaiRemoteCompaction"]["provider"], "mock", "{done}");
    assert!(done["data"]["summary"].as_str().unwrap().contains("THE SUMMARY"), "{done}");
    let asked = native_requests(&scene);
    assert_eq!(asked.len(), 1);
    let told = asked[0]["input"].to_string();
    assert!(told.contains("answer 0 word") && !told.contains("answer 3 word"), "{told}");
    assert!(
        asked[0]["instructions"].as_str().is_some_and(|text| !text.is_empty()) && asked[0]["model"] == "mock-model"
    );

    scene.omp(&["-c", "-p", "more"]).run().await.exits(0).prints("resumed\n");
    let requests = scene.server.model_requests();
    let resumed = requests.last().unwrap().json().unwrap()["input"].clone();
    assert_eq!(resumed[1], sealed, "{resumed}");
    // The user's messages stay verbatim, whatever the provider returned.
    assert!(resumed[2].to_string().contains("prompt 0") && !resumed.to_string().contains("THE SUMMARY"), "{resumed}");
    // RPC offers a tool that print mode does not, so only the conversation is compared.
    let before = requests[requests.len() - 2].json().unwrap()["input"].as_array().unwrap().clone();
    assert_eq!(resumed.as_array().unwrap()[1..before.len()], before[1..]);

    let project = scene.workspace.project().display().to_string();
    let args = ["--model", "mock/other", "--cwd", &project, "-c", "-p", "and you?"];
    Omp::bare(&scene.workspace).args(args).run().await.exits(0).prints("by another\n");
    let input = scene.last_request().json().unwrap()["input"].to_string();
    assert!(input.contains("THE SUMMARY") && !input.contains("SEALED"), "{input}");
}

#[tokio::test]
async fn a_provider_that_cannot_shorten_it_leaves_it_to_a_model() {
    for answer in [None, Some(json!({"output": [{"type": "message", "role": "assistant", "content": []}]}))] {
        let scene = native(answer).await;
        let done = compacted(&scene).await;
        assert!(done["data"]["summary"].as_str().unwrap().contains("THE SUMMARY"), "{done}");
        assert_eq!((native_requests(&scene).len(), &done["data"]["preserveData"]), (1, &Value::Null));
        let input = scene.last_request().json().unwrap()["input"].to_string();
        assert!(input.contains("THE SUMMARY"), "{input}");
    }
}

#[tokio::test]
async fn who_wants_nothing_remote_gets_nothing_remote() {
    let scene = native(Some(json!({"output": [{"type": "compaction", "encrypted_content": "x"}]}))).await;
    set(&scene, ", remoteEnabled: false");
    assert!(compacted(&scene).await["data"]["summary"].as_str().unwrap().contains("THE SUMMARY"));
    assert_eq!(native_requests(&scene).len(), 0);
}

#[tokio::test]
async fn an_endpoint_makes_the_summary_and_a_model_does_where_it_talks_nonsense() {
    for (answer, expect) in [
        (json!({"summary": "FROM AFAR"}), "FROM AFAR"),
        (json!({"summary": 7}), "THE SUMMARY"),
        (json!(["nonsense"]), "THE SUMMARY"),
    ] {
        let far = Server::start(Script::new([]).compact(answer)).await.unwrap();
        let mut turns = talk();
        if expect == "THE SUMMARY" {
            turns.extend(["THE SUMMARY", "the short one"].map(Turn::text));
        }
        turns.push(Turn::text("after"));
        let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
        set(&scene, &format!(", remoteEndpoint: \"{}/responses/compact\"", far.base_url()));
        let done = compacted(&scene).await;
        assert!(done["data"]["summary"].as_str().unwrap().contains(expect), "{done}");
        let asked = far.requests()[0].json().unwrap();
        assert!(asked["systemPrompt"].is_string(), "{asked}");
        assert!(asked["prompt"].as_str().unwrap().contains("answer 0 word"), "{asked}");
        assert!(scene.last_request().json().unwrap()["messages"].to_string().contains(expect));
    }
}

#[tokio::test]
async fn what_was_shaken_off_stays_off_after_a_resume() {
    let counted = TokenCounts { input: 60_000, output: 10, ..TokenCounts::default() };
    let turns = [
        Turn::call("bash", json!({"command": "seq 1 4000"})),
        Turn::text("counted").usage(counted),
        Turn::text("two"),
        Turn::text("three"),
    ];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    set(&scene, ", strategy: shake, thresholdTokens: 50000");
    let ran = scene.omp(&["-p", "count up", "next"]).run().await.exits(0);
    assert!(ran.stderr.contains("compacting the conversation (threshold)"), "{ran}");
    scene.omp(&["-c", "-p", "and again"]).run().await.exits(0).prints("three\n");
    let requests = scene.server.model_requests();
    assert_eq!(requests.len(), 4, "no model was asked for a summary");
    let said = |at: usize| requests[at].json().unwrap()["messages"].to_string();
    assert!(said(1).contains("\\n2000\\n") && !said(2).contains("\\n2000\\n"), "{}", said(2));
    prefix::assert_prefix_stable(&requests[2..]);
}

#[tokio::test]
async fn plain_mode_has_lines_for_it() {
    let mut turns = talk();
    turns.push(Turn::text("THE SUMMARY").fault(Fault { times: Some(1), ..Fault::new(FaultKind::ContextOverflow) }));
    turns.extend(["how the turn began", "the short one", "made it"].map(Turn::text));
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    set(&scene, "");
    let input = "prompt 0\nprompt 1\nprompt 2\nprompt 3\ngo on\n";
    let ran = scene.omp(&["--plain"]).input(input).run().await.exits(0);
    for line in ["Compacting the conversation.", "Compacted: about ", "omp: made it"] {
        assert!(ran.stdout.lines().any(|told| told.starts_with(line)), "{line} is missing in {ran}");
    }
}
