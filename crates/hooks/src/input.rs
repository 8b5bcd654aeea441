//! The JSON that a hook gets on standard input, with Claude Code's names.

use std::path::Path;

use omp_policy::ApprovalMode;
use omp_session::{HookPoint, HookScene, StartSource};
use serde_json::{Value, json};

use crate::event::HookEvent;
use crate::outputs;
use crate::shapes;

/// The data by which hooks are selected, and their input.
pub(crate) struct HookInput<'a> {
    pub event: HookEvent,
    /// The names that matchers are compared with.
    pub names: Vec<&'a str>,
    /// One input, or one per file for a call that touches several files.
    pub inputs: Vec<Value>,
}

pub(crate) fn told<'a>(scene: &HookScene, point: &HookPoint<'a>) -> HookInput<'a> {
    let event = HookEvent::of(point);
    let base = json!({
        "session_id": scene.session_id,
        "transcript_path": scene.transcript.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        "cwd": scene.cwd,
        "permission_mode": permission_mode(scene),
        "hook_event_name": event.name(),
    });
    let with = |besides: Value| {
        let mut input = base.clone();
        if let (Value::Object(input), Value::Object(besides)) = (&mut input, besides) {
            input.extend(besides);
        }
        input
    };
    HookInput { event, names: names(point), inputs: besides(point, scene).into_iter().map(with).collect() }
}

fn permission_mode(scene: &HookScene) -> &'static str {
    match scene.mode {
        _ if scene.plans => "plan",
        ApprovalMode::AskWrites | ApprovalMode::AskAll => "default",
        ApprovalMode::Write => "acceptEdits",
        ApprovalMode::Auto => "bypassPermissions",
    }
}

/// The names that matchers are compared with.
pub(crate) fn names<'a>(point: &HookPoint<'a>) -> Vec<&'a str> {
    match point {
        HookPoint::BeforeCall { call } => shapes::names(&call.name),
        HookPoint::AfterCall { tool, .. } => shapes::names(tool),
        HookPoint::Prompt { .. } | HookPoint::Stop { .. } => Vec::new(),
        HookPoint::Start(source) => vec![source_name(*source)],
        HookPoint::End { reason } => vec![*reason],
        HookPoint::BeforeCompaction { by_hand, .. } => vec![trigger(*by_hand)],
        HookPoint::Notification { kind, .. } => vec![*kind],
    }
}

fn besides(point: &HookPoint<'_>, scene: &HookScene) -> Vec<Value> {
    let cwd = Path::new(&scene.cwd);
    match point {
        HookPoint::BeforeCall { call } => {
            let arguments = Value::Object(call.arguments.clone());
            calls(&call.id, &call.name, &arguments, cwd)
        }
        HookPoint::AfterCall { call_id, tool, arguments, output } => {
            let with = |mut call: Value| {
                let response = outputs::response(tool, &call["tool_input"], output);
                if output.is_error {
                    call["error"] = response["text"].clone();
                    // Hooks are not run for a call that the user has aborted.
                    call["is_interrupt"] = false.into();
                }
                call["tool_response"] = response;
                call
            };
            calls(call_id, tool, arguments, cwd).into_iter().map(with).collect()
        }
        HookPoint::Prompt { text } => vec![json!({"prompt": text})],
        HookPoint::Stop { held, said } => vec![json!({"stop_hook_active": held, "last_assistant_message": said})],
        HookPoint::Start(source) => vec![json!({"source": source_name(*source), "model": scene.model})],
        HookPoint::End { reason } => vec![json!({"reason": reason})],
        HookPoint::BeforeCompaction { by_hand, instructions } => {
            vec![json!({"trigger": trigger(*by_hand), "custom_instructions": instructions.unwrap_or_default()})]
        }
        HookPoint::Notification { kind, message } => vec![json!({"message": message, "notification_type": kind})],
    }
}

fn source_name(source: StartSource) -> &'static str {
    match source {
        StartSource::Startup => "startup",
        StartSource::Resume => "resume",
        StartSource::Clear => "clear",
        StartSource::Compact => "compact",
    }
}

fn trigger(by_hand: bool) -> &'static str {
    if by_hand { "manual" } else { "auto" }
}

fn calls(call_id: &str, tool: &str, arguments: &Value, cwd: &Path) -> Vec<Value> {
    let name = shapes::names(tool)[0];
    let told = shapes::told(tool, arguments, cwd).into_iter();
    told.map(|input| {
        json!({"tool_name": name, "tool_input": input, "tool_use_id": call_id, "omp_tool": tool, "omp_input": arguments})
    })
    .collect()
}

#[cfg(test)]
mod tests;
