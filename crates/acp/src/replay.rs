//! Sends an earlier conversation, so that the client can show it.

use std::collections::HashMap;

use omp_session::ToolOutput;
use omp_types::{Content, Message, ToolResultMessage};

use crate::calls::Calls;
use crate::protocol::{ContentBlock, SessionUpdate};
use crate::updates::text_block;

/// Takes messages in order. A call is sent together with its result, so the newest answer waits until its results are known.
#[derive(Default)]
pub struct Replay {
    answer: Vec<Content>,
    results: HashMap<String, ToolOutput>,
}

impl Replay {
    /// Returns the updates to send now.
    pub fn take(&mut self, message: &Message, calls: &mut Calls) -> Vec<SessionUpdate> {
        match message {
            Message::User(user) => {
                let mut told = self.rest(calls);
                let blocks = user.content.iter().filter_map(as_block);
                told.extend(blocks.map(|content| SessionUpdate::UserMessageChunk { content }));
                told
            }
            Message::Assistant(answer) => {
                let told = self.rest(calls);
                self.answer.clone_from(&answer.content);
                told
            }
            Message::ToolResult(result) => {
                self.results.insert(result.tool_call_id.clone(), output(result));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the updates of the waiting answer.
    pub fn rest(&mut self, calls: &mut Calls) -> Vec<SessionUpdate> {
        let results = std::mem::take(&mut self.results);
        let answer = std::mem::take(&mut self.answer);
        answer.iter().filter_map(|block| said(block, &results, calls)).collect()
    }
}

fn output(result: &ToolResultMessage) -> ToolOutput {
    ToolOutput {
        content: result.content.clone(),
        details: result.details.clone(),
        is_error: result.is_error,
        useless: result.useless,
    }
}

fn said(block: &Content, results: &HashMap<String, ToolOutput>, calls: &mut Calls) -> Option<SessionUpdate> {
    match block {
        Content::Text(text) if !text.text.is_empty() => {
            Some(SessionUpdate::AgentMessageChunk { content: text_block(&text.text) })
        }
        Content::Thinking(thinking) if !thinking.thinking.is_empty() => {
            Some(SessionUpdate::AgentThoughtChunk { content: text_block(&thinking.thinking) })
        }
        Content::ToolCall(call) => Some(calls.past(call, results.get(&call.id))),
        _ => None,
    }
}

fn as_block(block: &Content) -> Option<ContentBlock> {
    match block {
        Content::Text(text) => Some(text_block(&text.text)),
        Content::Image(image) => {
            Some(ContentBlock::Image { data: image.data.clone(), mime_type: image.mime_type.clone() })
        }
        _ => None,
    }
}
