//! Slash commands that do not exist or are called wrongly: an error in every mode, and no request to the model.

use omp_session::{MENU, MISSING_COMMANDS, MenuEntry, TERMINAL_ONLY};
use omp_testkit::{Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene, outline};
use crate::rpc::Client;

async fn scene() -> Scene {
    Scene::new(Wire::Completions, ["One.", "Two."].map(Turn::text)).await
}

const WRONG: [(&str, &str); 9] = [
    ("/modle gpt", "did you mean /model"),
    ("/frobnicate the thing", "unknown command /frobnicate"),
    ("/dump now", "/dump takes no arguments"),
    ("/new session please", "/new takes no arguments"),
    ("/tools x", "/tools takes no arguments"),
    ("/help me", "/help takes no arguments"),
    ("/session destroy", "hint: "),
    ("/mcp list", "MCP servers are not started yet"),
    ("/theme dark", "works only in the terminal app"),
];

#[tokio::test]
async fn print_and_json_runs_refuse_what_looks_like_a_command() {
    let scene = scene().await;
    for (typed, told) in WRONG {
        for mode in ["text", "json"] {
            let ran = scene.omp(&["--mode", mode, "-p", typed]).run().await.exits(2);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains(told), "{typed}: {ran}");
        }
    }
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn every_missing_command_is_told_by_name() {
    let scene = scene().await;
    let mut client = Client::start(&scene, &[]).await;
    let known = MISSING_COMMANDS.iter().map(|(name, _)| *name).chain(TERMINAL_ONLY.iter().copied());
    for name in known {
        let answer = client.ask(json!({"type": "prompt", "message": format!("/{name}")})).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(answer["success"] == false && error.contains(&format!("/{name}")), "{answer}");
    }
    assert_eq!(client.finish().await, Some(0));
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn a_client_is_refused_however_it_sends_it() {
    let scene = scene().await;
    let mut client = Client::start(&scene, &[]).await;
    for kind in ["prompt", "steer", "follow_up", "abort_and_prompt"] {
        for (typed, told) in WRONG {
            let answer = client.ask(json!({"type": kind, "message": typed})).await;
            let error = answer["error"].as_str().unwrap_or_default();
            // An existing command works only with `prompt`.
            assert!(error.contains(told) || (kind != "prompt" && error.contains("hint: ")), "{kind} {typed}: {answer}");
        }
    }
    let answer = client.ask(json!({"type": "steer", "message": "/model x"})).await;
    assert!(answer["error"].as_str().unwrap().contains("send it with `prompt`"), "{answer}");
    assert!(scene.server.requests().is_empty());
    client.prompt("/usr/bin/x is broken").await;
    assert_eq!(client.finish().await, Some(0));
    assert_eq!(outline(&scene.messages())[0], "user: /usr/bin/x is broken");
}

#[tokio::test]
async fn an_editor_is_refused() {
    let scene = scene().await;
    let mut client = Client::of(Omp::bare(&scene.workspace).args(["acp"]));
    let call =
        |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let answer = async |client: &mut Client, id: u64| loop {
        let frame = client.next().await;
        if frame["id"] == id {
            return frame;
        }
    };
    client.send(&call(1, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}))).await;
    answer(&mut client, 1).await;
    let cwd = scene.workspace.project();
    client.send(&call(2, "session/new", json!({"cwd": cwd, "mcpServers": []}))).await;
    let session = answer(&mut client, 2).await["result"]["sessionId"].take();
    for (id, (typed, told)) in (3..).zip(WRONG) {
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": typed}]});
        client.send(&call(id, "session/prompt", prompt)).await;
        let refused = answer(&mut client, id).await;
        assert!(refused["error"].to_string().contains(told), "{typed}: {refused}");
    }
    assert_eq!(client.finish().await, Some(0));
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn a_colon_stands_for_a_blank() {
    let scene = scene().await;
    let shown = scene.omp(&["-p", "/force:read"]).run().await.exits(0).stdout;
    assert_eq!(shown, "the next answer must call `read`\n");
    assert!(scene.server.requests().is_empty());
}

/// Wrong arguments for every command that does not accept any words.
const WRONG_ARGUMENTS: &[&str] = &[
    "/branch zz",
    "/btw",
    "/budget abc",
    "/bug zz",
    "/changelog x",
    "/changes zz",
    "/clear x",
    "/config zz",
    "/context x",
    "/copy 99",
    "/cost x",
    "/debug zz",
    "/diff zz",
    "/doctor zz",
    "/drop x",
    "/dump x",
    "/fast zz",
    "/force nope",
    "/fork zz",
    "/help x",
    "/hooks x",
    "/jobs x",
    "/label",
    "/login nope",
    "/logout nope",
    "/loop 0",
    "/memory zz",
    "/model nope",
    "/models nope",
    "/move",
    "/new x",
    "/permissions foo",
    "/queue x",
    "/redo 99",
    "/rename",
    "/resume zzzz",
    "/retry x",
    "/session zz",
    "/settings zz",
    "/setup nope",
    "/shake zz",
    "/status zz",
    "/stripped x",
    "/switch nope",
    "/terminal-setup zz",
    "/thinking hard",
    "/todo foo",
    "/tools x",
    "/tree zz",
    "/trust zz",
    "/undo 0",
    "/usage x",
];
/// Commands that accept any words or any path.
const ANY_WORDS: &[&str] = &["compact", "export", "handoff", "init", "plan"];

#[tokio::test]
async fn wrong_arguments_are_an_error_with_usage() {
    let scene = scene().await;
    let name_of = |line: &str| line[1..].split(' ').next().unwrap().to_owned();
    for name in MENU.iter().map(MenuEntry::name).filter(|name| !TERMINAL_ONLY.contains(name)) {
        let is_tried = WRONG_ARGUMENTS.iter().any(|line| name_of(line) == name);
        assert!(is_tried != ANY_WORDS.contains(&name), "/{name}: is it in the table?");
    }
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("hello").await;
    let mut wrong = Vec::new();
    for line in WRONG_ARGUMENTS {
        let answer = client.ask(json!({"type": "prompt", "message": line})).await;
        let error = answer["error"].as_str().unwrap_or_default();
        if answer["success"] != false || !error.contains("hint: usage: /") {
            wrong.push(format!("{line}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(client.finish().await, Some(0));
    assert_eq!(scene.server.model_requests().len(), 1);
}

#[tokio::test]
async fn every_word_that_tab_offers_is_accepted() {
    let scene = scene().await;
    let mut client = Client::start(&scene, &[]).await;
    let mut refused = Vec::new();
    for entry in MENU.iter().filter(|entry| !TERMINAL_ONLY.contains(&entry.name())) {
        let name = entry.name();
        if ANY_WORDS.contains(&name) {
            continue;
        }
        for word in entry.words() {
            // What the command says about a word that it does not know, with that word.
            let mut told = Vec::new();
            for typed in ["zzzz", word] {
                let line = format!("/{name} {typed}");
                let answer = client.ask(json!({"type": "prompt", "message": line})).await;
                let error = answer["error"].as_str().unwrap_or_default();
                told.push(error.replace(&line, "LINE").replace(&format!("`{typed}`"), "WORD").replace(typed, "WORD"));
            }
            if told[0] == told[1] && !told[1].is_empty() {
                refused.push(format!("/{name} {word}: {}", told[1]));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert_eq!(client.finish().await, Some(0));
}

/// The commands of the reference, with those it added later.
const REFERENCE: &str = "agents branch browser btw changelog collab compact context copy debug drop dump exit quit export \
    extensions status fast force fork fresh goal handoff hotkeys jobs join leave login logout loop marketplace mcp memory \
    model models move new omfg plan plan-review plugins reload-plugins rename resume retry session settings setup \
    providers shake share ssh stats switch tan todo tools tree usage review green init autoresearch guided-goal advisor \
    queue add-dir remove-dir dirs live computer vision reset";

#[tokio::test]
async fn every_command_of_the_reference_is_known() {
    let scene = scene().await;
    let mut client = Client::start(&scene, &[]).await;
    let offered = client.ask(json!({"type": "get_available_commands"})).await;
    let text = offered.to_string();
    for name in REFERENCE.split_whitespace() {
        let works = text.contains(&format!("\"{name}\"")) || TERMINAL_ONLY.contains(&name);
        let answers = MISSING_COMMANDS.iter().any(|(missing, _)| *missing == name);
        assert!(works != answers, "/{name}: works {works}, known as missing {answers}");
    }
    assert_eq!(client.finish().await, Some(0));
}
