//! Where a session meets secrets: what it writes, tells and keeps holds placeholders, and a call gets what they stand for.

use std::sync::Arc;

use omp_agent::{AgentEvent, Approval, ToolOutput};
use omp_secrets::Veil;
use omp_store::EntryBody;
use omp_types::{Message, ToolCall};
use serde_json::Value;

use crate::desk::QuestionKind;
use crate::event::SessionEvent;
use crate::policy::{Verdict, VerdictKind};

/// The call with its secrets put back; `None` when it has none.
pub(crate) fn meant(veil: &Veil, call: &ToolCall) -> Option<ToolCall> {
    let mut arguments = Value::Object(call.arguments.clone());
    if veil.restore(&mut arguments).is_empty() {
        return None;
    }
    let Value::Object(arguments) = arguments else { return None };
    Some(ToolCall { arguments, ..call.clone() })
}

/// Whoever is asked about a call is told of the secrets that it gets. One that gets a credential of omp's own is asked
/// about in every mode: nothing that a project needs is done with it, and it is what an attacker wants.
pub(crate) fn verdict(veil: &Veil, call: &ToolCall, approval: &Approval, verdict: Verdict) -> Verdict {
    let given = veil.secrets_in(&Value::Object(call.arguments.clone()));
    if given.is_empty() {
        return verdict;
    }
    let names = given.names.join(", ");
    let told = match &approval.reason {
        Some(reason) => format!("{reason}; it gets the secret {names}"),
        None => format!("it gets the secret {names}"),
    };
    match &verdict.kind {
        VerdictKind::Run if given.held => Verdict::ask(Some(told), "a secret of omp's own"),
        VerdictKind::Ask { .. } => Verdict::ask(Some(told), verdict.by),
        _ => verdict,
    }
}

/// What a tool gave back, as the model, the file and the screen may have it.
pub(crate) fn take_in(veil: &Veil, output: &mut ToolOutput) {
    veil.take_in_contents(&mut output.content);
    output.details.iter_mut().for_each(|details| veil.take_in_value(details));
}

pub(crate) fn hide_all(veil: &Veil, messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    messages.iter().map(|message| veil.hide_message(message)).collect()
}

/// An entry of the session's file.
pub(crate) fn hide_entry(veil: &Veil, entry: EntryBody) -> EntryBody {
    let mut entry = entry;
    match &mut entry {
        EntryBody::Message(message) => *message = veil.hide_message(message),
        EntryBody::Custom(custom) => custom.data.iter_mut().for_each(|data| veil.hide_value(data)),
        EntryBody::CustomMessage(custom) => {
            veil.hide_contents(&mut custom.content);
            custom.details.iter_mut().for_each(|details| veil.hide_value(details));
        }
        EntryBody::Compaction(compaction) => {
            veil.hide_text(&mut compaction.summary);
            compaction.short_summary.iter_mut().for_each(|text| veil.hide_text(text));
            compaction.details.iter_mut().for_each(|details| veil.hide_value(details));
        }
        EntryBody::BranchSummary(summary) => {
            veil.hide_text(&mut summary.summary);
            summary.details.iter_mut().for_each(|details| veil.hide_value(details));
        }
        _ => {}
    }
    entry
}

/// What front ends are told. Pieces of an answer have passed the veil before they came here.
pub(crate) fn hide_event(veil: &Veil, event: SessionEvent) -> SessionEvent {
    if veil.is_empty() {
        return event;
    }
    let mut event = event;
    match &mut event {
        SessionEvent::Agent(event) => hide_agent_event(veil, event),
        SessionEvent::AgentEnd { messages, .. } => *messages = hide_all(veil, messages),
        SessionEvent::RetryStart { reason, .. } => veil.hide_text(reason),
        SessionEvent::RetryEnd { final_error: Some(text), .. }
        | SessionEvent::CompactionEnd { error: Some(text), .. }
        | SessionEvent::Notice { text, .. }
        | SessionEvent::Renamed { title: text } => veil.hide_text(text),
        SessionEvent::Question(question) => {
            if let QuestionKind::Approve { arguments, reason, .. } = &mut question.kind {
                hide_shared(veil, arguments);
                reason.iter_mut().for_each(|reason| veil.hide_text(reason));
            }
        }
        SessionEvent::Idle { undelivered, .. } => *undelivered = hide_all(veil, undelivered),
        _ => {}
    }
    event
}

fn hide_agent_event(veil: &Veil, event: &mut AgentEvent) {
    match event {
        AgentEvent::AgentStart | AgentEvent::TurnStart | AgentEvent::MessageUpdate { .. } => {}
        AgentEvent::AgentEnd { messages } => *messages = hide_all(veil, messages),
        AgentEvent::TurnEnd { message, tool_results } => {
            *message = veil.hide_message(message);
            *tool_results = hide_all(veil, tool_results);
        }
        AgentEvent::MessageStart { message } | AgentEvent::MessageEnd { message } => {
            *message = veil.hide_message(message);
        }
        AgentEvent::ToolStart { arguments, .. } => hide_shared(veil, arguments),
        AgentEvent::ToolUpdate { arguments, partial, .. } => {
            hide_shared(veil, arguments);
            take_in(veil, partial);
        }
        AgentEvent::ToolEnd(outcome) => hide_shared(veil, &mut outcome.arguments),
    }
}

fn hide_shared(veil: &Veil, value: &mut Arc<Value>) {
    let mut clean = (**value).clone();
    veil.hide_value(&mut clean);
    if clean != **value {
        *value = Arc::new(clean);
    }
}
