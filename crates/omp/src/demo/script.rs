//! The model of the demo: it knows the next step from how far the conversation is, and reads what it needs (the snapshot
//! tag, the line number) from real tool results, as a real model would.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use omp_types::{AssistantMessage, Llm, Message, MessageBuilder, ModelStream, Request, StopReason, StreamEvent};
use serde_json::{Value, json};

pub struct DemoLlm {
    /// Pause between words.
    pub typing: Duration,
}

impl Llm for DemoLlm {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let step = steps_taken(&request.messages);
        let (text, calls) = answer(step, &request.messages);
        let mut parts: VecDeque<Part> = text.split_inclusive(' ').map(|word| Part::Word(word.to_owned())).collect();
        parts.extend(calls.into_iter().map(|(name, arguments)| Part::Call {
            id: format!("demo_{step}_{name}"),
            name,
            arguments,
        }));
        Box::new(DemoStream {
            builder: MessageBuilder::new(&request.model),
            parts,
            text: None,
            typing: self.typing,
            pause: None,
        })
    }
}

type Calls = Vec<(&'static str, Value)>;

/// Answers given since the user last spoke.
fn steps_taken(messages: &[Arc<Message>]) -> usize {
    let newest = messages.iter().rev().take_while(|message| !matches!(***message, Message::User(_)));
    newest.filter(|message| message.as_assistant().is_some()).count()
}

fn answer(step: usize, messages: &[Arc<Message>]) -> (String, Calls) {
    let run_tests = ("bash", json!({"command": "sh test.sh"}));
    match step {
        0 => ("I run the tests first, to see what fails.".into(), vec![run_tests]),
        1 => (
            "The discount is wrong: 25 % off 1000 gives -1500. I look for the code behind it.".into(),
            vec![("search", json!({"pattern": "discounted", "paths": ["."]})), ("find", json!({"paths": ["*.sh"]}))],
        ),
        2 => ("The function is in lib/price.sh.".into(), vec![("read", json!({"path": "lib/price.sh"}))]),
        3 => match fix(messages) {
            Some(input) => (
                "It divides by 10 where a percentage needs 100. I change that one line.".into(),
                vec![("edit", json!({"input": input}))],
            ),
            None => ("I could not find the faulty line in what was read, so I stop here.".into(), vec![]),
        },
        4 => ("Now the tests again.".into(), vec![run_tests]),
        _ => (
            "Fixed: `discounted` in lib/price.sh divided by 10 instead of 100. All four tests pass now.\n".into(),
            vec![],
        ),
    }
}

/// The edit, from the header and the line that `read` has shown.
fn fix(messages: &[Arc<Message>]) -> Option<String> {
    let shown = messages.iter().rev().find_map(|message| match &**message {
        Message::ToolResult(result) if result.tool_name == "read" => result.content.first()?.as_text(),
        _ => None,
    })?;
    let header = shown.lines().find(|line| line.starts_with('[') && line.contains('#'))?;
    let line = shown.lines().find(|line| line.contains("/ 10))"))?;
    let (number, text) = line.split_once(':')?;
    Some(format!("{header}\n{number}:{}", text.replace("/ 10", "/ 100")))
}

enum Part {
    Word(String),
    Call { id: String, name: &'static str, arguments: Value },
}

struct DemoStream {
    builder: MessageBuilder,
    parts: VecDeque<Part>,
    /// The open text block.
    text: Option<usize>,
    typing: Duration,
    pause: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl DemoStream {
    fn say(&mut self, part: Option<Part>) {
        match part {
            Some(Part::Word(word)) => {
                let block = *self.text.get_or_insert_with(|| self.builder.open_text());
                self.builder.push_text(block, &word);
                self.pause = (!self.typing.is_zero()).then(|| Box::pin(tokio::time::sleep(self.typing)));
            }
            Some(Part::Call { id, name, arguments }) => {
                self.builder.close_all();
                let call = self.builder.open_tool_call(&id, name);
                self.builder.push_arguments(call, &arguments.to_string());
                self.builder.close(call);
            }
            None => {
                let reason = if self.builder.has_tool_calls() { StopReason::ToolUse } else { StopReason::Stop };
                self.builder.finish(reason);
            }
        }
    }
}

impl futures_core::Stream for DemoStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        loop {
            if let Some(event) = self.builder.next_event() {
                return Poll::Ready(Some(event));
            }
            if self.builder.is_finished() {
                return Poll::Ready(None);
            }
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            let part = self.parts.pop_front();
            self.say(part);
        }
    }
}

impl ModelStream for DemoStream {
    fn message(&self) -> &AssistantMessage {
        self.builder.message()
    }
}

#[cfg(test)]
mod tests {
    use omp_types::{Content, ToolResultMessage};

    use super::*;

    #[test]
    fn the_fix_is_made_from_what_was_read() {
        let read = ToolResultMessage {
            tool_call_id: "x".into(),
            tool_name: "read".into(),
            content: vec![Content::text(
                "[lib/price.sh#ab12]\n13:discounted() {\n14:  echo $(($1 - $1 * $2 / 10))\n15:}",
            )],
            details: None,
            is_error: false,
            useless: false,
            timestamp: 0,
        };
        let messages = [Arc::new(Message::ToolResult(read))];
        assert_eq!(fix(&messages).unwrap(), "[lib/price.sh#ab12]\n14:  echo $(($1 - $1 * $2 / 100))");
        assert_eq!(fix(&[]), None);
    }
}
