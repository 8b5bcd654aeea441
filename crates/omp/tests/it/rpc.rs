//! `--mode rpc` through the binary: a client on its pipes, with real tools and the fake provider.

use std::time::{Duration, Instant};

use omp_testkit::{Script, Text, Turn, Wire};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::harness::{Omp, Scene, within};

/// A client of one process.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Client {
    pub async fn start(scene: &Scene, args: &[&str]) -> Self {
        let mut client = Self::silent(scene, args);
        assert_eq!(client.next().await["type"], "ready", "the first frame");
        client
    }

    /// A client that has read nothing yet.
    fn silent(scene: &Scene, args: &[&str]) -> Self {
        Self::of(scene.omp(&[&["--mode", "rpc"], args].concat()))
    }

    pub fn of(omp: Omp) -> Self {
        let mut child = omp.spawn_with_pipes();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output }
    }

    pub async fn send(&mut self, command: &Value) {
        self.input.as_mut().unwrap().write_all(format!("{command}\n").as_bytes()).await.unwrap();
    }

    pub async fn next(&mut self) -> Value {
        let line = within(self.output.next_line()).await.unwrap().expect("the output ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    pub async fn ask(&mut self, command: Value) -> Value {
        self.send(&command).await;
        self.until("response").await
    }

    pub async fn prompt(&mut self, message: &str) {
        self.send(&json!({"type": "prompt", "message": message})).await;
        self.until("agent_end").await;
    }

    /// Closes the input and waits for the exit code.
    pub async fn finish(mut self) -> Option<i32> {
        self.input = None;
        while within(self.output.next_line()).await.unwrap().is_some() {}
        within(self.child.wait()).await.unwrap().code()
    }

    #[cfg(target_os = "linux")]
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    #[cfg(target_os = "linux")]
    pub fn process(&self) -> Process {
        Process(self.child.id().unwrap())
    }
}

/// The system's data about a process.
#[cfg(target_os = "linux")]
pub struct Process(pub u32);

#[cfg(target_os = "linux")]
impl Process {
    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.0)).unwrap()
    }

    /// Returns its private memory in kB. Pages of the program's file are not counted.
    fn memory(&self) -> u64 {
        let status = self.read("status");
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Returns its processor time.
    fn cpu(&self) -> Duration {
        let stat = self.read("stat");
        let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.0)).unwrap().count()
    }

    fn handles(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.0)).unwrap().count()
    }

    /// Returns the children of all threads.
    pub fn children(&self) -> Vec<u32> {
        let processes = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut children: Vec<u32> = numbers.filter(|pid| Self(*pid).stat(1) == Some(self.0.to_string())).collect();
        children.sort_unstable();
        children
    }

    /// A zombie counts as ended.
    pub fn lives(&self) -> bool {
        self.stat(0).is_some_and(|state| state != "Z")
    }

    /// Returns a field after the name: the state, the parent. `None` if the process is gone.
    fn stat(&self, field: usize) -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(field).map(str::to_owned)
    }
}

#[tokio::test]
async fn a_client_works_with_the_binary() {
    let first = Turn::text("Reading.").and_call("read", json!({"path": "a.txt"}));
    let scene = Scene::new(Wire::Completions, [first, Turn::text("Three lines.")]).await;
    let mut client = Client::start(&scene, &[]).await;
    let state = client.ask(json!({"id": "1", "type": "get_state"})).await;
    assert_eq!((&state["id"], &state["data"]["isStreaming"]), (&json!("1"), &json!(false)));
    client.prompt("read it").await;
    let text = client.ask(json!({"type": "get_last_assistant_text"})).await;
    assert_eq!(text["data"]["text"], "Three lines.");
    let ran = client.ask(json!({"type": "bash", "command": "echo x; exit 3"})).await;
    assert_eq!((&ran["data"]["exitCode"], &ran["data"]["output"]), (&json!(3), &json!("x\n")));
    let ran = client.ask(json!({"type": "bash", "command": "mkdir sub; cd sub"})).await["data"].take();
    let sub = scene.workspace.project().canonicalize().unwrap().join("sub");
    assert_eq!((&ran["workingDir"], &ran["totalLines"]), (&json!(sub), &json!(0)), "where the shell stands now: {ran}");
    client.ask(json!({"type": "bash", "command": "cd .."})).await;
    let much = client.ask(json!({"type": "bash", "command": "seq 1 30000"})).await["data"].take();
    assert_eq!(
        (&much["truncated"], &much["totalLines"], &much["totalBytes"]),
        (&json!(true), &json!(30_000), &json!(168_894))
    );
    assert!(much["outputLines"].as_u64() < much["totalLines"].as_u64() && much["artifactId"].is_string(), "{much}");
    let stats = client.ask(json!({"type": "get_session_stats"})).await["data"].take();
    let seen =
        ["userMessages", "assistantMessages", "toolCalls", "toolResults"].map(|key| stats[key].as_u64().unwrap());
    assert_eq!(seen, [1, 2, 1, 1]);
    let todos = json!([{"name": "Build", "tasks": [{"content": "test", "status": "pending"}]}]);
    let set = client.ask(json!({"type": "set_todos", "phases": todos})).await;
    assert_eq!(set["data"]["todoPhases"][0]["tasks"][0]["content"], "test", "{set}");
    assert_eq!(client.finish().await, Some(0));
    assert_eq!(scene.messages().len(), 8);
}

#[tokio::test]
async fn a_client_in_another_language_gets_on_with_it() {
    let call = Turn::call("weather", json!({"city": "Bonn"}));
    let scene = Scene::new(Wire::Completions, [call, Turn::text(["It ", "rains."])]).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/rpc_client.mjs");
    let node = Omp::of(std::path::Path::new("node"), &scene.workspace);
    let args = scene.workspace.args(&["--mode", "rpc"]);
    let ran = node.args([script, env!("CARGO_BIN_EXE_omp")]).args(args).run().await.exits(0);
    ran.prints("text It rains.\nmessages user assistant toolResult assistant\nresult rain in Bonn\nexit 0\n");
}

#[tokio::test]
async fn approval_shows_what_would_change() {
    let call = Turn::call("write", json!({"path": "b.txt", "content": "new text"}));
    let scene = Scene::new(Wire::Completions, [call, Turn::text("Done.")]).await;
    let mut client = Client::start(&scene, &["--approval-mode", "always-ask"]).await;
    client.send(&json!({"type": "prompt", "message": "write"})).await;
    let asked = client.until("extension_ui_request").await;
    assert_eq!(asked["method"], "select");
    let options = [
        "Approve",
        "Deny",
        "Always allow: write(b.txt)",
        "Always allow: write(**)",
        "Always deny: write(b.txt)",
        "Allow for this session: write(b.txt)",
        "Allow for this session: write(**)",
        "Always allow in this project: write(b.txt)",
        "Always allow in this project: write(**)",
        "Deny, and say what to do instead",
    ];
    assert_eq!(asked["options"], json!(options));
    let title = asked["title"].as_str().unwrap();
    assert!(title.starts_with("Allow tool: write\n") && title.contains("new text"), "{title}");
    client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": "Approve"})).await;
    client.until("agent_end").await;
    assert_eq!(scene.workspace.read("b.txt").unwrap(), "new text");
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn a_session_is_exported_branched_and_knows_its_parent() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One."), Turn::text("Two.")]).await;
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("first question").await;
    client.prompt("second question").await;
    let to = scene.workspace.path("talk.html");
    let written = client.ask(json!({"type": "export_html", "outputPath": to})).await;
    assert_eq!(written["data"], json!({"path": to}), "{written}");
    assert!(std::fs::read_to_string(&to).unwrap().contains("second question"));
    let named = client.ask(json!({"type": "export_html"})).await["data"]["path"].take();
    let named = std::path::PathBuf::from(named.as_str().unwrap());
    assert!(named.is_file() && named.starts_with(scene.workspace.project().canonicalize().unwrap()), "{named:?}");
    let failed = client.ask(json!({"type": "export_html", "outputPath": "/nowhere/at/all.html"})).await;
    assert!(failed["error"].as_str().unwrap().contains("/nowhere/at/all.html"), "{failed}");

    let points = client.ask(json!({"type": "get_branch_messages"})).await["data"]["messages"].take();
    let texts: Vec<_> = points.as_array().unwrap().iter().map(|point| point["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first question", "second question"]);
    let branched = client.ask(json!({"type": "branch", "entryId": points[1]["entryId"]})).await;
    assert_eq!(branched["data"], json!({"text": "second question", "cancelled": false}));
    let messages = client.ask(json!({"type": "get_messages"})).await["data"]["messages"].take();
    assert_eq!(messages.as_array().unwrap().len(), 2, "{messages}");

    let fresh = client.ask(json!({"type": "new_session", "parentSession": "/old.jsonl"})).await;
    assert_eq!(fresh["data"], json!({"cancelled": false}));
    client.prompt("third question").await;
    let file = client.ask(json!({"type": "get_state"})).await["data"]["sessionFile"].take();
    let text = std::fs::read_to_string(file.as_str().unwrap()).unwrap();
    assert!(text.contains(r#""parentSession":"/old.jsonl""#), "{text}");
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn a_session_that_is_not_kept_says_what_it_cannot() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    let mut client = Client::start(&scene, &["--no-session"]).await;
    client.prompt("hi").await;
    let state = client.ask(json!({"type": "get_state"})).await["data"].take();
    assert_eq!((state.get("sessionFile"), &state["messageCount"]), (None, &json!(2)));
    let failed = client.ask(json!({"type": "export_html"})).await["error"].take();
    assert!(failed.as_str().unwrap().starts_with("Cannot export in-memory session to HTML"), "{failed}");
    assert_eq!(client.ask(json!({"type": "get_branch_messages"})).await["data"], json!({"messages": []}));
    let failed = client.ask(json!({"type": "branch", "entryId": "x"})).await;
    assert!(failed["error"].as_str().unwrap().contains("not saved, so it has no branches"), "{failed}");
    let failed = client.ask(json!({"type": "prompt", "message": "/move /"})).await;
    assert!(failed["error"].as_str().unwrap().contains("this session is not saved"), "{failed}");
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn words_on_the_command_line_are_refused() {
    let scene = Scene::new(Wire::Completions, [Turn::text("x")]).await;
    let refused = scene.omp(&["--mode", "rpc", "@a.txt"]).run().await.exits(2).prints("");
    refused.complains(&["@file arguments are not supported in RPC mode", "hint: "]);
    scene.omp(&["--mode", "rpc", "hello"]).run().await.exits(2).complains(&["RPC mode takes no messages", "hint: "]);
}

#[tokio::test]
async fn a_session_gets_a_title_after_its_first_answer() {
    let scene = Scene::new(Wire::Completions, [Turn::text("Done."), Turn::text("Mending the parser")]).await;
    let mut client = Client::of(scene.omp(&["--mode", "rpc"]).titled());
    client.prompt("fix the parser").await;
    assert_eq!(client.until("session_info_update").await["title"], "Mending the parser");
    assert_eq!(client.ask(json!({"type": "get_state"})).await["data"]["sessionName"], "Mending the parser");
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn input_that_ends_at_once_is_no_failure() {
    let scene = Scene::new(Wire::Completions, [Turn::text("x")]).await;
    let ran = scene.omp(&["--mode", "rpc"]).input("{\"type\":\"get_state\"}\n").run().await.exits(0);
    let kinds: Vec<_> = ran.json_lines().iter().map(|frame| frame["type"].clone()).collect();
    assert_eq!(kinds, ["ready", "available_commands_update", "response"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_reader_that_stops_neither_blocks_the_session_nor_fills_the_memory() {
    // Twenty answers of 600 kB, each sent four times; the first in deltas.
    let whole = "x".repeat(600_000);
    let turns = Script::generate(20, |number| match number {
        0 => Turn::text(Text::tokens(20_000)),
        _ => Turn::text(whole.as_str()),
    });
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.workspace.write_config_yml("compaction: { enabled: false }\n").unwrap();
    let mut client = Client::silent(&scene, &[]);
    for number in 1..=20 {
        client.send(&json!({"type": "prompt", "message": "go", "streamingBehavior": "followUp"})).await;
        scene.server.until(|counts| counts.answers >= number).await;
    }
    let memory = client.process().memory();
    // About 35,000; without the spill file it would be 118,000.
    assert!(memory < 70_000, "{memory} kB");
    for _ in 0..20 {
        let end = client.until("turn_end").await;
        assert!(end["message"]["content"][0]["text"].as_str().unwrap().len() > 80_000);
    }
    assert_eq!(client.finish().await, Some(0));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn many_deltas_cost_little() {
    let scene = Scene::new(Wire::Completions, [Turn::text(Text::tokens(50_000))]).await;
    let mut client = Client::start(&scene, &[]).await;
    let before = client.process().cpu();
    client.prompt("go").await;
    let spent = client.process().cpu() - before;
    // Measured in a debug build; the release figure is in docs/performance.md.
    assert!(spent < Duration::from_secs(5), "{spent:?}");
    assert_eq!(client.finish().await, Some(0));
}

/// The short form of `cargo bench -p omp --bench soak`.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn many_sessions_leave_nothing_behind() {
    const SESSIONS: usize = 6;
    const TURNS: usize = 20;
    const PATIENCE: Duration = Duration::from_secs(120);
    let command = "printf 'x%.0s' $(seq 10000)";
    let turns = Script::generate(SESSIONS * TURNS * 2, |number| match number % 2 {
        0 => Turn::call("bash", json!({"command": command})),
        _ => Turn::text("ok"),
    });
    let scene = Scene::new(Wire::Completions, turns).await;
    let mut client = Client::start(&scene, &[]).await;
    let started = Instant::now();
    let mut memory = Vec::new();
    let mut held = Vec::new();
    let mut children = Vec::new();
    for _ in 0..SESSIONS {
        for _ in 0..TURNS {
            client.prompt("go").await;
        }
        client.ask(json!({"type": "new_session"})).await;
        memory.push(client.process().memory());
        held.push(client.process().handles());
        children.push(client.process().children());
    }
    assert!(memory[SESSIONS - 1] <= memory[1] + 8_000, "{memory:?} kB in {:?}", started.elapsed());
    assert_eq!(children[SESSIONS - 1], children[1]);
    // Files that a background scan has open are no leak: leaks only grow.
    let grown = |now: usize| now > held[1];
    while grown(client.process().handles()) && started.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!grown(client.process().handles()), "{held:?}");
    assert!(client.process().threads() < 16);
    assert_eq!(client.finish().await, Some(0));
}
