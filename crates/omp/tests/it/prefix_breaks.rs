//! A varied session of more than two hundred answers on each wire: rules and skills are read, a rule fires on the stream,
//! files, title and git change, models and thinking levels are switched back and forth. Sent bytes never change, except for
//! intended breaks, and each of those is reported by name.
//!
//! Breaks are detected twice: from the bytes that reached the provider, and from omp's reports. Both must agree.

use omp_testkit::{RecordedRequest, Script, Text, Turn, Wire, prefix};
use serde_json::json;

use crate::harness::Scene;
use crate::rpc::Client;

const ROUNDS: usize = 21;
const TURNS_A_ROUND: usize = 10;
/// The conversation is compacted before this round.
const COMPACTED: usize = 13;
/// The round in which a rule stops an answer, which is then repeated.
const FIRES: usize = 5;
/// Requests per compaction: the earlier turns, the beginning of the split turn, and the short form.
const SUMMARY_REQUESTS: usize = 3;
/// Parameters of a request, such as thinking level and verbosity, that are not part of the model's input.
const PARAMETERS: [&str; 8] = [
    "thinking",
    "output_config",
    "reasoning",
    "reasoning_effort",
    "include",
    "max_tokens",
    "max_output_tokens",
    "generationConfig",
];

fn step(round: usize, turn: usize) -> Vec<Turn> {
    let said = Turn::text(format!("Step {round}.{turn}."));
    let read = |path: &str| json!({ "path": path });
    let step = match turn {
        0 => said.and_call("read", read("skill://release")),
        1 => said.and_call("read", read("rule://sql")),
        2 => {
            let made = json!({"path": format!("made-{round}.txt"), "content": "x"});
            said.thinking("hm").and_call("write", made)
        }
        3 => said.and_call("read", read("sub/deep/code.txt")),
        4 => said.and_call("read", read("a.txt")).and_call("bash", json!({"command": format!("echo {round}")})),
        9 => Turn::text(format!("Done with {round}.")),
        _ => said.and_call("read", read("a.txt")),
    };
    if (round, turn) != (FIRES, 5) {
        return vec![step];
    }
    let broken = ["I ", "say ", "foo ", "and ", "go ", "on."].map(str::to_owned);
    vec![Turn::text(Text::Chunks(broken.into())), step]
}

fn script() -> Script {
    let mut turns = Vec::new();
    for round in 0..ROUNDS {
        if round == COMPACTED {
            turns.extend((0..SUMMARY_REQUESTS).map(|_| Turn::text("THE SUMMARY")));
        }
        turns.extend((0..TURNS_A_ROUND).flat_map(|turn| step(round, turn)));
    }
    Script::new(turns)
}

/// A project with every kind of file that is sent or loaded, with two models.
async fn scene(wire: Wire) -> Scene {
    let scene = Scene::new(wire, script()).await;
    let models = omp_testkit::MockProvider::new(&scene.server.base_url(), wire.api()).reasoning().models_yml();
    let second = models[models.find("      - id:").unwrap()..].replace("mock-model", "other-model");
    scene.workspace.write_models_yml(&format!("{models}{second}")).unwrap();
    let settings = format!("{}compaction: {{ keepRecentTokens: 1 }}\n", crate::harness::QUICK_RETRIES);
    scene.workspace.write_config_yml(&settings).unwrap();
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".omp/skills/release/SKILL.md", "---\nname: release\ndescription: Cut a release\n---\nTag it.\n"),
        (".omp/rules/sql.md", "---\ndescription: How queries are written\n---\nUse joins.\n"),
        (".omp/rules/all.md", "---\nalwaysApply: true\n---\nBe exact.\n"),
        (".omp/rules/no-foo.md", "---\ncondition: '\\bfoo\\b'\nscope: text\n---\nSay bar instead.\n"),
        (".omp/commands/review.md", "---\nallowed-tools: Read\n---\nReview $1 by @a.txt.\n"),
        (".omp/commands/deep.md", "---\nmodel: other-model\n---\nThink about $1.\n"),
        ("AGENTS.md", "Use tabs.\n"),
        ("sub/deep/AGENTS.md", "Here use spaces.\n"),
        ("sub/deep/code.txt", "code\n"),
    ] {
        scene.workspace.write(path, text).unwrap();
    }
    scene
}

/// Changes something before each round. Changes on disk must not affect what was already sent.
async fn before(scene: &Scene, client: &mut Client, round: usize, usual: &str) {
    let change = |path: &str, text: &str| drop(scene.workspace.write(path, text).unwrap());
    let model = |id: &str| json!({"type": "set_model", "provider": "mock", "modelId": id});
    let parameters = json!({"type": "object", "properties": {}});
    let weather = json!({"name": "weather", "description": "Tells the weather", "parameters": parameters});
    let wish = match round {
        1 => return change(".git/HEAD", "ref: refs/heads/branch-one\n"),
        2 => json!({"type": "set_thinking_level", "level": "low"}),
        3 => json!({"type": "set_thinking_level", "level": usual}),
        4 | 15 => model("other-model"),
        6 | 17 => model("mock-model"),
        7 => json!({"type": "set_session_name", "name": "A title of its own"}),
        8 => {
            change(".omp/rules/new.md", "---\nalwaysApply: true\n---\nNew rule.\n");
            change(".omp/rules/sql.md", "---\ndescription: Changed\n---\nUse no joins.\n");
            change(".omp/skills/release/SKILL.md", "---\nname: release\ndescription: Changed\n---\nTag it twice.\n");
            return change("AGENTS.md", "Use eight tabs.\n");
        }
        9 => return change(".git/HEAD", "0123456789012345678901234567890123456789\n"),
        10 => json!({"type": "set_host_tools", "tools": [weather]}),
        11 => json!({"type": "set_host_tools", "tools": []}),
        COMPACTED => json!({"type": "compact"}),
        _ => return,
    };
    let told = client.ask(wish).await;
    assert_eq!(told["success"], true, "{told}");
}

fn prompt(round: usize) -> String {
    match round {
        12 => "/review 'the parts'".to_owned(),
        14 => "now /skill:release this".to_owned(),
        18 => "/deep it".to_owned(),
        _ => format!("do part {round}"),
    }
}

/// Returns the breaks that omp reports during a prompt: cause, and whether it was intended.
async fn ask(client: &mut Client, message: &str) -> Vec<(String, bool)> {
    client.send(&json!({"type": "prompt", "message": message})).await;
    let mut told = Vec::new();
    loop {
        let frame = client.next().await;
        match frame["type"].as_str().unwrap() {
            "spent" if frame["breakCause"].is_object() => {
                let broken = &frame["breakCause"];
                assert_eq!(broken["unexpected"], false, "{broken}");
                told.push((broken["cause"].as_str().unwrap().to_owned(), broken["deliberate"] == true));
            }
            "response" => assert_eq!(frame["success"], true, "{frame}"),
            "agent_end" => return told,
            _ => {}
        }
    }
}

/// A request of the conversation.
#[derive(Clone)]
struct Asked {
    model: &'static str,
    /// The body without the parameters.
    body: Vec<u8>,
    parameters: Vec<Vec<u8>>,
}

impl Asked {
    fn of(request: &RecordedRequest) -> Self {
        // Google has the model in the URL.
        let named = |id: &str| request.path.contains(id) || request.json().unwrap()["model"] == id;
        let parameter = |name: &&str| prefix::member(&request.body, name).unwrap_or_default().to_vec();
        Self {
            model: ["other-model", "mock-model"].into_iter().find(|id| named(id)).unwrap(),
            body: prefix::without_members(&request.body, &PARAMETERS).unwrap(),
            parameters: PARAMETERS.iter().map(parameter).collect(),
        }
    }

    fn has(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.body).contains(text)
    }
}

/// Finds breaks from the bytes alone: each request is compared with the last one of its model.
fn breaks(wire: Wire, asked: &[Asked]) -> Vec<(usize, &'static str)> {
    let cause = |at: usize| {
        let now = &asked[at];
        let Some(last) = asked[..at].iter().rev().find(|earlier| earlier.model == now.model) else {
            return (at > 0).then_some("model_switch");
        };
        let tools = |asked: &Asked| prefix::member(&asked.body, "tools").map(<[u8]>::to_vec);
        if tools(last) != tools(now) {
            return Some("tool_set");
        }
        // Only this provider caches the conversation separately for each thinking configuration.
        if wire == Wire::Anthropic && last.parameters != now.parameters {
            return Some("thinking");
        }
        let same = prefix::check_bodies(&[(wire, &last.body), (wire, &now.body)]);
        same.err().map(|_| if now.has("THE SUMMARY") && !last.has("THE SUMMARY") { "compaction" } else { "unknown" })
    };
    (0..asked.len()).filter_map(|at| Some((at, cause(at)?))).collect()
}

async fn check(wire: Wire) {
    let scene = scene(wire).await;
    let mut client = Client::start(&scene, &[]).await;
    let state = client.ask(json!({"type": "get_state"})).await;
    let usual = state["data"]["thinkingLevel"].as_str().unwrap().to_owned();
    assert_ne!(usual, "low", "switching to it has to change something");
    let mut told = Vec::new();
    for round in 0..ROUNDS {
        before(&scene, &mut client, round, &usual).await;
        told.extend(ask(&mut client, &prompt(round)).await);
    }
    let usage = client.ask(json!({"type": "prompt", "message": "/usage"}));
    assert_eq!(usage.await["success"], true);
    client.finish().await;

    let (asked, beside): (Vec<_>, Vec<_>) =
        scene.server.model_requests().into_iter().partition(|request| prefix::member(&request.body, "tools").is_some());
    assert_eq!((asked.len(), beside.len()), (ROUNDS * TURNS_A_ROUND + 1, SUMMARY_REQUESTS));
    let asked: Vec<Asked> = asked.iter().map(Asked::of).collect();
    check_happened(&scene, &asked);
    let found = breaks(wire, &asked);
    let names: Vec<&str> = found.iter().map(|(_, cause)| *cause).collect();
    let thinking: &[&str] = if wire == Wire::Anthropic { &["thinking", "thinking"] } else { &[] };
    // The compaction also invalidates the other model's cache, when that model answers again.
    let expect = [thinking, &["model_switch", "tool_set", "tool_set", "compaction", "compaction"]].concat();
    assert_eq!(names, expect, "{found:?}");
    let on_purpose: Vec<(String, bool)> = names.iter().map(|name| ((*name).to_owned(), true)).collect();
    assert_eq!(told, on_purpose, "what is told is what has happened");
    check_bites(wire, &asked, found.len());
}

/// Checks that all changes took place and were sent to the model at the right time.
fn check_happened(scene: &Scene, asked: &[Asked]) {
    let compacted = asked.iter().position(|asked| asked.has("THE SUMMARY")).unwrap();
    assert_eq!(compacted, COMPACTED * TURNS_A_ROUND + 1, "one more for the answer that a rule has stopped");
    let (first, last) = (&asked[0], &asked[compacted - 1]);
    for told in ["Be exact.", "How queries are written", "- release: Cut a release", "Use tabs.", "Git: main"] {
        assert!(first.has(told), "{told}");
    }
    for text in [
        "Tag it.",
        "Tag it twice.",
        "Use joins.",
        "Here use spaces.",
        "Say bar instead.",
        "Review the parts by @a.txt.",
        "whose `allowed-tools` lets run only Read",
    ] {
        assert!(last.has(text) && !first.has(text), "{text}");
    }
    for never in
        ["branch-one", "0123456789012345678901234567890123456789", "New rule.", "Use no joins.", "Use eight tabs."]
    {
        assert!(!last.has(never), "{never}");
    }
    let end = asked.last().unwrap();
    assert!(end.has("I want the skill `release` applied") && end.has("Think about it."));
    let by = |model: &str| asked.iter().filter(|asked| asked.model == model).count();
    assert_eq!((by("other-model"), by("mock-model")), (5 * TURNS_A_ROUND + 1, 16 * TURNS_A_ROUND));
    let file = std::fs::read_to_string(scene.session_file()).unwrap();
    assert!(file.contains("A title of its own") && file.contains("ttsr_injection"));
}

/// Checks that one changed byte anywhere would be detected: in the system prompt, in the tools, in the messages.
fn check_bites(wire: Wire, asked: &[Asked], known: usize) {
    let middle = asked.len() / 3;
    for text in ["Be exact.", "Cut a release", "Reads", "Step 3.7.", "Here use spaces.", "one"] {
        let mut moved = asked.to_vec();
        let body = &mut moved[middle].body;
        let Some(at) = body.windows(text.len()).position(|part| part == text.as_bytes()) else { continue };
        body[at] ^= 1;
        assert!(breaks(wire, &moved).len() > known, "{text} at {at}");
    }
}

#[tokio::test]
async fn only_what_is_meant_to_breaks_and_is_named_on_anthropic_messages() {
    check(Wire::Anthropic).await;
}

#[tokio::test]
async fn only_what_is_meant_to_breaks_and_is_named_on_openai_completions() {
    check(Wire::Completions).await;
}

#[tokio::test]
async fn only_what_is_meant_to_breaks_and_is_named_on_openai_responses() {
    check(Wire::Responses).await;
}

#[tokio::test]
async fn only_what_is_meant_to_breaks_and_is_named_on_google_generative_ai() {
    check(Wire::Google).await;
}
