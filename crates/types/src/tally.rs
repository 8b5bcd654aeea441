//! Statistics of a conversation: messages, calls, tokens and cost, in total and by model.

use std::collections::BTreeMap;

use crate::message::{AssistantMessage, Message};
use crate::usage::Usage;

/// Counts messages incrementally, so that the conversation need not be held in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub user_messages: usize,
    pub assistant_messages: usize,
    pub tool_calls: usize,
    /// Calls of each tool; at most [`MOST_TOOLS`].
    pub by_tool: BTreeMap<String, usize>,
    pub tool_results: usize,
    pub failed_results: usize,
    pub total_messages: usize,
    pub usage: Usage,
    /// In the order of their first answers; at most [`MOST_MODELS`].
    pub models: Vec<ModelTally>,
}

/// Statistics of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelTally {
    pub provider: String,
    pub model: String,
    pub answers: usize,
    pub usage: Usage,
}

/// Limits the models counted separately; further ones are only in the totals.
pub const MOST_MODELS: usize = 64;

/// Limits the tools counted separately, because a model may call arbitrary names.
pub const MOST_TOOLS: usize = 256;

impl ModelTally {
    pub fn selector(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl Tally {
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut tally = Self::default();
        messages.into_iter().for_each(|message| tally.add(message));
        tally
    }

    pub fn add(&mut self, message: &Message) {
        self.total_messages += 1;
        match message {
            Message::User(_) => self.user_messages += 1,
            Message::ToolResult(result) => {
                self.tool_results += 1;
                self.failed_results += usize::from(result.is_error);
            }
            Message::Assistant(answer) => self.add_answer(answer),
            Message::Custom(_) | Message::Other(_) => {}
        }
    }

    /// Returns the number of messages of the program and of unknown roles.
    pub fn other_messages(&self) -> usize {
        self.total_messages - self.user_messages - self.assistant_messages - self.tool_results
    }

    fn add_answer(&mut self, answer: &AssistantMessage) {
        self.assistant_messages += 1;
        for call in answer.tool_calls() {
            self.tool_calls += 1;
            if let Some(count) = self.by_tool.get_mut(&call.name) {
                *count += 1;
            } else if self.by_tool.len() < MOST_TOOLS {
                self.by_tool.insert(call.name.clone(), 1);
            }
        }
        self.add_beside(answer);
    }

    /// Adds the usage of an answer that is not part of the conversation, without counting a message.
    pub fn add_beside(&mut self, answer: &AssistantMessage) {
        self.usage += answer.usage;
        let known = self.models.iter().position(|by| by.provider == answer.provider && by.model == answer.model);
        let at = known.unwrap_or(self.models.len());
        if known.is_none() && at < MOST_MODELS {
            let (provider, model) = (answer.provider.clone(), answer.model.clone());
            self.models.push(ModelTally { provider, model, ..ModelTally::default() });
        }
        if let Some(model) = self.models.get_mut(at) {
            model.answers += 1;
            model.usage += answer.usage;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Api, Content, ToolCall, ToolResultMessage, UserMessage};

    fn answer(model: &str, calls: usize) -> Message {
        let mut answer = AssistantMessage::empty(Api::Demo, "p", model);
        answer.content = (0..calls).map(|_| Content::ToolCall(ToolCall::default())).collect();
        answer.usage = Usage { input: 100, output: 20, total_tokens: 120, ..Usage::default() };
        Message::Assistant(answer)
    }

    #[test]
    fn everything_is_counted_in_all_and_by_model() {
        let result = Message::ToolResult(ToolResultMessage::error(&ToolCall::default(), "no"));
        let messages = [
            Message::User(UserMessage::text("hi")),
            answer("a", 2),
            result.clone(),
            result,
            answer("b", 0),
            answer("a", 0),
        ];
        let tally = Tally::of(&messages);
        assert_eq!((tally.user_messages, tally.assistant_messages, tally.total_messages), (1, 3, 6));
        assert_eq!((tally.tool_calls, tally.by_tool[""], tally.tool_results, tally.failed_results), (2, 2, 2, 2));
        assert_eq!((tally.other_messages(), tally.models[1].selector().as_str()), (0, "p/b"));
        assert_eq!((tally.usage.input, tally.usage.total_tokens), (300, 360));
        let models: Vec<_> = tally.models.iter().map(|by| (by.model.as_str(), by.answers, by.usage.output)).collect();
        assert_eq!(models, [("a", 2, 40), ("b", 1, 20)]);
    }

    #[test]
    fn what_is_asked_beside_the_conversation_is_in_the_sums_and_no_message() {
        let mut tally = Tally::of([&answer("a", 0)]);
        tally.add_beside(answer("small", 1).as_assistant().unwrap());
        assert_eq!((tally.assistant_messages, tally.total_messages, tally.tool_calls), (1, 1, 0));
        assert_eq!((tally.usage.total_tokens, tally.models.len()), (240, 2));
    }

    #[test]
    fn models_beyond_the_limit_are_in_the_sums_only() {
        let messages: Vec<_> = (0..MOST_MODELS + 5).map(|number| answer(&number.to_string(), 0)).collect();
        let tally = Tally::of(&messages);
        assert_eq!((tally.models.len(), tally.assistant_messages), (MOST_MODELS, MOST_MODELS + 5));
    }
}
