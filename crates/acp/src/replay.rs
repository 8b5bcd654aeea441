//! Tells a conversation that was held before, so that the client can show it.

use std::collections::HashMap;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{ContentBlock, ContentChunk, ImageContent, SessionUpdate};
use omp_session::ToolOutput;
use omp_types::{Content, Message, ToolResultMessage};

use crate::calls::Calls;
use crate::updates::chunk;

/// In the order it was said; a call together with its result.
pub fn updates(messages: &[Arc<Message>], calls: &mut Calls) -> Vec<SessionUpdate> {
    let mut told = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match &**message {
            Message::User(user) => {
                told.extend(user.content.iter().filter_map(as_chunk).map(SessionUpdate::UserMessageChunk))
            }
            Message::Assistant(answer) => {
                let results = results_after(&messages[index + 1..]);
                told.extend(answer.content.iter().filter_map(|block| said(block, &results, calls)));
            }
            _ => {}
        }
    }
    told
}

/// The results up to the next answer, by the call they belong to.
fn results_after(messages: &[Arc<Message>]) -> HashMap<&str, &ToolResultMessage> {
    let until_answer = messages.iter().take_while(|message| message.as_assistant().is_none());
    until_answer
        .filter_map(|message| match &**message {
            Message::ToolResult(result) => Some((result.tool_call_id.as_str(), result)),
            _ => None,
        })
        .collect()
}

fn said(block: &Content, results: &HashMap<&str, &ToolResultMessage>, calls: &mut Calls) -> Option<SessionUpdate> {
    match block {
        Content::Text(text) if !text.text.is_empty() => Some(SessionUpdate::AgentMessageChunk(chunk(&text.text))),
        Content::Thinking(thinking) if !thinking.thinking.is_empty() => {
            Some(SessionUpdate::AgentThoughtChunk(chunk(&thinking.thinking)))
        }
        Content::ToolCall(call) => {
            let output = results.get(call.id.as_str()).map(|result| ToolOutput {
                content: result.content.clone(),
                details: result.details.clone(),
                is_error: result.is_error,
            });
            Some(calls.past(call, output.as_ref()))
        }
        _ => None,
    }
}

fn as_chunk(block: &Content) -> Option<ContentChunk> {
    match block {
        Content::Text(text) => Some(chunk(&text.text)),
        Content::Image(image) => {
            Some(ContentChunk::new(ContentBlock::Image(ImageContent::new(&image.data, &image.mime_type))))
        }
        _ => None,
    }
}
