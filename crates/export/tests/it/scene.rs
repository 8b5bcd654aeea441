//! Sessions with malicious content, and their pages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use omp_agent::{AnyPlan, AnyTool, Concurrency, Outcome, Tier, ToolOutput, ToolSet, plan_of};
use omp_export::{ExportError, ExportOptions, SystemContext, export};
use omp_store::{BlobStore, EntryId};
use omp_types::{Env, Secrets};
use omp_view::{Block, Diff, DiffKind, DiffLine, Status, View};
use serde_json::{Value, json};

/// Markup that would reveal to the test that it ran.
pub const EVIL: &str = "</script></style></pre></textarea>\"'><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script> ]]> <!-- --> \u{2028} \u{0} \u{1b}[31mred\u{1b}[0m [a](javascript:document.title='owned') <svg onload=document.title='owned'> ![p](http://leak.test/a.png) <img src=http://leak.test/b.png> <link rel=stylesheet href=http://leak.test/c.css>";

pub struct Scene {
    pub dir: tempfile::TempDir,
    lines: Vec<Value>,
}

impl Scene {
    pub fn new() -> Self {
        let header = json!({"type": "session", "version": 3, "id": "01a1e0cb", "timestamp": "2026-11-15T20:00:00.000Z", "cwd": "/project"});
        Self { dir: tempfile::tempdir().unwrap(), lines: vec![header] }
    }

    /// Adds an entry `id` after `parent`.
    pub fn entry(mut self, id: &str, parent: Option<&str>, mut fields: Value) -> Self {
        fields["id"] = id.into();
        fields["parentId"] = parent.into();
        fields["timestamp"] = "2026-11-15T20:00:03.186Z".into();
        self.lines.push(fields);
        self
    }

    pub fn user(self, id: &str, parent: Option<&str>, text: &str) -> Self {
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1});
        self.entry(id, parent, json!({"type": "message", "message": message}))
    }

    pub fn answer(self, id: &str, parent: &str, content: Value) -> Self {
        let message = json!({
            "role": "assistant", "content": content, "api": "demo", "provider": "mock", "model": "mock-1",
            "usage": {"input": 1200, "output": 34, "totalTokens": 1234, "cost": {"total": 0.0123}},
            "stopReason": "stop", "timestamp": 1, "duration": 1500
        });
        self.entry(id, Some(parent), json!({"type": "message", "message": message}))
    }

    pub fn result(self, id: &str, parent: &str, call: &str, tool: &str, details: Value) -> Self {
        let message = json!({
            "role": "toolResult", "toolCallId": call, "toolName": tool, "isError": false, "timestamp": 1,
            "content": [{"type": "text", "text": format!("result of {tool} {EVIL}")}], "details": details
        });
        self.entry(id, Some(parent), json!({"type": "message", "message": message}))
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("2026_01a1e0cb.jsonl")
    }

    pub fn page(&self) -> PathBuf {
        self.dir.path().join("page.html")
    }

    pub fn write(&self) {
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(self.file(), lines).unwrap();
    }

    pub fn export_to(&self, to: &Path, leaf: Option<&str>) -> Result<(), ExportError> {
        let drawing = [ToolSet::new(vec![std::sync::Arc::new(Painter)])];
        let env = Env::from_iter([("OPENAI_API_KEY", "sk-live-12345678")]);
        let options = ExportOptions {
            blobs: BlobStore::new(self.dir.path()),
            drawing: &drawing,
            told: Some(SystemContext { system_prompt: EVIL, tools: &drawing[0] }),
            leaf: leaf.map(EntryId::from),
            secrets: &Secrets::of_env(&env),
        };
        export(&self.file(), to, &options)
    }

    /// Returns the text of the page.
    pub fn exported(&self, leaf: Option<&str>) -> String {
        self.write();
        self.export_to(&self.page(), leaf).unwrap();
        std::fs::read_to_string(self.page()).unwrap()
    }
}

/// Everything that a page can show, with markup in every text.
pub fn evil_scene() -> Scene {
    let call = |id: &str, name: &str| json!({"type": "toolCall", "id": id, "name": name, "arguments": {"path": EVIL}});
    let thinking = json!({"type": "thinking", "thinking": format!("thought {EVIL}")});
    let svg = json!({"type": "image", "mimeType": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"});
    let scene = Scene::new()
        .entry("m0", None, json!({"type": "model_change", "model": format!("mock/{EVIL}")}))
        .user("u1", Some("m0"), &format!("# Please\n\nread **this**, and this: {EVIL}"))
        .answer("a1", "u1", json!([thinking, {"type": "text", "text": format!("Reading.\n\n|a|b|\n|-|-|\n|1|{EVIL}|\n\n```html\n{EVIL}\n```\n")}, call("c1", "paint"), call("c2", EVIL), svg]))
        .result("r1", "a1", "c1", "paint", json!({"ok": true}))
        .result("r2", "r1", "c2", EVIL, json!({}))
        .answer("a2", "r2", json!([{"type": "text", "text": "It has three lines."}]))
        .user("u2", Some("a2"), "the branch that was left")
        .answer("a3", "u2", json!([{"type": "text", "text": "A side answer."}]))
        .user("u3", Some("a2"), "the branch that goes on")
        .answer("a4", "u3", json!([{"type": "text", "text": "The last answer, key sk-live-12345678."}, call("c3", "lost")]))
        .entry("l1", Some("a4"), json!({"type": "label", "targetId": "u3", "label": format!("mark {EVIL}")}))
        .entry("x1", Some("l1"), json!({"type": EVIL, "more": EVIL}))
        .entry("x2", Some("x1"), json!({"type": "custom_message", "customType": EVIL, "content": EVIL, "display": true}))
        .entry("x3", Some("x2"), json!({"type": "message", "message": {"role": EVIL, "text": EVIL}}))
        .entry("x4", Some("x3"), json!({"type": "message", "message": {"role": "bashExecution", "command": EVIL, "output": EVIL, "exitCode": 1}}))
        .entry("x5", Some("x4"), json!({"type": "compaction", "summary": EVIL, "firstKeptEntryId": "u3", "tokensBefore": 1000}))
        .entry("x6", Some("x5"), json!({"type": "title_change", "title": format!("A title {EVIL}"), "source": "user"}));
    let agents = scene.dir.path().join("2026_01a1e0cb");
    std::fs::create_dir_all(&agents).unwrap();
    let agent = Scene::new()
        .entry(
            "i",
            None,
            json!({"type": "session_init", "systemPrompt": EVIL, "task": "Look around", "tools": ["read", EVIL]}),
        )
        .user("u", Some("i"), "the agent's task");
    agent.write();
    std::fs::copy(agent.file(), agents.join("Anna.jsonl")).unwrap();
    std::fs::write(agents.join("Anna.md"), format!("# What Anna found\n\n{EVIL}")).unwrap();
    scene
}

/// Renders every kind of block.
struct Painter;

impl AnyTool for Painter {
    fn name(&self) -> std::borrow::Cow<'_, str> {
        "paint".into()
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        EVIL.into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "description": EVIL})
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn plan(&self, _: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        Ok(plan_of(Tier::Read, |_| async { Ok(ToolOutput::default()) }.boxed()))
    }

    fn render(&self, _: &Value, _: Outcome<&Value>) -> View {
        let line = |kind, line, text: &str| DiffLine { kind, line, text: text.to_owned() };
        let diff = vec![
            line(DiffKind::Kept, 1, "fn main() {"),
            line(DiffKind::Removed, 2, "    println!(\"old\");"),
            line(DiffKind::Added, 2, "    println!(\"new\");"),
            line(DiffKind::Gap, 0, ""),
            line(DiffKind::Added, 9, EVIL),
        ];
        let dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        View::new("paint src/main.rs", Status::Done)
            .note("2 lines")
            .block(Block::Diff(Diff::new(diff)))
            .block(Block::Code { language: None, text: format!("one\n{EVIL}\nthree"), first_line: Some(40) })
            .block(Block::Table { header: vec!["name".into(), EVIL.into()], rows: vec![vec![EVIL.into(), "1".into()]] })
            .block(Block::Lines { lines: vec![EVIL.into()], hidden: 12 })
            .block(Block::Text(EVIL.into()))
            .block(Block::Image { mime_type: "image/png".into(), data: dot.into() })
    }
}
