//! The token cost of each part of the next request, as numbers. These are estimates, since no provider has
//! counted the request yet.

use std::sync::Arc;
use std::time::Instant;

use omp_types::{AssistantMessage, Message, Model, StopReason, ToolSpec, estimate_message_tokens, estimate_tokens};
use serde::Serialize;

use super::{PartKind, Section};
use crate::{Session, aside};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextReport {
    pub model: String,
    /// 0 if unknown.
    pub context_window: u64,
    /// In the order in which the model reads them.
    pub parts: Vec<PartCost>,
    pub total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_tokens: Option<u64>,
    /// Tokens that should still be in the provider's cache from the last request.
    pub expected_cached_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartCost {
    pub kind: &'static str,
    /// Distinguishes several parts of one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub tokens: u64,
    /// The number of messages, for parts of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<usize>,
}

/// The inputs of a report.
pub struct Measured<'a> {
    pub model: &'a Model,
    pub sections: &'a [Section],
    pub tools: &'a [ToolSpec],
    pub messages: &'a [Arc<Message>],
    /// The opening message that is sent with the next prompt, if that is the first.
    pub opening: Option<&'a str>,
    /// Tokens that should still be in the provider's cache, from the spending account.
    pub cached: u64,
}

/// How much of the model's window the conversation takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextSize {
    pub tokens: u64,
    /// Whether omp counted them, because the provider reported nothing.
    pub is_estimate: bool,
}

impl Session {
    /// The size of the newest answered request; 0 before the first answer.
    pub fn context_size(&self) -> ContextSize {
        let messages = self.messages();
        let mut answers = messages.iter().rev().filter_map(|message| message.as_assistant());
        answers.find_map(|answer| self.context_size_after(answer)).unwrap_or_default()
    }

    /// The size after an answer. `None` if the answer failed before anything was counted.
    pub fn context_size_after(&self, answer: &AssistantMessage) -> Option<ContextSize> {
        counted_tokens(answer).map(|tokens| match tokens {
            0 => self.estimated_size(),
            tokens => ContextSize { tokens, is_estimate: false },
        })
    }

    fn estimated_size(&self) -> ContextSize {
        let model = &self.snapshot().model;
        let report = context_report(&Measured {
            model,
            sections: &self.control.told.sections(model),
            tools: self.tools().specs(),
            messages: &self.messages(),
            opening: None,
            cached: 0,
        });
        ContextSize { tokens: report.total_tokens, is_estimate: true }
    }

    /// The cost of the next request before a new message is added.
    pub async fn context(&self) -> ContextReport {
        let snapshot = self.snapshot();
        let messages = self.messages();
        let opening = self.control.told.next_opening(&messages).await;
        let (now, asked) = (Instant::now(), self.control.would_ask(&snapshot));
        let cached = self.control.spending().expected_cached(&asked, &aside::settled(&messages), now);
        context_report(&Measured {
            model: &snapshot.model,
            sections: &self.control.told.sections(&snapshot.model),
            tools: self.tools().specs(),
            messages: &messages,
            opening: opening.as_deref(),
            cached,
        })
    }
}

/// The prompt tokens of an answer, 0 if the provider reported none. `None` for an answer that failed without a count.
fn counted_tokens(answer: &AssistantMessage) -> Option<u64> {
    let tokens = answer.usage.prompt_tokens();
    let failed = matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
    (tokens > 0 || !failed).then_some(tokens)
}

pub fn context_report(measured: &Measured<'_>) -> ContextReport {
    let mut parts: Vec<PartCost> = measured.sections.iter().map(of_section).collect();
    parts.extend(measured.tools.iter().map(of_tool));
    parts.extend(by_role(measured.messages));
    if let Some(opening) = measured.opening {
        parts.push(PartCost { kind: "projectState", name: None, tokens: estimate_tokens(opening), messages: None });
    }
    let total_tokens: u64 = parts.iter().map(|part| part.tokens).sum();
    let window = measured.model.context_window;
    ContextReport {
        model: measured.model.selector(),
        context_window: window,
        parts,
        total_tokens,
        free_tokens: (window > 0).then(|| window.saturating_sub(total_tokens)),
        // The provider's token count differs from the estimates of the parts.
        expected_cached_tokens: measured.cached.min(total_tokens),
    }
}

fn of_section(section: &Section) -> PartCost {
    let kind = match section.kind {
        PartKind::System => "system",
        PartKind::Environment => "environment",
        PartKind::ContextFile => "contextFile",
        PartKind::Rules => "rules",
        PartKind::Rulebook => "rulebook",
        PartKind::Skills => "skills",
        PartKind::Append => "append",
    };
    PartCost { kind, name: section.name.clone(), tokens: estimate_tokens(&section.text), messages: None }
}

fn of_tool(tool: &ToolSpec) -> PartCost {
    let tokens = estimate_tokens(&tool.name)
        + estimate_tokens(&tool.description)
        + estimate_tokens(&tool.parameters.to_string());
    PartCost { kind: "tool", name: Some(tool.name.clone()), tokens, messages: None }
}

/// The roles that are counted separately, in the order of a turn.
const ROLES: [&str; 4] = ["user", "assistant", "toolResult", "custom"];

/// Messages of other roles are not sent, so they cost nothing.
fn by_role(messages: &[Arc<Message>]) -> impl Iterator<Item = PartCost> + '_ {
    ROLES.into_iter().filter_map(|role| {
        let told: Vec<_> = messages.iter().filter(|message| message.role() == role).collect();
        let tokens = told.iter().map(|message| estimate_message_tokens(message)).sum();
        let cost = PartCost { kind: role, name: None, tokens, messages: Some(told.len()) };
        (!told.is_empty()).then_some(cost)
    })
}

impl ContextReport {
    /// Returns each part's name and tokens.
    pub fn labelled(&self) -> Vec<(String, u64)> {
        self.parts.iter().map(|part| (label(part), part.tokens)).collect()
    }

    /// Returns the share of the window; empty if it is unknown.
    pub fn share(&self, tokens: u64) -> String {
        match self.context_window {
            0 => String::new(),
            window => format!("{:.1}%", tokens as f64 / window as f64 * 100.0),
        }
    }
}

fn label(part: &PartCost) -> String {
    let name = part.name.as_deref().unwrap_or_default();
    let count = part.messages.unwrap_or_default();
    match part.kind {
        "system" => "system prompt".to_owned(),
        "contextFile" => format!("notes {name}"),
        "rules" => "rules that always apply".to_owned(),
        "append" => "added prompt".to_owned(),
        "tool" => format!("tool {name}"),
        "user" => format!("user messages ({count})"),
        "assistant" => format!("model messages ({count})"),
        "toolResult" => format!("tool results ({count})"),
        "custom" => format!("notes to the model ({count})"),
        "projectState" => "project state, with the first prompt".to_owned(),
        kind => kind.to_owned(),
    }
}
