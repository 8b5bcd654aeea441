//! `resolve`: applies or rejects the newest preview.
//!
//! It is always offered next to the tools that create previews, not only while one is pending: the tool list is at the start
//! of every request, and changing it would invalidate the provider's cache of the conversation.

use std::sync::Arc;

use omp_agent::{Concurrency, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_view::{Block, CallKind, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pending::PendingActions;

pub struct Resolve {
    pub pending: Arc<PendingActions>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ResolveParams {
    pub action: Decision,
    /// Why, in one sentence.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Decision {
    Apply,
    #[default]
    Discard,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResolveDetails {
    pub action: Decision,
    pub reason: String,
    pub source_tool_name: String,
    pub label: String,
    /// The details of the applied action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_result_details: Option<Value>,
}

impl Tool for Resolve {
    type Params = ResolveParams;
    type Plan = ResolveParams;
    type Details = ResolveDetails;
    const NAME: &'static str = "resolve";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: ResolveParams) -> Planned<ResolveParams> {
        let approval = match params.action {
            Decision::Apply => self.pending.approval().unwrap_or_else(|| Tier::Read.into()),
            Decision::Discard => Tier::Read.into(),
        };
        Planned::new(approval, params)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: ResolveParams, cx: &ToolCx) -> Result<Output<ResolveDetails>, ToolError> {
        let Some(action) = self.pending.pop() else {
            return Err(ToolError::reply("No pending action to resolve. Nothing to apply or discard."));
        };
        let mut details = ResolveDetails {
            action: params.action,
            reason: params.reason.clone(),
            source_tool_name: action.source,
            label: action.label,
            source_result_details: None,
        };
        let step = if params.action == Decision::Apply { Some(action.apply) } else { action.reject };
        let Some(step) = step else {
            let text = format!("Discarded: {}. Reason: {}", details.label, params.reason.trim());
            return Ok(Output::text(text, details));
        };
        let done = step(params.reason, &cx.call_id).await?;
        details.source_result_details = done.details;
        Ok(Output { content: done.content, details, is_error: done.is_error, useless: done.useless })
    }

    fn render(params: &ResolveParams, outcome: Outcome<&ResolveDetails>) -> View {
        let verb = if params.action == Decision::Apply { "apply" } else { "discard" };
        let Outcome::Done { details, is_error } = outcome else {
            let status = if matches!(outcome, Outcome::Running) { Status::Running } else { Status::Failed };
            return View::new(format!("resolve: {verb}"), status).note(params.reason.clone());
        };
        let status = if is_error { Status::Failed } else { Status::Done };
        let view = View::new(format!("{verb} {}", details.label), status).note(details.reason.clone());
        match details.source_result_details.as_ref().and_then(|it| it.get("diff")).and_then(Value::as_str) {
            Some(diff) if !diff.is_empty() => {
                view.block(Block::Code { language: Some("diff".into()), text: diff.to_owned(), first_line: None })
            }
            _ => view,
        }
    }
}

#[cfg(test)]
mod tests;
