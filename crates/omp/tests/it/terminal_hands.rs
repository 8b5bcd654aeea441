//! What a person's hands find at the terminal: vim mode, the plan dialog, an answer in one's own words, notifications, and the
//! line about a newer version.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use omp_testkit::{PastEnd, Script, TokenCounts, Turn, Wire};
use portable_pty::CommandBuilder;
use serde_json::json;

use crate::harness::{Omp, Scene, outline};
use crate::rpc::Client;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

const ESCAPE: &str = "\x1b";
const CTRL_G: &str = "\x07";
const SHIFT_ENTER: &str = "\x1b[13;2u";
const SHIFT_TAB: &str = "\x1b[Z";
const LOOKS_AWAY: &str = "\x1b[O";
/// Longer than a question ignores keys that were not meant for it.
const READ: Duration = Duration::from_millis(400);

async fn scene(turns: impl Into<Vec<Turn>>) -> Scene {
    Scene::new(Wire::Completions, Script::new(turns.into()).past_end(PastEnd::RepeatLast)).await
}

/// Starts omp with more variables, such as `TERM=foot`.
fn ready_with(scene: &Scene, variables: &[&str], args: &[&str]) -> Seat {
    let mut command = CommandBuilder::new("env");
    command.args(variables);
    command.arg(env!("CARGO_BIN_EXE_omp"));
    command.args(scene.workspace.args(args));
    let seat = Seat::of(scene, command, (80, 24));
    seat.until(READY);
    seat
}

fn sent(scene: &Scene) -> String {
    scene.last_request().json().unwrap()["messages"].to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vim_mode_edits_the_prompt_and_is_kept() {
    let sleeps = Turn::call("bash", json!({"command": "echo begun; sleep 300"}));
    let scene = scene([Turn::text("Fine."), sleeps]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/vim\r");
        seat.until("INSERT");
        seat.keys("one two three");
        seat.until("one two three");
        seat.keys(ESCAPE);
        seat.until("NORMAL");
        seat.keys("bbcwTWO");
        seat.until("one TWO three");
        seat.until("INSERT");
        seat.says("", "Fine.");
        seat.leaves();
    })
    .await;
    assert!(sent(&scene).contains("one TWO three"), "{}", sent(&scene));
    let config = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    assert!(config.contains("vimMode: true"), "{config}");
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.until("INSERT");
        seat.keys("go\r");
        seat.until("begun");
        seat.keys(ESCAPE);
        seat.until("NORMAL");
        seat.keys(ESCAPE);
        seat.until_gone(RUNS);
        seat.keys(":q\r");
        assert_eq!(seat.end(), 0, "{}", seat.text());
        seat.is_sane();
    })
    .await;
}

fn plans() -> [Turn; 3] {
    let write = json!({"path": "local://PLAN.md", "content": "# The plan\n\nStep **one**.\n"});
    [Turn::call("write", write), Turn::text("Planned."), Turn::text("Carried out.")]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_edited_and_what_was_edited_runs() {
    let scene = scene(plans()).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/plan make it\r");
        seat.until("2. Approve with edits");
        assert!(seat.text().contains("Step one."), "{}", seat.text());
        seat.until_quiet(READ);
        seat.keys("2");
        seat.until("Edit the plan");
        seat.until("Sends: I approve the plan in local://PLAN.md.");
        seat.keys("MINE ");
        seat.until("MINE # The plan");
        seat.until("I approve the plan, with changes of mine.");
        seat.keys("\r");
        seat.until("Carried out.");
        seat.until_gone("· plan, ");
        seat.leaves();
    })
    .await;
    let sent = sent(&scene);
    assert!(sent.contains("I approve the plan, with changes of mine.") && sent.contains("MINE # The plan"), "{sent}");
    assert!(sent.contains("Plan mode is off"), "{sent}");
    let kept = scene.session_file().with_extension("").join("local").join("PLAN.md");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "MINE # The plan\n\nStep **one**.\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_approves_a_plan_is_read_before_it_is_sent() {
    // An edited plan that is not changed sends the same text as the plan itself.
    for keys in [&["1"][..], &["2", "\r"]] {
        let scene = scene(plans()).await;
        at_a_seat(|| {
            let seat = Seat::ready(&scene, &[]);
            seat.keys("/plan make it\r");
            seat.until("1 sends: I approve the plan in local://PLAN.md.");
            seat.until_quiet(READ);
            for key in keys {
                seat.until("ends: I approve the plan in local://PLAN.md.");
                seat.keys(*key);
                seat.until_gone("1. Approve and run");
            }
            seat.until("Carried out.");
            seat.until_gone("· plan, ");
            seat.leaves();
        })
        .await;
        let said = outline(&scene.messages());
        let approved = said.iter().find(|line| line.contains("approve the plan")).unwrap();
        assert!(approved.starts_with("user: I approve the plan in local://PLAN.md."), "{approved}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planning_goes_on_in_words_and_the_plan_can_be_seen_again() {
    let scene = scene(plans()).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/plan make it\r");
        seat.until("3. Keep planning");
        seat.until_quiet(READ);
        seat.keys("\r");
        seat.until("what is missing");
        seat.keys("and tests\r");
        seat.until("Carried out.");
        seat.until_gone(RUNS);
        assert!(seat.text().contains("· plan, "), "{}", seat.text());
        seat.keys("/plan-review\r");
        seat.until("1. Approve and run");
        seat.keys(ESCAPE);
        seat.until_gone("1. Approve and run");
        seat.leaves();
    })
    .await;
    assert!(sent(&scene).contains("and tests"), "{}", sent(&scene));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_keeps_plan_mode() {
    let scene = scene([Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Fine.");
        seat.keys("/plan\r");
        seat.until("· plan, ");
        seat.keys("/fork\r");
        seat.wait("a second file", |_| scene.workspace.session_files().unwrap().len() == 2);
        seat.until_quiet(READ);
        assert!(seat.text().contains("· plan, "), "{}", seat.text());
        let asked = scene.server.model_requests().len();
        seat.keys("go on\r");
        seat.wait("another request", |_| scene.server.model_requests().len() > asked);
        seat.until_gone(RUNS);
        seat.leaves();
    })
    .await;
    assert!(sent(&scene).contains("Plan mode is on"), "{}", sent(&scene));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_approval_mode_is_kept_in_sessions_opened_from_here() {
    let touch = Turn::call("bash", json!({"command": "touch x"}));
    let scene = scene([Turn::text("Fine."), touch, Turn::text("Done.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Fine.");
        seat.keys(SHIFT_TAB);
        seat.until("· ask-writes");
        let files = || scene.workspace.session_files().unwrap().len();
        for (line, count) in [("/fork\r", 2), ("/new\r", 2)] {
            seat.keys(line);
            seat.wait(line, |_| files() == count);
            seat.until_quiet(READ);
            assert!(seat.text().contains("· ask-writes"), "{line}: {}", seat.text());
        }
        seat.keys("go\r");
        seat.until("y  Yes, once");
        seat.until_quiet(READ);
        seat.keys("n");
        seat.until("Done.");
        seat.until_gone(RUNS);
        seat.leaves();
    })
    .await;
    assert!(!scene.workspace.project().join("x").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_tasks_is_edited_in_another_editor() {
    let scene = scene([Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = ready_with(&scene, &["EDITOR=sed -i s/one/two/"], &[]);
        seat.keys("/todo append one\r");
        seat.until("▸ one");
        seat.keys("/todo edit\r");
        seat.until("replaced the list");
        seat.until("▸ two");
        seat.keys("/todo edit\r");
        seat.until("nothing was changed");
        let before = seat.shown();
        seat.keys("/todo copy\r");
        seat.until_after(before, "\x1b]52;c;");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_interrupted_line_printed_is_told_to_the_model() {
    let scene = scene([Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("! echo fir''st; sleep 300\r");
        seat.until("first");
        seat.keys(ESCAPE);
        seat.until("⏹ interrupted");
        seat.says("and now?", "Fine.");
        seat.leaves();
    })
    .await;
    assert!(sent(&scene).contains("sleep 300`:\\nfirst"), "{}", sent(&scene));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_context_is_estimated_for_a_server_that_reports_nothing() {
    let scene = scene([Turn::text("Fine.").usage(TokenCounts::default())]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.until("· 0%/200k");
        seat.says("hello", "Fine.");
        seat.until("· ~");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_may_have_many_lines_and_come_from_another_editor() {
    let question = json!({"questions": [
        {"id": "q", "question": "Which colour?", "options": [{"label": "Red"}, {"label": "Green"}]}
    ]});
    let scene = scene([Turn::call("ask", question), Turn::text("Fine.")]).await;
    let keys = "tui.input.newLine: ctrl+n\ntui.editor.deleteWordBackward: ctrl+x\n";
    std::fs::create_dir_all(scene.workspace.agent_dir()).unwrap();
    std::fs::write(scene.workspace.agent_dir().join("keybindings.yml"), keys).unwrap();
    at_a_seat(|| {
        let seat = ready_with(&scene, &["EDITOR=sed -i s/two/2/"], &[]);
        seat.keys("go\r");
        seat.until("3. Other");
        seat.until_quiet(READ);
        seat.keys("3");
        seat.until("your answer");
        seat.keys("one\x0etwo wrong\x18");
        let has_row = |text: &str, row: &str| text.lines().any(|shown| shown.trim_matches(['│', ' ']) == row);
        seat.wait("two lines", |glass| {
            let text = glass.text();
            text.contains("❯ one") && has_row(&text, "two")
        });
        seat.keys(CTRL_G);
        seat.wait("the edited text", |glass| has_row(&glass.text(), "2"));
        seat.keys(SHIFT_ENTER);
        seat.keys("\r");
        seat.until("Fine.");
        seat.until_gone(RUNS);
        seat.leaves();
    })
    .await;
    assert!(sent(&scene).contains("one\\\\n2") || sent(&scene).contains("one\\n2"), "{}", sent(&scene));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_who_looks_elsewhere_is_notified() {
    for (variables, expect) in [
        (&["TERM=foot"][..], "\x1b]777;notify;omp;Waiting for your answer: project\x1b\\"),
        (&["TERM_PROGRAM=iTerm.app"][..], "\x1b]9;omp: Waiting for your answer: project\x1b\\"),
        (&["TERM=xterm-kitty"][..], "\x1b]99;i=omp-1:p=body;Waiting for your answer: project\x1b\\"),
        (&[][..], "\x07"),
    ] {
        let scene = scene([Turn::call("bash", json!({"command": "echo a > b"})), Turn::text("Fine.")]).await;
        at_a_seat(|| {
            let seat = ready_with(&scene, variables, &["--approval-mode", "ask-all"]);
            seat.keys(LOOKS_AWAY);
            let before = seat.shown();
            seat.keys("go\r");
            seat.until_after(before, expect);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_waits_for_input_notifies_too() {
    let scene = scene([Turn::call("bash", json!({"command": "read -r name", "pty": true})), Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = ready_with(&scene, &["TERM_PROGRAM=iTerm.app"], &[]);
        seat.keys(LOOKS_AWAY);
        let before = seat.shown();
        seat.keys("go\r");
        seat.until_after(before, "\x1b]9;omp: A command needs your input: project\x1b\\");
        seat.until_quiet(READ);
        seat.keys("me\r");
        seat.until("Fine.");
    })
    .await;
}

/// A server on this machine that tells a version, and how often it was asked.
fn release_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/latest", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            if stream.read(&mut request).unwrap_or(0) == 0 {
                continue;
            }
            count.fetch_add(1, Ordering::SeqCst);
            let body = r#"{"name":"omp","version":"99.1.0"}"#;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            // The client may be gone.
            let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        }
    });
    (address, asked)
}

#[tokio::test]
async fn only_the_terminal_application_asks_for_a_newer_version() {
    let scene = scene([Turn::text("Fine.")]).await;
    let (address, asked) = release_server();
    let config = format!("startup: {{ checkUpdate: true, updateUrl: '{address}' }}\n");
    scene.workspace.write_config_yml(&config).unwrap();
    for mode in ["text", "json"] {
        scene.omp(&["--mode", mode, "-p", "hello"]).run().await.exits(0);
        assert_eq!(asked.load(Ordering::SeqCst), 0, "--mode {mode} asks nobody");
    }
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("hello").await;
    assert_eq!((client.finish().await, asked.load(Ordering::SeqCst)), (Some(0), 0), "rpc asks nobody");
    let mut client = Client::of(Omp::bare(&scene.workspace).args(["acp"]));
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await;
    assert_eq!(client.next().await["id"], 1);
    let cwd = scene.workspace.project();
    let new = json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": cwd, "mcpServers": []}});
    client.send(&new).await;
    while client.next().await["id"] != 2 {}
    assert_eq!((client.finish().await, asked.load(Ordering::SeqCst)), (Some(0), 0), "acp asks nobody");
    assert!(!scene.workspace.agent_dir().join("update-check.json").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_version_is_told_at_the_next_start() {
    let scene = scene([Turn::text("Fine.")]).await;
    let (address, asked) = release_server();
    let config = |check: bool| format!("startup: {{ checkUpdate: {check}, updateUrl: '{address}' }}\n");
    let file = scene.workspace.agent_dir().join("update-check.json");
    scene.workspace.write_config_yml(&config(true)).unwrap();
    scene.omp(&["-p", "hello"]).run().await.exits(0);
    assert_eq!(asked.load(Ordering::SeqCst), 0, "print mode asks nobody");
    scene.workspace.write_config_yml(&config(false)).unwrap();
    at_a_seat(|| Seat::ready(&scene, &[]).leaves()).await;
    assert_eq!(asked.load(Ordering::SeqCst), 0, "a setting switches it off");
    scene.workspace.write_config_yml(&config(true)).unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        while !file.exists() {
            // The screen changes with each key, so this waits without sleeping.
            let before = seat.shown();
            seat.keys("x");
            seat.wait("a key", |glass| glass.raw.len() > before);
        }
        assert!(!seat.text().contains("is out"), "{}", seat.text());
    })
    .await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.until("omp 99.1.0 is out; you run ");
        seat.leaves();
    })
    .await;
    assert_eq!(asked.load(Ordering::SeqCst), 1, "once a day");
    let said = outline(&scene.messages());
    assert_eq!(said, ["user: hello", "assistant: Fine."], "nothing of it is said to the model");
}
