//! A path outside the workspace that is allowed permanently: the command that asked works, and works again in a new session.

use omp_testkit::{Script, Turn};
use serde_json::json;

use super::HOME;
use super::person::{Person, Who};
use crate::rpc::Client;

/// In the first session each of these asks.
const FIRST: [&str; 3] = [
    "git worktree add ../un-wt -b w1",
    "mkdir ../new-folder && echo 1 > ../new-folder/a",
    "echo 1 > ../note.txt && rm -f ../note.txt && echo 2 > ../note.txt",
];
/// In the second session none of these asks.
const SECOND: [&str; 5] = [
    "echo 3 >> ../note.txt && cat ../note.txt && rm -f ../note.txt",
    "echo 4 > made && mv -f made ../note.txt",
    "echo 2 > ../new-folder/b && rm -rf ../new-folder && mkdir ../new-folder && echo 3 > ../new-folder/c",
    "git worktree remove ../un-wt",
    "git worktree add ../un-wt w1 && git -C ../un-wt status --short",
];

fn calls(commands: &[&str]) -> Vec<Turn> {
    let call = |command: &&str| Turn::call("bash", json!({"command": command}));
    commands.iter().map(call).chain([Turn::text("Done.")]).collect()
}

/// Runs a session that answers every question with "always", and checks that no call fails.
async fn session(person: &Person, answers: usize) {
    let mut client = Client::of(person.with_model(&["--mode", "rpc", "--yolo"]));
    client.until("ready").await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let mut asked = 0;
    loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("extension_ui_request") if frame["method"] == "select" => {
                asked += 1;
                let options = frame["options"].as_array().unwrap();
                let begins = |option: &&serde_json::Value| {
                    option.as_str().is_some_and(|option| option.starts_with("Always allow: write to "))
                };
                let always = options.iter().find(begins).unwrap_or_else(|| panic!("{frame}"));
                client.send(&json!({"type": "extension_ui_response", "id": frame["id"], "value": always})).await;
            }
            Some("tool_execution_end") => {
                let text = frame["result"].to_string();
                assert!(frame["isError"] != true && !text.contains("Sandbox:"), "{frame}");
            }
            Some("agent_end") => break,
            _ => {}
        }
    }
    assert_eq!(asked, answers);
    assert_eq!(client.finish().await, Some(0));
}

#[tokio::test]
async fn what_is_allowed_for_good_works_at_once_and_in_the_next_session() {
    let turns = [calls(&FIRST), calls(&SECOND)].concat();
    let person = Person::new(Who::Ordinary, HOME, Script::new(turns)).await.unwrap();
    person.shell("echo mine > ~/mine.txt");
    session(&person, FIRST.len()).await;
    assert_eq!(person.shell("cat ~/note.txt ~/new-folder/a; ls ~/un-wt"), "2\n1\nREADME.md\nmain.rs\n");
    let config = person.shell("cat ~/.omp/agent/config.yml");
    assert!(["un-wt", "new-folder", "note.txt"].iter().all(|name| config.contains(name)), "{config}");
    session(&person, 0).await;
    let found =
        person.shell("cat ~/note.txt ~/new-folder/c; ls ~/un-wt; cat ~/mine.txt; ls -a ~ | grep -c set-aside || true");
    assert_eq!(found, "4\n3\nREADME.md\nmain.rs\nmine\n0\n");
}
