//! The conversation as sent to a model: every tool call is directly followed by exactly one result.
//!
//! An answer is added only together with its results, so an unpaired call cannot be represented. A file may contain
//! anything; [`Transcript::repair`] converts it to a transcript and never fails.

use std::sync::Arc;

use crate::content::Content;
use crate::message::{AssistantMessage, Message, StopReason, ToolResultMessage};

/// The result for a call without a recorded one.
const NO_RESULT: &str = "No result was recorded for this call: the run ended before it finished.";

#[derive(Clone, Debug, Default)]
pub struct Transcript {
    messages: Vec<Arc<Message>>,
}

impl Transcript {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Adds a message that is neither an answer nor a result.
    pub fn push_input(&mut self, message: Arc<Message>) {
        match &*message {
            Message::Assistant(answer) => self.push_reply(answer.clone(), Vec::new()),
            Message::ToolResult(_) => {}
            _ => self.messages.push(message),
        }
    }

    /// Adds an answer with its results, in call order. A call without a result gets one that says so; a result without a
    /// call is dropped.
    pub fn push_reply(&mut self, answer: AssistantMessage, mut results: Vec<ToolResultMessage>) {
        let paired: Vec<_> = answer
            .tool_calls()
            .map(|call| {
                let found = results.iter().position(|result| result.tool_call_id == call.id);
                found.map_or_else(|| ToolResultMessage::error(call, NO_RESULT), |position| results.remove(position))
            })
            .collect();
        self.messages.push(Arc::new(Message::Assistant(answer)));
        self.messages.extend(paired.into_iter().map(|result| Arc::new(Message::ToolResult(result))));
    }

    /// Removes the last answer if it failed, so that the turn can be retried.
    pub fn pop_failed_reply(&mut self) {
        let Some(last) = self.messages.iter().rposition(|message| message.as_assistant().is_some()) else { return };
        let failed = self.messages[last].as_assistant().is_some_and(AssistantMessage::failed);
        let nothing_after = self.messages[last + 1..].iter().all(|message| matches!(**message, Message::ToolResult(_)));
        if failed && nothing_after {
            self.messages.truncate(last);
        }
    }

    /// Removes everything after the turn with the last result that `is_mark` accepts; that turn stays complete. Returns
    /// `false` if there is none.
    pub fn rewind_to(&mut self, is_mark: impl Fn(&ToolResultMessage) -> bool) -> bool {
        let is_mark = |message: &Arc<Message>| matches!(&**message, Message::ToolResult(result) if is_mark(result));
        let Some(mark) = self.messages.iter().rposition(is_mark) else { return false };
        let results = self.messages[mark..].iter().take_while(|message| matches!(***message, Message::ToolResult(_)));
        let end = mark + results.count();
        self.messages.truncate(end);
        true
    }

    /// Returns the conversation with some contents replaced; unchanged messages are shared, not copied. `new_content` is
    /// called for every message with its position. An answer keeps its calls: content with other calls is ignored.
    #[must_use]
    pub fn with_contents(&self, mut new_content: impl FnMut(usize, &Message) -> Option<Vec<Content>>) -> Self {
        let changed = self.messages.iter().enumerate().map(|(position, message)| {
            let Some(content) = new_content(position, message) else { return message.clone() };
            let mut changed = (**message).clone();
            match &mut changed {
                Message::Assistant(answer) if !same_calls(&answer.content, &content) => return message.clone(),
                Message::Assistant(answer) => answer.content = content,
                Message::User(user) => user.content = content,
                Message::ToolResult(result) => result.content = content,
                Message::Custom(custom) => custom.content = content,
                Message::Other(_) => return message.clone(),
            }
            Arc::new(changed)
        });
        Self { messages: changed.collect() }
    }

    /// Builds a valid transcript from any messages: failed answers lose their calls, stray results are dropped, late results
    /// are moved to their call.
    pub fn repair(messages: impl IntoIterator<Item = Message>) -> Self {
        let mut transcript = Self::new();
        let mut pending: Option<(AssistantMessage, Vec<ToolResultMessage>)> = None;
        for message in messages {
            match message {
                Message::ToolResult(result) => {
                    if let Some((_, results)) = &mut pending {
                        results.push(result);
                    }
                }
                Message::Assistant(answer) => {
                    transcript.flush(&mut pending);
                    pending = Some((answer, Vec::new()));
                }
                input => {
                    transcript.flush(&mut pending);
                    transcript.messages.push(Arc::new(input));
                }
            }
        }
        transcript.flush(&mut pending);
        transcript
    }

    fn flush(&mut self, pending: &mut Option<(AssistantMessage, Vec<ToolResultMessage>)>) {
        if let Some((answer, results)) = pending.take()
            && let Some(answer) = without_failed_calls(answer)
        {
            self.push_reply(answer, results);
        }
    }

    /// Returns the messages to send: failed answers are reduced to their text, empty ones are omitted.
    pub fn for_model(&self) -> Vec<Arc<Message>> {
        let mut sent = Vec::with_capacity(self.messages.len());
        let mut skip_results = false;
        for message in &self.messages {
            match &**message {
                Message::Assistant(answer) if answer.failed() => {
                    skip_results = true;
                    if let Some(kept) = without_failed_calls(answer.clone()) {
                        sent.push(Arc::new(Message::Assistant(kept)));
                    }
                }
                Message::Assistant(answer) => {
                    skip_results = false;
                    if !answer.content.is_empty() {
                        sent.push(message.clone());
                    }
                }
                Message::ToolResult(_) if skip_results => {}
                _ => sent.push(message.clone()),
            }
        }
        sent
    }
}

fn same_calls(one: &[Content], other: &[Content]) -> bool {
    let ids = |content: &[Content]| -> Vec<String> {
        content.iter().filter_map(Content::as_tool_call).map(|call| call.id.clone()).collect()
    };
    ids(one) == ids(other)
}

/// Reduces a failed answer to its text: incomplete calls must not be replayed, and thinking without its signature is
/// refused. Returns `None` if nothing is left.
fn without_failed_calls(mut answer: AssistantMessage) -> Option<AssistantMessage> {
    if !answer.failed() {
        return Some(answer);
    }
    if answer.stop_reason == StopReason::Error {
        return None;
    }
    answer.content.retain(|block| block.as_text().is_some_and(|text| !text.trim().is_empty()));
    (!answer.content.is_empty()).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ToolCall;
    use crate::message::UserMessage;
    use crate::model::Api;

    fn answer(calls: &[&str], stop_reason: StopReason) -> AssistantMessage {
        let mut message = AssistantMessage::empty(Api::Demo, "p", "m");
        message.stop_reason = stop_reason;
        message.content.push(Content::text("text"));
        for id in calls {
            message.content.push(Content::ToolCall(ToolCall {
                id: (*id).into(),
                name: "read".into(),
                ..ToolCall::default()
            }));
        }
        message
    }

    fn result(id: &str) -> ToolResultMessage {
        ToolResultMessage {
            tool_call_id: id.into(),
            tool_name: "read".into(),
            content: vec![Content::text("ok")],
            details: None,
            is_error: false,
            useless: false,
            timestamp: 0,
        }
    }

    fn shape(transcript: &Transcript) -> String {
        let names = transcript.messages().iter().map(|message| match &**message {
            Message::ToolResult(result) => format!("{}{}", result.tool_call_id, if result.is_error { "!" } else { "" }),
            other => other.role().to_owned(),
        });
        names.collect::<Vec<_>>().join(" ")
    }

    fn check(messages: Vec<Message>, expect: &str) {
        assert_eq!(shape(&Transcript::repair(messages)), expect);
    }

    #[test]
    fn repair_pairs_every_call_with_one_result() {
        use Message::{Assistant, ToolResult, User};
        let user = || User(UserMessage::text("hi"));
        let tool_use = StopReason::ToolUse;
        check(vec![Assistant(answer(&["a", "b"], tool_use)), ToolResult(result("b"))], "assistant a! b");
        check(vec![Assistant(answer(&["a"], tool_use)), user(), ToolResult(result("a"))], "assistant a! user");
        check(vec![ToolResult(result("x")), user()], "user");
        check(
            vec![Assistant(answer(&["a"], tool_use)), ToolResult(result("a")), ToolResult(result("a"))],
            "assistant a",
        );
        check(vec![user(), Assistant(answer(&["a"], StopReason::Error))], "user");
        check(vec![user(), Assistant(answer(&["a"], StopReason::Aborted))], "user assistant");
    }

    #[test]
    fn results_follow_the_order_of_the_calls() {
        let mut transcript = Transcript::new();
        transcript.push_reply(answer(&["a", "b"], StopReason::ToolUse), vec![result("b"), result("a")]);
        assert_eq!(shape(&transcript), "assistant a b");
    }

    #[test]
    fn only_a_failed_last_answer_can_be_taken_back() {
        let mut transcript = Transcript::new();
        transcript.push_input(Arc::new(Message::User(UserMessage::text("hi"))));
        transcript.push_reply(answer(&[], StopReason::Error), Vec::new());
        transcript.pop_failed_reply();
        assert_eq!(shape(&transcript), "user");
        transcript.push_reply(answer(&[], StopReason::Stop), Vec::new());
        transcript.pop_failed_reply();
        assert_eq!(shape(&transcript), "user assistant");
    }

    #[test]
    fn rewinding_keeps_the_turn_of_the_mark_whole_and_what_is_before_it_as_it_was() {
        let user = || Arc::new(Message::User(UserMessage::text("hi")));
        let build = || {
            let mut transcript = Transcript::new();
            transcript.push_input(user());
            transcript.push_reply(answer(&["a", "mark", "b"], StopReason::ToolUse), Vec::new());
            transcript.push_reply(answer(&["c"], StopReason::ToolUse), vec![result("c")]);
            transcript.push_input(user());
            transcript.push_reply(answer(&["d"], StopReason::ToolUse), vec![result("d")]);
            transcript
        };
        let check = |id: &str, found: bool, expect: &str| {
            let mut transcript = build();
            let before = transcript.messages().to_vec();
            assert_eq!(transcript.rewind_to(|result| result.tool_call_id == id), found);
            assert_eq!(shape(&transcript), expect);
            let mut kept = transcript.messages().iter().zip(&before);
            assert!(kept.all(|(now, then)| Arc::ptr_eq(now, then)), "nothing that stays is made anew");
        };
        check("mark", true, "user assistant a! mark! b!");
        check("c", true, "user assistant a! mark! b! assistant c");
        check("d", true, "user assistant a! mark! b! assistant c user assistant d");
        check("x", false, "user assistant a! mark! b! assistant c user assistant d");
    }

    #[test]
    fn contents_change_without_losing_a_call_and_without_copying_the_rest() {
        let mut transcript = Transcript::new();
        transcript.push_input(Arc::new(Message::User(UserMessage::text("hi"))));
        transcript.push_reply(answer(&["a"], StopReason::ToolUse), vec![result("a")]);
        let changed = transcript.with_contents(|position, _| (position > 0).then(|| vec![Content::text("new")]));
        assert_eq!(shape(&changed), "user assistant a");
        assert!(Arc::ptr_eq(&changed.messages()[0], &transcript.messages()[0]));
        assert!(Arc::ptr_eq(&changed.messages()[1], &transcript.messages()[1]), "without its call it is not taken");
        assert_eq!(changed.messages()[2].content(), [Content::text("new")]);
    }

    #[test]
    fn a_failed_answer_is_not_sent_again() {
        let mut transcript = Transcript::new();
        transcript.push_input(Arc::new(Message::User(UserMessage::text("hi"))));
        transcript.push_reply(answer(&["a"], StopReason::Error), Vec::new());
        assert_eq!(transcript.for_model().len(), 1);
    }
}
