//! The model of the demo: it derives the next step from the length of the conversation and reads what it needs (the snapshot
//! tag, the line number) from real tool results, as a real model would. Before each step it checks the results of the
//! previous step, so a failed call ends the demo.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use omp_agent::Tool;
use omp_tools::{Bash, Find, HashlineEdit, Read, Search};
use omp_types::{AssistantMessage, Llm, Message, MessageBuilder, ModelStream, Request, StopReason, StreamEvent};
use serde_json::{Value, json};

pub struct DemoLlm {
    /// The pause between words.
    pub typing: Duration,
    pub outcome: DemoOutcome,
}

/// How the demo went; empty until the demo has ended.
#[derive(Clone, Default)]
pub struct DemoOutcome(Arc<OnceLock<Result<(), String>>>);

impl DemoOutcome {
    fn decide(&self, outcome: Result<(), String>) {
        // Only the first outcome is kept.
        let _ = self.0.set(outcome);
    }

    /// Returns an error unless the last step was reached and every step succeeded.
    pub fn result(&self) -> Result<(), String> {
        self.0.get().cloned().unwrap_or_else(|| Err("it ended before its last step".to_owned()))
    }
}

impl Llm for DemoLlm {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let step = steps_taken(&request.messages);
        let (text, calls) = match check(step, &request.messages) {
            Ok(()) => answer(step, &request.messages),
            Err(reason) => {
                self.outcome.decide(Err(reason));
                ("That did not work, so I stop here.\n".into(), vec![])
            }
        };
        if calls.is_empty() {
            self.outcome.decide(Ok(()));
        }
        let mut parts: VecDeque<DemoPiece> =
            text.split_inclusive(' ').map(|word| DemoPiece::Word(word.to_owned())).collect();
        parts.extend(calls.into_iter().map(|(name, arguments)| DemoPiece::Call {
            id: call_id(step, name),
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

/// Caps the number of characters quoted from a failed result.
const MOST_SHOWN: usize = 600;

type DemoCalls = Vec<(&'static str, Value)>;

/// Counts the answers since the last user message.
fn steps_taken(messages: &[Arc<Message>]) -> usize {
    let newest = messages.iter().rev().take_while(|message| !matches!(***message, Message::User(_)));
    newest.filter(|message| message.as_assistant().is_some()).count()
}

/// For each step: the tools it calls, and texts that their results must contain.
const EXPECTED: &[&[(&str, &[&str])]] = &[
    &[(Bash::NAME, &["ok   no discount", "FAIL a quarter off"])],
    &[(Search::NAME, &["price.sh"]), (Find::NAME, &["test.sh"])],
    &[(Read::NAME, &["/ 10))"])],
    &[(HashlineEdit::NAME, &["price.sh"])],
    &[(Bash::NAME, &["ok   no discount", "ok   a quarter off"])],
];

/// Checks that the previous step did what it should.
fn check(step: usize, messages: &[Arc<Message>]) -> Result<(), String> {
    let Some(expected) = step.checked_sub(1).and_then(|before| EXPECTED.get(before)) else { return Ok(()) };
    for (tool, texts) in *expected {
        let prefix = call_id(step - 1, tool);
        let result = messages.iter().rev().find_map(|message| match &**message {
            Message::ToolResult(result) if result.tool_call_id.starts_with(&prefix) => Some(result),
            _ => None,
        });
        let Some(result) = result else { return Err(format!("step {step}, `{tool}`: there is no result")) };
        let text: String = result.content.iter().filter_map(|content| content.as_text()).collect();
        let missing = texts.iter().find(|wanted| !text.contains(**wanted));
        // The first run of the tests is expected to fail.
        let failed = result.is_error && (step != 1 || missing.is_some());
        if failed || missing.is_some() {
            let shown: String = text.trim().chars().take(MOST_SHOWN).collect();
            return Err(format!("step {step}, `{tool}`: {shown}"));
        }
    }
    Ok(())
}

fn call_id(step: usize, tool: &str) -> String {
    format!("demo_{step}_{tool}")
}

fn answer(step: usize, messages: &[Arc<Message>]) -> (String, DemoCalls) {
    let run_tests = (Bash::NAME, json!({"command": "sh test.sh"}));
    match step {
        0 => ("I run the tests first, to see what fails.".into(), vec![run_tests]),
        1 => (
            "The discount is wrong: 25 % off 1000 gives -1500. I look for the code behind it.".into(),
            vec![
                (Search::NAME, json!({"pattern": "discounted", "paths": ["."]})),
                (Find::NAME, json!({"paths": ["*.sh"]})),
            ],
        ),
        2 => ("The function is in lib/price.sh.".into(), vec![(Read::NAME, json!({"path": "lib/price.sh"}))]),
        3 => (
            "It divides by 10 where a percentage needs 100. I change that one line.".into(),
            vec![(HashlineEdit::NAME, json!({"input": fix(messages).unwrap_or_default()}))],
        ),
        4 => ("Now the tests again.".into(), vec![run_tests]),
        _ => (
            "Fixed: `discounted` in lib/price.sh divided by 10 instead of 100. All four tests pass now.\n".into(),
            vec![],
        ),
    }
}

/// Builds the edit from the header and the line that `read` has returned.
fn fix(messages: &[Arc<Message>]) -> Option<String> {
    let shown = messages.iter().rev().find_map(|message| match &**message {
        Message::ToolResult(result) if result.tool_name == Read::NAME => result.content.first()?.as_text(),
        _ => None,
    })?;
    let header = shown.lines().find(|line| line.starts_with('[') && line.contains('#'))?;
    let line = shown.lines().find(|line| line.contains("/ 10))"))?;
    let (number, text) = line.split_once(':')?;
    Some(format!("{header}\n{number}:{}", text.replace("/ 10", "/ 100")))
}

enum DemoPiece {
    Word(String),
    Call { id: String, name: &'static str, arguments: Value },
}

struct DemoStream {
    builder: MessageBuilder,
    parts: VecDeque<DemoPiece>,
    /// The index of the open text block.
    text: Option<usize>,
    typing: Duration,
    pause: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl DemoStream {
    fn say(&mut self, part: Option<DemoPiece>) {
        match part {
            Some(DemoPiece::Word(word)) => {
                let block = *self.text.get_or_insert_with(|| self.builder.open_text());
                self.builder.push_text(block, &word);
                self.pause = (!self.typing.is_zero()).then(|| Box::pin(tokio::time::sleep(self.typing)));
            }
            Some(DemoPiece::Call { id, name, arguments }) => {
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

    fn result(step: usize, tool: &str, text: &str, is_error: bool) -> Arc<Message> {
        Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: call_id(step, tool),
            tool_name: tool.into(),
            content: vec![Content::text(text)],
            details: None,
            is_error,
            useless: false,
            timestamp: 0,
        }))
    }

    #[test]
    fn a_step_counts_only_when_its_calls_did_what_they_should() {
        let passed = "ok   no discount\nok   a quarter off";
        let failed = "ok   no discount\nFAIL a quarter off";
        for (step, tool, text, is_error, expect) in [
            (0, "bash", failed, true, Ok(())),
            (0, "bash", failed, false, Ok(())),
            (0, "bash", "hiding a path failed", true, Err("step 1, `bash`: hiding a path failed")),
            (0, "bash", "no such file", false, Err("step 1, `bash`: no such file")),
            (2, "read", "14:  echo $(($1 - $1 * $2 / 10))", false, Ok(())),
            (2, "read", "hidden", true, Err("step 3, `read`: hidden")),
            (3, "edit", "refused: lib/price.sh", true, Err("step 4, `edit`: refused: lib/price.sh")),
            (4, "bash", passed, false, Ok(())),
            (4, "bash", failed, false, Err("step 5, `bash`: ok   no discount\nFAIL a quarter off")),
            (4, "edit", passed, false, Err("step 5, `bash`: there is no result")),
        ] {
            let said = check(step + 1, &[result(step, tool, text, is_error)]);
            assert_eq!(said, expect.map_err(str::to_owned), "{step} {tool} {text}");
        }
        assert_eq!(check(0, &[]), Ok(()));
    }

    #[test]
    fn a_demo_that_was_cut_short_has_not_succeeded() {
        let outcome = DemoOutcome::default();
        assert!(outcome.result().is_err());
        outcome.decide(Err("first".into()));
        outcome.decide(Ok(()));
        assert_eq!(outcome.result(), Err("first".into()));
    }

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
