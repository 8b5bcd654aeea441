//! Parses the answer of a hook, from its exit code or JSON, and combines the answers of several hooks.
//!
//! If a guard's output cannot be understood, the worst is assumed: the user is asked.

use omp_session::{HookPermission, HookReply};
use serde_json::Value;

use crate::event::HookEvent;
use crate::run::{HookRun, MOST_OUTPUT};

/// Maximum characters of a hook's error output that the user is shown.
const LONGEST_COMPLAINT: usize = 2_000;
/// Maximum characters that one hook may send to the model.
const LONGEST_CONTEXT: usize = 10_000;
/// Maximum characters that may replace a tool's output.
const LONGEST_OUTPUT: usize = 100_000;

/// The answer of one hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HookAnswer {
    pub notices: Vec<String>,
    pub context: Option<String>,
    pub blocked: Option<String>,
    pub halted: Option<String>,
    pub permission: Option<HookPermission>,
    /// In Claude's format of the arguments.
    pub updated: Option<Value>,
    /// Replaces a tool's output for the model.
    pub output: Option<String>,
}

/// `name` is the name of the hook shown to the user.
pub(crate) fn read(event: HookEvent, name: &str, ran: &HookRun, seconds: f64) -> HookAnswer {
    let Some(code) = ran.code else {
        return notice(format!("{name} timed out after {seconds} s\nhint: set a longer `timeout` for it"));
    };
    // JSON counts whatever the exit code is; only a block by the exit code cannot be undone by JSON.
    let said = spoken(event, name, ran);
    match (code, said) {
        (2, said) if event.can_block() => refused(ran, said),
        (_, Some(said)) => said,
        (0, None) => plain(event, ran),
        (code, None) => failed(name, code, ran),
    }
}

/// A block by exit code 2: JSON may give the reason and anything else.
fn refused(ran: &HookRun, said: Option<HookAnswer>) -> HookAnswer {
    let mut answer = said.unwrap_or_default();
    let why = || if ran.stderr.is_empty() { "it gave no reason" } else { ran.stderr.as_str() };
    answer.blocked.get_or_insert_with(|| cut(why(), LONGEST_CONTEXT));
    (answer.permission, answer.updated) = (None, None);
    answer
}

fn failed(name: &str, code: i32, ran: &HookRun) -> HookAnswer {
    let complaint = cut(&ran.stderr, LONGEST_COMPLAINT);
    let why = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
    let hint = match code {
        126 => "\nhint: make the script executable, or run it with its interpreter",
        127 => "\nhint: check that the program exists; `/hooks` shows the command and its file",
        _ if complaint.contains("Read-only file system") || complaint.contains("Permission denied") => {
            "\nhint: hooks run in the sandbox like commands; add folders to `containment.writable`"
        }
        _ => "",
    };
    notice(format!("{name} failed with exit code {code}{why}{hint}"))
}

fn notice(text: String) -> HookAnswer {
    HookAnswer { notices: vec![text], ..HookAnswer::default() }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}… [cut]", &text[..at]),
        None => text.to_owned(),
    }
}

/// Plain output for the model, at events that support it.
fn plain(event: HookEvent, ran: &HookRun) -> HookAnswer {
    let context = Some(&ran.stdout).filter(|text| event.prints_context() && !text.is_empty());
    HookAnswer { context: context.map(|text| cut(text, LONGEST_CONTEXT)), ..HookAnswer::default() }
}

/// The answer in JSON; `None` if the output is not meant as JSON.
fn spoken(event: HookEvent, name: &str, ran: &HookRun) -> Option<HookAnswer> {
    // Plain text for the model may begin with a bracket too.
    let is_open = |text: &str| event.prints_context() && !text.ends_with('}');
    if !ran.stdout.starts_with('{') || (!ran.truncated && is_open(&ran.stdout)) {
        return None;
    }
    if ran.truncated {
        return Some(unclear(event, name, &format!("it printed more than {} KiB", MOST_OUTPUT >> 10)));
    }
    Some(match serde_json::from_str(&ran.stdout) {
        Ok(said) => understood(event, name, &said).unwrap_or_else(|why| unclear(event, name, &why)),
        Err(error) => unclear(event, name, &format!("its output is not JSON: {error}")),
    })
}

/// The output cannot be understood.
fn unclear(event: HookEvent, name: &str, why: &str) -> HookAnswer {
    let text = format!("{name} gave an invalid answer: {why}");
    let ask = HookPermission::Ask { reason: text.clone() };
    let told = notice(format!("{text}\nhint: print one JSON object and nothing else, see docs/hooks.md"));
    HookAnswer { permission: (event == HookEvent::PreToolUse).then_some(ask), ..told }
}

/// `Err` says what is invalid.
fn understood(event: HookEvent, name: &str, said: &Value) -> Result<HookAnswer, String> {
    let mut answer = HookAnswer::default();
    let unsaid = || "it gave no reason".to_owned();
    let reason = text(said, "reason")?;
    answer.notices.extend(text(said, "systemMessage")?.map(|text| cut(&text, LONGEST_COMPLAINT)));
    match said.get("continue") {
        None | Some(Value::Null | Value::Bool(true)) => {}
        Some(Value::Bool(false)) => {
            answer.halted = Some(text(said, "stopReason")?.or_else(|| reason.clone()).unwrap_or_else(unsaid));
        }
        Some(_) => return Err("its `continue` is neither true nor false".to_owned()),
    }
    let mut decisions = vec![(text(said, "decision")?, reason.clone())];
    // Some hooks write fields of `hookSpecificOutput` beside it.
    let nothing = Value::Null;
    let own = said.get("hookSpecificOutput").unwrap_or(&nothing);
    if !own.is_object() && !own.is_null() {
        return Err("its `hookSpecificOutput` is not an object".to_owned());
    }
    if text(own, "hookEventName")?.is_some_and(|named| named != event.name()) {
        return Err("its answer is for another event".to_owned());
    }
    for said in [said, own] {
        let why = text(said, "permissionDecisionReason")?.or_else(|| reason.clone());
        decisions.push((text(said, "permissionDecision")?, why));
    }
    answer.context = text(own, "additionalContext")?.map(|text| cut(&text, LONGEST_CONTEXT));
    answer.updated = own.get("updatedInput").filter(|value| !value.is_null()).cloned();
    let output = own.get("updatedToolOutput").or(own.get("updatedMCPToolOutput")).and_then(output_text);
    answer.output = output.map(|text| cut(&text, LONGEST_OUTPUT));
    for (word, reason) in decisions {
        let Some(word) = word else { continue };
        decide(&mut answer, event, name, &word, reason.unwrap_or_else(unsaid))?;
    }
    Ok(answer)
}

fn decide(answer: &mut HookAnswer, event: HookEvent, name: &str, word: &str, reason: String) -> Result<(), String> {
    match word {
        "block" | "deny" if event.can_block() => answer.blocked = Some(cut(&reason, LONGEST_CONTEXT)),
        "ask" if event == HookEvent::PreToolUse => {
            answer.permission = Some(HookPermission::Ask { reason: format!("{name} asks: {reason}") });
        }
        "approve" | "allow" if event == HookEvent::PreToolUse => {
            answer.permission.get_or_insert(HookPermission::Allow);
        }
        "approve" | "allow" | "block" | "deny" | "ask" => {}
        other => return Err(format!("unknown decision `{other}`")),
    }
    Ok(())
}

fn text(value: &Value, key: &str) -> Result<Option<String>, String> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("its `{key}` is not a string")),
    }
}

/// The text that replaces a tool's output: a string, or the text in one of Claude's output formats.
fn output_text(output: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    match output {
        Value::Null => None,
        Value::String(words) => Some(words.clone()),
        // `[{"type": "text", "text": …}]`, also as `content`.
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            Some(texts.join("\n"))
        }
        Value::Object(fields) => {
            if let Some(content @ Value::Array(_)) = fields.get("content") {
                return output_text(content);
            }
            let own = ["stdout", "stderr"].iter().any(|key| fields.contains_key(*key));
            if own {
                let said: Vec<String> = ["stdout", "stderr"].iter().filter_map(|key| text(fields.get(*key)?)).collect();
                return Some(said.join("\n"));
            }
            let words = ["text", "content"].iter().find_map(|key| fields.get(*key)?.as_str());
            words.map(str::to_owned).or_else(|| Some(output.to_string()))
        }
        other => Some(other.to_string()),
    }
}

/// A refusal outweighs a question, and a question outweighs a permission.
pub(crate) fn together(answers: Vec<HookAnswer>) -> (HookReply, Vec<Value>) {
    let (mut reply, mut updated): (HookReply, Vec<Value>) = Default::default();
    let mut blocked: Vec<String> = Vec::new();
    for answer in answers {
        for text in answer.notices {
            once(&mut reply.notices, text);
        }
        answer.context.into_iter().for_each(|text| once(&mut reply.context, text));
        answer.blocked.into_iter().for_each(|text| once(&mut blocked, text));
        reply.halted = reply.halted.or(answer.halted);
        reply.output = answer.output.or(reply.output);
        reply.permission = match (reply.permission, answer.permission) {
            (Some(ask @ HookPermission::Ask { .. }), _) | (_, Some(ask @ HookPermission::Ask { .. })) => Some(ask),
            (before, new) => before.or(new),
        };
        updated.extend(answer.updated);
    }
    reply.blocked = (!blocked.is_empty()).then(|| blocked.join("\n"));
    (reply, updated)
}

fn once(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

#[cfg(test)]
mod tests;
