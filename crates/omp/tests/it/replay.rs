//! Recorded and replayed sessions: the same output without a server, on every wire.

use omp_testkit::{Fault, FaultKind, Moment, Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Ran, Scene};

/// The first answer, a call, a transient fault, and a last answer with the tool's result.
fn work() -> Script {
    Script::new([
        Turn::text(["I l", "ook: é."]).thinking("hm").and_call("bash", json!({"command": "cat a.txt"})),
        Turn::text("Seen.").fault(Fault::status(529).times(1)),
        Turn::text(["All ", "done."]),
    ])
}

/// Returns the frames of a run without times and session ids.
fn told(ran: &Ran) -> Vec<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Object(fields) => {
                for key in ["timestamp", "id", "ttft", "duration", "delayMs", "wallTimeMs", "cwd", "estimate"] {
                    fields.shift_remove(key);
                }
                fields.values_mut().for_each(strip);
            }
            Value::String(text) if text.contains("Wall time: ") => {
                *text = text.split("Wall time: ").next().unwrap_or_default().to_owned();
            }
            _ => {}
        }
    }
    let mut frames = ran.json_lines();
    frames.iter_mut().for_each(strip);
    // How deltas are merged depends on timing; their sum is in `message_end`.
    frames.retain(|frame| frame["type"] != "message_update" && frame["type"] != "tool_execution_update");
    frames
}

/// Runs the binary with a recording, without server and provider.
fn replay(scene: &Scene, model: &str, args: &[&str]) -> Omp {
    std::fs::write(scene.workspace.agent_dir().join("models.yml"), "").unwrap();
    Omp::bare(&scene.workspace).args(["--model", model]).args(args)
}

#[tokio::test]
async fn a_recorded_session_plays_the_same_without_a_server() {
    for wire in Wire::ALL {
        let scene = Scene::new(wire, work()).await;
        let args = ["--mode", "json", "-p", "do it", "and on"];
        let recorded = scene.omp(&args).args(["--record", "r.jsonl"]).run().await;
        let recorded = recorded.exits(0);
        let Scene { server, workspace } = scene;
        let asked = server.model_requests().len();
        drop(server);
        let scene = Scene::new(wire, Script::new([Turn::text("never")])).await;
        let file = workspace.path("r.jsonl");
        let model = format!("replay-strict/{}", file.display());
        scene.workspace.write("a.txt", "one\ntwo\nthree\n").unwrap();
        for _ in 0..2 {
            let played = replay(&scene, &model, &args).run().await.exits(0);
            assert_eq!(played.stderr, "", "{wire:?} {played}");
            similar(&told(&recorded), &told(&played));
        }
        assert_eq!(asked, 4, "{wire:?}");
        assert_eq!(scene.server.model_requests().len(), 0);
    }
}

#[track_caller]
fn similar(one: &[Value], other: &[Value]) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one, other);
    }
    assert_eq!(one.len(), other.len());
}

#[tokio::test]
async fn no_key_is_in_a_recording() {
    for wire in Wire::ALL {
        let turns = [
            Turn::call("bash", json!({"command": "echo it is $MY_SERVICE_TOKEN"})),
            Turn::text("The key is sesame-open."),
        ];
        let scene = Scene::new(wire, Script::new(turns)).await;
        let models = std::fs::read_to_string(scene.workspace.agent_dir().join("models.yml")).unwrap();
        let key =
            models.lines().find_map(|line| line.trim().strip_prefix("apiKey: ")).unwrap().trim_matches(['"', '\'']);
        scene.workspace.write_models_yml(&models.replace(key, "yml-secret-sesame")).unwrap();
        scene.workspace.write_config_yml("secrets: { environment: false }\n").unwrap();
        let run = scene.omp(&["--record", "r.jsonl", "-p", "tell sesame-open"]).env("MY_SERVICE_TOKEN", "sesame-open");
        run.run().await.exits(0).prints("The key is sesame-open.\n");
        let text = scene.workspace.read("r.jsonl").unwrap();
        assert!(!text.contains("sesame"), "{wire:?}\n{text}");
        assert!(text.contains("tell [removed]") && text.contains("it is [removed]"), "{text}");
        // It was still sent.
        assert!(scene.last_request().headers.iter().any(|(_, value)| value.contains("yml-secret-sesame")));
    }
}

#[tokio::test]
async fn the_golden_recording_still_plays() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("never")])).await;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recordings/golden.jsonl");
    let model = format!("replay-strict/{file}");
    let ran = replay(&scene, &model, &["-p", "What is in a.txt?"]).run().await.exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("It has three lines.\n", ""), "{ran}");
    let differs = replay(&scene, &format!("replay/{file}"), &["-p", "What is in b.txt?"]).run().await.exits(0);
    differs.prints("It has three lines.\n").complains(&[
        "omp: warning: this run differs from the recording in exchange 1: message 1 (user)",
        "What is in a.txt?`, now `What is in b.txt?`",
    ]);
    let strict = replay(&scene, &model, &["-p", "What is in b.txt?"]).run().await.exits(1);
    strict.prints("").complains(&["this run differs from the recording in exchange 1"]);
    let more = replay(&scene, &model, &["-p", "What is in a.txt?", "And now?"]).run().await.exits(1);
    more.complains(&["has no more answers: all 2 were played", "hint: "]);
}

#[tokio::test]
async fn what_cannot_be_recorded_or_played_is_told_before_anything_is_sent() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("never")])).await;
    let taken = scene.omp(&["--record", "a.txt", "-p", "x"]).run().await.exits(2);
    taken.complains(&["cannot record to", "hint: recordings are not overwritten"]);
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "one\ntwo\nthree\n");
    scene.omp(&["--record", "no/r.jsonl", "-p", "x"]).run().await.exits(2).complains(&["hint: the folder must exist"]);
    for (model, words) in [
        ("replay/nothing.jsonl", "cannot read the recording"),
        ("replay/a.txt", "is not an omp recording"),
        ("replay/", "cannot read the recording"),
    ] {
        let ran = replay(&scene, model, &["-p", "x"]).run().await.exits(2);
        ran.complains(&[words, "hint: "]);
    }
    assert_eq!(scene.server.model_requests().len(), 0);
}

#[tokio::test]
async fn a_recording_keeps_what_came_before_a_kill_and_a_timeout_plays_at_once() {
    let turn = Turn::text(["a", "b", "c"]).fault(FaultKind::Stall { at: Moment::MidStream, ms: None }.into());
    for wire in Wire::ALL {
        let scene = Scene::new(wire, Script::new([turn.clone()])).await;
        scene.workspace.write_config_yml("retry: { enabled: false }\n").unwrap();
        let run = scene.omp(&["--record", "r.jsonl", "-p", "x"]).env("PI_STREAM_IDLE_TIMEOUT_MS", "300");
        let live = run.env("PI_STREAM_FIRST_EVENT_TIMEOUT_MS", "300").run().await.exits(1);
        let played = replay(&scene, "replay-strict/r.jsonl", &["-p", "x"]).run().await.exits(1);
        assert_eq!(played.stderr, live.stderr, "{wire:?}");
    }
    let scene = Scene::new(Wire::Anthropic, Script::new([turn])).await;
    let running = scene.omp(&["--record", "r.jsonl", "-p", "x"]).start();
    crate::harness::within(scene.server.until(|counts| counts.stalls == 1)).await;
    drop(running);
    let played = replay(&scene, "replay-strict/r.jsonl", &["-p", "x"]).run().await.exits(1);
    played.complains(&["the recorded answer ends here"]);
}
