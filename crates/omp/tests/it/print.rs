//! `omp -p`: what is sent to the model, and what is printed to standard output.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use omp_testkit::{MockProvider, Script, Server, Stop, TempWorkspace, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene, outline};

fn answer() -> Script {
    Script::new([Turn::text(["Hel", "lo."])])
}

#[tokio::test]
async fn only_the_final_answer_is_printed() {
    for wire in Wire::ALL {
        let turns =
            [Turn::text("Reading.").thinking("hm").and_call("read", json!({"path": "a.txt"})), Turn::text("Done.")];
        let scene = Scene::new(wire, turns).await;
        scene.omp(&["-p", "read it"]).run().await.exits(0).prints("Done.\n");
        let expect = ["user: read it", "assistant: Reading. [read]", "result: [a.txt#2543]", "assistant: Done."];
        assert_eq!(outline(&scene.messages()), expect, "{wire:?}");
    }
}

#[tokio::test]
async fn several_messages_are_one_conversation() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One."), Turn::text("Two.\n")]).await;
    scene.omp(&["-p", "first this", "second"]).run().await.exits(0).prints("Two.\n");
    assert_eq!(outline(&scene.messages()), ["user: first this", "assistant: One.", "user: second", "assistant: Two."]);
}

#[tokio::test]
async fn words_without_quotes_are_one_message() {
    for (args, said) in [
        (&["-p", "fix", "the", "tests"][..], "fix the tests"),
        (&["fix", "the", "tests"], "fix the tests"),
        (&["--mode", "json", "-p", "--", "commit", "it"], "commit it"),
        (&["-p", "look", "at", "/tmp"], "look at /tmp"),
        (&["--plain", "fix", "the", "tests"], "fix the tests"),
    ] {
        let scene = Scene::new(Wire::Completions, ["One.", "Two.", "Three."].map(Turn::text)).await;
        scene.omp(args).run().await.exits(0);
        assert_eq!(outline(&scene.messages()), [format!("user: {said}"), "assistant: One.".to_owned()], "{args:?}");
    }
    // A command between words counts as one, as in the reference; words after it are its arguments.
    let scene = Scene::new(Wire::Completions, ["One.", "Two."].map(Turn::text)).await;
    scene.omp(&["-p", "one", "/usage", "two"]).run().await.exits(0);
    assert_eq!(outline(&scene.messages()), ["user: one", "assistant: One.", "user: two", "assistant: Two."]);
    scene.omp(&["-p", "/tools", "now"]).run().await.exits(2).complains(&["/tools takes no arguments", "hint: "]);
}

#[tokio::test]
async fn calls_that_nobody_can_be_asked_about_are_told() {
    let turns = || {
        [
            Turn::call("bash", json!({"command": "touch made.txt"})),
            Turn::call("write", json!({"path": "b.txt", "content": "b\n"})),
            Turn::text("I could not."),
        ]
    };
    let ask = ["-p", "go", "--approval-mode", "always-ask"];
    let scene = Scene::new(Wire::Completions, turns()).await;
    let ran = scene.omp(&ask).run().await.exits(0).prints("I could not.\n");
    let told: Vec<&str> = ran.stderr.lines().filter(|line| !line.contains("warning")).collect();
    let why = "it needs the user's approval (tools.approvalMode is `ask-all`), and nobody can be asked in this mode";
    let expect = [
        format!("omp: `bash` was not run (runs: touch made.txt; writes: made.txt): {why}"),
        "hint: `--auto-approve` allows such calls, `tools.allow: ['bash(touch made.txt)']` in \
         config.yml this one"
            .to_owned(),
        format!("omp: `write` was not run (writes: b.txt): {why}"),
        "hint: `--auto-approve` allows such calls, `tools.allow: ['write(b.txt)']` in config.yml this one".to_owned(),
    ];
    assert_eq!(told, expect, "{ran}");
    let heard = String::from_utf8_lossy(&scene.last_request().body).into_owned();
    assert!(heard.contains("nobody can be asked") && !heard.contains("the user is asked"), "{heard}");
    // In JSON mode the end of the call reports it.
    let scene = Scene::new(Wire::Completions, turns()).await;
    let ran = scene.omp(&[&["--mode", "json"], &ask[..]].concat()).run().await.exits(0);
    let ends = ran.json_lines().into_iter().filter(|frame| frame["type"] == "tool_execution_end");
    let refused: Vec<bool> = ends
        .map(|end| end["isError"] == true && end["result"]["content"].to_string().contains("nobody can be asked"))
        .collect();
    assert_eq!(refused, [true, true], "{ran}");
    assert!(!ran.stderr.contains("was not run"), "{ran}");
    // An allowed call is not reported.
    let scene = Scene::new(Wire::Completions, turns()).await;
    let ran = scene.omp(&["-p", "go", "--auto-approve"]).run().await.exits(0);
    assert!(!ran.stderr.contains("was not run") && scene.workspace.path("made.txt").exists(), "{ran}");
}

/// Returns the text of the newest message of a chat completions request.
fn newest_text(scene: &Scene) -> String {
    let body = scene.last_request().json().unwrap();
    let newest = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    match newest {
        Value::String(text) => text,
        blocks => blocks.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect(),
    }
}

#[tokio::test]
async fn piped_text_and_attached_files_stand_before_the_message() {
    let rows: &[(&[&str], Option<&str>, &str)] = &[
        (&["-p", "why?"], Some("piped"), "piped\nwhy?"),
        (&["-p"], Some("only piped"), "only piped"),
        (&["-p", "why?"], Some(" \n"), "why?"),
        (&["-p", "@a.txt", "why?"], None, "<file name=\"a.txt\">\none\ntwo\nthree\n</file>\nwhy?"),
        (&["-p", "why?", "@a.txt"], Some("p"), "<file name=\"a.txt\">\none\ntwo\nthree\n</file>\np\nwhy?"),
        (&["-p", "--", "-why?"], None, "-why?"),
    ];
    for (args, piped, expect) in rows {
        let scene = Scene::new(Wire::Completions, answer()).await;
        let omp = scene.omp(args);
        let omp = if let Some(piped) = piped { omp.input(*piped) } else { omp };
        omp.run().await.exits(0).prints("Hello.\n");
        assert_eq!(newest_text(&scene), *expect, "{args:?}");
    }
}

#[tokio::test]
async fn an_attached_image_is_an_image_on_every_wire() {
    const BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC";
    for wire in Wire::ALL {
        let scene = Scene::new(wire, answer()).await;
        scene.workspace.write("dot.png", BASE64_STANDARD.decode(BASE64).unwrap()).unwrap();
        scene.omp(&["-p", "@dot.png", "what is it?"]).run().await.exits(0);
        let body = scene.last_request().json().unwrap();
        let newest = body[wire.conversation()].as_array().unwrap().last().unwrap();
        let blocks = newest.get("content").or(newest.get("parts")).unwrap().as_array().unwrap();
        let expect = match wire {
            Wire::Anthropic => json!({"type": "base64", "media_type": "image/png", "data": BASE64}),
            Wire::Completions => json!({"url": format!("data:image/png;base64,{BASE64}")}),
            Wire::Responses => json!(format!("data:image/png;base64,{BASE64}")),
            Wire::Google => json!({"mimeType": "image/png", "data": BASE64}),
        };
        let key = match wire {
            Wire::Anthropic => "source",
            Wire::Completions | Wire::Responses => "image_url",
            Wire::Google => "inlineData",
        };
        let images: Vec<_> = blocks.iter().filter_map(|block| block.get(key)).collect();
        assert_eq!(images.len(), 1, "{wire:?}: {newest}");
        let found = images[0];
        match (wire, &expect) {
            (Wire::Completions, _) => assert_eq!(found["url"], expect["url"]),
            _ => assert_eq!(*found, expect, "{wire:?}"),
        }
    }
}

fn system_prompt(scene: &Scene) -> String {
    scene.last_request().json().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_system_prompt_can_be_replaced_and_extended() {
    let run = async |args: &[&str]| {
        let scene = Scene::new(Wire::Completions, answer()).await;
        scene.workspace.write("prompt.md", "From a file.\n").unwrap();
        scene.workspace.write("AGENTS.md", "Use tabs.\n").unwrap();
        scene.omp(args).run().await.exits(0);
        system_prompt(&scene)
    };
    let usual = run(&["-p", "hi"]).await;
    assert!(usual.contains("Use tabs."), "{usual}");
    let replaced = run(&["-p", "hi", "--system-prompt", "You are terse."]).await;
    assert!(replaced.starts_with("You are terse."), "{replaced}");
    assert!(!replaced.contains(usual.lines().next().unwrap()), "{replaced}");
    let from_file = run(&["-p", "hi", "--system-prompt", "prompt.md"]).await;
    assert!(from_file.starts_with("From a file."), "{from_file}");
    let extended = run(&["-p", "hi", "--append-system-prompt", "Be kind."]).await;
    assert!(extended.contains(usual.lines().next().unwrap()) && extended.contains("Be kind."), "{extended}");
    let extended = run(&["-p", "hi", "--append-system-prompt", "prompt.md"]).await;
    assert!(extended.contains("From a file."), "{extended}");
}

#[tokio::test]
async fn tools_are_offered_as_asked() {
    let offered = async |args: &[&str]| -> Vec<String> {
        let scene = Scene::new(Wire::Completions, answer()).await;
        scene.omp(args).run().await.exits(0);
        let body = scene.last_request().json().unwrap();
        let tools = body.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let usual = offered(&["-p", "hi"]).await;
    for name in ["read", "search", "find", "edit", "write", "bash", "ast_grep", "ast_edit", "resolve", "todo"] {
        assert!(usual.iter().any(|offered| offered == name), "{name}: {usual:?}");
    }
    assert!(!usual.iter().any(|offered| offered == "ask"), "nobody is there to answer");
    assert_eq!(offered(&["-p", "hi", "--tools", "search,read"]).await, ["read", "search"]);
    assert!(offered(&["-p", "hi", "--no-tools"]).await.is_empty());
    let scene = Scene::new(Wire::Completions, answer()).await;
    let ran = scene.omp(&["-p", "hi", "--tools", "read,nonsense"]).run().await;
    ran.exits(2).complains(&["unknown tool `nonsense`", "hint: the tools are read, "]);
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn the_thinking_level_reaches_the_model() {
    for (args, expect) in [
        (&["-p", "hi", "--thinking", "low"][..], json!("low")),
        (&["-p", "hi", "--model", "mock/mock-model:high"], json!("high")),
        (&["-p", "hi", "--thinking", "off"], Value::Null),
    ] {
        let scene = Scene::new(Wire::Completions, answer()).await;
        let mut args = args.to_vec();
        if !args.contains(&"--model") {
            args.extend(["--model", "mock/mock-model"]);
        }
        Omp::bare(&scene.workspace).args(&args).run().await.exits(0);
        let body = scene.last_request().json().unwrap();
        assert_eq!(body.get("reasoning_effort").cloned().unwrap_or_default(), expect, "{args:?}");
    }
}

#[tokio::test]
async fn the_key_comes_from_the_flag_or_the_file() {
    for (args, expect) in
        [(&["-p", "hi"][..], "Bearer mock-key"), (&["-p", "hi", "--api-key", "other"], "Bearer other")]
    {
        let scene = Scene::new(Wire::Completions, answer()).await;
        scene.omp(args).run().await.exits(0);
        assert_eq!(scene.last_request().header("authorization"), Some(expect));
    }
}

#[tokio::test]
async fn work_happens_in_the_folder_of_cwd() {
    let turns = [Turn::call("bash", json!({"command": "pwd > where.txt"})), Turn::text("Done.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.workspace.write("inner/b.txt", "b\n").unwrap();
    let args = ["-p", "hi", "--model", "mock/mock-model", "--cwd", "inner"];
    Omp::bare(&scene.workspace).args(args).run().await.exits(0);
    let inner = scene.workspace.path("inner");
    assert_eq!(scene.workspace.read("inner/where.txt").unwrap().trim(), inner.to_str().unwrap());
}

#[tokio::test]
async fn a_time_limit_ends_the_run_and_keeps_the_session() {
    let turns = [Turn::text("Waiting.").and_call("bash", json!({"command": "sleep 300"})), Turn::text("Never.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    // Enough time for a busy machine to start the command.
    let ran = scene.omp(&["-p", "wait", "--max-time", "8s"]).run().await;
    ran.exits(3).complains(&["--max-time"]);
    let held = outline(&scene.messages());
    assert_eq!(held[..2], ["user: wait", "assistant: Waiting. [bash]"]);
    assert!(held[2].starts_with("result: "), "{held:?}");
    scene.omp(&["-p", "-c", "go on"]).run().await.exits(0).prints("Never.\n");
}

#[tokio::test]
async fn an_answer_that_hits_the_output_limit_is_printed_and_told() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("As far as").stop(Stop::Length)]).await;
    let ran = scene.omp(&["-p", "hi"]).run().await;
    ran.exits(3).prints("As far as\n").complains(&["cut off by the model's output limit"]);
}

#[tokio::test]
async fn what_needs_approval_is_refused_unless_approved_beforehand() {
    let turns = || [Turn::call("bash", json!({"command": "touch ran"})), Turn::text("Done.")];
    let scene = Scene::new(Wire::Completions, turns()).await;
    scene.omp(&["-p", "hi", "--approval-mode", "always-ask"]).run().await.exits(0);
    assert!(!scene.workspace.path("ran").exists());
    let held = outline(&scene.messages());
    assert!(held[2].contains("needs the user's approval"), "{held:?}");
    let scene = Scene::new(Wire::Completions, turns()).await;
    scene.workspace.write_config_yml("tools: { approvalMode: always-ask }\n").unwrap();
    scene.omp(&["-p", "hi", "--auto-approve"]).run().await.exits(0);
    assert!(scene.workspace.path("ran").exists());
}

#[tokio::test]
async fn a_local_server_needs_no_configuration() {
    let server = Server::start(Script::new([Turn::text("Local.")]).models(&["tiny"]).keyless()).await.unwrap();
    let workspace = TempWorkspace::new(&[]).unwrap();
    let omp = Omp::bare(&workspace).env("LLAMA_CPP_BASE_URL", server.base_url());
    omp.args(["-p", "hi", "--model", "llama.cpp/tiny"]).run().await.exits(0).prints("Local.\n");
}

#[tokio::test]
async fn a_role_is_played_by_the_model_of_its_flag() {
    for role in ["smol", "slow", "plan"] {
        let scene = Scene::new(Wire::Anthropic, [Turn::text("Played.")]).await;
        let (flag, selector) = (format!("--{role}"), format!("pi/{role}"));
        let variable = format!("PI_{}_MODEL", role.to_uppercase());
        let omp = Omp::bare(&scene.workspace).env(&variable, "no-such/model");
        let omp = omp.args(["-p", "hi", "--model", &selector, &flag, "mock/mock-model"]);
        omp.run().await.exits(0).prints("Played.\n");
    }
}

#[tokio::test]
async fn a_provider_below_a_prefix_is_reached() {
    let server = Server::start([Turn::text("Hello.")]).await.unwrap();
    let workspace = TempWorkspace::new(&[]).unwrap();
    let provider = MockProvider::new(&format!("{}/gateway/", server.base_url()), Wire::Anthropic.api());
    workspace.write_provider(&provider).unwrap();
    Omp::bare(&workspace).args(workspace.args(&["-p", "hi"])).run().await.exits(0).prints("Hello.\n");
    assert_eq!(server.requests()[0].path, "/gateway/v1/messages");
}
