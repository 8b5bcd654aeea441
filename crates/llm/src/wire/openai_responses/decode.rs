//! Decodes a responses stream: items are added, grow by deltas and are finished, until the response ends.
//!
//! Compatible servers omit events, so every item also opens at its first delta, and content without deltas is taken from the
//! finished item.

use std::sync::Arc;

use omp_types::{MessageBuilder, Model, ModelError, StopReason};
use serde_json::value::RawValue;

use super::event::{Event, Item, Response};
use super::ids;
use crate::errors;
use crate::wire::Decoder;
use crate::wire::json::{self, cut_off};

pub(super) struct ResponsesDecoder {
    model: Arc<Model>,
    open: Vec<OpenItem>,
}

struct OpenItem {
    kind: OutputItemKind,
    output_index: Option<i64>,
    id: String,
    block: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum OutputItemKind {
    Text,
    Thinking,
    Call,
}

impl ResponsesDecoder {
    pub(super) fn new(model: Arc<Model>) -> Self {
        Self { model, open: Vec::new() }
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, name: &str, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event: Event = json::parse(&self.model, data)?;
        let kind = event.kind.as_deref().unwrap_or(name);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => self.delta(OutputItemKind::Text, &event, answer),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(OutputItemKind::Thinking, &event, answer);
            }
            "response.function_call_arguments.delta" => self.delta(OutputItemKind::Call, &event, answer),
            "response.function_call_arguments.done" => self.arguments_done(&event, answer),
            "response.reasoning_summary_part.added" => self.next_summary(&event, answer),
            "response.output_item.added" => self.item_added(&event, answer)?,
            "response.output_item.done" => self.item_done(&event, answer)?,
            "response.created" => self.created(&event, answer)?,
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => return self.ended(kind, &event, answer),
            "error" => {
                let error = event.error.map_or(data, RawValue::get);
                return Err(json::error_from(&self.model, error));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _answer: &mut MessageBuilder) -> Result<(), ModelError> {
        Err(cut_off(&self.model, "`response.completed`"))
    }

    fn whole(&mut self, body: &str, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let raw: &RawValue = json::parse(&self.model, body)?;
        let response: Response = json::parse(&self.model, body)?;
        if let Some(error) = response.error.filter(|error| error.get() != "null") {
            return Err(json::error_from(&self.model, error.get()));
        }
        if response.output.is_none() {
            return Err(json::no_answer(&self.model, body));
        }
        self.ended("response.completed", &Event { response: Some(raw), ..Event::default() }, answer)
    }
}

impl ResponsesDecoder {
    fn created(&mut self, event: &Event<'_>, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let response: Response = self.response(event)?;
        if let Some(id) = response.id.filter(|id| !id.is_empty()) {
            answer.set_response_id(id.0);
        }
        Ok(())
    }

    fn response<'a>(&self, event: &Event<'a>) -> Result<Response<'a>, ModelError> {
        Ok(event.response.map(|raw| json::parse(&self.model, raw.get())).transpose()?.unwrap_or_default())
    }

    fn delta(&mut self, kind: OutputItemKind, event: &Event<'_>, answer: &mut MessageBuilder) {
        let Some(delta) = json::string_of(event.delta) else { return };
        let block = match self.find(kind, event) {
            Some(position) => self.open[position].block,
            None => self.open(kind, event, &Item::default(), answer),
        };
        push(kind, block, &delta, answer);
    }

    /// Separates the parts of a summary with a blank line.
    fn next_summary(&mut self, event: &Event<'_>, answer: &mut MessageBuilder) {
        let Some(position) = self.find(OutputItemKind::Thinking, event) else { return };
        let block = self.open[position].block;
        if length(block, answer) > 0 {
            answer.push_thinking(block, "\n\n");
        }
    }

    fn arguments_done(&mut self, event: &Event<'_>, answer: &mut MessageBuilder) {
        if let Some(position) = self.find(OutputItemKind::Call, event)
            && let Some(arguments) = json::text_of(event.arguments)
        {
            complete_arguments(self.open[position].block, &arguments, answer);
        }
    }

    fn item_added(&mut self, event: &Event<'_>, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let Some(raw) = event.item else { return Ok(()) };
        let item: Item = json::parse(&self.model, raw.get())?;
        if let Some(kind) = kind_of(&item) {
            let block = self.open(kind, event, &item, answer);
            if kind == OutputItemKind::Call
                && let Some(arguments) = json::text_of(item.arguments)
            {
                complete_arguments(block, &arguments, answer);
            }
        }
        Ok(())
    }

    fn item_done(&mut self, event: &Event<'_>, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let Some(raw) = event.item else { return Ok(()) };
        let item: Item = json::parse(&self.model, raw.get())?;
        let Some(kind) = kind_of(&item) else { return Ok(()) };
        let id = item.id.as_deref().unwrap_or_default();
        let found = self
            .find(kind, event)
            .or_else(|| self.open.iter().position(|open| !id.is_empty() && open.id == id && open.kind == kind));
        let block = match found {
            Some(position) => self.open.remove(position).block,
            None => {
                let block = self.open(kind, event, &item, answer);
                self.open.pop();
                block
            }
        };
        settle(kind, block, &item, raw, answer);
        answer.close(block);
        Ok(())
    }

    fn open(&mut self, kind: OutputItemKind, event: &Event<'_>, item: &Item<'_>, answer: &mut MessageBuilder) -> usize {
        let id = item.id.as_deref().or(event.item_id.as_deref()).unwrap_or_default();
        let block = match kind {
            OutputItemKind::Text => answer.open_text(),
            OutputItemKind::Thinking => answer.open_thinking(),
            OutputItemKind::Call => {
                let call_id = item.call_id.as_deref().unwrap_or_default();
                let joined = ids::join(call_id, id, answer.message());
                answer.open_tool_call(&joined, item.name.as_deref().unwrap_or_default())
            }
        };
        self.open.push(OpenItem { kind, output_index: event.output_index, id: id.to_owned(), block });
        block
    }

    /// Finds an item by position, else by ID, else the newest of its kind.
    fn find(&self, kind: OutputItemKind, event: &Event<'_>) -> Option<usize> {
        let same_kind = |open: &OpenItem| open.kind == kind;
        if let Some(index) = event.output_index {
            return self.open.iter().rposition(|open| same_kind(open) && open.output_index == Some(index));
        }
        match event.item_id.as_deref() {
            Some(id) if !id.is_empty() => self.open.iter().rposition(|open| same_kind(open) && open.id == id),
            _ => self.open.iter().rposition(same_kind),
        }
    }

    fn ended(&mut self, kind: &str, event: &Event<'_>, answer: &mut MessageBuilder) -> Result<(), ModelError> {
        let response: Response = self.response(event)?;
        if let Some(counts) = response.usage {
            answer.set_usage(counts.usage(&self.model.cost));
        }
        if let Some(id) = response.id.as_deref().filter(|id| !id.is_empty()) {
            answer.set_response_id(id);
        }
        if !answer.has_content() {
            for item in response.output.iter().flatten() {
                self.item_done(&Event { item: Some(item), ..Event::default() }, answer)?;
            }
        }
        let stop = stop_reason(&self.model, kind, &response)?;
        answer.finish(if stop == StopReason::Stop && answer.has_tool_calls() { StopReason::ToolUse } else { stop });
        Ok(())
    }
}

fn kind_of(item: &Item<'_>) -> Option<OutputItemKind> {
    match item.kind.as_deref()? {
        "message" => Some(OutputItemKind::Text),
        "reasoning" => Some(OutputItemKind::Thinking),
        "function_call" => Some(OutputItemKind::Call),
        _ => None,
    }
}

fn push(kind: OutputItemKind, block: usize, delta: &str, answer: &mut MessageBuilder) {
    match kind {
        OutputItemKind::Text => answer.push_text(block, delta),
        OutputItemKind::Thinking => answer.push_thinking(block, delta),
        OutputItemKind::Call => answer.push_arguments(block, delta),
    }
}

/// Takes from the finished item what the deltas did not contain, and what must be sent back with it.
fn settle(kind: OutputItemKind, block: usize, item: &Item<'_>, raw: &RawValue, answer: &mut MessageBuilder) {
    match kind {
        OutputItemKind::Text => {
            if length(block, answer) == 0 {
                answer.push_text(block, &item.text());
            }
            let signature = ids::text_signature(item.id.as_deref().unwrap_or_default(), item.phase.as_deref());
            answer.edit_text(block, |text| text.text_signature = signature);
        }
        OutputItemKind::Thinking => {
            if length(block, answer) == 0 {
                answer.push_thinking(block, &item.thinking());
            }
            answer.edit_thinking(block, |thinking| thinking.thinking_signature = Some(raw.get().to_owned()));
        }
        OutputItemKind::Call => {
            if let Some(arguments) = json::text_of(item.arguments) {
                complete_arguments(block, &arguments, answer);
            }
            name_call(block, item, answer);
        }
    }
}

/// Sets name and ID of a call that started with a bare delta and gets them only at the end.
fn name_call(block: usize, item: &Item<'_>, answer: &mut MessageBuilder) {
    let unnamed = |name: &str| name.is_empty();
    let is_unnamed = answer.message().content[block].as_tool_call().is_some_and(|call| unnamed(&call.name));
    if !is_unnamed {
        return;
    }
    let id = item.id.as_deref().unwrap_or_default();
    let joined = item.call_id.as_deref().map(|call_id| ids::join(call_id, id, answer.message()));
    answer.edit_tool_call(block, |call| {
        call.name = item.name.as_deref().unwrap_or_default().to_owned();
        if let Some(joined) = joined {
            call.id = joined;
        }
    });
}

/// Adds the missing rest of the arguments.
fn complete_arguments(block: usize, arguments: &str, answer: &mut MessageBuilder) {
    let known = answer.raw_arguments(block).unwrap_or_default();
    if let Some(missing) = arguments.strip_prefix(known).filter(|missing| !missing.is_empty()) {
        answer.push_arguments(block, missing);
    }
}

fn length(block: usize, answer: &MessageBuilder) -> usize {
    match answer.message().content.get(block) {
        Some(omp_types::Content::Text(block)) => block.text.len(),
        Some(omp_types::Content::Thinking(block)) => block.thinking.len(),
        _ => 0,
    }
}

fn stop_reason(model: &Model, event: &str, response: &Response<'_>) -> Result<StopReason, ModelError> {
    let status = response.status.as_deref().or(event.strip_prefix("response.")).unwrap_or_default();
    let reason = response.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
    match (status, reason) {
        ("failed" | "cancelled", _) => Err(match response.error.filter(|error| error.get() != "null") {
            Some(error) => json::error_from(model, error.get()),
            None => errors::reported(model, "", &format!("the answer ended with `{status}`")),
        }),
        ("incomplete", Some("content_filter")) => Err(errors::refused(model, "content_filter")),
        ("incomplete", _) => Ok(StopReason::Length),
        _ => Ok(StopReason::Stop),
    }
}
