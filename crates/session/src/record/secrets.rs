//! Hides secrets in a session: everything written, sent and stored has placeholders, and calls get the secrets behind them.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use omp_agent::{AgentEvent, AnyTool, Approval, ArrivingCall, Effect, ToolOutcome, ToolOutput};
use omp_policy::{DecidedBy, RuleOffer, Verdict, VerdictKind};
use omp_secrets::Veil;
use omp_store::EntryBody;
use omp_types::{Message, ToolCall};
use omp_view::{Block, CallKind, View};
use serde_json::Value;

use crate::approvals::CallDetails;
use crate::desk::QuestionKind;
use crate::event::SessionEvent;
use crate::prepared::Prompt;

/// Addresses whose content was written by the session itself: long output, and its own file.
const OWN: [&str; 2] = ["artifact://", "history://"];

/// The call with its placeholders replaced by secrets; `None` if it has none. Secrets are hidden in what is sent out, never
/// in what runs.
pub(crate) fn meant(veil: &Veil, call: &ToolCall) -> Option<ToolCall> {
    let given = veil.meant(call);
    let was_changed = given.is_some();
    let mut arguments = Value::Object(given.unwrap_or_else(|| call.arguments.clone()));
    if veil.restore(&mut arguments).is_empty() && !was_changed {
        return None;
    }
    let Value::Object(arguments) = arguments else { return None };
    Some(ToolCall { arguments, ..call.clone() })
}

/// Names the secrets that the call gets in the question about it. A call that gets one of omp's own credentials is asked
/// about in every mode: no project needs them, and attackers want them.
pub(crate) fn verdict(veil: &Veil, call: &ToolCall, approval: &Approval, verdict: Verdict) -> Verdict {
    let given = veil.secrets_in(&Value::Object(call.arguments.clone()));
    if given.is_empty() {
        return verdict;
    }
    let names = given.names.join(", ");
    let told = match &approval.reason {
        Some(reason) => format!("{reason}; it receives the secret {names}"),
        None => format!("it receives the secret {names}"),
    };
    match &verdict.kind {
        VerdictKind::Run if given.held => Verdict::ask(Some(told), DecidedBy::OwnSecret),
        VerdictKind::Ask { .. } => Verdict::ask(Some(told), verdict.by),
        _ => verdict,
    }
}

/// Hides secrets in the result of a call, for the model, the file and the screen. In artifacts secrets were hidden when
/// they were written, so the placeholders there are genuine.
pub(crate) fn take_in_outcome(veil: &Veil, kind: CallKind, outcome: &mut ToolOutcome) {
    if !reads_own(kind, &outcome.arguments) {
        return take_in(veil, &mut outcome.output);
    }
    veil.hide_contents(&mut outcome.output.content);
    outcome.output.details.iter_mut().for_each(|details| veil.hide_value(details));
}

fn reads_own(kind: CallKind, arguments: &Value) -> bool {
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    kind == CallKind::Read && OWN.iter().any(|own| path.starts_with(own))
}

fn take_in(veil: &Veil, output: &mut ToolOutput) {
    veil.take_in_contents(&mut output.content);
    output.details.iter_mut().for_each(|details| veil.take_in_value(details));
}

/// A preview of a call with its secrets hidden.
pub(crate) fn preview(veil: &Veil, tool: &dyn AnyTool, call: ArrivingCall<'_>) -> Option<View> {
    if veil.is_empty() {
        return tool.preview(&call);
    }
    let mut arguments = call.arguments.clone();
    veil.restore(&mut arguments);
    let mut view = tool.preview(&ArrivingCall { arguments: &arguments, ..call })?;
    hide_view(veil, &mut view);
    Some(view)
}

/// Hides secrets in the description of a call.
pub(crate) fn hide_lines(veil: &Veil, mut lines: Vec<String>) -> Vec<String> {
    lines.iter_mut().for_each(|line| veil.hide_text(line));
    lines
}

/// Removes offers that contain a secret: such a rule could neither be stored nor match the call.
pub(crate) fn without_secrets(veil: &Veil, mut offers: Vec<RuleOffer>) -> Vec<RuleOffer> {
    offers.retain(|offer| veil.secrets_in(&Value::from(offer.rules.clone())).is_empty());
    offers
}

pub(crate) fn hide_all(veil: &Veil, messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    messages.iter().map(|message| veil.hide_message(message)).collect()
}

/// Hides secrets in an entry of the session's file.
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

/// Hides secrets in an event. Pieces of an answer were already filtered.
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
            match &mut question.kind {
                QuestionKind::Approve { arguments, reason, details, .. } => {
                    hide_shared(veil, arguments);
                    reason.iter_mut().for_each(|reason| veil.hide_text(reason));
                    hide_details(veil, Arc::make_mut(details));
                }
                // An address with a placeholder would not work.
                QuestionKind::OpenUrl { reason, .. } => veil.hide_text(reason),
                QuestionKind::Choose(_) => {}
            }
        }
        SessionEvent::Refused(refused) => {
            refused.effects.iter_mut().for_each(|effect| veil.hide_text(effect));
            veil.hide_text(&mut refused.why);
            veil.hide_text(&mut refused.hint);
        }
        SessionEvent::JobEnded(ended) => veil.hide_text(&mut ended.command),
        SessionEvent::Idle { undelivered, .. } => undelivered.iter_mut().for_each(|prompt| hide_prompt(veil, prompt)),
        _ => {}
    }
    event
}

fn hide_prompt(veil: &Veil, prompt: &mut Prompt) {
    veil.hide_contents(&mut prompt.content);
    if let Some(prepared) = &mut prompt.prepared {
        veil.hide_text(&mut Arc::make_mut(prepared).typed);
    }
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

/// The lines and rules of the details already have no secrets.
fn hide_details(veil: &Veil, details: &mut CallDetails) {
    for effect in details.effects.iter_mut().chain(&mut details.denied) {
        match effect {
            Effect::Run { words, .. } => words.iter_mut().for_each(|word| veil.hide_text(word)),
            Effect::Connect { host } => veil.hide_text(host),
            Effect::Unknown(what) | Effect::Use(what) => veil.hide_text(what),
            Effect::Read(path) | Effect::Write(path) => hide_path(veil, path),
            Effect::Follow { link, to } => {
                hide_path(veil, link);
                hide_path(veil, to);
            }
        }
    }
    details.command.iter_mut().for_each(|command| veil.hide_text(command));
    details.files.iter_mut().for_each(|path| hide_path(veil, path));
    details.preview.iter_mut().for_each(|preview| hide_view(veil, preview));
}

fn hide_path(veil: &Veil, path: &mut PathBuf) {
    if let Some(Cow::Owned(clean)) = path.to_str().map(|path| veil.hide(path)) {
        *path = clean.into();
    }
}

fn hide_view(veil: &Veil, view: &mut View) {
    veil.hide_text(&mut view.title);
    view.notes.iter_mut().for_each(|note| veil.hide_text(note));
    view.files.iter_mut().for_each(|file| veil.hide_text(&mut file.path));
    let texts = [&mut view.subject, &mut view.command, &mut view.whole_file];
    texts.into_iter().flatten().for_each(|text| veil.hide_text(text));
    for block in &mut view.blocks {
        match block {
            Block::Text(text) | Block::Code { text, .. } => veil.hide_text(text),
            Block::Progress { label, .. } => veil.hide_text(label),
            Block::Diff(diff) => {
                diff.path.iter_mut().for_each(|path| veil.hide_text(path));
                diff.lines.iter_mut().for_each(|line| veil.hide_text(&mut line.text));
            }
            Block::Lines { lines, .. } => lines.iter_mut().for_each(|line| veil.hide_text(line)),
            Block::Table { header, rows } => {
                header.iter_mut().chain(rows.iter_mut().flatten()).for_each(|cell| veil.hide_text(cell));
            }
            Block::Image { .. } => {}
        }
    }
}

fn hide_shared(veil: &Veil, value: &mut Arc<Value>) {
    let mut clean = (**value).clone();
    veil.hide_value(&mut clean);
    if clean != **value {
        *value = Arc::new(clean);
    }
}
