//! Questions that are only asked at a terminal.

use std::io::{Read, Write};

use omp_testkit::{Turn, Wire};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::harness::{Scene, messages_in, outline};

/// Runs the binary at a terminal, types `answer` once `question` is shown, and returns the whole output.
fn at_a_terminal(scene: &Scene, args: &[&str], question: &str, answer: &str) -> (bool, String) {
    let args = scene.workspace.args(args);
    let args: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
    at_a_terminal_bare(scene, &args, question, answer)
}

/// Like [`at_a_terminal`], without a model on the command line.
pub fn at_a_terminal_bare(scene: &Scene, args: &[&str], question: &str, answer: &str) -> (bool, String) {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_omp"));
    command.env_clear();
    for (name, value) in scene.workspace.env() {
        command.env(name, value);
    }
    command.args(args);
    command.cwd(scene.workspace.project());
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut writer = pair.master.take_writer().unwrap();
    let (mut shown, mut answered) = (String::new(), false);
    let mut buffer = [0; 1024];
    // Reading from a pty whose other side is closed returns an error.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        shown += &String::from_utf8_lossy(&buffer[..count]);
        if !answered && shown.contains(question) {
            writer.write_all(answer.as_bytes()).unwrap();
            answered = true;
        }
    }
    (child.wait().unwrap().success(), shown)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_another_project_is_forked_here_when_the_user_says_so() {
    let scene = Scene::new(Wire::Anthropic, ["First.", "Second."].map(Turn::text)).await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let id = file.file_stem().unwrap().to_str().unwrap().split_once('_').unwrap().1.to_owned();
    let other = scene.workspace.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let args = ["--cwd", other.to_str().unwrap(), "--resume", &id, "-p", "two"];
    let question = "Fork into current directory? [y/N]";
    let (done, shown) = tokio::task::block_in_place(|| at_a_terminal(&scene, &args, question, "n\n"));
    assert!(!done && shown.contains("belongs to another folder"), "{shown}");
    assert_eq!(scene.workspace.session_files().unwrap().len(), 1);
    let (done, shown) = tokio::task::block_in_place(|| at_a_terminal(&scene, &args, question, "y\n"));
    assert!(done && shown.contains("Session found in different project") && shown.contains("Second."), "{shown}");
    let fork = scene.workspace.session_files().unwrap().into_iter().find(|found| *found != file).unwrap();
    let said = outline(&messages_in(&fork, &scene.workspace.agent_dir()));
    assert_eq!(said, ["user: one", "assistant: First.", "user: two", "assistant: Second."]);
}
