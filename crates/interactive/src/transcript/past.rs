//! Renders the end of an earlier conversation as blocks, with a line that says how much is above.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use omp_agent::was_aborted;
use omp_session::{RanBy, Session, TTSR_INJECTION, ToolOutput};
use omp_types::{AssistantMessage, Content, Message, StopReason, ToolResultMessage, text_of};
use omp_view::CallKind;
use serde_json::Value;

use super::call::CallBlock;
use super::compacted::Compacted;
use super::fired::Fired;
use super::folded::Folded;
use super::gallery::Gallery;
use super::log::Log;
use super::note::{Note, Tone};
use super::prose::{Prose, Thought};
use super::reads::Reads;
use super::scribe::said;

/// Caps the messages shown of a long conversation.
const MAX_MESSAGES: usize = 300;
/// Caps their rows, approximately.
const MAX_ROWS: usize = 2_000;

/// Collects the end of a conversation while it is read from its beginning.
#[derive(Default)]
pub struct Past {
    messages: VecDeque<Arc<Message>>,
    rows: usize,
    above: usize,
}

impl Past {
    pub fn add(&mut self, message: Arc<Message>) {
        self.rows += rows_of(&message);
        self.messages.push_back(message);
        while self.messages.len() > MAX_MESSAGES || self.rows > MAX_ROWS && self.messages.len() > 1 {
            if let Some(message) = self.messages.pop_front() {
                self.rows -= rows_of(&message);
                self.above += 1;
            }
        }
    }

    pub fn show(mut self, log: &mut Log, session: &Session, thoughts: &Rc<Cell<bool>>, gallery: &Gallery) {
        // A result without its call is useless.
        while matches!(self.messages.front().map(|first| &**first), Some(Message::ToolResult(_))) {
            self.messages.pop_front();
            self.above += 1;
        }
        if self.above > 0 {
            let count = omp_stdx::format::plural(self.above, "earlier message", "earlier messages");
            log.push(Note::new(Tone::Divider, format!("{count} above · /dump or /export shows all")));
        }
        let results: HashMap<&str, &ToolResultMessage> = self
            .messages
            .iter()
            .filter_map(|message| match &**message {
                Message::ToolResult(result) => Some((result.tool_call_id.as_str(), result)),
                _ => None,
            })
            .collect();
        let mut teller = Teller { log, session, thoughts, gallery, results, reads: None };
        let next = self.messages.iter().skip(1).map(Some).chain([None]);
        for (message, next) in self.messages.iter().zip(next) {
            match &**message {
                // A rule stopped this answer, which the next message reports.
                Message::Assistant(answer) if next.is_some_and(|next| is_injection(next)) => teller.said(answer),
                _ => teller.tell(message),
            }
            if is_cut(message, next) {
                teller.note(Tone::Mark, "⏹ interrupted".to_owned());
            }
        }
        teller.end_reads();
    }
}

/// Estimates the rows: lines of text, at least one; tool results are shown short.
fn rows_of(message: &Message) -> usize {
    let lines = message.content().iter().map(|block| match block {
        Content::Text(text) => text.text.lines().count(),
        Content::Thinking(thinking) => thinking.thinking.lines().count(),
        _ => 4,
    });
    let lines: usize = lines.sum::<usize>() + 1;
    if matches!(message, Message::ToolResult(_)) { lines.min(12) } else { lines }
}

struct Teller<'a> {
    log: &'a mut Log,
    session: &'a Session,
    thoughts: &'a Rc<Cell<bool>>,
    gallery: &'a Gallery,
    results: HashMap<&'a str, &'a ToolResultMessage>,
    reads: Option<Rc<RefCell<Reads>>>,
}

impl Teller<'_> {
    fn tell(&mut self, message: &Message) {
        match message {
            Message::User(user) => {
                self.end_reads();
                self.log.push(said(&user.content, self.gallery));
            }
            Message::Assistant(answer) => self.answer(answer),
            Message::ToolResult(_) => {}
            Message::Custom(custom) => {
                if let Some((summary, short)) = omp_compaction::compaction_summary(message) {
                    self.end_reads();
                    self.log.push(Folded::new(Compacted::new(&summary, short.as_deref())));
                } else if custom.display {
                    self.note(Tone::Told, text_of(&custom.content));
                } else if custom.custom_type == TTSR_INJECTION {
                    self.end_reads();
                    self.log.push(Folded::new(Fired::past(custom)));
                }
            }
            Message::Other(other) => self.other(&other.role, &other.value),
        }
    }

    fn answer(&mut self, answer: &AssistantMessage) {
        self.said(answer);
        match answer.stop_reason {
            StopReason::Aborted => self.note(Tone::Mark, "⏹ interrupted".to_owned()),
            StopReason::Error => {
                let why = answer.error_message.clone().unwrap_or_else(|| "the answer failed".to_owned());
                self.note(Tone::Error, why);
            }
            _ => {}
        }
    }

    /// Renders an answer with any stop reason.
    fn said(&mut self, answer: &AssistantMessage) {
        for block in &answer.content {
            match block {
                Content::Text(text) if !text.text.trim().is_empty() => {
                    self.end_reads();
                    self.log.push(Prose::said(&text.text, self.gallery.diagrams()));
                }
                Content::Thinking(thinking) if !thinking.thinking.trim().is_empty() => {
                    self.end_reads();
                    self.log.push(Thought::over(&thinking.thinking, self.thoughts.clone()));
                }
                Content::ToolCall(call) => {
                    let mut past = CallBlock::new(call.id.clone(), &call.name);
                    past.arrived(&call.name, &call.arguments, self.session);
                    match self.results.get(call.id.as_str()) {
                        Some(result) => {
                            let arguments = Value::Object(call.arguments.clone());
                            past.end(&arguments, &output(result), self.session, self.gallery);
                        }
                        None => past.give_up(),
                    }
                    self.call(past);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, call: CallBlock) {
        if self.session.call_kind(&call.name) != CallKind::Read {
            self.end_reads();
            return self.log.push(call);
        }
        let reads = self.reads.get_or_insert_with(|| {
            let reads = Rc::new(RefCell::new(Reads::default()));
            self.log.push(reads.clone());
            reads
        });
        reads.borrow_mut().add(Rc::new(RefCell::new(call)));
    }

    fn other(&mut self, role: &str, value: &Value) {
        let field = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        match role {
            "bashExecution" | "pythonExecution" => {
                self.end_reads();
                let private = value["excludeFromContext"].as_bool() == Some(true);
                let (ran_by, typed) = match role {
                    "bashExecution" => (RanBy::Shell, field("command")),
                    _ => (RanBy::Python, field("code")),
                };
                let mut block = super::ShellBlock::new(ran_by, &typed, private);
                block.end(&Ok(omp_session::ShellRun {
                    output: field("output"),
                    exit_code: value["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok()),
                    cancelled: value["cancelled"].as_bool() == Some(true),
                    ..omp_session::ShellRun::default()
                }));
                self.log.push(block);
            }
            "compactionSummary" => {
                self.end_reads();
                self.log.push(Folded::new(Compacted::new(&field("summary"), None)));
            }
            "branchSummary" => {
                self.note(Tone::Divider, "summary of another branch".to_owned());
                self.note(Tone::Told, field("summary"));
            }
            _ => {}
        }
    }

    fn note(&mut self, tone: Tone, text: String) {
        self.end_reads();
        self.log.push(Note::new(tone, text));
    }

    fn end_reads(&mut self) {
        if let Some(reads) = self.reads.take() {
            reads.borrow_mut().close();
        }
    }
}

/// Whether the user interrupted the run at the call of this result, so that the model did not answer any more.
fn is_cut(message: &Message, next: Option<&Arc<Message>>) -> bool {
    let ends = matches!(next.map(|next| &**next), None | Some(Message::User(_)));
    matches!(message, Message::ToolResult(result) if ends && was_aborted(result))
}

fn is_injection(message: &Message) -> bool {
    matches!(message, Message::Custom(custom) if custom.custom_type == TTSR_INJECTION)
}

fn output(result: &ToolResultMessage) -> ToolOutput {
    ToolOutput {
        content: result.content.clone(),
        details: result.details.clone(),
        is_error: result.is_error,
        useless: result.useless,
    }
}
