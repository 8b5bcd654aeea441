//! Requests that real servers accept, on all four wires. The fake server refuses others, and fails the test.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omp_testkit::{Call, Fault, FaultKind, FaultStatus, RecordedRequest, Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene};
use crate::rpc::Client;

/// 9000 × 2 pixels.
const WIDE_PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAIygAAAACCAIAAAC61eC8AAAAVElEQVR42u3QAQkAAAgDsEczmtGMZo7DYAmW2QMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAqBAFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAECLB1QnfigItd5OAAAAAElFTkSuQmCC";
/// One pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

fn write_pictures(scene: &Scene) {
    scene.workspace.write("wide.png", STANDARD.decode(WIDE_PNG).unwrap()).unwrap();
    scene.workspace.write("a.gif", STANDARD.decode(GIF).unwrap()).unwrap();
    scene.workspace.write("broken.png", &STANDARD.decode(WIDE_PNG).unwrap()[..80]).unwrap();
}

/// Returns the types and sizes of the images in a request.
fn pictures(wire: Wire, request: &RecordedRequest) -> Vec<String> {
    fn collect(wire: Wire, value: &Value, found: &mut Vec<(String, String)>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match (wire, value) {
            (Wire::Anthropic, Value::Object(map)) if map.contains_key("media_type") => {
                found.push((text(&map["media_type"]), text(&map["data"])));
            }
            (Wire::Google, Value::Object(map)) if map.contains_key("mimeType") => {
                found.push((text(&map["mimeType"]), text(&map["data"])));
            }
            (_, Value::String(url)) if url.starts_with("data:image/") => {
                let (kind, data) = url[5..].split_once(";base64,").unwrap();
                found.push((kind.to_owned(), data.to_owned()));
            }
            (_, Value::Object(map)) => map.values().for_each(|child| collect(wire, child, found)),
            (_, Value::Array(list)) => list.iter().for_each(|child| collect(wire, child, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(wire, &request.json().unwrap(), &mut found);
    let shown = |(kind, data): (String, String)| {
        let picture = image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap();
        format!("{kind} {}x{}", picture.width(), picture.height())
    };
    found.into_iter().map(shown).collect()
}

#[tokio::test]
async fn pictures_are_prepared_whichever_way_they_come_in() {
    for wire in Wire::ALL {
        let turns = [Turn::call("read", json!({"path": "wide.png"})), Turn::text("Seen."), Turn::text("Still fine.")];
        let scene = Scene::new(wire, turns).await;
        write_pictures(&scene);
        let args = ["-p", "@wide.png", "@a.gif", "@broken.png", "look"];
        scene.omp(&args).run().await.exits(0).prints("Seen.\n").complains(&["image 3 of the prompt was not sent: "]);
        scene.omp(&["-c", "-p", "and now?"]).run().await.exits(0).prints("Still fine.\n");
        let gif = if wire == Wire::Anthropic { "image/gif 1x1" } else { "image/png 1x1" };
        let expect = ["image/png 1568x1".to_owned(), gif.to_owned(), "image/png 1568x1".to_owned()];
        assert_eq!(pictures(wire, &scene.last_request()), expect, "{wire:?}");
        let body = String::from_utf8(scene.last_request().body.to_vec()).unwrap();
        assert!(body.contains("An image was left out because it cannot be decoded"), "{wire:?}");
    }
}

#[tokio::test]
async fn pictures_of_rpc_clients_are_prepared_too() {
    let scene = Scene::new(Wire::Google, [Turn::text("Seen.")]).await;
    let mut client = Client::start(&scene, &[]).await;
    let images = json!([
        {"type": "image", "data": format!("data:image/png;base64,{WIDE_PNG}"), "mimeType": "image/jpeg"},
        {"type": "image", "data": GIF, "mimeType": "image/gif"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    ]);
    client.send(&json!({"type": "prompt", "message": "look", "images": images})).await;
    client.until("agent_end").await;
    assert_eq!(client.finish().await, Some(0));
    assert_eq!(pictures(Wire::Google, &scene.last_request()), ["image/png 1568x1", "image/png 1x1"]);
}

/// One session that switches between models on different wires, with ids that servers reuse.
#[tokio::test]
async fn a_session_goes_through_all_wires() {
    let turn = |number: usize| match number % 3 {
        0 => Turn::text("Looking.")
            .thinking("Hm.")
            .with_call(Call::new("read", json!({"path": "a.txt"})).id("call_0"))
            .with_call(Call::new("read", json!({"path": "a.txt"})).id("call_0")),
        1 => Turn::call("read", json!({"path": "wide.png"})).fault(Fault::status(529).times(1)),
        _ => Turn::text("Done."),
    };
    let scene = Scene::new(Wire::Anthropic, Script::generate(8 * 3, turn)).await;
    write_pictures(&scene);
    let server = scene.server.base_url();
    let model = |api: &str, path: &str| {
        format!(
            "  p-{api}:\n    baseUrl: {server}{path}\n    apiKey: k\n    api: {api}\n    models:\n      - id: m\n        \
             reasoning: true\n        input: [text, image]\n        contextWindow: 200000\n        maxTokens: 32000\n"
        )
    };
    let apis = [
        ("anthropic-messages", ""),
        ("openai-completions", "/v1"),
        ("openai-responses", "/v1"),
        ("google-generative-ai", "/v1beta"),
    ];
    let models: String = apis.iter().map(|(api, path)| model(api, path)).collect();
    scene.workspace.write_models_yml(&format!("providers:\n{models}")).unwrap();
    let cwd = scene.workspace.project();
    for (number, (api, _)) in apis.iter().chain(&apis).enumerate() {
        let mut args = vec!["--model".to_owned(), format!("p-{api}/m"), "--cwd".to_owned(), cwd.display().to_string()];
        args.extend((number > 0).then(|| "-c".to_owned()));
        args.extend(["-p".to_owned(), format!("round {number}")]);
        Omp::bare(&scene.workspace).args(args).run().await.exits(0).prints("Done.\n");
    }
    assert_eq!(scene.server.model_requests().len(), 8 * 4, "each run has three turns, one of them tried twice");
}

#[tokio::test]
async fn a_whole_answer_is_taken_though_a_stream_was_asked_for() {
    for wire in Wire::ALL {
        let whole = || Fault::new(FaultKind::WholeJson);
        let turns = [
            Turn::text("Reading.").thinking("Hm.").and_call("read", json!({"path": "a.txt"})).fault(whole()),
            Turn::text("Three lines.").fault(whole()),
        ];
        let scene = Scene::new(wire, turns).await;
        let ran = scene.omp(&["--mode", "json", "-p", "how long is a.txt?"]).run().await.exits(0);
        let last = ran.json_lines().into_iter().rfind(|line| line["type"] == "message_end").unwrap();
        assert_eq!(last["message"]["content"][0]["text"], "Three lines.", "{wire:?}");
        assert!(last["message"]["usage"]["output"].as_u64().unwrap() > 0, "{wire:?}: {last}");
        assert!(String::from_utf8_lossy(&scene.last_request().body).contains("two"), "{wire:?}: the file was read");
    }
}

/// The built-in provider `openai` with the fake server.
async fn openai(script: impl Into<Script>, fields: &str) -> Scene {
    let scene = Scene::new(Wire::Responses, script).await;
    let url = format!("{}/v1", scene.server.base_url());
    scene.workspace.write_models_yml(&format!("providers:\n  openai:\n    baseUrl: {url}\n{fields}")).unwrap();
    scene
}

fn ask_openai(scene: &Scene, model: &str, more: &[&str]) -> Omp {
    let cwd = scene.workspace.project().display().to_string();
    let args = ["--model", model, "--cwd", &cwd].into_iter().chain(more.iter().copied()).chain(["-p", "hi"]);
    Omp::bare(&scene.workspace).args(args).env("OPENAI_API_KEY", "sk-real-key-of-the-user")
}

#[tokio::test]
async fn the_key_of_models_yml_beats_the_environment() {
    for (fields, flags, expect, source) in [
        ("    apiKey: proxy-key\n", &[][..], Some("Bearer proxy-key"), "models.yml (providers.openai.apiKey)"),
        ("", &[], Some("Bearer sk-real-key-of-the-user"), "OPENAI_API_KEY in the environment"),
        ("    apiKey: proxy-key\n", &["--api-key", "flag-key"], Some("Bearer flag-key"), "--api-key"),
        ("    headers: {Authorization: Bearer mine}\n", &[], Some("Bearer mine"), "the header `Authorization`"),
    ] {
        let refusal = Turn::text("no").fault(FaultStatus::new(401).into());
        let scene = openai([refusal], fields).await;
        let ran = ask_openai(&scene, "openai/gpt-5.4-mini", flags).run().await;
        assert_ne!(ran.status.code(), Some(0), "{ran}");
        let ran = ran.complains(&["hint: check the key in use: ", source]);
        for key in ["sk-real", "proxy-key", "flag-key", "Bearer mine"] {
            assert!(!ran.stderr.contains(key), "{ran}");
        }
        assert_eq!(scene.last_request().header("authorization"), expect, "{fields}");
    }
}

#[tokio::test]
async fn thinking_levels_are_those_that_the_model_takes() {
    for (model, level, sent, told) in [
        ("openai/gpt-5.1", "minimal", "low", true),
        ("openai/o3", "xhigh", "high", true),
        ("openai/o3", "medium", "medium", false),
        ("openai/gpt-5.1-codex-max", "xhigh", "xhigh", false),
        ("openai/gpt-5", "minimal", "minimal", false),
    ] {
        let scene = openai([Turn::text("Hello.")], "    apiKey: k\n").await;
        let ran = ask_openai(&scene, model, &["--thinking", level]).run().await.exits(0).prints("Hello.\n");
        let note = format!("{model} does not support the thinking level `{level}`; using `{sent}`");
        assert_eq!(ran.stderr.matches(&note).count(), usize::from(told), "{ran}");
        assert_eq!(scene.last_request().json().unwrap()["reasoning"]["effort"], sent, "{model} {level}");
    }
}

#[tokio::test]
async fn schemas_of_host_tools_fit_every_vendor_or_are_refused() {
    let odd = json!({"oneOf": [
        {"type": "object", "properties": {"paths": {"type": "array"}}, "required": ["paths"]},
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
    ]});
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [Turn::text("Hello.")]).await;
        let mut client = Client::start(&scene, &[]).await;
        let tool = |parameters: &Value| json!({"type": "set_host_tools", "tools": [{"name": "fetch_it", "description": "Fetches.", "parameters": parameters}]});
        for (bad, place) in [
            (json!({"type": "object", "properties": {"x": {"type": "any"}}}), "parameters.properties.x.type"),
            (json!({"type": "array", "items": {}}), "parameters: the parameters of a tool are an object"),
            (json!({"type": "object", "properties": {"x": {"$ref": "#/gone"}}}), "#/gone"),
        ] {
            let refused = client.ask(tool(&bad)).await;
            let error = refused["error"].as_str().unwrap();
            assert!(refused["success"] == false && error.contains("fetch_it") && error.contains(place), "{refused}");
        }
        let taken = client.ask(tool(&odd)).await;
        assert_eq!(taken["success"], true, "{taken}");
        client.prompt("hi").await;
        assert_eq!(client.finish().await, Some(0));
        let body = String::from_utf8(scene.last_request().body.to_vec()).unwrap();
        assert!(body.contains("fetch_it") && body.contains("Give one of these: `paths`; `url`."), "{wire:?}");
    }
}

#[tokio::test]
async fn models_that_cannot_be_asked_are_not_listed() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("x")]).await;
    let keys =
        ["COPILOT_GITHUB_TOKEN", "GITLAB_TOKEN", "AZURE_OPENAI_API_KEY", "GOOGLE_CLOUD_API_KEY", "CURSOR_ACCESS_TOKEN"];
    let omp =
        keys.iter().fold(Omp::bare(&scene.workspace).args(["--list-models"]), |omp, key| omp.env(key, "k-1234567"));
    let ran = omp.run().await.exits(0);
    for provider in ["github-copilot", "gitlab-duo", "azure", "google-vertex", "cursor"] {
        assert!(!ran.stdout.contains(provider), "{ran}");
    }
    assert!(ran.stdout.contains("mock/mock-model"), "{ran}");
}
