//! `--plain` at a terminal and through a pipe, line by line.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use omp_testkit::{Turn, Wire};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::json;

use crate::harness::{Omp, Scene, outline};

const LIMIT: Duration = Duration::from_secs(60);

/// The binary at an interactive terminal.
struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    shown: String,
    /// The position up to which output was already matched.
    read: usize,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn start<S: AsRef<OsStr>>(scene: &Scene, args: &[S], variables: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_omp"));
        command.env_clear();
        for (name, value) in scene.workspace.env() {
            command.env(name, value);
        }
        for name in ["OLLAMA_BASE_URL", "LLAMA_CPP_BASE_URL", "LM_STUDIO_BASE_URL"] {
            command.env(name, "http://127.0.0.1:9");
        }
        for (name, value) in variables.iter().chain(&[("PI_NO_TITLE", "1")]) {
            command.env(name, value);
        }
        command.args(args);
        command.cwd(scene.workspace.project());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = sync_channel(64);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Reading from a pty whose other side is closed returns an error.
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self { child, writer, output, shown: String::new(), read: 0, _master: pair.master }
    }

    fn plain(scene: &Scene, args: &[&str]) -> Self {
        let args: Vec<&str> = ["--plain"].iter().chain(args).copied().collect();
        Self::start(scene, &scene.workspace.args(&args), &[("TERM", "xterm")])
    }

    /// Waits for a text in the unmatched output.
    #[track_caller]
    fn until(&mut self, text: &str) {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(at) = self.shown[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.shown += &String::from_utf8_lossy(&bytes),
                Err(error) => panic!("{text:?} did not come ({error}):\n{}", self.shown),
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end and checks that nothing was drawn.
    #[track_caller]
    fn ends(self, code: u32) -> String {
        let shown = self.leaves(code);
        assert!(!shown.contains('\x1b'), "something was drawn:\n{shown:?}");
        shown
    }

    #[track_caller]
    fn leaves(mut self, code: u32) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.shown += &String::from_utf8_lossy(&bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.shown),
            }
        }
        assert_eq!(self.child.wait().unwrap().exit_code(), code, "{}", self.shown);
        std::mem::take(&mut self.shown)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
    }
}

fn call(name: &str, arguments: serde_json::Value) -> Turn {
    Turn::text("I look.").and_call(name, arguments)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_talk_is_lines_that_are_written_once() {
    let turns = [call("read", json!({"path": "a.txt"})), Turn::text("It has\nthree lines.")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    let mut terminal = Terminal::plain(&scene, &[]);
    terminal.until("omp, plain mode. Model mock/mock-model.");
    terminal.until("You: ");
    terminal.type_line("what is in a.txt?");
    terminal.until("omp: I look.");
    terminal.until("Tool: read a.txt, done");
    terminal.until("omp: It has\r\nthree lines.");
    terminal.until("You: ");
    terminal.type_line("/hlep");
    terminal.until("did you mean /help?");
    terminal.until("You: ");
    terminal.type_line("!echo out$((20+3))");
    terminal.until("out23\r\nCommand done.");
    terminal.until("You: ");
    terminal.type_line("!!exit 3");
    terminal.until("exit code 3.");
    terminal.until("You: ");
    terminal.type_line("exit");
    let shown = terminal.ends(0);
    assert_eq!(shown.matches("three lines.").count(), 1, "{shown}");
    let said = outline(&scene.messages());
    assert_eq!(said[..2], ["user: what is in a.txt?", "assistant: I look. [read]"], "{said:?}");
    assert_eq!(said.iter().filter(|line| *line == "bashExecution").count(), 2, "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_numbered_and_answered_by_lines() {
    let turns = [call("bash", json!({"command": "echo ran"})), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    let mut terminal = Terminal::plain(&scene, &["--approval-mode", "write", "go"]);
    terminal.until("You: go");
    terminal.until("Question: may this run? bash: ");
    terminal.until("runs: echo ran\r\n1. Yes\r\n2. No\r\n3. Always allow: bash(echo ran)\r\n");
    terminal.until("Enter a number, or \"no\" and the reason: ");
    terminal.type_line("maybe");
    terminal.until("Enter a number from the list, ");
    terminal.type_line("1");
    terminal.until("Tool: ");
    terminal.until("omp: Done.");
    terminal.until("You: ");
    terminal.type_line("/quit");
    terminal.ends(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_interrupts_and_twice_leaves() {
    let turns = [call("bash", json!({"command": "echo begun; sleep 600"}))];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    let mut terminal = Terminal::plain(&scene, &["--yolo", "go"]);
    terminal.until("omp: I look.");
    terminal.writer.write_all(b"\x03").unwrap();
    terminal.until("Interrupted.");
    terminal.until("You: ");
    terminal.writer.write_all(b"\x03").unwrap();
    terminal.until("Press Ctrl+C again");
    terminal.writer.write_all(b"\x03").unwrap();
    terminal.ends(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_that_fails_keeps_the_session() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("One."), Turn::text("Two.")]).await;
    let there = scene.workspace.home().join("other");
    std::fs::create_dir(&there).unwrap();
    std::fs::write(scene.workspace.project().join("prompt.md"), "Be brief.").unwrap();
    std::fs::write(there.join("prompt.md"), b"\xff\xfe").unwrap();
    let mut terminal = Terminal::plain(&scene, &["--system-prompt", "prompt.md", "first"]);
    terminal.until("omp: One.");
    terminal.until("You: ");
    terminal.type_line("/move ~/other");
    terminal.until("Error: ");
    terminal.until("cannot read the prompt file");
    terminal.until("You: ");
    terminal.type_line("second");
    terminal.until("omp: Two.");
    terminal.until("You: ");
    terminal.type_line("exit");
    terminal.ends(0);
    assert_eq!(outline(&scene.messages()), ["user: first", "assistant: One.", "user: second", "assistant: Two."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dumb_terminal_gets_plain_lines_and_the_end_of_the_input_leaves() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Hello.")]).await;
    let mut terminal = Terminal::start(&scene, &scene.workspace.args(&[]), &[("TERM", "dumb")]);
    terminal.until("You: ");
    terminal.type_line("two\\");
    terminal.until("More: ");
    terminal.type_line("lines");
    terminal.until("omp: Hello.");
    terminal.until("You: ");
    terminal.writer.write_all(b"\x04").unwrap();
    terminal.ends(0);
    let request = scene.last_request();
    let body = String::from_utf8_lossy(&request.body).into_owned();
    assert!(body.contains("two\\nlines"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_from_a_pipe_are_taken_one_after_the_other() {
    let scene = Scene::new(Wire::Anthropic, ["One.", "Two."].map(Turn::text)).await;
    let ran = scene.omp(&["--plain"]).input("first\nsecond\n").run().await.exits(0);
    let talk = ran.stdout.split_once("interrupts.\n").unwrap().1;
    assert_eq!(talk, "You: first\nomp: One.\nYou: second\nomp: Two.\nYou: \n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_told_in_words_and_the_talk_goes_on() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("never")]).await;
    for (typed, told) in [("/nope", "unknown command /nope"), ("/tools now", "/tools takes no arguments")] {
        let ran = scene.omp(&["--plain", typed]).run().await.exits(0);
        assert!(ran.stdout.contains(&format!("You: {typed}\nError: {told}")), "{ran}");
    }
    scene.omp(&["--plain", "@a.txt", "/nope"]).run().await.exits(2).complains(&["`/nope` cannot be sent", "hint: "]);
    assert!(scene.server.requests().is_empty());
    let ran = scene.omp(&["--plain"]).input("/model nothing-like-this\n/nope\nexit\n").run().await.exits(0);
    assert_eq!(ran.stdout.matches("Error: ").count(), 2, "{ran}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn setup_takes_a_key_that_is_never_shown() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("never")]).await;
    let mut terminal = Terminal::start(&scene, &["setup"], &[("TERM", "dumb")]);
    terminal.until("Welcome to omp.");
    terminal.until("(empty to go back): ");
    terminal.type_line("enter a key");
    terminal.until("Which provider is the key for?");
    terminal.until("(empty to go back): ");
    terminal.type_line("anthropic");
    terminal.until("hidden while you type");
    terminal.until(": ");
    terminal.type_line("sk-ant-test-0123456789");
    terminal.until("Found a key for anthropic in ANTHROPIC_API_KEY.");
    terminal.until("(empty to go back): ");
    terminal.type_line("start");
    let shown = terminal.ends(0);
    assert!(!shown.contains("sk-ant-test"), "{shown}");
    let kept = std::fs::read_to_string(scene.workspace.agent_dir().join(".env")).unwrap();
    assert_eq!(kept, "ANTHROPIC_API_KEY='sk-ant-test-0123456789'\n");
    let listed = Omp::bare(&scene.workspace).args(["--list-models", "anthropic"]).run().await.exits(0);
    assert!(listed.stdout.contains("claude"), "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn setup_on_a_screen_takes_a_key_that_is_never_shown() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("never")]).await;
    let mut terminal = Terminal::start(&scene, &["setup"], &[("TERM", "xterm")]);
    terminal.until("Welcome to omp");
    // A model is already available.
    terminal.until("Found mock in models.yml with 1 model.");
    terminal.until("esc back");
    terminal.press("\x1b[B\r");
    terminal.until("Which provider is the key for?");
    terminal.press("anthropic\r");
    terminal.until("enter save");
    terminal.press("\x1b[200~sk-ant-test-0123456789\x1b[201~");
    terminal.until("••••");
    terminal.press("\r");
    terminal.until("Saved the key for anthropic.");
    terminal.press("\r");
    let shown = terminal.leaves(0);
    assert!(!shown.contains("sk-ant-test"), "{shown:?}");
    let agent = scene.workspace.agent_dir();
    assert_eq!(std::fs::read_to_string(agent.join(".env")).unwrap(), "ANTHROPIC_API_KEY='sk-ant-test-0123456789'\n");
    assert!(std::fs::read_to_string(agent.join("config.yml")).unwrap().contains("setupVersion: 1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_nothing_to_talk_to_a_start_begins_with_setup_that_can_be_left() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("never")]).await;
    std::fs::remove_file(scene.workspace.agent_dir().join("models.yml")).unwrap();
    let mut terminal = Terminal::start::<&str>(&scene, &["--plain"], &[("TERM", "xterm")]);
    terminal.until("No API key or local model server found");
    terminal.until("(empty to go back): ");
    terminal.type_line("");
    terminal.until("Nothing is set up yet.");
    let shown = terminal.ends(2);
    assert!(shown.contains("hint:"), "{shown}");
    scene.workspace.write_config_yml("startup: { setupWizard: false }\n").unwrap();
    let shown = Terminal::start::<&str>(&scene, &["--plain"], &[("TERM", "xterm")]).ends(2);
    assert!(!shown.contains("Welcome") && shown.contains("hint:"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_at_a_question_leaves() {
    let question =
        json!({"questions": [{"id": "q", "question": "Which?", "options": [{"label": "Red"}, {"label": "exit"}]}]});
    let turns = [call("bash", json!({"command": "echo a > b"})), call("ask", question), Turn::text("Chosen.")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    let mut terminal = Terminal::plain(&scene, &["--approval-mode", "ask-all"]);
    terminal.until("You: ");
    terminal.type_line("go");
    terminal.until("Question: may this run?");
    terminal.type_line("exit");
    terminal.ends(0);
    let mut terminal = Terminal::plain(&scene, &[]);
    terminal.until("You: ");
    terminal.type_line("go");
    terminal.until("Question: Which?");
    terminal.type_line("exit");
    terminal.until("Chosen.");
    terminal.until("You: ");
    terminal.type_line("exit");
    terminal.ends(0);
}
