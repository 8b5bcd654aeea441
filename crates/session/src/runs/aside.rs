//! Side questions: answered from the conversation without becoming part of it.
//!
//! The request starts with exactly the same bytes as the session's next request, tools included, so that the provider's
//! cache is used. That is why the model is asked in words not to call tools; calls that it makes anyway are not run.

use std::sync::Arc;

use futures_util::StreamExt;
use omp_types::{Llm, Message, Request, Terms, Transcript, UserMessage};

use crate::control::Control;
use crate::history;

const PROMPT: &str = include_str!("../prompt/aside.md");

pub(crate) async fn ask(control: &Control, llm: &dyn Llm, question: &str) -> Result<String, String> {
    if let Some(refusal) = control.spending().refusal() {
        return Err(refusal);
    }
    let snapshot = control.snapshot();
    let mut messages = settled(&control.messages());
    messages.push(Arc::new(Message::User(UserMessage::text(format!("{}\n\n{question}", PROMPT.trim_end())))));
    let mut answer = llm.stream(Request {
        model: snapshot.model.clone(),
        system: control.told.system(),
        tools: control.tools().specs().clone(),
        messages,
        thinking: snapshot.thinking,
        max_tokens: None,
        session_id: Some(snapshot.session_id.clone()),
        cache: control.cache,
        terms: Terms { tool: None, ..control.standing().terms() },
    });
    while answer.next().await.is_some() {}
    let answer = answer.message();
    control.spent_beside("side question", answer);
    let text = answer.text();
    match &answer.error {
        Some(error) => Err(error.message.clone()),
        None if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        None if answer.tool_calls().next().is_some() => {
            Err("the model tried to use tools, which a side question cannot\nhint: send it as a message instead"
                .to_owned())
        }
        None => Err("the model gave no answer".to_owned()),
    }
}

/// The conversation without a final answer whose calls are still running.
pub(crate) fn settled(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let last = messages.iter().rposition(|message| message.as_assistant().is_some());
    let end = last.filter(|at| {
        let calls = messages[*at].as_assistant().map_or(0, |answer| answer.tool_calls().count());
        let results = messages[at + 1..].iter().filter(|it| matches!(***it, Message::ToolResult(_))).count();
        results < calls
    });
    let messages = &messages[..end.unwrap_or(messages.len())];
    Transcript::repair(history::prepare(messages.iter().map(|message| (**message).clone()).collect())).for_model()
}

#[cfg(test)]
mod tests {
    use omp_types::{Api, AssistantMessage, Content, ToolCall, ToolResultMessage};

    use super::*;

    #[test]
    fn calls_that_still_run_are_not_told() {
        let call = |id: &str| ToolCall { id: id.into(), name: "read".into(), ..ToolCall::default() };
        let calls = AssistantMessage {
            content: vec![Content::ToolCall(call("a")), Content::ToolCall(call("b"))],
            ..AssistantMessage::empty(Api::Demo, "p", "m")
        };
        let said: Vec<Arc<Message>> = [
            Message::User(UserMessage::text("hi")),
            Message::Assistant(calls),
            Message::ToolResult(ToolResultMessage::error(&call("a"), "no")),
            Message::ToolResult(ToolResultMessage::error(&call("b"), "no")),
        ]
        .map(Arc::new)
        .to_vec();
        for (known, told) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 4)] {
            assert_eq!(settled(&said[..known]).len(), told, "{known}");
        }
    }
}
