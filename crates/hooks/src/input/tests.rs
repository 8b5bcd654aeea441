//! Tests of the input of each event.

use omp_session::{EndReason, ToolOutput};
use omp_types::{Content, ToolCall};

use super::*;

fn scene() -> HookScene {
    HookScene {
        session_id: "s1".into(),
        transcript: Some("/w/s1.jsonl".into()),
        cwd: "/w".into(),
        mode: ApprovalMode::Write,
        plans: false,
        model: "mock/one".into(),
    }
}

/// Checks the event, the names for matchers, and the fields besides those that every hook gets.
#[track_caller]
fn check(point: HookPoint<'_>, event: &str, names: &[&str], expect: Value) {
    let told = told(&scene(), &point);
    assert_eq!((told.event.name(), &told.names[..], &super::names(&point)[..]), (event, names, names));
    assert_eq!(told.inputs.len(), 1);
    let mut input = told.inputs[0].clone();
    let mut common = json!({"session_id": "s1", "transcript_path": "/w/s1.jsonl", "cwd": "/w",
        "permission_mode": "acceptEdits", "hook_event_name": event});
    for key in ["session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name"] {
        assert_eq!(input.as_object_mut().unwrap().shift_remove(key), Some(common[key].take()), "{event} {key}");
    }
    assert_eq!(input, expect, "{event}");
}

#[test]
fn calls() {
    let arguments = json!({"command": "ls"});
    let Value::Object(fields) = arguments.clone() else { panic!("an object") };
    let call = ToolCall { id: "c1".into(), name: "bash".into(), arguments: fields, ..ToolCall::default() };
    let told = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1", "omp_tool": "bash",
        "omp_input": {"command": "ls"}});
    check(HookPoint::BeforeCall { call: &call }, "PreToolUse", &["Bash", "bash"], told.clone());
    for is_error in [false, true] {
        let output = ToolOutput { content: vec![Content::text("out")], is_error, ..ToolOutput::default() };
        let mut expect = told.clone();
        expect["tool_response"] = json!({"stdout": "out", "text": "out", "success": !is_error, "is_error": is_error, "details": null,
                "stderr": "", "interrupted": false, "isImage": false});
        if is_error {
            expect["error"] = json!("out");
            expect["is_interrupt"] = json!(false);
        }
        let event = if is_error { "PostToolUseFailure" } else { "PostToolUse" };
        let point = HookPoint::AfterCall { call_id: "c1", tool: "bash", arguments: &arguments, output: &output };
        check(point, event, &["Bash", "bash"], expect);
    }
}

#[test]
fn all_the_others() {
    check(HookPoint::Prompt { text: "go" }, "UserPromptSubmit", &[], json!({"prompt": "go"}));
    let stopped = json!({"stop_hook_active": true, "last_assistant_message": "Done."});
    check(HookPoint::Stop { held: true, said: "Done." }, "Stop", &[], stopped);
    for (source, name) in [
        (StartSource::Startup, "startup"),
        (StartSource::Resume, "resume"),
        (StartSource::Clear, "clear"),
        (StartSource::Compact, "compact"),
    ] {
        check(HookPoint::Start(source), "SessionStart", &[name], json!({"source": name, "model": "mock/one"}));
    }
    for reason in [EndReason::Clear, EndReason::Resume, EndReason::Exit, EndReason::Other] {
        let reason = reason.as_str();
        check(HookPoint::End { reason }, "SessionEnd", &[reason], json!({"reason": reason}));
    }
    for (by_hand, trigger) in [(true, "manual"), (false, "auto")] {
        let point = HookPoint::BeforeCompaction { by_hand, instructions: Some("keep names") };
        let expect = json!({"trigger": trigger, "custom_instructions": "keep names"});
        check(point, "PreCompact", &[trigger], expect);
    }
    let point = HookPoint::Notification { kind: "idle_prompt", message: "waiting" };
    check(point, "Notification", &["idle_prompt"], json!({"message": "waiting", "notification_type": "idle_prompt"}));
}
