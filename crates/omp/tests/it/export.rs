//! `/export`, `--export` and `/dump` through the binary.

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::Scene;

async fn told_scene() -> Scene {
    let turns = [Turn::call("read", json!({"path": "a.txt"})), Turn::text("It has **three** lines.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.omp(&["-p", "what is in it?"]).run().await.exits(0);
    scene
}

fn page(scene: &Scene, name: &str) -> String {
    std::fs::read_to_string(scene.workspace.project().join(name)).unwrap()
}

#[tokio::test]
async fn a_session_file_becomes_a_page() {
    let scene = told_scene().await;
    let file = scene.session_file();
    let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let ran = scene.omp(&["--export", file.to_str().unwrap()]).run().await.exits(0);
    let to = scene.workspace.project().join(format!("omp-session-{stem}.html"));
    assert!(
        ran.stdout.starts_with("Exported to: ")
            && ran.stdout.trim_end().ends_with(to.file_name().unwrap().to_str().unwrap()),
        "{ran}"
    );
    let shown = std::fs::read_to_string(&to).unwrap();
    assert!(shown.contains("<h1>what is in it?</h1>"), "{shown}");
    assert!(shown.contains("<b>read a.txt</b>"), "the card is that of the tool");
    assert!(shown.contains("<p>It has <strong>three</strong> lines.</p>"));
    assert!(!shown.contains("<summary>System prompt</summary>"), "nobody knows what that session was told");
    let id: String = stem.rsplit_once('_').unwrap().1.chars().take(13).collect();
    scene.omp(&["--export", &id, "by id.html"]).run().await.exits(0);
    assert_eq!(page(&scene, "by id.html"), shown);
    assert_eq!(scene.server.model_requests().len(), 2, "an export asks no model");
}

#[tokio::test]
async fn what_cannot_be_exported_is_told() {
    let scene = told_scene().await;
    let file = scene.session_file().display().to_string();
    scene.workspace.write("mine.html", "mine").unwrap();
    let gone = scene.omp(&["--export", "gone.jsonl"]).run().await.exits(2);
    assert!(gone.stderr.contains("File not found: ") && gone.stderr.contains("gone.jsonl"), "{gone}");
    scene.omp(&["--export", &file, "mine.html"]).run().await.exits(2).complains(&["mine.html already exists", "hint:"]);
    assert_eq!(page(&scene, "mine.html"), "mine");
    scene.omp(&["--export", &file, "no/such/folder.html"]).run().await.exits(2).complains(&["cannot write", "hint:"]);
    scene.omp(&["--export", "a.txt"]).run().await.exits(2).complains(&["is not a session file"]);
    scene.omp(&["--export", "ffffffff"]).run().await.exits(2).complains(&["no session id starts with"]);
}

#[tokio::test]
async fn the_running_session_becomes_a_page() {
    let turns = [Turn::text("My key is sk-live-0123456789.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    let prompts = ["-p", "/export", "hello", "/export my talk.html", "/export 'my talk.html'"];
    let early = scene.omp(&prompts).env("GROQ_API_KEY", "sk-live-0123456789").run().await.exits(2);
    assert!(early.stderr.contains("this session has no messages yet"), "{early}");
    let ran = scene.omp(&["-p", "hello", "/export my talk.html", "/export 'my talk.html'"]);
    let ran = ran.env("GROQ_API_KEY", "sk-live-0123456789").run().await.exits(0);
    assert_eq!(ran.stdout.matches("my talk.html").count(), 2, "{ran}");
    let shown = page(&scene, "my talk.html");
    assert!(shown.contains("<summary>System prompt</summary>") && shown.contains("<h5>read</h5>"));
    assert!(shown.contains("My key is [redacted].") && !shown.contains("sk-live"), "{shown}");
}

#[tokio::test]
async fn what_models_yml_keeps_secret_leaves_no_trace() {
    let turns = [Turn::call("bash", json!({"command": "cat keys.txt"})), Turn::text("Seen.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    let models = std::fs::read_to_string(scene.workspace.agent_dir().join("models.yml")).unwrap();
    let headers = "headers: {Authorization: Bearer header-sesame, X-Team: platform-team}\n    apiKey: YML_VARIABLE";
    scene.workspace.write_models_yml(&models.replace("apiKey: mock-key", headers)).unwrap();
    let more = "  other:\n    baseUrl: http://127.0.0.1:9\n    apiKey: literal-sesame\n";
    let models = std::fs::read_to_string(scene.workspace.agent_dir().join("models.yml")).unwrap();
    scene.workspace.write_models_yml(&format!("{}\n{more}", models.trim_end())).unwrap();
    scene.workspace.write("keys.txt", "header-sesame variable-sesame literal-sesame platform-team").unwrap();
    let prompts = ["--record", "r.jsonl", "-p", "what are they?", "/export page.html", "/dump"];
    let ran = scene.omp(&prompts).env("YML_VARIABLE", "variable-sesame").run().await.exits(0);
    let recording = page(&scene, "r.jsonl");
    assert!(recording.contains("<<$env:S") && recording.contains(">> platform-team"), "{recording}");
    let shown = [ran.stdout, page(&scene, "page.html")];
    for text in shown.iter().inspect(|text| assert!(text.contains("[redacted] [redacted] [redacted] platform-team"))) {
        assert!(!text.contains("sesame"), "{text}");
    }
    assert!(!recording.contains("sesame"), "{recording}");
    let file = scene.session_file().display().to_string();
    scene.omp(&["--export", &file, "later.html"]).env("YML_VARIABLE", "variable-sesame").run().await.exits(0);
    assert!(!page(&scene, "later.html").contains("sesame"));
}

#[tokio::test]
async fn what_is_copied_is_printed_without_a_terminal_and_memory_has_no_page() {
    let scene = Scene::new(Wire::Completions, ["One.", "Two.", "Three.", "Four."].map(Turn::text)).await;
    for typed in ["/export --copy", "/export copy", "/export clipboard"] {
        let copied = scene.omp(&["-p", "hello", typed]).run().await.exits(0).stdout;
        assert!(copied.contains("## System prompt") && copied.contains("## User\n\nhello"), "{typed}: {copied}");
    }
    assert!(!scene.workspace.path("copy").exists());
    let unrecorded = scene.omp(&["--no-session", "-p", "hello", "/export"]).run().await.exits(2);
    assert!(unrecorded.stderr.contains("Cannot export in-memory session to HTML"), "{unrecorded}");
}

#[tokio::test]
async fn a_dump_tells_everything_the_model_was_told() {
    let turns = [Turn::call("read", json!({"path": "a.txt"})), Turn::text("It has three lines.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.omp(&["-p", "/dump"]).run().await.exits(0).prints("No messages to dump yet.\n");
    let shown = scene.omp(&["-p", "what is in it?", "/dump"]).run().await.exits(0).stdout;
    let dump = shown.strip_prefix("It has three lines.\n").unwrap();
    let parts = [
        "## System prompt",
        "## Model\n",
        "## Tools",
        "### read",
        "## User\n\nwhat is in it?",
        "call read {",
        "## Result of read",
        "It has three lines.",
    ];
    let found: Vec<_> = parts.iter().map(|part| dump.find(part).unwrap_or_else(|| panic!("{part}: {dump}"))).collect();
    assert!(found.is_sorted(), "{found:?}");
}
