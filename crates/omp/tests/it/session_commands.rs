//! Slash commands about sessions in print mode: the remaining prompts go to the session they switch to.

use omp_testkit::{Fault, Script, Select, Turn, Wire};

use crate::harness::{Scene, messages_in, outline};

async fn talkative() -> Scene {
    let turns = Script::generate(9, |number| Turn::text(format!("Answer {number}."))).select(Select::Sequence);
    Scene::new(Wire::Completions, turns).await
}

/// Returns the outline of each session file of the project, oldest file first.
fn outlines(scene: &Scene) -> Vec<Vec<String>> {
    let mut files = scene.workspace.session_files().unwrap();
    files.sort();
    files.iter().map(|file| outline(&messages_in(file, &scene.workspace.agent_dir()))).collect()
}

/// Returns the last request's conversation without the system prompt.
fn last_conversation(scene: &Scene) -> String {
    let request = scene.last_request().json().unwrap();
    serde_json::to_string(&request["messages"].as_array().unwrap()[1..]).unwrap()
}

#[tokio::test]
async fn new_leads_to_a_session_of_its_own() {
    let scene = talkative().await;
    let ran = scene.omp(&["-p", "one", "/new", "two"]).run().await.exits(0).prints("Answer 1.\n");
    assert!(ran.stderr.contains("omp: session "), "{ran}");
    assert_eq!(outlines(&scene), [["user: one", "assistant: Answer 0."], ["user: two", "assistant: Answer 1."]]);
    let second = last_conversation(&scene);
    assert!(!second.contains("one"), "the new session knows nothing of the old one: {second}");
}

#[tokio::test]
async fn json_mode_tells_the_header_of_the_new_session() {
    let scene = talkative().await;
    let frames = scene.omp(&["--mode", "json", "-p", "one", "/new", "two"]).run().await.exits(0).json_lines();
    let headers: Vec<_> = frames.iter().filter(|frame| frame["type"] == "session").collect();
    assert_eq!(headers.len(), 2);
    assert_ne!(headers[0]["id"], headers[1]["id"]);
}

#[tokio::test]
async fn drop_puts_the_session_into_the_trash_and_begins_a_new_one() {
    let scene = talkative().await;
    scene.omp(&["-p", "one", "/drop", "two"]).run().await.exits(0);
    assert_eq!(outlines(&scene), [["user: two", "assistant: Answer 1."]]);
    scene.omp(&["-c", "-p", "/session delete"]).run().await.exits(0);
    assert!(scene.workspace.session_files().unwrap().is_empty());
    let trash = scene.workspace.agent_dir().join("trash/sessions");
    let folder = std::fs::read_dir(trash).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "jsonl"));
    assert_eq!(kept.count(), 2, "nothing is lost");
}

#[tokio::test]
async fn fork_goes_on_in_a_copy() {
    let scene = talkative().await;
    scene.omp(&["-p", "one", "/fork", "two"]).run().await.exits(0);
    let mut found = outlines(&scene);
    found.sort_by_key(Vec::len);
    let copy = ["user: one", "assistant: Answer 0.", "user: two", "assistant: Answer 1."];
    assert_eq!(found, [copy[..2].to_vec(), copy.to_vec()]);
}

#[tokio::test]
async fn the_tree_is_shown_moved_in_and_branched_from() {
    let scene = talkative().await;
    let shown = scene.omp(&["-p", "one", "two", "/tree"]).run().await.exits(0).stdout;
    let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with('•')).collect();
    let said: Vec<&str> = lines.iter().map(|line| line[line.find(' ').unwrap() + 10..].trim()).collect();
    assert_eq!(said, ["user: one", "assistant: Answer 0.", "user: two", "assistant: Answer 1."]);
    let id = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    let (first_answer, second_question) = (id(lines[1]), id(lines[2]));
    let go = format!("/tree {second_question}");
    let label = format!("/label {first_answer} good start");
    scene.omp(&["-c", "-p", &label, &go, "three"]).run().await.exits(0);
    let asked = last_conversation(&scene);
    assert!(asked.contains("three") && asked.contains("Answer 0.") && !asked.contains("two"), "{asked}");
    let shown = scene.omp(&["-c", "-p", "/tree"]).run().await.exits(0).stdout;
    assert!(shown.contains("[good start] assistant: Answer 0."), "{shown}");
    assert!(shown.contains(&format!("  {second_question}   user: two")), "{shown}");
    scene.omp(&["-c", "-p", "/branch good start", "four"]).run().await.exits(0).prints("Answer 3.\n");
    let branched = ["user: one", "assistant: Answer 0.", "user: four", "assistant: Answer 3."];
    let found = outlines(&scene);
    assert!(found.len() == 2 && found.contains(&branched.map(str::to_owned).to_vec()), "{found:?}");
    let listed = scene.omp(&["-c", "-p", "/branch"]).run().await.exits(0).stdout;
    assert!(listed.contains("user: four") && listed.contains("hint: usage: /branch <entry>"), "{listed}");
}

#[tokio::test]
async fn resume_lists_and_switches() {
    let scene = talkative().await;
    scene.omp(&["-p", "one", "/rename My first"]).run().await.exits(0);
    let listed = scene.omp(&["-p", "/resume"]).run().await.exits(0).stdout;
    assert!(listed.contains("My first"), "{listed}");
    let id = listed.split_whitespace().next().unwrap().to_owned();
    scene.omp(&["-p", &format!("/resume {id}"), "two"]).run().await.exits(0).prints("Answer 1.\n");
    assert_eq!(outline(&scene.messages()), ["user: one", "assistant: Answer 0.", "user: two", "assistant: Answer 1."]);
}

#[tokio::test]
async fn what_there_is_can_be_asked() {
    let scene = talkative().await;
    let ask = async |typed: &str| scene.omp(&["-p", "hi", typed]).run().await.exits(0).stdout;
    let help = ask("/help").await;
    for name in ["/session", "/tree", "/fork", "/model", "/retry", "/todo", "/help"] {
        assert!(help.lines().any(|line| line.starts_with(name)), "{name}: {help}");
    }
    let info = ask("/session").await;
    assert!(info.contains("\nmessages  2 (") && info.contains("\nmodel     mock/"), "{info}");
    assert!(ask("/tools").await.contains("\nread  "));
    assert!(ask("/jobs").await.contains("There are no jobs."));
    assert!(ask("/queue").await.contains("no queued messages"));
    assert!(ask("/copy all").await.contains("## user\nhi\n\n## assistant\nAnswer"));
    assert!(ask("/model").await.contains("now: mock/"));
}

#[tokio::test]
async fn what_cannot_be_done_is_said() {
    let scene = talkative().await;
    for (typed, complaint) in [
        ("/rename", "no title given"),
        ("/tree nowhere", "no entry `nowhere`"),
        ("/label", "no entry given"),
        ("/fork", "this session has no messages yet"),
        ("/branch", "this session has no messages yet"),
        ("/resume 0000nothing", "0000nothing"),
        ("/model nothing/like-this", "like-this"),
        ("/retry", "nothing to retry"),
        ("/copy", "nothing to copy"),
        ("/session explode", "unknown argument `explode`"),
    ] {
        let told = scene.omp(&["-p", typed]).run().await.exits(2).stderr;
        assert!(told.contains(complaint), "{typed}: {told}");
    }
    let told = scene.omp(&["--no-session", "-p", "hi", "/fork"]).run().await.exits(2).stderr;
    assert!(told.contains("this session is not saved") && told.contains("hint:"), "{told}");
}

#[tokio::test]
async fn a_failed_question_is_asked_again() {
    let failing = Turn::text("Now it works.").fault(Fault::status(401).times(1));
    let scene = Scene::new(Wire::Completions, [failing]).await;
    scene.omp(&["-p", "hello"]).run().await.exits(1);
    scene.omp(&["-c", "-p", "/retry"]).run().await.exits(0).prints("Now it works.\n");
    assert_eq!(outline(&scene.messages())[0], "user: hello");
    assert_eq!(scene.server.model_requests().len(), 2);
}
