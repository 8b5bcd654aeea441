//! Slash commands that change requests, and those about omp itself.

use omp_testkit::{RecordedRequest, Turn, Wire, prefix};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene, outline};
use crate::rpc::Client;
use crate::slash_people::unpacked;

fn bodies(scene: &Scene) -> Vec<Value> {
    scene.server.model_requests().iter().map(|request| request.json().unwrap()).collect()
}

#[tokio::test]
async fn a_side_question_is_answered_from_the_conversation_and_leaves_no_trace() {
    for wire in [Wire::Completions, Wire::Anthropic, Wire::Responses, Wire::Google] {
        let turns = [Turn::text("One."), Turn::text("On the side."), Turn::text("Two.")];
        let scene = Scene::new(wire, turns).await;
        let run = scene.omp(&["-p", "hello", "/btw what did I say?", "go on"]).run().await;
        let shown = run.exits(0).stdout;
        assert!(shown.contains("On the side."), "{wire:?}: {shown}");
        let requests = scene.server.model_requests();
        let (before, aside, after) = (requests[0].clone(), requests[1].clone(), requests[2].clone());
        prefix::assert_prefix_stable(&[before.clone(), aside.clone()]);
        prefix::assert_prefix_stable(&[before, after.clone()]);
        let told = |request: &RecordedRequest| request.json().unwrap().to_string();
        assert!(told(&aside).contains("what did I say?") && !told(&after).contains("what did I say?"), "{wire:?}");
        let outline = outline(&scene.messages());
        assert_eq!(outline, ["user: hello", "assistant: One.", "user: go on", "assistant: Two."], "{wire:?}");
    }
}

#[tokio::test]
async fn a_side_question_is_answered_while_the_work_goes_on() {
    let turns = [
        Turn::call("bash", json!({"command": "until [ -e go ]; do sleep 0.05; done"})),
        Turn::text("Soon."),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Completions, turns).await;
    let mut client = Client::start(&scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "wait for it"})).await;
    client.until("tool_execution_start").await;
    client.send(&json!({"type": "prompt", "message": "/btw how long?"})).await;
    assert_eq!(client.until("command_output").await["text"], "Soon.");
    let asked = scene.last_request().json().unwrap().to_string();
    assert!(asked.contains("wait for it") && !asked.contains("tool_calls"), "{asked}");
    scene.workspace.write("go", "").unwrap();
    client.until("agent_end").await;
    // Usage that is not in the file is counted too.
    let stats = client.ask(json!({"type": "get_session_stats"})).await["data"].take();
    client.send(&json!({"type": "prompt", "message": "/usage"})).await;
    let usage = client.until("command_output").await["text"].as_str().unwrap().to_owned();
    let row = usage.lines().find(|row| row.starts_with("mock/mock-model")).unwrap_or_default();
    let figures: Vec<String> = row.split_whitespace().map(|figure| figure.replace(',', "")).collect();
    let (input, output) = (stats["tokens"]["input"].to_string(), stats["tokens"]["output"].to_string());
    assert_eq!(figures[1..6], ["3", &input, "0%", "0", &output], "{usage}");
    assert_eq!(stats["assistantMessages"], 2);
    assert_eq!(client.finish().await, Some(0));
    assert_eq!(outline(&scene.messages()).len(), 4);
}

#[tokio::test]
async fn a_loop_ends_when_it_is_aborted() {
    let turns = [Turn::text("One."), Turn::call("bash", json!({"command": "sleep 60"}))];
    let scene = Scene::new(Wire::Completions, turns).await;
    let mut client = Client::start(&scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "/loop go"})).await;
    client.until("tool_execution_start").await;
    client.send(&json!({"type": "abort"})).await;
    client.until("agent_end").await;
    assert_eq!(client.finish().await, Some(0));
    let said = outline(&scene.messages());
    assert_eq!(said.iter().filter(|line| *line == "user: go").count(), 2, "{said:?}");
}

#[tokio::test]
async fn a_side_question_runs_no_tool_and_needs_words() {
    let turns = [Turn::call("bash", json!({"command": "touch ran.txt"}))];
    let scene = Scene::new(Wire::Completions, turns).await;
    let told = scene.omp(&["-p", "/btw make a file"]).run().await.exits(2).stderr;
    assert!(told.contains("tried to use tools") && told.contains("hint:"), "{told}");
    assert!(!scene.workspace.path("ran.txt").exists());
    let told = scene.omp(&["-p", "/btw"]).run().await.exits(2).stderr;
    assert!(told.contains("no question given"), "{told}");
}

#[tokio::test]
async fn a_tool_is_forced_in_the_first_answer_alone() {
    for (wire, field, expect) in [
        (Wire::Completions, "tool_choice", json!({"type": "function", "function": {"name": "read"}})),
        (Wire::Responses, "tool_choice", json!({"type": "function", "name": "read"})),
        (Wire::Anthropic, "tool_choice", json!({"type": "tool", "name": "read"})),
        (
            Wire::Google,
            "toolConfig",
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}}),
        ),
    ] {
        let turns = [Turn::call("read", json!({"path": "a.txt"})), Turn::text("Read."), Turn::text("Later.")];
        let scene = Scene::new(wire, turns).await;
        scene.omp(&["-p", "/force read look at a.txt", "and now"]).run().await.exits(0);
        let bodies = bodies(&scene);
        assert_eq!(bodies[0][field], expect, "{wire:?}");
        assert!(bodies[1].get(field).is_none() && bodies[2].get(field).is_none(), "{wire:?}");
        assert!(bodies[0].get("thinking").is_none(), "{wire:?}: a forced call cannot be thought about");
        assert_eq!(outline(&scene.messages())[0], "user: look at a.txt");
    }
}

#[tokio::test]
async fn a_tool_that_is_not_there_cannot_be_forced() {
    let scene = Scene::new(Wire::Completions, [Turn::text("x")]).await;
    for (typed, complaint) in [("/force", "no tool given"), ("/force rad look", "unknown tool `rad`")] {
        let told = scene.omp(&["-p", typed]).run().await.exits(2).stderr;
        assert!(told.contains(complaint) && told.contains("hint:"), "{typed}: {told}");
    }
    assert!(scene.server.model_requests().is_empty());
    let shown = scene.omp(&["-p", "/force read"]).run().await.exits(0).stdout;
    assert_eq!(shown, "the next answer must call `read`\n");
}

#[tokio::test]
async fn a_prompt_is_said_again_until_it_was_said_often_enough() {
    let read = Turn::call("read", json!({"path": "a.txt"}));
    let turns = [Turn::text("One."), read, Turn::text("Two."), Turn::text("Three."), Turn::text("Last.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    let ran = scene.omp(&["-p", "/loop 3 go on", "last"]).run().await.exits(0);
    ran.complains(&["this prompt is repeated up to 3 times; press esc"]);
    let said = outline(&scene.messages());
    assert_eq!(said.iter().filter(|line| *line == "user: go on").count(), 3, "{said:?}");
    assert_eq!(said.iter().filter(|line| *line == "user: last").count(), 1, "{said:?}");
    prefix::assert_prefix_stable(&scene.server.model_requests());
    let scene = Scene::new(Wire::Completions, ["One.", "Two.", "Three."].map(Turn::text)).await;
    scene.omp(&["-p", "/loop 2", "this one", "and that"]).run().await.exits(0);
    let said = outline(&scene.messages());
    assert_eq!(said.iter().filter(|line| *line == "user: this one").count(), 2, "{said:?}");
    assert_eq!(said.iter().filter(|line| *line == "user: and that").count(), 1, "{said:?}");
    let told = scene.omp(&["-p", "/loop 5d x"]).run().await.exits(2).stderr;
    assert!(told.contains("`5d`") && told.contains("hint: usage: /loop"), "{told}");
}

#[tokio::test]
async fn a_tier_is_asked_of_providers_that_know_tiers() {
    let scene = Scene::new(Wire::Completions, [(); 11].map(|()| Turn::text("One."))).await;
    let url = format!("{}/v1", scene.server.base_url());
    let shown = scene.omp(&["-p", "/fast on", "hi"]).run().await.exits(0).stdout;
    assert!(shown.contains("mock/mock-model has no service tiers"), "{shown}");
    assert!(scene.last_request().json().unwrap().get("service_tier").is_none());
    for api in ["openai-completions", "openai-responses"] {
        scene
            .workspace
            .write_models_yml(&format!(
                "providers:\n  openai:\n    baseUrl: {url}\n    apiKey: mock-key\n    api: {api}\n    models:\n      - id: m\n"
            ))
            .unwrap();
        let omp = |args: &[&str]| Omp::bare(&scene.workspace).args(["--model", "openai/m"]).args(args);
        let tier = || scene.last_request().json().unwrap().get("service_tier").cloned();
        omp(&["-p", "hi"]).run().await.exits(0);
        assert_eq!(tier(), None, "{api}");
        let shown = omp(&["-p", "/fast on", "hi"]).run().await.exits(0).stdout;
        assert!(shown.starts_with("fast mode is on"), "{shown}");
        assert_eq!(tier(), Some(json!("priority")), "{api}");
        omp(&["--service-tier", "flex", "-p", "hi"]).run().await.exits(0);
        assert_eq!(tier(), Some(json!("flex")), "{api}");
        omp(&["--service-tier", "flex", "-p", "/fast off", "hi"]).run().await.exits(0);
        assert_eq!(tier(), Some(json!("flex")), "{api}: off takes nothing but fast mode away");
        scene.workspace.write_config_yml("serviceTier: priority\n").unwrap();
        omp(&["-p", "/fast off", "hi"]).run().await.exits(0);
        assert_eq!(tier(), None, "{api}");
        scene.workspace.write_config_yml("").unwrap();
    }
    let wrong = Omp::bare(&scene.workspace).args(["--model", "openai/m", "--service-tier", "rocket", "-p", "hi"]);
    let told = wrong.run().await.exits(2).stderr;
    assert!(told.contains("`rocket`") && told.contains("priority"), "{told}");
}

#[tokio::test]
async fn what_is_new_and_what_it_took() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    let shown = scene.omp(&["-p", "/usage", "hi", "/usage show", "/changelog"]).run().await.exits(0).stdout;
    assert!(shown.starts_with("No model has answered yet.\n"), "{shown}");
    assert!(shown.contains("\nmock/mock-model        1  "), "{shown}");
    assert!(shown.contains("## Unreleased") && shown.contains("more; `/changelog full` shows all"), "{shown}");
    for typed in ["/usage reset", "/changelog all", "/fast please", "/debug now"] {
        scene.omp(&["-p", typed]).run().await.exits(2);
    }
}

#[tokio::test]
async fn a_report_holds_no_secret_and_is_private() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    scene.workspace.write_config_yml("retry: { baseDelayMs: 1 }\nmine: { token: sesame-open-1 }\n").unwrap();
    let omp = scene
        .omp(&["-p", "hi", "/debug report"])
        .env("OPENAI_API_KEY", "sk-very-secret-1")
        .env("TERM", "sk-very-secret-1");
    let shown = omp.run().await.exits(0).stdout;
    let file = shown.lines().find_map(|line| line.strip_prefix("report written to ")).expect("says where");
    let files = unpacked(file);
    let (_, report) = files.iter().find(|(name, _)| name == "report.txt").unwrap();
    for told in ["omp ", "model: mock/mock-model", "mine.token (user)", "retry.baseDelayMs (user)", "TERM=[redacted]"] {
        assert!(report.contains(told), "{told}: {report}");
    }
    assert!(!report.contains("sesame") && !report.contains("very-secret"), "{report}");
    assert!(!report.contains(&scene.workspace.home().display().to_string()), "{report}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn keys_are_never_typed_where_others_see_them_and_are_taken_away_again() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    let ask = async |typed: &str| scene.omp(&["-p", typed]).run().await;
    let told = ask("/login openai").await.exits(0).stdout;
    assert!(told.contains("omp setup") && told.contains("OPENAI_API_KEY"), "{told}");
    assert!(ask("/login opnai").await.exits(2).stderr.contains("unknown provider `opnai`"));
    let file = scene.workspace.agent_dir().join(".env");
    std::fs::write(&file, "# mine\nOPENAI_API_KEY='sk-1'\nOTHER=2\n").unwrap();
    assert!(ask("/logout").await.exits(0).stdout.contains("has keys for: openai"));
    assert!(ask("/logout anthropic").await.exits(2).stderr.contains("has no key for anthropic"));
    let told = ask("/logout openai").await.exits(0).stdout;
    assert!(told.starts_with("removed OPENAI_API_KEY from "), "{told}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\nOTHER=2\n");
    std::fs::write(&file, "OPENAI_API_KEY='sk-1'\n").unwrap();
    let told = scene.omp(&["-p", "/logout openai"]).env("OPENAI_API_KEY", "sk-2").run().await.exits(0).stdout;
    assert!(told.contains("OPENAI_API_KEY in your environment still holds a key"), "{told}");
}
