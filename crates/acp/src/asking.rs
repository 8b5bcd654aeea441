//! Questions to the user: approval of a call, questions of `ask`, an address to open. All are permission requests, unless
//! the client supports forms for `ask`.

use std::sync::Arc;

use omp_agent::Choice;
use omp_jsonrpc::RpcError;
use omp_policy::{RuleLevel, RuleOffer};
use omp_session::{Answer, Command, QuestionKind, WebAddress};

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
    Approval { tool: String, offers: Vec<RuleOffer> },
    Choice { labels: Vec<String>, multi: bool },
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
            let options = approval_options(&tool, &details.offers, is_special);
            permission(live, call, options, Meaning::Approval { tool, offers: details.offers.clone() })
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
fn approval_options(tool: &str, offers: &[RuleOffer], is_special: bool) -> Vec<PermissionOption> {
    let mut options = vec![option(ALLOW.to_owned(), "Allow".to_owned(), PermissionOptionKind::AllowOnce)];
    let always =
        offers.iter().enumerate().map(|(at, offer)| (always_id(at), format!("Always allow: {}", offer.text())));
    let in_session = || (ALLOW_ALWAYS.to_owned(), format!("Allow `{tool}` in this session"));
    let is_once = offers.is_empty() && is_special;
    let always: Vec<_> = if offers.is_empty() && !is_once { vec![in_session()] } else { always.collect() };
    options.extend(always.into_iter().map(|(id, name)| option(id, name, PermissionOptionKind::AllowAlways)));
    options.push(option(REJECT.to_owned(), "Reject".to_owned(), PermissionOptionKind::RejectOnce));
    if is_once {
        return options;
    }
    let never = match offers.first() {
        Some(offer) => format!("Always reject: {}", offer.text()),
        None => format!("Reject `{tool}` in this session"),
    };
    options.push(option(REJECT_ALWAYS.to_owned(), never, PermissionOptionKind::RejectAlways));
    options
}

/// The first id is the one that clients know.
fn always_id(at: usize) -> String {
    if at == 0 { ALLOW_ALWAYS.to_owned() } else { format!("{ALLOW_ALWAYS}_{}", at + 1) }
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
        Meaning::Approval { offers, .. } if option == REJECT_ALWAYS && !offers.is_empty() => {
            Answer::Always { level: RuleLevel::Deny, rules: offers[0].rules.clone() }
        }
        Meaning::Approval { offers, .. }
            if let Some(offer) = offers.iter().enumerate().find(|(at, _)| option == always_id(*at)) =>
        {
            Answer::Always { level: RuleLevel::Allow, rules: offer.1.rules.clone() }
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
