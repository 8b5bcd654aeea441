//! A session in which the model uses every tool, with a check of each result.

use omp_testkit::{Script, Turn};
use serde_json::{Value, json};

use super::person::Person;

/// The model's calls, in order.
fn calls() -> Vec<(&'static str, Value)> {
    let notebook = json!({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string();
    vec![
        ("todo", json!({"ops": [{"op": "init", "list": [{"phase": "Work", "items": ["One", "Two"]}]}]})),
        ("bash", json!({"command": "pwd && greet you && ll README.md && git status --short && id -u"})),
        ("bash", json!({"command": "cd /tmp && export SEEN=1"})),
        ("bash", json!({"command": "cd ~/project && echo \"seen $SEEN\""})),
        ("read", json!({"path": "main.rs"})),
        ("search", json!({"pattern": "double", "paths": ["."]})),
        ("find", json!({"paths": ["*.rs"]})),
        ("edit", json!({"path": "main.rs", "edits": [{"old_text": "    2 * x\n", "new_text": "    x * 2\n"}]})),
        ("write", json!({"path": "notes/new.md", "content": "# new\n"})),
        ("write", json!({"path": "a.ipynb", "content": notebook})),
        ("notebook", json!({"action": "insert", "notebook_path": "a.ipynb", "cell_index": 0, "content": "1 + 1"})),
        ("ast_grep", json!({"pat": ["double($A)"], "paths": ["main.rs"]})),
        ("ast_edit", json!({"ops": [{"pat": "double($A)", "out": "double($A + 1)"}], "paths": ["main.rs"]})),
        ("resolve", json!({"action": "apply", "reason": "as wanted"})),
        ("bash", json!({"command": "git add -A && git commit -qm work && git log --oneline | wc -l"})),
        ("bash", json!({"command": "echo in the background", "async": true})),
        ("job", json!({"poll": []})),
        ("calc", json!({"calculations": [{"expression": "6 * 7", "prefix": "", "suffix": ""}]})),
        ("render_mermaid", json!({"mermaid": "graph TD\n  A --> B"})),
        ("todo", json!({"ops": [{"op": "done", "task": "One"}, {"op": "done", "task": "Two"}]})),
        ("checkpoint", json!({"goal": "see what is there"})),
        ("read", json!({"path": "README.md"})),
        ("rewind", json!({"report": "a sample"})),
    ]
}

/// With a user present, `ask` is offered as well.
fn question() -> (&'static str, Value) {
    let options = json!([{"label": "Yes"}, {"label": "No"}]);
    ("ask", json!({"questions": [{"id": "go", "question": "Shall I go on?", "options": options}]}))
}

pub const CLOSING: &str = "Everything was used.";

pub fn script() -> Script {
    script_of(calls())
}

pub fn script_with_question() -> Script {
    script_of([question()].into_iter().chain(calls()).collect())
}

fn script_of(calls: Vec<(&'static str, Value)>) -> Script {
    Script::new(calls.into_iter().map(|(tool, with)| Turn::call(tool, with)).chain([Turn::text(CLOSING)]))
}

/// Checks that every offered tool was used and every call succeeded.
#[track_caller]
pub fn all_worked(person: &Person) {
    let results = results(person);
    let shown = || results.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>().join("\n");
    assert!(results.len() >= calls().len(), "only {} calls\n{}", results.len(), shown());
    for result in &results {
        let is_fine = !result.failed && !result.text.contains("hint:") && !result.text.contains("Sandbox:");
        assert!(is_fine, "{result:?} in\n{}", shown());
    }
    let said = |tool: &str, text: &str| {
        let found = results.iter().any(|result| result.tool == tool && result.text.contains(text));
        assert!(found, "{tool} did not say {text:?}\n{}", shown());
    };
    said("bash", &person.scene.workspace.project().display().to_string());
    said("bash", "seen 1");
    said("job", "in the background");
    said("calc", "42");
    let main = person.scene.workspace.read("main.rs").unwrap();
    assert!(main.contains("x * 2") && main.contains("double(2 + 1)"), "{main}");
    assert_eq!(person.scene.workspace.read("notes/new.md").unwrap(), "# new\n");
    assert_eq!(person.shell("git status --short; git log --oneline | wc -l").trim(), "2");
    assert_eq!(used(&results), offered(person), "a tool is not tried here: add a call");
}

#[derive(Debug)]
struct Called {
    tool: String,
    text: String,
    failed: bool,
}

fn results(person: &Person) -> Vec<Called> {
    let files = person.scene.workspace.session_files().unwrap();
    let lines: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let entries = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results = entries.filter(|entry| entry["message"]["role"] == "toolResult");
    let called = results.map(|entry| {
        let message = &entry["message"];
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let text: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let failed = message["isError"].as_bool().unwrap();
        Called { tool: message["toolName"].as_str().unwrap().to_owned(), text, failed }
    });
    called.collect()
}

fn used(results: &[Called]) -> Vec<String> {
    let mut names: Vec<String> = results.iter().map(|result| result.tool.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn offered(person: &Person) -> Vec<String> {
    let request = person.scene.server.model_requests()[0].json().unwrap();
    let tools = request["tools"].as_array().unwrap().iter();
    let mut names: Vec<String> = tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}
