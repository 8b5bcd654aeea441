//! The cost of a run as the binary reports it, and the budgets that stop it.

use omp_testkit::{TokenCounts, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::Scene;
use crate::rpc::Client;

/// A turn with a call and the given token counts.
fn call(input: u64, cache_read: u64) -> Turn {
    Turn::text("Reading.").and_call("read", json!({"path": "a.txt"})).usage(counts(input, cache_read))
}

fn counts(input: u64, cache_read: u64) -> TokenCounts {
    TokenCounts { input, cache_read, output: 50, ..TokenCounts::default() }
}

#[tokio::test]
async fn a_print_run_over_its_tokens_stops_cleanly_and_says_so() {
    let scene = Scene::new(Wire::Completions, [call(30_000, 0), call(31_000, 0), Turn::text("Done.")]).await;
    let ran = scene.omp(&["-p", "read it", "--max-tokens", "70k"]).run().await.exits(3);
    let ran = ran.complains(&["token budget of this run reached: 61,100 of 70,000 tokens used", "hint: "]);
    assert_eq!(ran.stdout, "Reading.\n", "what was said last");
    assert_eq!(scene.server.model_requests().len(), 2);
    // Nothing is lost: the same session continues with a larger budget.
    scene.omp(&["-c", "-p", "go on", "--max-tokens", "1M"]).run().await.exits(0).prints("Done.\n");
}

#[tokio::test]
async fn a_request_that_cannot_fit_is_never_sent() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Done.")]).await;
    let few = scene.omp(&["-p", "hello", "--max-tokens", "100"]).run().await.exits(3);
    few.complains(&["0 of 100 tokens used, and the next request needs about"]);
    assert!(scene.server.model_requests().is_empty());
    scene.omp(&["-p", "hello", "--max-tokens", "100k"]).run().await.exits(0).prints("Done.\n");
}

#[tokio::test]
async fn settings_hold_for_a_session_and_a_project_cannot_raise_them() {
    let scene = Scene::new(Wire::Completions, [call(30_000, 0), Turn::text("Done.")]).await;
    scene.workspace.write_config_yml("budget: { maxTokens: 31000 }\n").unwrap();
    scene.workspace.write(".omp/config.yml", "budget:\n  maxTokens: 9000000\n").unwrap();
    let ran = scene.omp(&["-p", "read it"]).run().await.exits(3);
    ran.complains(&["token budget of this session reached: 30,050 of 31,000 tokens used", "/budget"]);
    let again = scene.omp(&["-c", "-p", "go on"]).run().await.exits(3);
    again.complains(&["30,050 of 31,000"]);
    assert_eq!(scene.server.model_requests().len(), 1, "what earlier runs took counts");
    let raised = scene.omp(&["-c", "-p", "/budget tokens 1M", "go on"]).run().await.exits(0);
    assert!(raised.stdout.ends_with("Done.\n"), "{raised}");
}

#[tokio::test]
async fn bad_budgets_are_refused_before_anything_is_sent() {
    let scene = Scene::new(Wire::Completions, [Turn::text("Done.")]).await;
    for (flag, value, word) in [
        ("--max-tokens", "many", "200k"),
        ("--max-tokens", "0", "200k"),
        ("--max-cost", "-1", "0.50"),
        ("--max-cost", "NaN", "0.50"),
    ] {
        let flag_value = format!("{flag}={value}");
        scene.omp(&["-p", "hello", &flag_value]).run().await.exits(2).complains(&[word]);
    }
    assert!(scene.server.model_requests().is_empty());
}

#[tokio::test]
async fn a_model_without_prices_cannot_be_held_to_a_cost_and_that_is_said() {
    let scene = Scene::new(Wire::Completions, [Turn::text("Done.")]).await;
    let ran = scene.omp(&["-p", "hello", "--max-cost", "0.01"]).run().await.exits(0);
    assert!(ran.stderr.contains("has no prices, so it has no effect"), "{}", ran.stderr);
}

#[tokio::test]
async fn json_mode_tells_what_each_answer_took() {
    let scene = Scene::new(Wire::Completions, [call(9000, 0), Turn::text("Done.").usage(counts(100, 9000))]).await;
    let ran = scene.omp(&["--mode", "json", "-p", "read it"]).run().await.exits(0);
    let lines = ran.json_lines();
    let spent: Vec<&Value> = lines.iter().filter(|line| line["type"] == "spent").collect();
    assert_eq!(spent.len(), 2);
    assert_eq!(spent[1]["message"]["cacheRead"], 9000);
    assert_eq!((&spent[1]["turn"]["totalTokens"], &spent[1]["session"]["totalTokens"]), (&json!(18200), &json!(18200)));
    assert_eq!((&spent[1]["estimate"]["cached"], &spent[1]["cached"]), (&json!(9000), &json!(9000)));
    let parts = &spent[1]["estimate"];
    let sum: u64 = ["system", "tools", "user", "assistant", "toolResults", "custom"]
        .iter()
        .map(|it| parts[it].as_u64().unwrap())
        .sum();
    assert_eq!(parts["total"], sum);
    assert!(spent[1].get("breakCause").is_none(), "{}", spent[1]);
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    let at = kinds.iter().position(|kind| *kind == "spent").unwrap();
    assert_eq!(kinds[at - 1], "message_end", "{kinds:?}");
}

#[tokio::test]
async fn a_lost_cache_is_named_in_json_and_warned_of_in_print() {
    let turns = || [call(9000, 0), call(100, 9000), Turn::text("Done.").usage(counts(9300, 0))];
    let scene = Scene::new(Wire::Completions, turns()).await;
    let ran = scene.omp(&["-p", "read it"]).run().await.exits(0).prints("Done.\n");
    let expect = "warning: prompt cache miss (unexpected): the provider no longer had it; about 9,100 tokens";
    assert!(ran.stderr.contains(expect), "{}", ran.stderr);
    let scene = Scene::new(Wire::Completions, turns()).await;
    let ran = scene.omp(&["--mode", "json", "-p", "read it", "/usage"]).run().await.exits(0);
    let lines = ran.json_lines();
    let broken = lines.iter().rfind(|line| line["type"] == "spent").unwrap()["breakCause"].clone();
    assert_eq!(
        broken,
        json!({"cause": "eviction", "deliberate": false, "unexpected": true, "tokens": 9100, "cost": 0.0})
    );
    let usage = lines.iter().rfind(|line| line["type"] == "command_reply").unwrap()["text"].as_str().unwrap();
    for part in [
        "Usage\nModel            Answers   Input  Cached  Written  Output     Cost\nmock/mock-model        3  27,400     32%",
        "Turns\nTurn  Answers   Input  Cached  Written  Output     Cost\n1           3  27,400     32%        0     150",
        "the provider no longer had it, unexpected: once, about 9,100 tokens sent again uncached",
    ] {
        assert!(usage.contains(part), "{part}\n{usage}");
    }
}

#[tokio::test]
async fn rpc_warns_and_goes_on_when_the_budget_is_raised() {
    let scene = Scene::new(Wire::Completions, [call(30_000, 0), Turn::text("Done.")]).await;
    let mut client = Client::start(&scene, &["--max-tokens", "40000"]).await;
    client.send(&json!({"type": "prompt", "message": "read it"})).await;
    assert_eq!(client.until("spent").await["message"]["totalTokens"], 30_050);
    let notice = client.until("notice").await;
    assert_eq!(notice["level"], "warning");
    let text = notice["message"].as_str().unwrap();
    assert!(text.starts_with("token budget of this run reached: 30,050 of 40,000 tokens used"), "{text}");
    client.send(&json!({"type": "prompt", "message": "/budget off"})).await;
    client.send(&json!({"type": "prompt", "message": "go on"})).await;
    client.until("spent").await;
    assert_eq!(scene.server.model_requests().len(), 2);
}
