//! Questions to the user: approval of a call, questions of `ask`, an address to open. All are permission requests, unless
//! the client supports forms for `ask`.

use std::sync::Arc;

use omp_agent::Choice;
use omp_jsonrpc::RpcError;
use omp_policy::{RuleLevel, RuleScope};
use omp_session::{Answer, CallDetails, Command, QuestionKind, WebAddress};

use crate::calls::Calls;
use crate::form;
use crate::live::{Live, lock};
use crate::protocol::{
    CreateElicitationRequest, ElicitationResponse, PermissionOption, PermissionOptionKind, PermissionOutcome,
    PermissionRequest, PermissionResponse, ToolCallContent, ToolCallStatus, ToolCallUpdate,
};
use crate::updates::text_block;

const ALLOW: &str = "allow";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject";
const REJECT_ALWAYS: &str = "reject_always";

/// A prepared question, with the meaning of its answers.
pub enum Asked {
    /// Decided before, so the user is not asked.
    Known(Answer),
    Request {
        request: Box<PermissionRequest>,
        meaning: Meaning,
    },
    Form {
        request: Box<CreateElicitationRequest>,
        multi: bool,
    },
}

pub enum Meaning {
    /// `rules`: the answers that add rules, by the ids of their options.
    Approval {
        tool: String,
        rules: Vec<(String, Answer)>,
    },
    Choice {
        labels: Vec<String>,
        multi: bool,
    },
    Address,
}

pub fn request(live: &Live, calls: &Calls, kind: QuestionKind) -> Asked {
    match kind {
        QuestionKind::Approve { call_id, tool, arguments, reason, details } => {
            // A call with a special reason is asked about every time.
            if let Some(answer) = lock(&live.decided).get(&tool).filter(|_| reason.is_none()) {
                return Asked::Known(answer.clone());
            }
            let is_special = reason.is_some();
            let id = calls.shown_id(Some(&call_id)).unwrap_or(call_id);
            let told = [details.origin.map(|origin| format!("Origin: {origin}")), reason].into_iter().flatten();
            let lines = (!details.lines.is_empty()).then(|| details.lines.join("\n"));
            let told: Vec<_> = told.chain(lines).map(note).collect();
            let told = (!told.is_empty()).then_some(told);
            let call = ToolCallUpdate {
                kind: Some(calls.kind(&tool)),
                content: told,
                raw_input: Some((*arguments).clone()),
                ..pending(id)
            };
            let options = approval_options(&tool, &details, is_special);
            let rules = rule_options(&details).into_iter().map(|(id, _, answer)| (id, answer)).collect();
            permission(live, call, options, Meaning::Approval { tool, rules })
        }
        QuestionKind::Choose(choice) if live.updates.capabilities.has_forms() => {
            let request = form::of(&choice, live.updates.id.clone(), calls.shown_id(None));
            Asked::Form { request: Box::new(request), multi: choice.multi }
        }
        QuestionKind::Choose(choice) => choose(live, calls, choice),
        QuestionKind::OpenUrl { url, reason } => open_url(live, calls, &url, reason),
    }
}

/// If no rule fits, "always" applies to the tool in this session. It is not offered for calls that are asked about every
/// time.
fn approval_options(tool: &str, details: &CallDetails, is_special: bool) -> Vec<PermissionOption> {
    let mut options = vec![option(ALLOW.to_owned(), "Allow".to_owned(), PermissionOptionKind::AllowOnce)];
    let reject = option(REJECT.to_owned(), "Reject".to_owned(), PermissionOptionKind::RejectOnce);
    let rules = rule_options(details);
    if rules.is_empty() && is_special {
        return vec![options.remove(0), reject];
    }
    let (denying, allowing): (Vec<_>, Vec<_>) = rules.into_iter().partition(|(id, ..)| id == REJECT_ALWAYS);
    if allowing.is_empty() {
        let name = format!("Allow `{tool}` in this session");
        options.push(option(ALLOW_ALWAYS.to_owned(), name, PermissionOptionKind::AllowAlways));
    }
    options.extend(allowing.into_iter().map(|(id, name, _)| option(id, name, PermissionOptionKind::AllowAlways)));
    options.push(reject);
    let never = denying.into_iter().next().map(|(_, name, _)| name.replacen("deny", "reject", 1));
    let never = never.unwrap_or_else(|| format!("Reject `{tool}` in this session"));
    options.push(option(REJECT_ALWAYS.to_owned(), never, PermissionOptionKind::RejectAlways));
    options
}

/// The answers that add rules: id, name and answer. The first id of a kind has no number, as clients know it.
fn rule_options(details: &CallDetails) -> Vec<(String, String, Answer)> {
    let mut options: Vec<(String, String, Answer)> = Vec::new();
    for (name, answer) in details.answers_with_rules() {
        let id = match &answer {
            Answer::Always { level: RuleLevel::Deny, .. } => REJECT_ALWAYS,
            Answer::Always { scope: RuleScope::Session, .. } => "allow_session",
            Answer::Always { scope: RuleScope::Project, .. } => "allow_project",
            _ => ALLOW_ALWAYS,
        };
        let number = options.iter().filter(|(known, ..)| known.starts_with(id)).count() + 1;
        let id = if number == 1 { id.to_owned() } else { format!("{id}_{number}") };
        options.push((id, name, answer));
    }
    options
}

/// Offers single options only: a permission request supports neither several choices nor typed text.
fn choose(live: &Live, calls: &Calls, choice: Choice) -> Asked {
    let id = calls.shown_id(None).unwrap_or_else(|| "question".to_owned());
    let described = choice.options.iter().filter_map(|option| {
        let about = option.description.as_deref()?;
        Some(format!("- {}: {about}\n", option.label))
    });
    let about: String = described.collect();
    let content: Vec<_> =
        [choice.question.clone(), about].into_iter().filter(|text| !text.is_empty()).map(note).collect();
    let call = ToolCallUpdate { title: Some(choice.question), content: Some(content), ..pending(id) };
    let offered = choice.options.iter().enumerate().map(|(index, offer)| {
        let star = if choice.recommended == Some(index) { " (recommended)" } else { "" };
        option(format!("choice-{index}"), format!("{}{star}", offer.label), PermissionOptionKind::AllowOnce)
    });
    let none = option(REJECT, "None of these", PermissionOptionKind::RejectOnce);
    let options = offered.chain([none]).collect();
    let labels = choice.options.into_iter().map(|option| option.label).collect();
    permission(live, call, options, Meaning::Choice { labels, multi: choice.multi })
}

/// The client shows the address; its user opens it.
fn open_url(live: &Live, calls: &Calls, url: &WebAddress, reason: String) -> Asked {
    let id = calls.shown_id(None).unwrap_or_else(|| "question".to_owned());
    let content = vec![note(reason), note(url.to_string())];
    let call = ToolCallUpdate { title: Some(format!("Open {url}")), content: Some(content), ..pending(id) };
    let options = vec![
        option(ALLOW, "I have opened it", PermissionOptionKind::AllowOnce),
        option(REJECT, "Cancel", PermissionOptionKind::RejectOnce),
    ];
    permission(live, call, options, Meaning::Address)
}

fn permission(live: &Live, tool_call: ToolCallUpdate, options: Vec<PermissionOption>, meaning: Meaning) -> Asked {
    let request = PermissionRequest { session_id: live.updates.id.clone(), tool_call, options };
    Asked::Request { request: Box::new(request), meaning }
}

fn pending(id: String) -> ToolCallUpdate {
    ToolCallUpdate { tool_call_id: id, status: Some(ToolCallStatus::Pending), ..ToolCallUpdate::default() }
}

fn option(id: impl Into<String>, name: impl Into<String>, kind: PermissionOptionKind) -> PermissionOption {
    PermissionOption { option_id: id.into(), name: name.into(), kind }
}

fn note(text: String) -> ToolCallContent {
    ToolCallContent::Content { content: text_block(text) }
}

/// Asks a question and forwards the answer. If the prompt is cancelled, the answer is not needed any more.
pub async fn ask(live: Arc<Live>, id: u64, asked: Asked) {
    let client = &live.updates.client;
    let answer = match asked {
        Asked::Known(answer) => Some(Ok(answer)),
        Asked::Request { request, meaning } => {
            let reply = client.ask::<PermissionResponse>("session/request_permission", *request);
            let reply = unless_cancelled(&live, reply).await;
            reply.map(|reply| reply.map(|response| understood(&live, &meaning, response.outcome)))
        }
        Asked::Form { request, multi } => {
            let reply = client.ask::<ElicitationResponse>("elicitation/create", *request);
            let reply = unless_cancelled(&live, reply).await;
            reply.map(|reply| reply.map(|response| form::understood(response, multi)))
        }
    };
    let Some(answer) = answer else { return };
    let failed = |error: RpcError| Answer::Text(format!("(the client could not ask the user: {})", error.message));
    // A session that has ended waits for no answer.
    let _ = live.session.send(Command::Answer { id, answer: answer.unwrap_or_else(failed) }).await;
}

async fn unless_cancelled<T>(live: &Live, reply: impl Future<Output = T>) -> Option<T> {
    let cancelled = live.cancellation();
    tokio::select! {
        biased;
        () = cancelled.cancelled() => None,
        () = live.closed.cancelled() => None,
        reply = reply => Some(reply),
    }
}

fn understood(live: &Live, meaning: &Meaning, outcome: PermissionOutcome) -> Answer {
    let PermissionOutcome::Selected { option_id } = outcome else { return Answer::No };
    let option = option_id.as_str();
    match meaning {
        Meaning::Approval { rules, .. } if let Some((_, answer)) = rules.iter().find(|(id, _)| id == option) => {
            answer.clone()
        }
        Meaning::Approval { tool, .. } => {
            let answer = if option.starts_with(ALLOW) { Answer::Yes } else { Answer::No };
            if option == ALLOW_ALWAYS || option == REJECT_ALWAYS {
                lock(&live.decided).insert(tool.clone(), answer.clone());
            }
            answer
        }
        Meaning::Address if option == ALLOW => Answer::Yes,
        Meaning::Address => Answer::No,
        Meaning::Choice { labels, multi } => {
            let index = option.strip_prefix("choice-").and_then(|index| index.parse::<usize>().ok());
            match index.and_then(|index| labels.get(index)) {
                Some(label) if *multi => Answer::Choices(vec![label.clone()]),
                Some(label) => Answer::Text(label.clone()),
                None => Answer::No,
            }
        }
    }
}
