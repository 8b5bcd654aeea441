//! Runs from the view of a strict client of `--mode rpc`: each ends in exactly one terminal `agent_end`, each command is
//! answered, and afterwards the session is idle.

use std::collections::BTreeMap;
use std::time::Duration;

use omp_testkit::{After, Call, Fault, FaultKind, FaultStatus, Moment, PastEnd, Script, Stop, Text, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{QUICK_RETRIES, Scene};
use crate::rpc::Client;

/// Checks every frame against the protocol.
struct Strict {
    client: Client,
    /// Responses by id: one entry for each, whether it was a success.
    answered: BTreeMap<String, Vec<bool>>,
    sent: u32,
    open: bool,
    /// The last `agent_end` was not the terminal one.
    owed: bool,
    terminal: u32,
    story: Vec<String>,
}

impl Strict {
    async fn start(scene: &Scene, args: &[&str]) -> Self {
        let client = Client::start(scene, args).await;
        let answered = BTreeMap::new();
        Self { client, answered, sent: 0, open: false, owed: false, terminal: 0, story: Vec::new() }
    }

    async fn send(&mut self, mut command: Value) -> String {
        self.sent += 1;
        let id = format!("c{}", self.sent);
        command["id"] = json!(id);
        self.story.push(format!("> {command}"));
        self.answered.insert(id.clone(), Vec::new());
        self.client.send(&command).await;
        id
    }

    async fn next(&mut self) -> Value {
        let frame = match tokio::time::timeout(Duration::from_secs(60), self.client.next()).await {
            Ok(frame) => frame,
            Err(_) => self.fail("nothing came for a minute"),
        };
        self.hear(&frame);
        frame
    }

    fn hear(&mut self, frame: &Value) {
        match frame["type"].as_str().unwrap_or_default() {
            "response" => {
                let command = frame["command"].as_str().unwrap_or_default();
                self.story.push(format!("< {} {command} {}", frame["id"], frame["success"]));
                let id = frame["id"].as_str().unwrap_or_default().to_owned();
                let success = frame["success"] == true;
                let Some(answers) = self.answered.get_mut(&id) else { self.fail("an answer that nobody asked for") };
                // Only a prompt may fail after it was acknowledged.
                let late = answers.as_slice() == [true] && !success && command.ends_with("prompt");
                if !answers.is_empty() && !late {
                    self.fail("a second answer");
                }
                answers.push(success);
            }
            "agent_start" => {
                self.story.push("< agent_start".to_owned());
                if self.open {
                    self.fail("a start within a run");
                }
                self.open = true;
            }
            "agent_end" => {
                let is_terminal = frame["isTerminal"] == true;
                self.story.push(format!("< agent_end {is_terminal}"));
                if !self.open {
                    self.fail("an end without a start");
                }
                self.open = false;
                self.owed = !is_terminal;
                self.terminal += u32::from(is_terminal);
            }
            "turn_start" | "turn_end" | "tool_execution_start" | "tool_execution_end" if !self.open => {
                self.fail(&format!("outside of a run: {frame}"));
            }
            other => self.story.push(format!("< {other}")),
        }
    }

    #[track_caller]
    fn fail(&self, why: &str) -> ! {
        let from = self.story.len().saturating_sub(60);
        panic!("{why}\n{}", self.story[from..].join("\n"));
    }

    /// Returns the first response to a command.
    async fn answer(&mut self, id: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["type"] == "response" && frame["id"] == id {
                return frame;
            }
        }
    }

    /// Checks that no command is unanswered and the session is idle.
    async fn is_idle(&mut self) {
        let id = self.send(json!({"type": "get_state"})).await;
        let state = self.answer(&id).await["data"].take();
        let idle = state["isStreaming"] == false && state["isCompacting"] == false && state["queuedMessageCount"] == 0;
        if !idle || self.open || self.owed {
            self.fail(&format!(
                "not idle: streaming {}, compacting {}, queued {}, open {}, owed {}",
                state["isStreaming"], state["isCompacting"], state["queuedMessageCount"], self.open, self.owed
            ));
        }
        if let Some((id, _)) = self.answered.iter().find(|(_, answers)| answers.is_empty()) {
            self.fail(&format!("{id} was not answered"));
        }
    }
}

/// What a row does after its first prompt.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    /// Sends this when a frame of that type arrives.
    On(&'static str, &'static str),
}

struct Row {
    what: String,
    turns: Vec<Turn>,
    config: &'static str,
    args: &'static [&'static str],
    then: Then,
}

fn row(what: impl Into<String>, turns: impl Into<Vec<Turn>>) -> Row {
    Row { what: what.into(), turns: turns.into(), config: "", args: &[], then: Then::Nothing }
}

/// About a thousand tokens.
fn much() -> Turn {
    Turn::text("word ".repeat(940))
}

fn bash(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

fn fault(kind: FaultKind) -> Turn {
    Turn::text("half of it").fault(Fault::new(kind))
}

/// With these settings a few answers fill the context window.
const SMALL: &str = "compaction: { keepRecentTokens: 500, thresholdTokens: 100000 }\n";

fn rows() -> Vec<Row> {
    let cut_off = || Turn::text("half an ans").stop(Stop::Length);
    let status = |code| Turn::text("-").fault(Fault::status(code));
    let mut rows = vec![
        row("stop", [Turn::text("done")]),
        row("length", [cut_off()]),
        row("length in a call", [bash("true").stop(Stop::Length), Turn::text("done")]),
        row("refusal", [Turn::text("no").stop(Stop::Refusal)]),
        row("an unknown stop reason", [Turn::text("hm").stop(Stop::Raw("pause_turn".into()))]),
        row("no text", [Turn::default()]),
        row("arguments that are none", [Turn::default().with_call(Call::raw("bash", ["{\"comm"])), Turn::text("done")]),
        row("an overflow with nothing to compact", [fault(FaultKind::ContextOverflow)]),
        row("html", [fault(FaultKind::Html)]),
        row("an empty stream", [fault(FaultKind::EmptyStream)]),
        row("a malformed event", [fault(FaultKind::MalformedEvent)]),
        row("no terminal event", [fault(FaultKind::NoTerminal)]),
        row("an error in the stream", [fault(FaultKind::ErrorEvent { code: 529 })]),
        row("a reset", [fault(FaultKind::Reset { at: Moment::MidStream })]),
        row("a close", [fault(FaultKind::Close { at: Moment::BeforeHeaders })]),
        row("a reset once", [Turn::text("done").fault(Fault::reset(Moment::MidStream).times(1))]),
        row("a tool that fails", [bash("exit 3"), Turn::text("done")]),
        row("an unknown tool", [Turn::call("nothing", json!({})), Turn::text("done")]),
        row("a failure after a call", [bash("true"), status(401)]),
        row("length after a call", [bash("true"), cut_off()]),
    ];
    for code in [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529] {
        rows.push(row(format!("status {code}"), [status(code)]));
        rows.push(row(format!("status {code} once"), [Turn::text("done").fault(Fault::status(code).times(1))]));
    }
    let long = || vec![much(), much(), much()];
    let before = |turns: Vec<Turn>| [long(), turns].concat();
    let helped = |turn: Turn| before(vec![turn, Turn::text("SUMMARY"), Turn::text("short"), Turn::text("done")]);
    let once = |kind: FaultKind| Turn::text("x").fault(Fault::new(kind).times(1).after(After::Next));
    for (what, turns) in [
        ("an overflow that a compaction helps", helped(once(FaultKind::ContextOverflow))),
        ("an overflow whose compaction fails", before(vec![once(FaultKind::ContextOverflow), status(401)])),
        ("a 413 that a compaction helps", helped(once(FaultKind::Status(FaultStatus::new(413))))),
        ("length that a compaction helps", helped(cut_off())),
        ("length whose compaction fails", before(vec![cut_off(), status(401)])),
    ] {
        rows.push(Row { config: SMALL, ..row(what, turns) });
    }
    let stalls = |at| Turn::text("never").fault(Fault::stall(at));
    for (what, turns, then) in [
        ("abort before the answer", vec![stalls(Moment::BeforeHeaders)], Then::On("turn_start", "abort")),
        ("abort in the answer", vec![stalls(Moment::AfterEvents(3))], Then::On("message_update", "abort")),
        ("abort in a call", vec![bash("echo so far; sleep 300")], Then::On("tool_execution_update", "abort")),
    ] {
        rows.push(Row { then, ..row(what, turns) });
    }
    let patient = "retry: { baseDelayMs: 3600000, maxDelayMs: 7200000 }\n";
    for command in ["abort", "abort_retry"] {
        let then = Then::On("auto_retry_start", command);
        rows.push(Row { config: patient, then, ..row(format!("{command} in a wait"), [status(529)]) });
    }
    let asks = "tools: { approvalMode: always-ask }\n";
    let then = Then::On("extension_ui_request", "abort");
    rows.push(Row {
        config: asks,
        then,
        ..row("a question that nobody answers", [bash("touch made"), Turn::text("done")])
    });
    let budget: &[&str] = &["--max-tokens", "10"];
    rows.push(Row { args: budget, ..row("a budget", [bash("true"), Turn::text("done")]) });
    rows
}

async fn check(wire: Wire, row: Row) {
    let Row { what, turns, config, args, then } = row;
    let prompts = turns.iter().take_while(|turn| **turn == much()).count() + 1;
    let scene = Scene::new(wire, Script::new(turns).past_end(PastEnd::RepeatLast)).await;
    let retries = if config.starts_with("retry") { "" } else { QUICK_RETRIES };
    scene.workspace.write_config_yml(&format!("{retries}{config}")).unwrap();
    let mut client = Strict::start(&scene, args).await;
    client.story.push(format!("# {what} on {wire:?}"));
    for number in 1..=prompts {
        client.send(json!({"type": "prompt", "message": "go"})).await;
        if let (Then::On(frame, command), true) = (then, number == prompts) {
            while client.next().await["type"] != frame {}
            client.send(json!({"type": command})).await;
        }
        let before = client.terminal;
        while client.terminal == before || client.answered.values().any(Vec::is_empty) {
            client.next().await;
        }
    }
    assert_eq!(client.terminal as usize, prompts, "{what}: {:?}", client.story);
    client.is_idle().await;
    assert_eq!(client.client.finish().await, Some(0), "{what}");
}

#[tokio::test]
async fn every_run_ends_exactly_once() {
    for row in rows() {
        check(Wire::Completions, row).await;
    }
}

#[tokio::test]
async fn every_run_ends_exactly_once_on_the_other_wires() {
    for wire in [Wire::Anthropic, Wire::Responses, Wire::Google] {
        for row in rows().into_iter().filter(|row| {
            let often =
                ["stop", "length", "refusal", "an overflow with nothing to compact", "status 413", "status 529"];
            often.contains(&row.what.as_str())
        }) {
            check(wire, row).await;
        }
    }
}

#[tokio::test]
async fn json_mode_ends_every_run_exactly_once() {
    let wanted = ["stop", "length", "status 413", "an overflow with nothing to compact", "a budget", "status 401"];
    for row in rows().into_iter().filter(|row| wanted.contains(&row.what.as_str())) {
        let scene = Scene::new(Wire::Completions, Script::new(row.turns).past_end(PastEnd::RepeatLast)).await;
        let ran = scene.omp(&[&["--mode", "json", "-p", "go"], row.args].concat()).run().await;
        let frames = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ends: Vec<Value> = frames.filter(|frame| frame["type"] == "agent_end").collect();
        let terminal = ends.iter().filter(|frame| frame["isTerminal"] == true).count();
        assert_eq!((terminal, ends.last().unwrap()["isTerminal"].as_bool()), (1, Some(true)), "{}", row.what);
    }
}

/// A deterministic random generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())].clone()
    }
}

fn random_turn(dice: &mut Dice) -> Turn {
    let faults = [
        FaultKind::ContextOverflow,
        FaultKind::ErrorEvent { code: 529 },
        FaultKind::MalformedEvent,
        FaultKind::EmptyStream,
        FaultKind::NoTerminal,
        FaultKind::Reset { at: Moment::MidStream },
        FaultKind::Close { at: Moment::AfterHeaders },
        FaultKind::Stall { at: Moment::AfterEvents(2), ms: None },
    ];
    match dice.roll(10) {
        0..3 => Turn::text("an answer"),
        3 => Turn::text("half an ans").stop(Stop::Length),
        4 => bash(dice.pick(&["echo hi", "exit 3", "echo x; sleep 300"])),
        5 => Turn::text("Reading.").and_call("read", json!({"path": "a.txt"})),
        6 => much(),
        7 => {
            let code = dice.pick(&[400, 401, 413, 429, 500, 529]);
            Turn::text("-").fault(Fault::status(code).after(After::Next))
        }
        8 => Turn::text(Text::from("word ".repeat(20))).delay_ms(1),
        _ => Turn::text("half").fault(Fault::new(dice.pick(&faults)).after(After::Next)),
    }
}

fn random_command(dice: &mut Dice, model: &Value) -> Value {
    let message = |kind: &str| json!({"type": kind, "message": "go on"});
    match dice.roll(20) {
        0..4 => message("prompt"),
        4 => json!({"type": "prompt", "message": "turn", "streamingBehavior": "steer"}),
        5 => json!({"type": "prompt", "message": "then", "streamingBehavior": "followUp"}),
        6 => message("steer"),
        7 => message("follow_up"),
        8 => json!({"type": "abort"}),
        9 => message("abort_and_prompt"),
        10 => json!({"type": "compact"}),
        11 => json!({"type": "set_model", "provider": model["provider"], "modelId": model["id"]}),
        12 => json!({"type": "set_model", "provider": "nobody", "modelId": "nothing"}),
        13 => json!({"type": "bash", "command": dice.pick(&["echo hi", "exit 1", "sleep 300"])}),
        14 => json!({"type": "abort_bash"}),
        15 => json!({"type": "abort_retry"}),
        16 => json!({"type": "set_steering_mode", "mode": dice.pick(&["all", "one-at-a-time"])}),
        17 => json!({"type": "get_messages"}),
        18 => json!({"type": "handoff"}),
        _ => json!({"type": "set_auto_compaction", "enabled": dice.roll(2) == 0}),
    }
}

/// Waits for some frames between two commands, with a timeout, so that commands arrive in every state.
async fn look_around(client: &mut Strict, frames: usize) {
    for _ in 0..frames {
        if let Ok(frame) = tokio::time::timeout(Duration::from_millis(20), client.client.next()).await {
            client.hear(&frame);
        }
    }
}

/// Sequences per process and processes: 200 in total.
const SEQUENCES: u64 = 25;
const PROCESSES: u64 = 8;

async fn random_sequences(process: u64) {
    let mut dice = Dice(process + 1);
    let turns: Vec<Turn> = (0..400).map(|_| random_turn(&mut dice)).collect();
    let scene = Scene::new(Wire::Completions, Script::new(turns).past_end(PastEnd::RepeatLast)).await;
    scene.workspace.write_config_yml(&format!("{QUICK_RETRIES}{SMALL}")).unwrap();
    let mut client = Strict::start(&scene, &[]).await;
    let id = client.send(json!({"type": "get_state"})).await;
    let model = client.answer(&id).await["data"]["model"].take();
    for sequence in 0..SEQUENCES {
        client.story.push(format!("# process {process}, sequence {sequence}"));
        for _ in 0..2 + dice.roll(7) {
            let command = random_command(&mut dice, &model);
            client.send(command).await;
            let frames = dice.roll(6);
            look_around(&mut client, frames).await;
        }
        // Aborts a hanging command, as a client would; the rest ends by itself or with it.
        client.send(json!({"type": "abort_bash"})).await;
        let id = client.send(json!({"type": "abort"})).await;
        client.answer(&id).await;
        while client.answered.values().any(Vec::is_empty) {
            client.next().await;
        }
        client.is_idle().await;
        if dice.roll(4) == 0 {
            let id = client.send(json!({"type": "new_session"})).await;
            assert_eq!(client.answer(&id).await["success"], true);
        }
    }
    assert_eq!(client.client.finish().await, Some(0));
}

#[tokio::test]
async fn random_commands_keep_the_protocol() {
    let processes = (0..PROCESSES).map(random_sequences);
    futures_util::future::join_all(processes).await;
}
