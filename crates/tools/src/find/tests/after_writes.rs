//! Every tool that writes invalidates the scan that `find` and `search` share, so that its changes are visible at once.

use omp_types::{Env, Model};

use super::*;
use crate::options::ToolOptions;
use crate::toolbox::Toolbox;

/// All tools of a session in one folder. Cached scans do not expire, and empty results are not rescanned.
struct Desk {
    folder: tempfile::TempDir,
    tools: Vec<Arc<dyn AnyTool>>,
}

const START: &[(&str, &str)] = &[
    ("a.txt", "one\n"),
    ("b.rs", "fn b() { old(1); }\n"),
    ("c.txt", "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n"),
    ("n.ipynb", r#"{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}"#),
];

impl Desk {
    fn new(edit_mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        START.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
        let env: Env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("PI_EDIT_VARIANT", edit_mode),
            ("FS_SCAN_CACHE_TTL_MS", "600000"),
            ("FS_SCAN_EMPTY_RECHECK_MS", "600000"),
        ]
        .into_iter()
        .collect();
        let toolbox = Toolbox {
            env,
            options: ToolOptions::read(&|key| (key == "async.enabled").then(|| json!(true))),
            ..Toolbox::uncontained(folder.path().to_owned(), folder.path().join("no-home"), Arc::new(model()))
        };
        Self { tools: toolbox.tools(), folder }
    }

    async fn call(&self, name: &str, arguments: Value) -> String {
        let tool = self.tools.iter().find(|tool| tool.name() == name).unwrap();
        let output = crate::scratch::run(&**tool, arguments.clone(), &ToolCx::detached("call")).await;
        let output = output.unwrap_or_else(|error| panic!("{name} {arguments}: {error}"));
        let text: String = output.content.iter().filter_map(Content::as_text).collect();
        assert!(!output.is_error, "{name} {arguments}: {text}");
        text
    }

    async fn find(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.call("find", json!({"paths": ["."]})).await.lines().map(str::to_owned).collect();
        names.sort();
        names
    }

    async fn search_finds(&self, word: &str) -> bool {
        self.call("search", json!({"pattern": word})).await != "No matches found"
    }
}

fn model() -> Model {
    serde_json::from_value(json!({
        "id": "m", "name": "m", "api": "demo", "provider": "p", "baseUrl": "", "reasoning": false, "input": ["text"],
        "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0},
        "contextWindow": 1000, "maxTokens": 100,
    }))
    .unwrap()
}

/// Checks that an unreported file stays invisible until the calls run; then it is visible, together with their changes.
async fn check(edit_mode: &str, calls: &[(&str, Value)], appears: &[&str], vanishes: &[&str]) {
    let desk = Desk::new(edit_mode);
    let before = desk.find().await;
    assert_eq!(before.len(), START.len());
    std::fs::write(desk.folder.path().join("stealthy"), "stealthy").unwrap();
    assert_eq!(desk.find().await, before, "the scan is kept");
    assert!(!desk.search_finds("stealthy").await, "and shared");
    for (name, arguments) in calls {
        desk.call(name, arguments.clone()).await;
    }
    let mut expect: Vec<String> = before.into_iter().filter(|name| !vanishes.contains(&name.as_str())).collect();
    expect.extend(appears.iter().chain(&["stealthy"]).map(|name| (*name).to_owned()));
    expect.sort();
    assert_eq!(desk.find().await, expect, "{edit_mode} {calls:?}");
    assert!(desk.search_finds("stealthy").await, "{edit_mode} {calls:?}");
}

async fn check_edit(edit_mode: &str, arguments: Value, appears: &[&str], vanishes: &[&str]) {
    check(edit_mode, &[("edit", arguments)], appears, vanishes).await;
}

#[tokio::test]
async fn edits_by_lines() {
    let tag = omp_workspace::TextFile::parse("one\n".as_bytes()).tag();
    check_edit("hashline", json!({"input": format!("[a.txt#{tag}]\n1:two")}), &[], &[]).await;
    check_edit("hashline", json!({"input": "[deep/new.txt]\nBOF↓text"}), &["deep/new.txt"], &[]).await;
}

#[tokio::test]
async fn edits_by_text() {
    let edit = |path: &str, old: &str| json!({"path": path, "edits": [{"old_text": old, "new_text": "two"}]});
    check_edit("replace", edit("a.txt", "one"), &[], &[]).await;
    check_edit("replace", edit("new.txt", ""), &["new.txt"], &[]).await;
}

#[tokio::test]
async fn edits_by_hunks() {
    let edit = |path: &str, edit: Value| json!({"path": path, "edits": [edit]});
    let diff = "@@\n-one\n+two";
    check_edit("patch", edit("a.txt", json!({"op": "update", "diff": diff})), &[], &[]).await;
    check_edit("patch", edit("new.txt", json!({"op": "create", "diff": "text"})), &["new.txt"], &[]).await;
    check_edit("patch", edit("a.txt", json!({"op": "delete"})), &[], &["a.txt"]).await;
    let rename = json!({"op": "update", "diff": diff, "rename": "moved.txt"});
    check_edit("patch", edit("a.txt", rename), &["moved.txt"], &["a.txt"]).await;
}

#[tokio::test]
async fn edits_by_envelope() {
    let edit = |body: &str| json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let update = "*** Update File: a.txt\n@@\n-one\n+two";
    check_edit("apply_patch", edit(update), &[], &[]).await;
    check_edit("apply_patch", edit("*** Add File: new.txt\n+text"), &["new.txt"], &[]).await;
    check_edit("apply_patch", edit("*** Delete File: a.txt"), &[], &["a.txt"]).await;
    let rename = "*** Update File: a.txt\n*** Move to: moved.txt\n@@\n-one\n+two";
    check_edit("apply_patch", edit(rename), &["moved.txt"], &["a.txt"]).await;
}

#[tokio::test]
async fn writes() {
    let write = |path: &str, content: &str| ("write", json!({"path": path, "content": content}));
    check("hashline", &[write("a.txt", "two")], &[], &[]).await;
    check("hashline", &[write("deep/er/new.txt", "text")], &["deep/er/new.txt"], &[]).await;
    check("hashline", &[write("new.zip:inner.txt", "text")], &["new.zip"], &[]).await;
    check("hashline", &[("read", json!({"path": "c.txt"})), write("conflict://1", "@ours")], &[], &[]).await;
}

#[tokio::test]
async fn cells_rewrites_and_commands() {
    let insert = json!({"action": "insert", "notebook_path": "n.ipynb", "cell_index": 0, "content": "x = 1"});
    check("hashline", &[("notebook", insert)], &[], &[]).await;
    let rewrite = json!({"ops": [{"pat": "old($A)", "out": "fresh($A)"}], "paths": ["b.rs"]});
    let apply = json!({"action": "apply", "reason": "good"});
    check("hashline", &[("ast_edit", rewrite), ("resolve", apply)], &[], &[]).await;
    let command = json!({"command": "mkdir deep && touch deep/new.txt && rm a.txt"});
    check("hashline", &[("bash", command)], &["deep/new.txt"], &["a.txt"]).await;
    let job = json!({"command": "touch new.txt", "async": true});
    check("hashline", &[("bash", job), ("job", json!({"poll": []}))], &["new.txt"], &[]).await;
}

#[tokio::test]
async fn looking_ends_nothing() {
    let desk = Desk::new("hashline");
    let before = desk.find().await;
    std::fs::write(desk.folder.path().join("stealthy"), "").unwrap();
    desk.call("read", json!({"path": "a.txt"})).await;
    desk.call("ast_grep", json!({"pat": "old($A)", "paths": ["."]})).await;
    desk.call("ast_edit", json!({"ops": [{"pat": "old($A)", "out": "x()"}], "paths": ["b.rs"]})).await;
    desk.call("resolve", json!({"action": "discard", "reason": "no"})).await;
    assert_eq!(desk.find().await, before);
}
