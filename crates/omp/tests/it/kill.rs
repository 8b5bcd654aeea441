//! `kill -9` at random moments: no acknowledged message is missing, no earlier byte changes, the session can be resumed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{Script, Turn, Wire};
use omp_types::Message;
use serde_json::{Value, json};

use crate::harness::Scene;

/// The number of concurrent sessions, among which all kills are divided.
const SESSIONS: u64 = 4;
const KILLS_A_SESSION: u64 = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_a_session_loses_nothing_it_told_of() {
    let sessions = (0..SESSIONS).map(|seed| tokio::spawn(survive(seed)));
    for session in sessions.collect::<Vec<_>>() {
        session.await.unwrap();
    }
}

/// Kills and resumes one session repeatedly.
async fn survive(seed: u64) {
    let script = Script::generate(KILLS_A_SESSION as usize * 6, |number| turn(number).delay_ms(1));
    let scene = Scene::new(Wire::Anthropic, script).await;
    let mut random = Random(seed + 1);
    let mut before = Vec::new();
    let mut acknowledged = Vec::new();
    for round in 0..KILLS_A_SESSION {
        let mut args = vec!["--mode", "json", "-p", "go"];
        if round > 0 {
            args.insert(0, "-c");
        }
        acknowledged.extend(run_and_kill(&scene, &args, &mut random).await);
        let Some(file) = scene.workspace.session_files().unwrap().pop() else { continue };
        before = check(&file, &scene.workspace.agent_dir(), &before, &acknowledged);
    }
    scene.omp(&["-c", "-p", "finish"]).run().await.exits(0);
    assert_eq!(scene.workspace.session_files().unwrap().len(), 1, "every run went on with the same session");
}

fn turn(number: usize) -> Turn {
    match number % 3 {
        0 => Turn::text(["Looking ", "at ", "it."]).and_call("read", json!({"path": "a.txt"})),
        1 => Turn::call("write", json!({"path": "b.txt", "content": "x\n"}))
            .and_call("bash", json!({"command": "echo hi"})),
        _ => Turn::text(["All ", "done."]),
    }
}

/// Runs until a random line (or shortly after it), kills the process, and returns the messages whose end was reported.
async fn run_and_kill(scene: &Scene, args: &[&str], random: &mut Random) -> Vec<Value> {
    let mut running = scene.omp(args).start();
    let lines = random.below(28);
    let mut told = Vec::new();
    for _ in 0..lines {
        match running.line().await {
            Some(line) => told.extend(ended_message(&line)),
            None => break,
        }
    }
    tokio::time::sleep(Duration::from_micros(random.below(3000))).await;
    running.signal(Signal::SIGKILL);
    while let Some(line) = running.line().await {
        told.extend(ended_message(&line));
    }
    running.finish().await;
    told
}

fn ended_message(line: &str) -> Option<Value> {
    let event: Value = serde_json::from_str(line).ok()?;
    (event["type"] == "message_end").then(|| event["message"].clone())
}

/// Checks that every earlier byte is unchanged, that the session loads, and that it contains every acknowledged message.
fn check(file: &PathBuf, agent_dir: &Path, before: &[u8], acknowledged: &[Value]) -> Vec<u8> {
    let now = std::fs::read(file).unwrap();
    let whole_lines = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    assert!(now.starts_with(&before[..whole_lines]), "an earlier line changed");
    let mut session = LoadedSession::open(file, BlobStore::new(agent_dir)).unwrap();
    let saved: Vec<Message> = session.context().messages;
    let mut saved = saved.iter().map(|message| serde_json::to_value(message).unwrap());
    for message in acknowledged {
        assert!(saved.any(|saved| saved == *message), "told, but not in the file or out of order: {message}");
    }
    now
}

/// A small random generator, so that a failure can be reproduced.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
