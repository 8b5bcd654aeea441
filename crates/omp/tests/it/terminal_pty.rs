//! Commands that the user works with in a terminal of their own, through the binary: editors, prompts, passwords.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use omp_testkit::prefix::assert_prefix_stable;
use omp_testkit::{Script, Turn, Wire};
use portable_pty::CommandBuilder;
use serde_json::json;

use crate::harness::Scene;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

/// Stands in the title of a command's terminal.
const OPEN: &str = "esc esc ends it";
/// Keys as the Kitty protocol sends them.
const ESCAPE: &str = "\x1b[27u";
const CTRL_C: &str = "\x1b[99;5u";
const UP: &str = "\x1b[A";
const VIM: &str = "vim -Nu NONE -i NONE";
/// Keys that are pressed as soon as a command of the model appears were meant for something else.
const SEEN: Duration = Duration::from_millis(400);

async fn scene(turns: impl Into<Vec<Turn>>) -> Scene {
    Scene::new(Wire::Completions, Script::new(turns.into())).await
}

impl Seat {
    /// Types a line and waits for its terminal.
    #[track_caller]
    fn opens(&self, line: &str, shows: &str) {
        self.keys(format!("{line}\r"));
        self.until(OPEN);
        self.until(shows);
    }

    #[track_caller]
    fn closes(&self) {
        self.until_gone(OPEN);
        self.until_gone(RUNS);
    }
}

fn all_requests(scene: &Scene) -> String {
    let bodies = scene.server.model_requests().into_iter().map(|request| request.body);
    bodies.map(|body| String::from_utf8_lossy(&body).into_owned()).collect()
}

/// Whether a file below `folder` contains the text.
fn is_written(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| match path.is_dir() {
        true => is_written(&path, text),
        false => std::fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text)),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vim_edits_a_file_over_the_conversation() {
    let scene = scene([Turn::text("Before."), Turn::text("After.")]).await;
    let note = scene.workspace.project().join("note.txt");
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Before.");
        seat.opens(&format!("!{VIM} note.txt"), "~");
        assert!(!seat.text().contains("Before."), "it has the whole window:\n{}", seat.text());
        // A single escape and an arrow key in application mode reach vim.
        seat.keys("ione\rtwo");
        seat.until("two");
        seat.keys(format!("{ESCAPE}{UP}A!{ESCAPE}:wq\r"));
        seat.closes();
        seat.until("Before.");
        let shown = seat.text();
        assert!(shown.contains("vim -Nu NONE") && !shown.contains("two"), "vim leaves nothing behind:\n{shown}");
        seat.says("and now?", "After.");
        assert_eq!(seat.all().matches("Before.").count(), 1, "{}", seat.all());
        seat.leaves();
    })
    .await;
    assert_eq!(std::fs::read_to_string(note).unwrap(), "one!\ntwo\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_written_nowhere() {
    let secret = "hunter2-typed-here";
    let scene = scene([Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.opens("!read -s -p 'Password: ' word; echo \"${#word} letters\"", "Password:");
        seat.keys(format!("{secret}\r"));
        seat.closes();
        seat.until("18 letters");
        seat.says("look", "Fine.");
        assert!(!seat.look(|glass| String::from_utf8_lossy(&glass.raw).contains(secret)), "it was shown");
        // Keys that are typed afterwards are the user's again, and the history has no password.
        seat.keys(UP);
        seat.until("look");
        seat.keys("\x03");
        seat.leaves();
    })
    .await;
    let sent = all_requests(&scene);
    assert!(sent.contains("18 letters") && !sent.contains(secret), "{sent}");
    assert!(is_written(&scene.workspace.home(), "18 letters"), "the session has the output");
    assert!(!is_written(&scene.workspace.home(), secret), "a file has the password");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_rebases_with_an_editor() {
    let scene = scene([]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        let commits = "for i in one two three; do echo $i > $i; git add $i; git commit -qm c-$i; done";
        seat.says(
            &format!("!git init -q . && git config user.name A && git config user.email a@b && {commits}; echo ma''de"),
            "made",
        );
        seat.opens(&format!("!EDITOR='{VIM}' git rebase -i HEAD~2"), "pick");
        seat.until("c-three");
        seat.keys("dd:wq\r");
        seat.closes();
        seat.until("Successfully rebased");
        seat.says("!git log --format=%s | tr '\\n' ,", "c-three,c-one,");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_opens_a_terminal_and_the_user_answers() {
    let script = "printf '\\033[1mName:\\033[0m '; read -r name; echo \"hello $name\"";
    let call = Turn::call("bash", json!({"command": script, "pty": true}));
    let scene = scene([call, Turn::text("Done."), Turn::text("Again.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("go\r");
        seat.until(OPEN);
        seat.wait("the question", |glass| glass.text().lines().any(|row| row.starts_with("Name:")));
        seat.until_quiet(SEEN);
        seat.keys("omp\r");
        seat.until("Done.");
        seat.until_gone(RUNS);
        seat.says("once more", "Again.");
        seat.leaves();
    })
    .await;
    let requests = scene.server.model_requests();
    assert_prefix_stable(&requests);
    let sent: Vec<_> = requests.iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
    assert!(sent[0].contains("\"pty\""), "{}", sent[0]);
    assert!(sent[1].contains("Name: omp\\nhello omp\\n") && !sent[1].contains("\\u001b"), "{}", sent[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_size_of_the_window_reaches_the_program() {
    let scene = scene([]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        let wait = "while :; do sleep 0.05; done";
        seat.opens(&format!("!pty trap 'stty size; exit 0' WINCH; stty size; {wait}"), "23 80");
        seat.resize(100, 30);
        seat.closes();
        seat.until("29 100");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn escape_twice_ends_any_command_and_ctrl_c_is_the_programs() {
    let scene = scene([]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        // A flood does not keep keys from being read.
        seat.opens("!pty yes flooded", "flooded");
        seat.wait("a flood", |glass| glass.text().matches("flooded").count() > 20);
        seat.keys(format!("{ESCAPE}{ESCAPE}"));
        seat.closes();
        seat.until("interrupted");
        seat.opens("!pty echo be''gun; sleep 300", "begun");
        seat.keys(CTRL_C);
        seat.closes();
        seat.until("exit code 130");
        // Escape as old terminals send it.
        seat.opens(&format!("!{VIM} other.txt"), "~");
        seat.keys("\x1b\x1b");
        seat.closes();
        // Commands that need no terminal run as before, without one.
        let before = seat.shown();
        seat.says("!test -t 0 || echo plain''ly", "plainly");
        assert!(!seat.look(|glass| String::from_utf8_lossy(&glass.raw[before..]).contains(OPEN)));
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_omp_with_the_program_and_restores_the_terminal() {
    let scene = scene([]).await;
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.opens(&format!("!{VIM} note.txt"), "~");
        seat.signal(Signal::SIGTERM);
        assert_eq!(seat.end(), 143, "{}", seat.text());
        seat.is_sane();
        assert!(!seat.text().contains(OPEN), "{}", seat.text());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_can_be_switched_off() {
    let refused = "`vim` needs a terminal, which `--no-pty` or PI_NO_PTY=1 turns off";
    for (args, variable) in [(&["--no-pty"][..], "X=1"), (&[], "PI_NO_PTY=1")] {
        let call = Turn::call("bash", json!({"command": "test -t 1 || echo none", "pty": true}));
        let scene = scene([call, Turn::text("Fine.")]).await;
        at_a_seat(|| {
            let mut command = CommandBuilder::new("env");
            command.args([variable, env!("CARGO_BIN_EXE_omp")]);
            command.args(scene.workspace.args(args));
            let seat = Seat::of(&scene, command, (100, 30));
            seat.until(READY);
            seat.keys("!vim note.txt\r");
            seat.until(refused);
            seat.until("hint: start omp without them");
            seat.says("go", "Fine.");
            seat.leaves();
        })
        .await;
        let sent = all_requests(&scene);
        assert!(!sent.contains("type in: for passwords"), "it is not offered: {sent}");
        assert!(sent.contains("none\\n"), "{sent}");
    }
    // Nor is it where nobody is at a screen.
    let scene = scene([Turn::text("Fine.")]).await;
    scene.omp(&["-p", "go"]).run().await.exits(0);
    assert!(!all_requests(&scene).contains("\"pty\""));
}
