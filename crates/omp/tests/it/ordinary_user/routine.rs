//! Ordinary commands, each run twice: in a plain shell of the user in a copy of the project, and as a call of the model.
//! Nothing asks, and both give the same result.

use std::path::Path;

use omp_testkit::{Script, Turn};
use serde_json::{Value, json};

use super::HOME;
use super::person::{Person, Who};
use crate::harness::{PREPARED, free_port};
use crate::rpc::Client;

const SETUP: &str = include_str!("routine_setup.sh");
const COMMANDS: &str = include_str!("routine_commands.sh");

/// Runs every line of the list in one shell and records its exit code.
const PLAIN: &str = r#"
set +e
shopt -s expand_aliases
. ~/.bashrc
unalias rm cp
cd ~/plain/project
while IFS= read -r line <&3; do
  case $line in ''|'#'*) continue ;; esac
  eval "$line" </dev/null >>~/plain/output 2>&1
  echo "$?" >>~/plain/codes
done 3<~/commands
kill $(jobs -p) 2>/dev/null
true
"#;

/// Commands that should fail in any shell.
const FAIL_ANYWAY: [&str; 6] = [
    "grep -rn \"not to be found\" src",
    "git cherry-pick --abort",
    "make nothing-like-that",
    "which pytest",
    "curl -sf \"http://127.0.0.1:$PORT/not-there\"",
    "false",
];

fn commands() -> Vec<&'static str> {
    COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[tokio::test]
async fn a_hundred_commands_work_as_in_a_plain_shell() {
    let commands = commands();
    assert!(commands.len() >= 100, "{}", commands.len());
    let calls = commands.iter().map(|command| Turn::call("bash", json!({"command": command, "timeout": 120})));
    let script = Script::new(calls.chain([Turn::text("Done.")]));
    let person = Person::new(Who::Ordinary, HOME, script).await.unwrap();
    let person = prepared(person);
    person.shell(SETUP);
    std::fs::write(person.home().join("commands"), COMMANDS).unwrap();
    let person = person.set("PORT", &free_port().to_string());
    person.shell(PLAIN);
    let plain = std::fs::read_to_string(person.home().join("plain/codes")).unwrap();
    let plain: Vec<i64> = plain.lines().map(|code| code.parse().unwrap()).collect();
    assert_eq!(plain.len(), commands.len());
    let log = std::fs::read_to_string(person.home().join("plain/output")).unwrap();
    let failed = commands.iter().zip(&plain).filter(|(_, code)| **code != 0).map(|(command, _)| *command);
    assert_eq!(failed.collect::<Vec<_>>(), FAIL_ANYWAY, "the plain shell:\n{log}");
    let person = person.set("PORT", &free_port().to_string());
    let questions = talk(&person).await;
    assert_eq!(questions, Vec::<String>::new());
    let contained = ended(&person);
    assert_eq!(contained.len(), commands.len());
    let rows = commands.iter().zip(plain).zip(contained);
    let differ: Vec<String> = rows
        .filter(|((_, plain), (code, _))| plain != code)
        .map(|((command, plain), (code, text))| format!("{command}\n  plain {plain}, contained {code}: {text}"))
        .collect();
    assert!(differ.is_empty(), "{} commands end otherwise:\n{}", differ.len(), differ.join("\n"));
    assert!(log.contains("1 passed"), "pytest ran nothing:\n{log}");
}

/// Adds a toolchain that this user can start, and pytest's packages.
fn prepared(person: Person) -> Person {
    let prepared = Path::new(PREPARED);
    let path = match prepared.join("rust/bin/cargo").is_file() {
        true => format!("{}:{}", person.env["PATH"], prepared.join("rust/bin").display()),
        false => person.env["PATH"].clone() + ":" + &own_cargo(),
    };
    let person = person.set("PATH", &path).set("WHEELS", &wheels().display().to_string());
    let tools = person.try_shell("cargo --version && npm --version && python3 -c 'import venv, ensurepip'");
    assert!(tools.status.success(), "cargo, npm or venv is missing for this user\nhint: `scripts/test` prepares them");
    person
}

fn own_cargo() -> String {
    Path::new(env!("CARGO")).parent().unwrap().display().to_string()
}

/// Returns the folder where `scripts/test` puts packages for installation without a network.
fn wheels() -> std::path::PathBuf {
    let prepared = Path::new(PREPARED).join("wheels");
    let own =
        || nix::unistd::User::from_uid(nix::unistd::geteuid()).unwrap().unwrap().dir.join(".cache/omp-tests/wheels");
    if nix::unistd::geteuid().is_root() { prepared } else { own() }
}

/// Denies every question and returns their titles.
async fn talk(person: &Person) -> Vec<String> {
    let mut client = Client::of(person.with_model(&["--mode", "rpc"]));
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let mut questions = Vec::new();
    loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("extension_ui_request") if frame["options"].is_array() => {
                questions.push(frame["title"].as_str().unwrap().to_owned());
                client.send(&json!({"type": "extension_ui_response", "id": frame["id"], "value": "Deny"})).await;
            }
            Some("agent_end") => break,
            _ => {}
        }
    }
    assert_eq!(client.finish().await, Some(0));
    questions
}

/// Returns the exit code and the output of every call.
fn ended(person: &Person) -> Vec<(i64, String)> {
    let files = person.scene.workspace.session_files().unwrap();
    let lines: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let entries = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results = entries.filter(|entry| entry["message"]["role"] == "toolResult");
    let ended = results.map(|entry| {
        let message = &entry["message"];
        let text = message["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let refused = if message["isError"] == true { -1 } else { 0 };
        (message["details"]["exitCode"].as_i64().unwrap_or(refused), text)
    });
    ended.collect()
}
