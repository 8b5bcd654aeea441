//! What a hook says back, by its exit code or in JSON, and what several of them say together.
//!
//! Of a guard that speaks but cannot be understood the worst is assumed: the user is asked.

use omp_session::{HookPermission, HookReply};
use serde_json::Value;

use crate::event::Event;
use crate::run::{MOST_OUTPUT, Ran};

/// Characters of what a hook complains that the user is shown.
const LONGEST_COMPLAINT: usize = 2_000;
/// Characters that one hook may tell the model.
const LONGEST_CONTEXT: usize = 10_000;

/// What one hook wants.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub notices: Vec<String>,
    pub context: Option<String>,
    pub blocked: Option<String>,
    pub halted: Option<String>,
    pub permission: Option<HookPermission>,
    /// In Claude's shape of the arguments.
    pub updated: Option<Value>,
}

/// `name` is how the user is told of the hook.
pub(crate) fn read(event: Event, name: &str, ran: &Ran, seconds: f64) -> Answer {
    match ran.code {
        None => notice(format!("{name} was stopped: it took longer than {seconds} s")),
        Some(0) => spoken(event, name, ran),
        Some(2) if event.can_block() => {
            let why = if ran.stderr.is_empty() { "it gave no reason" } else { ran.stderr.as_str() };
            Answer { blocked: Some(cut(why, LONGEST_CONTEXT)), ..Answer::default() }
        }
        Some(code) => {
            let complaint = cut(&ran.stderr, LONGEST_COMPLAINT);
            let why = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
            notice(format!("{name} failed with exit code {code}{why}"))
        }
    }
}

fn notice(text: String) -> Answer {
    Answer { notices: vec![text], ..Answer::default() }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}… [cut]", &text[..at]),
        None => text.to_owned(),
    }
}

fn spoken(event: Event, name: &str, ran: &Ran) -> Answer {
    if !ran.stdout.starts_with('{') {
        let context = Some(&ran.stdout).filter(|text| event.prints_context() && !text.is_empty());
        return Answer { context: context.map(|text| cut(text, LONGEST_CONTEXT)), ..Answer::default() };
    }
    if ran.truncated {
        return unclear(event, name, &format!("it printed more than {} KiB", MOST_OUTPUT >> 10));
    }
    match serde_json::from_str(&ran.stdout) {
        Ok(said) => understood(event, name, &said),
        Err(error) => unclear(event, name, &format!("what it printed is no JSON: {error}")),
    }
}

/// Something was said that cannot be acted upon.
fn unclear(event: Event, name: &str, why: &str) -> Answer {
    let text = format!("{name} was not understood: {why}");
    let ask = HookPermission::Ask { reason: text.clone() };
    Answer { permission: (event == Event::PreToolUse).then_some(ask), ..notice(text) }
}

fn understood(event: Event, name: &str, said: &Value) -> Answer {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut answer = Answer::default();
    let reason = text(said, "reason").unwrap_or_else(|| "it gave no reason".to_owned());
    answer.notices.extend(text(said, "systemMessage").map(|text| cut(&text, LONGEST_COMPLAINT)));
    if said.get("continue") == Some(&Value::Bool(false)) {
        answer.halted = Some(text(said, "stopReason").unwrap_or_else(|| reason.clone()));
    }
    let mut decisions = vec![(text(said, "decision"), reason)];
    if let Some(own) = said.get("hookSpecificOutput") {
        if text(own, "hookEventName").is_some_and(|named| named != event.name()) {
            return unclear(event, name, "its answer is for another event");
        }
        answer.context = text(own, "additionalContext").map(|text| cut(&text, LONGEST_CONTEXT));
        answer.updated = own.get("updatedInput").filter(|value| !value.is_null()).cloned();
        let reason = text(own, "permissionDecisionReason").unwrap_or_else(|| "it gave no reason".to_owned());
        decisions.push((text(own, "permissionDecision"), reason));
        if own.get("permissionDecision").is_some_and(|value| !value.is_string()) {
            return unclear(event, name, "its `permissionDecision` is no word");
        }
    }
    for (word, reason) in decisions {
        let Some(word) = word else { continue };
        match word.as_str() {
            "block" | "deny" if event.can_block() => answer.blocked = Some(cut(&reason, LONGEST_CONTEXT)),
            "ask" if event == Event::PreToolUse => {
                answer.permission = Some(HookPermission::Ask { reason: format!("{name} asks: {reason}") });
            }
            "approve" | "allow" if event == Event::PreToolUse => {
                answer.permission.get_or_insert(HookPermission::Allow);
            }
            "approve" | "allow" | "block" | "deny" | "ask" => {}
            other => return unclear(event, name, &format!("there is no decision `{other}`")),
        }
    }
    answer
}

/// A refusal counts more than a question, a question more than a permission.
pub(crate) fn together(answers: Vec<Answer>) -> (HookReply, Vec<Value>) {
    let (mut reply, mut updated): (HookReply, Vec<Value>) = Default::default();
    let mut blocked: Vec<String> = Vec::new();
    for answer in answers {
        for text in answer.notices {
            once(&mut reply.notices, text);
        }
        answer.context.into_iter().for_each(|text| once(&mut reply.context, text));
        answer.blocked.into_iter().for_each(|text| once(&mut blocked, text));
        reply.halted = reply.halted.or(answer.halted);
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
