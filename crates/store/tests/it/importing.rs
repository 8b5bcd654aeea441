//! Tests of importing sessions of other programs, modelled on what is known of their formats: imported once, with every
//! message at its position and all other data kept.

use std::path::{Path, PathBuf};

use omp_store::import::{ImportDestination, ImportError, Imported, Program, import, importable};
use omp_store::{Context, LoadedSession, SessionsDir};
use omp_types::{Content, Env, Message};
use serde_json::{Value, json};

use crate::Place;

struct Made {
    place: Place,
    source: PathBuf,
}

impl Made {
    fn new(name: &str, lines: &[Value]) -> Self {
        Self::raw(name, lines.iter().map(|line| format!("{line}\n")).collect())
    }

    fn raw(name: &str, text: String) -> Self {
        let place = Place::new();
        let source = place.path().join(name);
        std::fs::write(&source, text).unwrap();
        Self { place, source }
    }

    fn sessions(&self) -> SessionsDir {
        SessionsDir::new(self.place.path(), &Env::default())
    }

    fn import(&self, program: Program) -> Result<Imported, ImportError> {
        let (sessions, blobs) = (self.sessions(), self.place.blobs());
        import(
            program,
            &self.source,
            &ImportDestination { sessions: &sessions, blobs: &blobs, cwd: Path::new("/fallback") },
        )
    }

    /// Imports twice and returns the content of the single session.
    fn check(&self, program: Program) -> (Imported, LoadedSession, Context) {
        let before = std::fs::read(&self.source).unwrap();
        let imported = self.import(program).unwrap();
        let again = self.import(program).unwrap();
        assert!(!imported.already && again.already && again.path == imported.path);
        assert_eq!(std::fs::read(&self.source).unwrap(), before, "the source is only read");
        let mut session = self.place.open(&imported.path);
        let context = session.context();
        assert!(session.report().is_empty(), "{}", session.report());
        assert_eq!(session.id(), imported.id);
        (imported, session, context)
    }
}

/// Formats each message as `role: text [blocks that are no text]`.
fn outline(context: &Context) -> Vec<String> {
    let shown = |content: &[Content]| {
        let parts: Vec<_> = content
            .iter()
            .map(|block| match block {
                Content::Text(text) => text.text.clone(),
                Content::Thinking(thinking) => format!("({})", thinking.thinking),
                Content::ToolCall(call) => format!("[{} {}]", call.name, call.id),
                Content::Image(image) => format!("[{} {}]", image.mime_type, image.data.len()),
                Content::RedactedThinking(_) => "(sealed)".to_owned(),
            })
            .collect();
        parts.join(" ")
    };
    let line = |message: &Message| match message {
        Message::User(message) => format!("user: {}", shown(&message.content)),
        Message::Assistant(message) => format!("assistant: {}", shown(&message.content)),
        Message::ToolResult(result) => {
            let end = if result.is_error { " failed" } else { "" };
            format!("{}{end}: {}", result.tool_name, shown(&result.content))
        }
        Message::Custom(message) => format!("{}: {}", message.custom_type, shown(&message.content)),
        Message::Other(other) => other.role.clone(),
    };
    context.messages.iter().map(line).collect()
}

fn kept(session: &LoadedSession) -> Vec<String> {
    let text = std::fs::read_to_string(session.path()).unwrap();
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries
        .filter(|entry| entry["type"] == "custom")
        .map(|entry| entry["customType"].as_str().unwrap().to_owned())
        .collect()
}

const TIME: &str = "2026-03-01T10:00:00.000Z";

fn claude(uuid: &str, parent: &str, kind: &str, message: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    json!({"parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": uuid,
        "timestamp": TIME, "cwd": "/srv/work", "sessionId": "s", "version": "2.1.0"})
}

fn claude_block(uuid: &str, parent: &str, id: &str, block: Value) -> Value {
    let usage = json!({"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 2});
    let message = json!({"id": id, "role": "assistant", "model": "claude-x", "content": [block],
        "stop_reason": "end_turn", "usage": usage});
    claude(uuid, parent, "assistant", message)
}

fn claude_result(uuid: &str, parent: &str, call: &str, content: Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": content, "is_error": call == "t2"});
    claude(uuid, parent, "user", json!({"role": "user", "content": [block]}))
}

fn with(mut line: Value, key: &str, value: Value) -> Value {
    line[key] = value;
    line
}

const CLAUDE_FILE: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301.jsonl";

#[test]
fn a_session_of_claude_code() {
    let user =
        |uuid: &str, parent: &str, text: &str| claude(uuid, parent, "user", json!({"role": "user", "content": text}));
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD".repeat(300)}});
    let said = |text: &str| json!({"type": "text", "text": text});
    let lines = [
        json!({"type": "queue-operation", "operation": "enqueue", "timestamp": TIME}),
        user("u1", "", "look"),
        claude_block("a1", "u1", "m1", json!({"type": "thinking", "thinking": "hm", "signature": "sig"})),
        claude_block("a2", "a1", "m1", call("t1")),
        // The first result precedes the last block, and each result is a child of its own call.
        claude_result("r1", "a2", "t1", json!("one")),
        claude_block("a3", "a2", "m1", call("t2")),
        claude_result("r2", "a3", "t2", json!([said("two"), image])),
        claude_block("a4", "r2", "m2", said("seen")),
        user("u2", "a4", "left branch"),
        with(user("u3", "a4", "aside"), "isSidechain", json!(true)),
        user("u4", "a4", "other branch"),
        with(user("u5", "u4", "a note"), "isMeta", json!(true)),
        claude_block("a5", "u5", "m3", json!({"type": "novelty", "x": 1})),
        claude_block("a6", "a5", "m3", said("done")),
        json!({"type": "custom-title", "customTitle": "My work", "sessionId": "s"}),
    ];
    let made = Made::new(CLAUDE_FILE, &lines);
    let (imported, session, context) = made.check(Program::Claude);
    let expect = [
        "user: look",
        "assistant: (hm) [Bash t1] [Bash t2]",
        "Bash: one",
        "Bash failed: two [image/png 1200]",
        "assistant: seen",
        "user: other branch",
        "import.meta: a note",
        "assistant: done",
    ];
    assert_eq!(outline(&context), expect);
    assert_eq!(context.model.as_deref(), Some("anthropic/claude-x"));
    assert_eq!((session.title(), session.header().cwd.as_str()), (Some("My work"), "/srv/work"));
    assert_eq!(session.header().timestamp, TIME);
    assert_eq!((imported.id.as_str(), imported.report.is_empty()), (CLAUDE_FILE.strip_suffix(".jsonl").unwrap(), true));
    let expect =
        ["queue-operation", "sidechain", "block", "custom-title", "source"].map(|what| format!("import.{what}"));
    assert_eq!(kept(&session), expect);
    let Message::Assistant(answer) = &context.messages[1] else { panic!("no answer") };
    assert_eq!((answer.usage.input, answer.usage.output, answer.usage.cache_read), (5, 7, 2));
}

#[test]
fn a_compacted_session_of_claude_code() {
    let user =
        |uuid: &str, parent: &str, text: &str| claude(uuid, parent, "user", json!({"role": "user", "content": text}));
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null,
        "logicalParentUuid": "a1", "timestamp": TIME});
    let lines = [
        user("u1", "", "long ago"),
        claude_block("a1", "u1", "m1", json!({"type": "text", "text": "yes"})),
        boundary,
        with(user("u2", "b", "what was said"), "isCompactSummary", json!(true)),
        user("u3", "u2", "go on"),
    ];
    let made = Made::new(CLAUDE_FILE, &lines);
    let (_, mut session, context) = made.check(Program::Claude);
    let seen = outline(&context);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[0].starts_with("compactionSummary:") && seen[0].contains("what was said"), "{seen:?}");
    assert_eq!(seen[1], "user: go on");
    let whole = std::fs::read_to_string(session.path()).unwrap();
    let early = whole.lines().find(|line| line.contains("\"yes\"")).unwrap();
    let id = serde_json::from_str::<Value>(early).unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(outline(&session.context_at(&id.into()).unwrap()), ["user: long ago", "assistant: yes"]);
}

fn codex(kind: &str, payload: Value) -> Value {
    json!({"timestamp": TIME, "type": kind, "payload": payload})
}

const CODEX_FILE: &str = "rollout-2026-03-01T10-00-00-019522aa-1111-7abc-8def-0123456789ab.jsonl";

fn codex_items() -> Vec<Value> {
    let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    vec![
        said("developer", "input_text", "rules"),
        said("user", "input_text", "<environment_context>\n  <cwd>/srv/work</cwd>\n</environment_context>"),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "data:image/png;base64,QUJD"}]}),
        json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"}),
        json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c1"}),
        json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c2"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"bad\",\"metadata\":{\"exit_code\":1}}"}),
        json!({"type": "custom_tool_call_output", "call_id": "c2", "output": "patched"}),
        json!({"type": "function_call_output", "call_id": "nowhere", "output": "lost"}),
        said("assistant", "output_text", "done"),
    ]
}

const CODEX_OUTLINE: [&str; 5] = [
    "user: look [image/png 4]",
    "assistant: (hm) [shell c1] [apply_patch c2]",
    "shell failed: bad",
    "apply_patch: patched",
    "assistant: done",
];

#[test]
fn a_session_of_codex() {
    let meta = json!({"id": "019522aa-1111-7abc-8def-0123456789ab", "timestamp": TIME, "cwd": "/srv/work", "model_provider": "openai"});
    let mut lines =
        vec![codex("session_meta", meta), codex("turn_context", json!({"model": "gpt-x", "cwd": "/srv/work"}))];
    lines.extend(codex_items().into_iter().map(|item| codex("response_item", item)));
    let usage = json!({"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3, "total_tokens": 13});
    lines.push(codex("event_msg", json!({"type": "token_count", "info": {"last_token_usage": usage}})));
    lines.push(codex("event_msg", json!({"type": "agent_message", "message": "done"})));
    lines.push(codex("event_msg", json!({"type": "thread_name_updated", "thread_name": "A name"})));
    let made = Made::new(CODEX_FILE, &lines);
    let (imported, session, context) = made.check(Program::Codex);
    assert_eq!(outline(&context), CODEX_OUTLINE);
    assert_eq!(context.model.as_deref(), Some("openai/gpt-x"));
    assert_eq!((session.title(), session.header().cwd.as_str()), (Some("A name"), "/srv/work"));
    assert_eq!(imported.id, "019522aa-1111-7abc-8def-0123456789ab");
    let told = imported.report.to_string();
    assert!(told.starts_with("line 11: ") && told.contains("a call nowhere") && told.lines().count() == 1, "{told}");
    let Some(Message::Assistant(answer)) = context.messages.last() else { panic!("no answer") };
    assert_eq!((answer.usage.input, answer.usage.cache_read, answer.usage.output), (6, 4, 3));
    assert!(kept(&session).contains(&"import.orphan-result".to_owned()));
}

#[test]
fn an_older_and_a_compacted_session_of_codex() {
    let mut lines =
        vec![json!({"id": "019522aa-1111-7abc-8def-0123456789ab", "timestamp": TIME, "instructions": null})];
    lines.extend(codex_items());
    lines.push(json!({"record_type": "state"}));
    let made = Made::new(CODEX_FILE, &lines);
    let (imported, session, context) = made.check(Program::Codex);
    assert_eq!(outline(&context), CODEX_OUTLINE);
    assert_eq!(
        (imported.id.as_str(), session.header().cwd.as_str()),
        ("019522aa-1111-7abc-8def-0123456789ab", "/fallback")
    );

    let mut lines: Vec<_> = codex_items().into_iter().map(|item| codex("response_item", item)).collect();
    lines.push(codex("compacted", json!({"message": "in short"})));
    lines.push(codex(
        "response_item",
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "on"}]}),
    ));
    let (_, _, context) = Made::new("rollout-x.jsonl", &lines).check(Program::Codex);
    let seen = outline(&context);
    assert!(seen.len() == 2 && seen[0].contains("in short") && seen[1] == "user: on", "{seen:?}");
}

#[test]
fn a_session_of_pi() {
    let entry = |id: &str, parent: Value, kind: &str, fields: Value| {
        let mut line = json!({"type": kind, "id": id, "parentId": parent, "timestamp": TIME});
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        line
    };
    let said = |text: &str| json!({"message": {"role": "user", "content": text, "timestamp": 5}});
    let lines = [
        json!({"type": "session", "version": 3, "id": "01952200-1111-7abc-8def-0123456789ab", "timestamp": TIME, "cwd": "/srv/work"}),
        entry("11111111", Value::Null, "model_change", json!({"provider": "mock", "modelId": "m"})),
        entry("22222222", json!("11111111"), "message", said("first")),
        entry("33333333", json!("22222222"), "message", said("left")),
        entry("44444444", json!("22222222"), "message", said("second")),
        entry("55555555", json!("44444444"), "session_info", json!({"name": "Called so"})),
        entry(
            "66666666",
            json!("55555555"),
            "message",
            json!({"message": {"role": "bashExecution", "command": "ls", "output": "a"}}),
        ),
        entry("77777777", json!("gone0000"), "message", said("third")),
        entry("88888888", json!("77777777"), "novelty", json!({"x": 1})),
    ];
    let made = Made::new("2026-03-01T10-00-00-000Z_01952200-1111-7abc-8def-0123456789ab.jsonl", &lines);
    let (imported, mut session, context) = made.check(Program::Pi);
    assert_eq!(outline(&context), ["user: first", "user: second", "bashExecution", "user: third"]);
    assert_eq!(outline(&session.context_at(&"33333333".into()).unwrap()), ["user: first", "user: left"]);
    assert_eq!((session.title(), context.model.as_deref()), (Some("Called so"), Some("mock/m")));
    let told = imported.report.to_string();
    assert!(told.starts_with("line 8: ") && told.contains("parent") && told.lines().count() == 1, "{told}");
    assert_eq!(kept(&session), ["import.session_info", "import.novelty", "import.source"]);
}

#[test]
fn the_first_version_of_pi_has_no_ids() {
    let message =
        |text: &str| json!({"type": "message", "timestamp": TIME, "message": {"role": "user", "content": text}});
    let lines = [
        json!({"type": "session", "id": "old", "timestamp": TIME, "cwd": "/srv/work"}),
        message("a"),
        message("b"),
        json!({"type": "compaction", "timestamp": TIME, "summary": "short", "firstKeptEntryIndex": 2, "tokensBefore": 9}),
        message("c"),
    ];
    let (_, _, context) = Made::new("old.jsonl", &lines).check(Program::Pi);
    let seen = outline(&context);
    assert!(seen.len() == 3 && seen[0].contains("short") && seen[1..] == ["user: b", "user: c"], "{seen:?}");
}

#[test]
fn damage_is_told_by_line_and_costs_only_that_line() {
    let user =
        |uuid: &str, parent: &str, text: &str| claude(uuid, parent, "user", json!({"role": "user", "content": text}));
    let text = format!("{}\n{{\"torn\nnull\n{}\n", user("u1", "", "one"), user("u2", "u1", "two"));
    let made = Made::raw(CLAUDE_FILE, text);
    let (imported, _, context) = made.check(Program::Claude);
    assert_eq!(outline(&context), ["user: one", "user: two"]);
    let told: Vec<_> = imported.report.problems.iter().map(ToString::to_string).collect();
    assert!(told.len() == 2 && told[0].starts_with("line 2: ") && told[1].starts_with("line 3: "), "{told:?}");
}

#[test]
fn what_is_no_session_is_refused_and_leaves_nothing() {
    for program in Program::ALL {
        for text in ["", "hello\n", "{}\n", "{\"type\":\"session\",\"id\":\"x\"}\n"] {
            let made = Made::raw(CODEX_FILE, text.to_owned());
            let error = made.import(program).unwrap_err();
            assert!(matches!(error, ImportError::Nothing { .. }) && error.to_string().contains("hint:"), "{error}");
            assert!(!made.place.path().join("sessions").exists());
        }
        let made = Made::raw(CODEX_FILE, String::new());
        std::fs::remove_file(&made.source).unwrap();
        assert!(matches!(made.import(program), Err(ImportError::Unreadable { .. })));
        std::fs::create_dir(&made.source).unwrap();
        assert!(matches!(made.import(program), Err(ImportError::Unreadable { .. })));
    }
}

#[test]
fn sessions_are_found_where_programs_keep_them() {
    let place = Place::new();
    let write = |path: &str| {
        let path = place.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{\"type\":\"x\"}\n{\"cwd\":\"/srv/work\"}\n").unwrap();
    };
    for path in [
        ".claude/projects/-srv-work/a.jsonl",
        ".claude/projects/-srv-work/agent-1.jsonl",
        ".claude/projects/-srv-work/a/subagents/agent-2.jsonl",
        ".codex/sessions/2026/03/01/rollout-a.jsonl",
        ".codex/sessions/2026/03/01/notes.jsonl",
        ".pi/agent/sessions/--srv-work--/a.jsonl",
        "elsewhere/sessions/rollout-b.jsonl",
    ] {
        write(path);
    }
    let home = place.path().to_str().unwrap();
    let env: Env = [("HOME", home), ("USERPROFILE", home)].into_iter().collect();
    for program in Program::ALL {
        let found = importable(program, &env);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].cwd.as_deref(), Some("/srv/work"));
    }
    let elsewhere = place.path().join("elsewhere");
    let env: Env = [("CODEX_HOME", elsewhere.to_str().unwrap())].into_iter().collect();
    assert_eq!(importable(Program::Codex, &env)[0].path, elsewhere.join("sessions/rollout-b.jsonl"));
}
