//! The approval modes, seen through the binary: what asks, what is refused, and which answers last.

use omp_testkit::{Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::Scene;
use crate::rpc::Client;

/// A call of an ordinary day.
struct RoutineCall {
    tool: &'static str,
    arguments: Value,
    /// Whether `ask-writes` asks about it.
    asks: bool,
}

impl RoutineCall {
    /// What a question about the call is recognized by: the command, or the tool.
    fn label(&self) -> &str {
        self.arguments["command"].as_str().unwrap_or(self.tool)
    }
}

/// Calls of the tools for files.
fn file_calls() -> Vec<RoutineCall> {
    let edit = |old: &str, new: &str| json!({"path": "a.txt", "edits": [{"old_text": old, "new_text": new}]});
    [
        ("read", json!({"path": "a.txt"}), false),
        ("read", json!({"path": "."}), false),
        ("search", json!({"pattern": "two", "paths": ["a.txt"]}), false),
        ("search", json!({"pattern": "t.o"}), false),
        ("find", json!({"paths": ["*.txt"]}), false),
        ("find", json!({"paths": ["**/*"]}), false),
        ("write", json!({"path": "made.txt", "content": "new\n"}), true),
        ("write", json!({"path": "target/made.txt", "content": "new\n"}), false),
        ("edit", edit("two", "2"), true),
        ("edit", edit("three", "3"), true),
    ]
    .map(|(tool, arguments, asks)| RoutineCall { tool, arguments, asks })
    .into()
}

/// A hundred calls of an ordinary day.
fn routine() -> Vec<RoutineCall> {
    let bash = |(command, asks): (String, bool)| RoutineCall {
        tool: "bash",
        arguments: json!({"command": command, "timeout": 60}),
        asks,
    };
    file_calls().into_iter().chain(commands().into_iter().map(bash)).collect()
}

/// Commands, and whether `ask-writes` asks about them.
fn commands() -> Vec<(String, bool)> {
    let mut commands = Vec::new();
    for reads in [
        "ls",
        "ls -la",
        "pwd",
        "cat a.txt",
        "head -5 a.txt",
        "tail -n 3 a.txt",
        "wc -l a.txt",
        "git status",
        "git status --short",
        "git log --oneline -5",
        "git diff",
        "git diff --stat HEAD",
        "git show --stat",
        "git branch -a",
        "git rev-parse HEAD",
        "git remote -v",
        "git stash list",
        "git ls-files",
        "grep -rn three .",
        "grep -n two *.txt | head -3",
        "find . -name '*.txt'",
        "find . -type f | wc -l",
        "cat a.txt | sort | uniq -c",
        "sed -n 1,2p a.txt",
        "test -f a.txt && echo yes",
        "which ls",
        "echo hi",
        "printf '%s' x",
        "date +%Y",
        "uname -a",
        "du -sh .",
        "stat a.txt",
        "diff a.txt a.txt",
        "for f in a b; do echo $f; done",
        "ls 2>/dev/null || true",
        "cd . && ls",
        "echo $(cat a.txt)",
        "tr a-z A-Z < a.txt",
        "cut -c1-3 a.txt",
        "sort a.txt",
    ] {
        commands.push((reads.to_owned(), false));
    }
    for at in 0..10 {
        commands.push((format!("cat a.txt | grep -c line{at}"), false));
    }
    let contained = omp_contain::standing().rung() == omp_contain::Rung::Full;
    for builds in [
        "mkdir -p target/x",
        "touch target/stamp",
        "echo x > target/list",
        "rm -rf target/x",
        "cp a.txt target/a.txt",
        "cargo test --offline",
        "cargo check --offline",
        "npm test",
        "pytest -q",
        "ls > target/files",
    ] {
        commands.push((builds.to_owned(), !contained));
    }
    for at in 0..15 {
        commands.push((format!("touch made-{at}.txt"), true));
        commands.push((format!("echo {at} > out-{at}.txt"), true));
    }
    commands
}

/// Makes the calls and returns those that were asked about; every question is denied.
async fn asked(mode: &str) -> Vec<String> {
    let turns = routine().into_iter().map(|call| Turn::call(call.tool, call.arguments));
    let scene = Scene::new(Wire::Completions, Script::new(turns.chain([Turn::text("Done.")]))).await;
    std::fs::write(scene.workspace.project().join(".gitignore"), "target\n").unwrap();
    let args = ["--mode", "rpc", "--approval-mode", mode];
    let mut client = Client::of(scene.omp(&args).env("PI_EDIT_VARIANT", "replace"));
    client.until("ready").await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let mut asked = Vec::new();
    loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("extension_ui_request") if frame["options"].is_array() => {
                let title = frame["title"].as_str().unwrap();
                let tool = title.lines().next().unwrap().trim_start_matches("Allow tool: ");
                asked.push(if tool == "bash" { title.lines().last().unwrap() } else { tool }.to_owned());
                client.send(&json!({"type": "extension_ui_response", "id": frame["id"], "value": "Deny"})).await;
            }
            Some("agent_end") => break,
            _ => {}
        }
    }
    assert_eq!(client.finish().await, Some(0));
    asked
}

#[tokio::test]
async fn a_hundred_routine_calls_ask_nothing_in_auto() {
    assert_eq!(routine().len(), 100);
    assert_eq!(asked("auto").await, Vec::<String>::new());
}

#[tokio::test]
async fn only_writes_outside_of_build_folders_ask_in_ask_writes() {
    let asks = routine().into_iter().filter(|call| call.asks);
    let expected: Vec<String> = asks.map(|call| call.label().to_owned()).collect();
    assert_eq!(asked("ask-writes").await, expected);
}

#[tokio::test]
async fn a_push_is_refused_in_every_mode_unless_a_rule_names_it() {
    let allow = "tools: { allow: ['bash(git push *)'] }\n";
    let hint = "`tools.allow: ['bash(git push origin main)']` in config.yml allows it";
    let always = "such calls always need approval";
    for (config, mode, command, said) in [
        ("", "auto", "git push origin main", Some(hint)),
        ("", "yolo", "git push origin main", Some(hint)),
        ("", "write", "git push origin main", Some(hint)),
        ("", "ask-writes", "git push origin main", Some(hint)),
        ("", "always-ask", "git push origin main", Some(hint)),
        ("", "auto", "git push --force origin main", Some(always)),
        (allow, "auto", "git push --force origin main", Some(always)),
        (allow, "auto", "git push origin main", None),
        ("", "auto", "git push --dry-run origin main", None),
        ("", "auto", "npm publish", Some("'bash(npm publish)'")),
    ] {
        let turns = [Turn::call("bash", json!({"command": command})), Turn::text("Done.")];
        let scene = Scene::new(Wire::Completions, turns).await;
        scene.workspace.write_config_yml(config).unwrap();
        let ran = scene.omp(&["-p", "go", "--approval-mode", mode]).run().await.exits(0);
        assert_eq!(ran.stderr.contains("was not run"), said.is_some(), "{mode} {command}: {}", ran.stderr);
        assert!(said.is_none_or(|said| ran.stderr.contains(said)), "{mode} {command}: {}", ran.stderr);
    }
}

/// Answers the first question and returns how many questions were asked about two calls.
async fn questions(scene: &Scene, answer: &str) -> usize {
    let mut client = Client::start(scene, &["--approval-mode", "ask-all"]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let mut count = 0;
    loop {
        let frame: Value = client.next().await;
        match frame["type"].as_str() {
            Some("extension_ui_request") if frame["options"].is_array() => {
                count += 1;
                client.send(&json!({"type": "extension_ui_response", "id": frame["id"], "value": answer})).await;
            }
            Some("agent_end") => break,
            _ => {}
        }
    }
    assert_eq!(client.finish().await, Some(0));
    count
}

#[tokio::test]
async fn a_rule_lasts_for_the_session_the_project_or_for_good() {
    for (answer, first, later) in [
        ("Approve", 2, 2),
        ("Allow for this session: bash(touch *)", 1, 2),
        ("Always allow in this project: bash(touch *)", 1, 0),
        ("Always allow: bash(touch *)", 1, 0),
    ] {
        let touch = |name: &str| Turn::call("bash", json!({"command": format!("touch ./{name}")}));
        let turns = [touch("a1"), touch("a2"), Turn::text("Done."), touch("a3"), touch("a4"), Turn::text("Done.")];
        let scene = Scene::new(Wire::Completions, turns).await;
        assert_eq!(questions(&scene, answer).await, first, "{answer}");
        assert_eq!(questions(&scene, "Approve").await, later, "{answer}, later");
        let kept = scene.workspace.agent_dir().join("project-rules.json").exists();
        assert_eq!(kept, answer.contains("in this project"), "{answer}");
        let in_project = scene.workspace.project().join(".omp").exists();
        assert!(!in_project, "{answer}: nothing is written to the project");
    }
}

#[tokio::test]
async fn an_edit_that_cannot_work_asks_nothing() {
    let read = Turn::call("read", json!({"path": "a.txt"}));
    let edit = Turn::call("edit", json!({"input": "[a.txt#0000]\nSWAP 9999.=9999:\n+x\n"}));
    let scene = Scene::new(Wire::Completions, [read, edit, Turn::text("Done.")]).await;
    assert_eq!(questions(&scene, "Deny").await, 0);
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(!told.contains("The user refused"), "{told}");
}
