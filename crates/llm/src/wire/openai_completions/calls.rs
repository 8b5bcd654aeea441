//! Assembles tool calls from their fragments.
//!
//! A fragment identifies its call by index. Some servers omit the index, use the same one for all calls, repeat ID and name
//! in every fragment, or send whole calls at once; two calls may even have the same ID.

use omp_types::MessageBuilder;

use super::chunk::{CallDelta, FunctionDelta};
use crate::wire::{history, json};

#[derive(Default)]
pub(super) struct StreamedCalls {
    open: Vec<OpenCall>,
}

struct OpenCall {
    index: Option<i64>,
    /// The ID from the server, which may differ from the ID in the message.
    id: String,
    block: usize,
}

impl StreamedCalls {
    pub(super) fn add(&mut self, piece: &CallDelta<'_>, answer: &mut MessageBuilder) {
        let id = piece.id.as_deref().unwrap_or_default();
        let name = piece.function.as_ref().and_then(|function| function.name.as_deref()).unwrap_or_default();
        let position = match self.find(piece.index, id, name, answer) {
            Some(position) => position,
            None => self.start(piece.index, id, name, answer),
        };
        let call = &mut self.open[position];
        if call.id.is_empty() && !id.is_empty() {
            call.id = id.to_owned();
        }
        let block = call.block;
        if !name.is_empty() {
            answer.edit_tool_call(block, |call| {
                if call.name.is_empty() {
                    call.name = name.to_owned();
                }
            });
        }
        if let Some(function) = &piece.function {
            push_arguments(function, block, answer);
        }
    }

    /// Adds a fragment of the single function call of the older API.
    pub(super) fn add_legacy(&mut self, function: &FunctionDelta<'_>, answer: &mut MessageBuilder) {
        let name = function.name.as_deref().unwrap_or_default();
        let position = if self.open.is_empty() { self.start(Some(0), "", name, answer) } else { 0 };
        push_arguments(function, self.open[position].block, answer);
    }

    fn start(&mut self, index: Option<i64>, id: &str, name: &str, answer: &mut MessageBuilder) -> usize {
        let made_up = id.is_empty().then(|| history::made_up_id(answer.message(), name, ""));
        let block = answer.open_tool_call(made_up.as_deref().unwrap_or(id), name);
        self.open.push(OpenCall { index, id: id.to_owned(), block });
        self.open.len() - 1
    }

    /// Returns the call that a fragment continues; `None` for a new one.
    fn find(&self, index: Option<i64>, id: &str, name: &str, answer: &MessageBuilder) -> Option<usize> {
        let Some(index) = index else { return self.find_without_index(id, name, answer) };
        let position = self.open.iter().rposition(|call| call.index == Some(index))?;
        let known = &self.open[position].id;
        let other_call = !id.is_empty() && !known.is_empty() && known != id && !name.is_empty();
        (!other_call).then_some(position)
    }

    fn find_without_index(&self, id: &str, name: &str, answer: &MessageBuilder) -> Option<usize> {
        let position = match id {
            "" => self.open.len().checked_sub(1)?,
            id => self.open.iter().rposition(|call| call.id == id)?,
        };
        // A name after complete arguments starts a new call, regardless of its ID.
        let begins = !name.is_empty() && self.is_whole(position, answer);
        (!begins).then_some(position)
    }

    fn is_whole(&self, position: usize, answer: &MessageBuilder) -> bool {
        let arguments = answer.raw_arguments(self.open[position].block).unwrap_or_default();
        serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
    }
}

fn push_arguments(function: &FunctionDelta<'_>, block: usize, answer: &mut MessageBuilder) {
    let Some(arguments) = json::text_of(function.arguments).filter(|text| !text.is_empty()) else { return };
    // Some servers repeat the complete arguments at the end.
    let sent_before = answer.raw_arguments(block).is_some_and(|raw| raw == arguments && raw.ends_with('}'));
    if !sent_before {
        answer.push_arguments(block, &arguments);
    }
}
