//! Hides secrets in structures that contain text: messages, blocks, values.

use std::borrow::Cow;
use std::sync::Arc;

use omp_types::{Content, Message};
use serde_json::Value;

use crate::veil::Veil;

impl Veil {
    /// Returns the same message if there is nothing to hide.
    pub fn hide_message(&self, message: &Arc<Message>) -> Arc<Message> {
        if self.is_empty() {
            return message.clone();
        }
        if !self.finds_something(message) {
            return message.clone();
        }
        let mut clean = (**message).clone();
        self.hide_in_message(&mut clean);
        Arc::new(clean)
    }

    pub fn hide_in_message(&self, message: &mut Message) {
        match message {
            Message::User(user) => self.hide_contents(&mut user.content),
            Message::Assistant(answer) => {
                self.hide_contents(&mut answer.content);
                answer.error_message.iter_mut().for_each(|text| self.hide_text(text));
                answer.error.iter_mut().for_each(|error| self.hide_text(&mut error.message));
            }
            Message::ToolResult(result) => {
                self.hide_contents(&mut result.content);
                result.details.iter_mut().for_each(|details| self.hide_value(details));
            }
            Message::Custom(custom) => {
                self.hide_contents(&mut custom.content);
                custom.details.iter_mut().for_each(|details| self.hide_value(details));
            }
            Message::Other(other) => self.hide_value(&mut other.value),
        }
    }

    pub fn hide_contents(&self, contents: &mut [Content]) {
        self.each_text(contents, &|text| self.hide(text));
    }

    /// Redacts external blocks.
    pub fn take_in_contents(&self, contents: &mut [Content]) {
        self.each_text(contents, &|text| self.take_in(text));
    }

    pub fn hide_text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.hide(text) {
            *text = clean;
        }
    }

    pub fn hide_value(&self, value: &mut Value) {
        if !self.is_empty() {
            walk(value, &|text| self.hide(text));
        }
    }

    pub fn take_in_value(&self, value: &mut Value) {
        if !self.is_empty() {
            walk(value, &|text| self.take_in(text));
        }
    }

    /// Signed content is left unchanged, because providers refuse modified thinking.
    fn each_text(&self, contents: &mut [Content], change: &dyn Fn(&str) -> Cow<'_, str>) {
        if self.is_empty() {
            return;
        }
        for content in contents {
            match content {
                Content::Text(block) => replace(&mut block.text, change),
                Content::Thinking(block) if block.thinking_signature.is_none() => replace(&mut block.thinking, change),
                Content::ToolCall(call) => {
                    call.arguments.values_mut().for_each(|value| walk(value, change));
                    call.invalid_arguments.iter_mut().for_each(|raw| replace(raw, change));
                }
                Content::Thinking(_) | Content::RedactedThinking(_) | Content::Image(_) => {}
            }
        }
    }

    fn finds_something(&self, message: &Message) -> bool {
        let differs = |text: &str| matches!(self.hide(text), Cow::Owned(_));
        let in_block = |content: &Content| match content {
            Content::Text(block) => differs(&block.text),
            Content::Thinking(block) => differs(&block.thinking),
            Content::ToolCall(call) => {
                call.arguments.values().any(|value| any(value, &differs))
                    || call.invalid_arguments.as_deref().is_some_and(differs)
            }
            Content::RedactedThinking(_) | Content::Image(_) => false,
        };
        let beside = match message {
            Message::User(_) => false,
            Message::Assistant(answer) => answer.error_message.as_deref().is_some_and(differs),
            Message::ToolResult(result) => result.details.as_ref().is_some_and(|details| any(details, &differs)),
            Message::Custom(custom) => custom.details.as_ref().is_some_and(|details| any(details, &differs)),
            Message::Other(other) => any(&other.value, &differs),
        };
        beside || message.content().iter().any(in_block)
    }
}

fn replace(text: &mut String, change: &dyn Fn(&str) -> Cow<'_, str>) {
    if let Cow::Owned(clean) = change(text) {
        *text = clean;
    }
}

/// Includes field names.
fn walk(value: &mut Value, change: &dyn Fn(&str) -> Cow<'_, str>) {
    match value {
        Value::String(text) => replace(text, change),
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, change)),
        Value::Object(fields) => {
            if fields.keys().any(|name| matches!(change(name), Cow::Owned(_))) {
                let taken = std::mem::take(fields);
                fields.extend(taken.into_iter().map(|(name, field)| (change(&name).into_owned(), field)));
            }
            fields.values_mut().for_each(|field| walk(field, change));
        }
        _ => {}
    }
}

fn any(value: &Value, differs: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => differs(text),
        Value::Array(items) => items.iter().any(|item| any(item, differs)),
        Value::Object(fields) => fields.iter().any(|(name, field)| differs(name) || any(field, differs)),
        _ => false,
    }
}
