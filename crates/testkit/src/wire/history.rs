//! Reads the conversation so far from a request.

use serde_json::Value;

use super::Wire;

/// Returns the number of answers in the request.
pub fn assistant_turns(wire: Wire, request: &Value) -> usize {
    let items = request.get(wire.conversation()).and_then(Value::as_array);
    let from_model = items.into_iter().flatten().map(|item| is_from_model(wire, item));
    match wire {
        // In this API an answer is a run of items, ended by any item of the client.
        Wire::Responses => runs(from_model),
        _ => from_model.filter(|yes| *yes).count(),
    }
}

pub fn offers_tools(request: &Value) -> bool {
    request.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty())
}

fn is_from_model(wire: Wire, item: &Value) -> bool {
    let role = item.get("role").and_then(Value::as_str);
    match wire {
        Wire::Google => role == Some("model"),
        Wire::Anthropic | Wire::Completions => role == Some("assistant"),
        Wire::Responses => {
            let kind = item.get("type").and_then(Value::as_str);
            role == Some("assistant") || matches!(kind, Some("function_call" | "custom_tool_call" | "reasoning"))
        }
    }
}

fn runs(flags: impl Iterator<Item = bool>) -> usize {
    let mut count = 0;
    let mut inside = false;
    for flag in flags {
        count += usize::from(flag && !inside);
        inside = flag;
    }
    count
}
