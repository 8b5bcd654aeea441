//! Refuses conversations in which tool calls and results do not pair up, as every real service does.

use serde_json::Value;

use super::Wire;

/// Returns the service's error, if any.
pub fn unpaired(wire: Wire, request: &Value) -> Option<String> {
    let items = request.get(wire.conversation()).and_then(Value::as_array)?;
    match wire {
        Wire::Anthropic => {
            let (calls, results) = (ids("tool_use", "id"), ids("tool_result", "tool_use_id"));
            by_turn(items, "assistant", calls, results).map(|(at, problem)| match problem {
                PairingProblem::NoResult(id) => format!(
                    "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. \
                     Each `tool_use` block must have a corresponding `tool_result` block in the next message."
                ),
                PairingProblem::NoCall(id) => format!(
                    "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
                     block must have a corresponding `tool_use` block in the previous message."
                ),
                PairingProblem::Twice(id) => format!("messages.{at}: each id must be used once: {id}"),
            })
        }
        Wire::Completions => {
            by_turn(items, "assistant", completion_calls, completion_results).map(|(_, problem)| match problem {
                PairingProblem::NoResult(id) => format!(
                    "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                     'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
                ),
                PairingProblem::NoCall(id) => format!(
                    "Messages with role 'tool' must be a response to a preceeding message with 'tool_calls': {id}"
                ),
                PairingProblem::Twice(id) => format!("Duplicate value for 'tool_call_id' of '{id}'"),
            })
        }
        Wire::Responses => responses(items),
        Wire::Google => google(items),
    }
}

enum PairingProblem {
    NoResult(String),
    NoCall(String),
    Twice(String),
}

/// Compares the calls of each answer with the results before the next answer.
fn by_turn(
    items: &[Value],
    model: &str,
    calls: impl Fn(&Value) -> Vec<String>,
    results: impl Fn(&Value) -> Vec<String>,
) -> Option<(usize, PairingProblem)> {
    let mut open: Vec<String> = Vec::new();
    let mut opened_at = 0;
    for (at, item) in items.iter().enumerate() {
        for id in results(item) {
            let Some(found) = open.iter().position(|call| *call == id) else {
                return Some((at, PairingProblem::NoCall(id)));
            };
            open.remove(found);
        }
        if item.get("role").and_then(Value::as_str) != Some(model) {
            continue;
        }
        if let Some(id) = open.pop() {
            return Some((opened_at, PairingProblem::NoResult(id)));
        }
        (open, opened_at) = (calls(item), at);
        if let Some(id) = repeated(&open) {
            return Some((at, PairingProblem::Twice(id)));
        }
    }
    open.pop().map(|id| (opened_at, PairingProblem::NoResult(id)))
}

fn repeated(ids: &[String]) -> Option<String> {
    ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)).map(|(_, id)| id.clone())
}

/// Reads the ids of all blocks of one type in an Anthropic message.
fn ids(kind: &'static str, key: &'static str) -> impl Fn(&Value) -> Vec<String> {
    move |item| {
        let blocks = item.get("content").and_then(Value::as_array).into_iter().flatten();
        blocks.filter(|block| block["type"] == kind).map(|block| text(block, key)).collect()
    }
}

fn completion_calls(item: &Value) -> Vec<String> {
    let calls = item.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.map(|call| text(call, "id")).collect()
}

fn completion_results(item: &Value) -> Vec<String> {
    let is_result = item.get("role").and_then(Value::as_str) == Some("tool");
    is_result.then(|| text(item, "tool_call_id")).into_iter().collect()
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// In this API results may come anywhere after their call.
fn responses(items: &[Value]) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for item in items {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => open.push(text(item, "call_id")),
            Some("function_call_output") => {
                let id = text(item, "call_id");
                let Some(found) = open.iter().position(|call| *call == id) else {
                    return Some(format!("No tool call found for function call output with call_id {id}."));
                };
                open.remove(found);
            }
            _ => {}
        }
    }
    open.pop().map(|id| format!("No tool output found for function call {id}."))
}

/// In this API calls have no ids, so they are only counted.
fn google(items: &[Value]) -> Option<String> {
    let count = |item: &Value, key: &str| {
        let parts = item.get("parts").and_then(Value::as_array).into_iter().flatten();
        parts.filter(|part| part.get(key).is_some()).count()
    };
    let mut open = 0_usize;
    let complaint = "Please ensure that the number of function response parts is equal to the number of function \
                     call parts of the function call turn.";
    for item in items {
        let answered = count(item, "functionResponse");
        if answered > open {
            return Some(complaint.to_owned());
        }
        open -= answered;
        if item.get("role").and_then(Value::as_str) == Some("model") {
            if open > 0 {
                return Some(complaint.to_owned());
            }
            open = count(item, "functionCall");
        }
    }
    (open > 0).then(|| complaint.to_owned())
}
