//! Slash commands that people already type, through the binary: /init, /doctor, /memory, /debug, /terminal-setup, and Tab.

use std::io::Read;
use std::path::PathBuf;

use omp_session::MENU;
use omp_testkit::{PastEnd, Script, Turn, Wire};
use portable_pty::CommandBuilder;
use serde_json::json;

use crate::file_commands::with_other_model;
use crate::harness::Scene;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const ESCAPE: &str = "\x1b";
const CTRL_U: &str = "\x15";
/// Longer than a question ignores keys that were not meant for it.
const READ: std::time::Duration = std::time::Duration::from_millis(400);

async fn scene(turns: impl Into<Vec<Turn>>) -> Scene {
    Scene::new(Wire::Completions, Script::new(turns.into()).past_end(PastEnd::RepeatLast)).await
}

/// Starts omp with more variables, such as `EDITOR=cat`.
fn ready_with(scene: &Scene, variables: &[&str]) -> Seat {
    let mut command = CommandBuilder::new("env");
    command.args(variables);
    command.arg(env!("CARGO_BIN_EXE_omp"));
    command.args(scene.workspace.args(&[]));
    let seat = Seat::of(scene, command, (100, 30));
    seat.until(READY);
    seat
}

fn agents_md(scene: &Scene) -> PathBuf {
    scene.workspace.project().join("AGENTS.md")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn init_shows_the_file_before_it_is_kept() {
    let write = |text: &str| Turn::call("write", json!({"path": "AGENTS.md", "content": text}));
    let scene = scene([write("# First draft\n"), write("# Second draft\n"), Turn::text("Written.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/init mention the tests\r");
        seat.until("First draft");
        seat.until("only if you approve it");
        assert!(!agents_md(&scene).exists());
        seat.until_quiet(READ);
        seat.keys("n");
        seat.until("Second draft");
        seat.until_quiet(READ);
        seat.keys("y");
        seat.until("Written.");
        seat.until_gone(RUNS);
        seat.leaves();
    })
    .await;
    assert_eq!(std::fs::read_to_string(agents_md(&scene)).unwrap(), "# Second draft\n");
    let first = scene.server.model_requests()[0].json().unwrap()["messages"].to_string();
    assert!(first.contains("hard to guess") && first.contains("The user adds: mention the tests"), "{first}");
    assert!(!first.contains("already exists"), "{first}");
}

#[tokio::test]
async fn init_improves_a_file_that_is_there() {
    let scene = scene([Turn::text("Nothing to change.")]).await;
    std::fs::write(agents_md(&scene), "# Ours\n").unwrap();
    scene.omp(&["-p", "/init"]).run().await.exits(0).prints("Nothing to change.\n");
    let sent = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(sent.contains("already exists") && sent.contains("word for word"), "{sent}");
    assert_eq!(std::fs::read_to_string(agents_md(&scene)).unwrap(), "# Ours\n");
}

#[tokio::test]
async fn doctor_checks_each_part_with_a_mark() {
    let scene = scene([Turn::text("never")]).await;
    let told = scene.omp(&["-p", "/doctor"]).run().await.exits(0).stdout;
    for area in ["settings", "containment", "model", "tools", "shell", "git", "terminal", "sessions"] {
        let row = told.lines().find(|row| row.get(6..).is_some_and(|rest| rest.starts_with(area)));
        let row = row.unwrap_or_else(|| panic!("no row for {area}:\n{told}"));
        assert!(["ok", "warn", "FAIL"].contains(&row[..6].trim()), "{row}");
    }
    assert!(scene.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_lists_the_files_and_opens_one_in_the_editor() {
    let scene = scene([Turn::text("never")]).await;
    let none = scene.omp(&["-p", "/memory"]).run().await.exits(0).stdout;
    assert!(none.contains("no instruction files are loaded") && none.contains("hint: /init"), "{none}");
    std::fs::write(agents_md(&scene), "# Ours\n").unwrap();
    let listed = scene.omp(&["-p", "/memory"]).run().await.exits(0).stdout;
    assert!(listed.contains("1. AGENTS.md (project, 7B, about 2 tokens)"), "{listed}");
    scene.omp(&["-p", "/memory open 2"]).run().await.exits(2).complains(&["no such file in the prompt: `2`"]);
    let editor = scene.workspace.project().join("editor.sh");
    std::fs::write(&editor, "#!/bin/sh\necho more >> \"$1\"\n").unwrap();
    at_a_seat(|| {
        let seat = ready_with(&scene, &[&format!("EDITOR=sh {}", editor.display())]);
        seat.keys("/memory\r");
        seat.until("Instructions in the prompt");
        seat.until("AGENTS.md");
        seat.keys("\r");
        seat.until("AGENTS.md is saved");
        seat.leaves();
    })
    .await;
    assert_eq!(std::fs::read_to_string(agents_md(&scene)).unwrap(), "# Ours\nmore\n");
    assert!(scene.server.requests().is_empty());
}

/// Returns the files of a report, with their names.
pub fn unpacked(path: &str) -> Vec<(String, String)> {
    let file = std::fs::File::open(path).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (entry.path().unwrap().display().to_string(), text)
    };
    archive.entries().unwrap().map(read).collect()
}

#[tokio::test]
async fn debug_packs_a_report_without_secrets() {
    let secret = "sk-very-secret-1";
    let scene = scene([Turn::text("The key is sk-very-secret-1.")]).await;
    let run = scene.omp(&["-p", "hi", "/debug report", "/debug stream", "/debug logs"]).env("OPENAI_API_KEY", secret);
    let told = run.run().await.exits(0).stdout;
    assert!(told.contains("data: ") && told.contains("> POST "), "{told}");
    assert!(told.contains("session begins") && told.contains("answer of mock/mock-model"), "{told}");
    let path = told.lines().find_map(|line| line.strip_prefix("report written to ")).unwrap();
    let files = unpacked(path);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["report.txt", "stream.txt"]);
    assert!(names.iter().any(|name| name.starts_with("logs/omp-")) && names.contains(&"session.jsonl"), "{names:?}");
    for (name, text) in &files {
        assert!(!text.is_empty() && !text.contains(secret), "{name}: {text}");
    }
    assert!(files.iter().any(|(name, text)| name == "report.txt" && text.contains("mock/mock-model")));
}

#[tokio::test]
async fn debug_dumps_the_next_request_only() {
    let scene = scene([Turn::text("One.")]).await;
    let run = scene.omp(&["-p", "/debug dump-next-request next.json", "first words", "second words"]).run().await;
    assert!(run.exits(0).stdout.contains("Next AI provider request will be dumped to "));
    let dumped = std::fs::read_to_string(scene.workspace.project().join("next.json")).unwrap();
    assert!(dumped.contains("first words") && !dumped.contains("second words"), "{dumped}");
    let told = scene.omp(&["-p", "/debug dump-next-request"]).run().await.exits(2).stderr;
    assert!(told.contains("usage: /debug dump-next-request <path>"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debug_is_a_menu_with_viewers() {
    let scene = scene([Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Fine.");
        seat.keys("/bug\r");
        seat.until("View the recent log");
        seat.keys("\r");
        seat.until("answer of mock/mock-model");
        seat.keys(ESCAPE);
        seat.until_gone("answer of mock/mock-model");
        seat.keys("/debug\r");
        seat.until("View the raw stream");
        seat.keys(format!("{DOWN}\r"));
        seat.until("[DONE]");
        seat.keys(ESCAPE);
        seat.until_gone("[DONE]");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terminal_setup_changes_a_file_only_after_asking() {
    let scene = scene([Turn::text("never")]).await;
    let home = scene.workspace.home();
    let vs_code = scene.omp(&["-p", "/terminal-setup"]).env("TERM_PROGRAM", "vscode").run().await.exits(0).stdout;
    assert!(vs_code.contains("VS Code: add to") && vs_code.contains("workbench.action.terminal"), "{vs_code}");
    let conf = home.join(".tmux.conf");
    std::fs::write(&conf, "set -g mouse on\n").unwrap();
    let refused = scene.omp(&["-p", "/terminal-setup apply"]).env("TMUX", "/tmp/none,1,0").run().await.exits(2);
    assert!(refused.stderr.contains("only after you agree"), "{refused}");
    at_a_seat(|| {
        let seat = ready_with(&scene, &["TMUX=/tmp/none,1,0"]);
        for (choose, told) in [("\r".to_owned(), "is unchanged"), (format!("{DOWN}\r"), "is changed; restart tmux")] {
            seat.keys("/terminal-setup apply\r");
            seat.until("Add the lines");
            seat.until_quiet(READ);
            seat.keys(choose);
            seat.until(told);
            seat.until_gone("Add the lines");
        }
        seat.leaves();
    })
    .await;
    let text = std::fs::read_to_string(&conf).unwrap();
    assert!(text.starts_with("set -g mouse on\n") && text.contains("set -s extended-keys on"), "{text}");
    assert_eq!(std::fs::read_to_string(home.join(".tmux.conf.before-omp")).unwrap(), "set -g mouse on\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tab_completes_arguments_and_paths() {
    let scene = scene([Turn::text("Fine.")]).await;
    with_other_model(&scene);
    let project = scene.workspace.project();
    std::fs::create_dir(project.join("long folder")).unwrap();
    std::fs::write(project.join("long folder/file.txt"), "found it\n").unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("make the parser faster", "Fine.");
        for (typed, expect) in [
            ("/thinking mi\t", "> /thinking minimal"),
            ("/model mock/o\t", "> /model mock/other-model"),
            ("/theme lig\t", "> /theme light"),
            ("/settings theme.d\t", "> /settings theme.dark"),
            ("/session del\t", "> /session delete"),
            ("/force rea\t", "> /force read"),
            ("/resume pars\t", "> /resume 0"),
            ("/move lo\t", "> /move long folder/"),
            ("see long\t", "> see long folder/"),
            ("! cat lo\t", "cat long\\ folder/"),
            ("! cat long\\ folder/f\t", "cat long\\ folder/file.txt"),
        ] {
            seat.keys(typed);
            seat.wait(typed, |glass| glass.text().lines().any(|row| row.contains(expect)));
            seat.keys(CTRL_U);
            seat.wait(typed, |glass| !glass.text().lines().any(|row| row.contains(expect)));
        }
        for (typed, expect) in [("! cat lo\t", "folder/"), ("f\t", "file.txt"), ("\r", "found it")] {
            seat.keys(typed);
            seat.until(expect);
        }
        seat.until_gone(RUNS);
        seat.keys("/thinking lo\t");
        seat.until("> /thinking low");
        seat.keys("\r");
        seat.until("mock/mock-model low");
        seat.keys("zzzz\t");
        seat.until("nothing to complete");
        seat.keys(CTRL_U);
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_menu_is_grouped_and_the_best_match_comes_first() {
    let scene = scene([Turn::text("never")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/");
        seat.until("❯ /plan ");
        assert!(seat.text().lines().any(|row| row.trim() == "Work"), "{}", seat.text());
        seat.keys(UP);
        seat.until("❯ /exit");
        assert!(seat.text().lines().any(|row| row.trim() == "Help"), "{}", seat.text());
        // Every command has a row that fits, with its other names.
        for entry in MENU {
            seat.keys(DOWN);
            let row = format!("❯ /{} ", entry.name());
            seat.until(&row);
            let text = seat.text();
            let row = text.lines().find(|line| line.starts_with(&row)).unwrap();
            assert!(!row.contains('…'), "{row}");
        }
        seat.keys(format!("{CTRL_U}/mo"));
        seat.until("❯ /model");
        seat.keys(format!("{CTRL_U}/cle"));
        seat.until("❯ /clear → /new");
        seat.keys(format!("{CTRL_U}/deb"));
        seat.until("(also /bug)");
        seat.keys(CTRL_U);
        seat.leaves();
    })
    .await;
}

#[tokio::test]
async fn a_session_is_resumed_by_words_of_its_title() {
    let scene = scene([Turn::text("Fine.")]).await;
    scene.omp(&["-p", "make the parser faster"]).run().await.exits(0);
    scene.omp(&["-p", "make the tests faster"]).run().await.exits(0);
    let told = scene.omp(&["-p", "/resume FASTER"]).run().await.exits(2).stderr;
    assert!(told.contains("2 sessions match `FASTER`") && told.contains("usage: /resume"), "{told}");
    scene.omp(&["-p", "/resume parser", "go on"]).run().await.exits(0);
    let sent = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(sent.contains("make the parser faster") && sent.contains("go on"), "{sent}");
}

#[tokio::test]
async fn the_thinking_level_is_set_in_every_mode() {
    let scene = scene([Turn::text("Fine.")]).await;
    let told = scene.omp(&["-p", "/thinking low", "/thinking"]).run().await.exits(0).stdout;
    assert!(told.starts_with("thinking: low\n") && told.contains("levels: off,"), "{told}");
    assert!(scene.omp(&["-p", "/switch"]).run().await.exits(0).stdout.contains("mock/mock-model"));
    assert!(scene.omp(&["-p", "/setup providers"]).run().await.exits(0).stdout.contains("omp setup"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permissions_is_a_menu_of_rules() {
    let scene = scene([Turn::text("never")]).await;
    let rules = "tools:\n  allow:\n    - bash(make *)\n  deny:\n    - read(secret.txt)\n";
    scene.workspace.write_config_yml(rules).unwrap();
    let config = || std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/permissions\r");
        seat.until("Approval rules · mode auto");
        seat.until("Remove: allow bash(make *)");
        let text = seat.text();
        let row = text.lines().find(|row| row.contains("deny read(secret.txt)")).unwrap();
        assert!(row.contains("your config.yml"), "{row}");
        seat.keys("make");
        seat.until_gone("Remove: deny");
        seat.keys("\r");
        // Nothing is removed until the line is submitted.
        seat.until("> /permissions remove allow bash(make *)");
        assert!(config().contains("make"));
        seat.keys("\r");
        seat.until("Removed: allow bash(make *)");
        seat.keys("/permissions\r");
        seat.until("❯ Add a rule: allow …");
        seat.until("run without asking");
        seat.keys("\r");
        seat.until("> /permissions allow");
        seat.keys("bash(git status *)\r");
        seat.until("saved in your config.yml");
        seat.leaves();
    })
    .await;
    let config = config();
    assert!(config.contains("bash(git status *)") && config.contains("read(secret.txt)"), "{config}");
    assert!(!config.contains("make"), "{config}");
    assert!(scene.server.requests().is_empty());
}
