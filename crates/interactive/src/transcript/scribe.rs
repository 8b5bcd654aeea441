//! Converts session events into blocks.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use omp_compaction::CompactionReason;
use omp_session::{AgentEvent, Reminded, RunEnd, Session, SessionEvent, Spent, cost_line, with_retry_hint};
use omp_types::{Content, Message, Setting, SettingKind, StopReason, StreamEvent, Usage, text_of};
use omp_view::{CallKind, View};

use super::call::{AskedAbout, CallBlock};
use super::compacted::Compacted;
use super::fired::Fired;
use super::folded::Folded;
use super::gallery::Gallery;
use super::log::Log;
use super::note::{Note, Tone};
use super::page::Page;
use super::prose::{Prose, Thought};
use super::reads::Reads;
use super::retrying::Retrying;

/// Which cost lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostLines {
    /// The cost of a prompt, after its work is done.
    pub turns: bool,
    /// An unexpected prompt cache miss.
    pub misses: bool,
}

/// The settings for cost lines.
pub const COST_SETTINGS: &[Setting] = &[
    Setting::new(
        "Look",
        "display.showTokenUsage",
        SettingKind::Bool,
        "true",
        "Show the tokens and the cost of a prompt when it is done.",
    )
    .titled("Show token usage"),
    Setting::new(
        "Look",
        "display.cacheMissMarker",
        SettingKind::Bool,
        "true",
        "Show a note when the prompt cache misses unexpectedly.",
    )
    .titled("Show cache misses"),
];

/// Tracks the blocks that are still being written.
pub struct Scribe {
    session: Session,
    thoughts: Rc<Cell<bool>>,
    costs: Rc<Cell<CostLines>>,
    /// The usage of the current prompt so far.
    turn: Option<Usage>,
    gallery: Gallery,
    /// Text blocks of the streaming answer, by content index.
    prose: HashMap<usize, Rc<RefCell<Prose>>>,
    thinking: HashMap<usize, Rc<RefCell<Thought>>>,
    arriving: HashMap<usize, Rc<RefCell<CallBlock>>>,
    /// Counts the calls, because providers may reuse ids and send them late.
    announced: u64,
    /// Calls with complete arguments, by id.
    calls: HashMap<String, Rc<RefCell<CallBlock>>>,
    reads: Option<Rc<RefCell<Reads>>>,
    retrying: Option<Rc<RefCell<Retrying>>>,
    /// The last answer was cut by the user, and the mark was added.
    marked: bool,
    /// The streaming answer was stopped by a rule, and that was reported.
    stopped_by_rule: bool,
}

impl Scribe {
    pub fn new(session: Session, thoughts: Rc<Cell<bool>>, costs: Rc<Cell<CostLines>>, gallery: Gallery) -> Self {
        Self {
            session,
            thoughts,
            costs,
            turn: None,
            gallery,
            prose: HashMap::new(),
            thinking: HashMap::new(),
            arriving: HashMap::new(),
            announced: 0,
            calls: HashMap::new(),
            reads: None,
            retrying: None,
            marked: false,
            stopped_by_rule: false,
        }
    }

    /// Shows that a call waits for the user. What the dialog shows, its card does not.
    pub fn show_asked(&self, about: Option<&AskedAbout>) {
        for (id, call) in &self.calls {
            call.borrow_mut().set_asked(about, id);
        }
    }

    /// Called before a frame: updates calls whose arguments have arrived.
    pub fn look(&mut self) {
        self.arriving.values().for_each(|call| call.borrow_mut().look(&self.session));
    }

    /// Returns what runs, for the working row.
    pub fn doing(&self) -> Option<String> {
        let running = self.calls.values().find(|call| !call.borrow().is_over());
        running.map(|call| call.borrow().title().to_owned())
    }

    pub fn hear(&mut self, log: &mut Log, event: &SessionEvent) {
        match event {
            SessionEvent::Agent(event) => self.agent(log, event),
            SessionEvent::AgentEnd { .. } => self.close(),
            SessionEvent::RetryStart { attempt, max_attempts, delay, reason } => {
                self.retry(log, reason, (*attempt, *max_attempts), *delay);
            }
            // The error of a failed run comes with its end, which says whether the line still tells anything.
            SessionEvent::RetryEnd { success: true, .. } => self.end_retries(None),
            SessionEvent::RetryEnd { .. } => {}
            SessionEvent::Quarantined(told) => self.note(log, Tone::Warning, told.to_string()),
            SessionEvent::Reminded(reminded) => self.note(log, Tone::Aside, remind(reminded)),
            SessionEvent::RulesFired(fired) => {
                self.end_reads();
                self.stopped_by_rule |= fired.interrupts;
                log.push(Folded::new(Fired::new(fired)));
            }
            SessionEvent::Spent(spent) => self.spent(log, spent),
            SessionEvent::Idle { end, .. } => self.idle(log, end),
            SessionEvent::JobEnded(ended) => self.note(log, Tone::Told, ended.to_string()),
            SessionEvent::Notice { text, .. } => self.note(log, Tone::Warning, text.clone()),
            SessionEvent::CompactionEnd { result: Some(result), .. } => {
                self.end_reads();
                log.push(Folded::new(Compacted::new(&result.summary, result.short_summary.as_deref())));
            }
            SessionEvent::CompactionEnd { error: Some(error), reason, .. } if *reason != CompactionReason::Manual => {
                self.note(log, Tone::Warning, error.clone());
            }
            SessionEvent::CompactionStart { .. }
            | SessionEvent::CompactionEnd { .. }
            | SessionEvent::Question(_)
            | SessionEvent::Refused(_)
            | SessionEvent::Dismissed { .. }
            | SessionEvent::Queued { .. }
            | SessionEvent::CommandsChanged
            | SessionEvent::Renamed { .. }
            | SessionEvent::Moved => {}
        }
    }

    /// Updates one line until the retries end.
    fn retry(&mut self, log: &mut Log, reason: &str, attempts: (u32, u32), delay: Duration) {
        self.end_reads();
        let retrying = self.retrying.get_or_insert_with(|| {
            let retrying = Rc::new(RefCell::new(Retrying::default()));
            log.push(retrying.clone());
            retrying
        });
        retrying.borrow_mut().again(reason, attempts, delay);
    }

    pub fn note(&mut self, log: &mut Log, tone: Tone, text: impl Into<String>) {
        self.end_reads();
        log.push(Note::new(tone, text));
    }

    /// Shows what a slash command says in Markdown.
    pub fn page(&mut self, log: &mut Log, typed: &str, text: &str) {
        self.end_reads();
        log.push(Page::new(typed, text));
    }

    /// Shows the card of a slash command.
    pub fn card(&mut self, log: &mut Log, view: View) {
        self.end_reads();
        log.push(Folded::new(view));
    }

    fn agent(&mut self, log: &mut Log, event: &AgentEvent) {
        match event {
            AgentEvent::MessageStart { message } => self.begin(log, message),
            AgentEvent::MessageUpdate { event } => self.streamed(log, event),
            AgentEvent::MessageEnd { message } => self.ended(log, message),
            AgentEvent::ToolStart { call_id, name, arguments } => {
                let known = self.calls.get(call_id).cloned();
                let call = known.unwrap_or_else(|| self.announce(log, name));
                call.borrow_mut().start(arguments, &self.session);
                self.calls.insert(call_id.clone(), call);
            }
            AgentEvent::ToolUpdate { call_id, partial, .. } => {
                if let Some(call) = self.calls.get(call_id) {
                    call.borrow_mut().progress(partial);
                }
            }
            AgentEvent::ToolEnd(outcome) => {
                let known = self.calls.remove(&outcome.call_id);
                let call = known.unwrap_or_else(|| self.announce(log, &outcome.name));
                call.borrow_mut().end(&outcome.arguments, &outcome.output, &self.session, &self.gallery);
            }
            AgentEvent::AgentStart => self.marked = false,
            AgentEvent::AgentEnd { .. } | AgentEvent::TurnStart | AgentEvent::TurnEnd { .. } => {}
        }
    }

    fn begin(&mut self, log: &mut Log, message: &Message) {
        match message {
            Message::User(user) => {
                self.end_reads();
                log.push(said(&user.content, &self.gallery));
            }
            Message::Custom(custom) if custom.display => {
                self.note(log, Tone::Told, text_of(&custom.content));
            }
            _ => {}
        }
    }

    fn streamed(&mut self, log: &mut Log, event: &StreamEvent) {
        let answers = matches!(
            event,
            StreamEvent::TextDelta { .. } | StreamEvent::ThinkingDelta { .. } | StreamEvent::ToolCallStart { .. }
        );
        if answers {
            self.end_retries(None);
        }
        match event {
            StreamEvent::TextDelta { content_index, delta } => {
                if !self.prose.contains_key(content_index) {
                    self.end_reads();
                    let prose = Rc::new(RefCell::new(Prose::new(self.gallery.diagrams())));
                    log.push(prose.clone());
                    self.prose.insert(*content_index, prose);
                }
                self.prose[content_index].borrow_mut().push(delta);
            }
            StreamEvent::TextEnd { content_index, .. } => {
                if let Some(prose) = self.prose.remove(content_index) {
                    prose.borrow_mut().finish();
                }
            }
            StreamEvent::ThinkingDelta { content_index, delta } => {
                if !self.thinking.contains_key(content_index) {
                    self.end_reads();
                    let thought = Rc::new(RefCell::new(Thought::new(self.thoughts.clone())));
                    log.push(thought.clone());
                    self.thinking.insert(*content_index, thought);
                }
                self.thinking[content_index].borrow_mut().push(delta);
            }
            StreamEvent::ThinkingEnd { content_index, .. } => {
                if let Some(thought) = self.thinking.remove(content_index) {
                    thought.borrow_mut().finish();
                }
            }
            StreamEvent::ToolCallStart { content_index, name } => {
                let call = self.announce(log, name);
                self.arriving.insert(*content_index, call);
            }
            StreamEvent::ToolCallDelta { content_index, delta } => {
                if let Some(call) = self.arriving.get(content_index) {
                    call.borrow_mut().arrive(delta);
                }
            }
            StreamEvent::ToolCallEnd { content_index, tool_call: Content::ToolCall(whole) } => {
                let known = self.arriving.remove(content_index);
                let call = known.unwrap_or_else(|| self.announce(log, &whole.name));
                call.borrow_mut().arrived(&whole.name, &whole.arguments, &self.session);
                self.calls.insert(whole.id.clone(), call);
            }
            _ => {}
        }
    }

    fn ended(&mut self, log: &mut Log, message: &Message) {
        let Some(answer) = message.as_assistant() else { return };
        self.end_prose();
        if std::mem::take(&mut self.stopped_by_rule) && answer.stop_reason == StopReason::Aborted {
            return self.close();
        }
        match answer.stop_reason {
            StopReason::Aborted => self.mark(log),
            StopReason::Length => {
                self.note(log, Tone::Warning, "the answer was cut off by the model's output limit");
            }
            _ => {}
        }
    }

    /// An unexpected cache miss is reported at once.
    fn spent(&mut self, log: &mut Log, spent: &Spent) {
        self.turn = Some(spent.turn);
        if let Some(broken) = spent.unexpected_break()
            && self.costs.get().misses
        {
            self.note(log, Tone::Warning, broken.to_string());
        }
    }

    fn idle(&mut self, log: &mut Log, end: &RunEnd) {
        self.close();
        self.end_retries(match end {
            RunEnd::Failed(error) => Some(&error.message),
            _ => None,
        });
        let turn = self.turn.take().filter(|turn| turn.total_tokens > 0 && self.costs.get().turns);
        if let Some(turn) = turn {
            self.note(log, Tone::Aside, cost_line(&turn));
        }
        match end {
            RunEnd::Finished => {}
            RunEnd::Aborted => self.mark(log),
            RunEnd::Failed(error) => self.note(log, Tone::Error, with_retry_hint(&error.message)),
            RunEnd::OverBudget(reason) | RunEnd::Stopped(reason) => {
                self.note(log, Tone::Warning, reason.clone());
            }
            RunEnd::TurnLimit => {
                self.note(
                    log,
                    Tone::Warning,
                    "stopped: this prompt reached its limit of model requests; send a message to continue",
                );
            }
            RunEnd::Fatal(reason) => self.note(log, Tone::Error, reason.clone()),
        }
    }

    fn mark(&mut self, log: &mut Log) {
        if !std::mem::replace(&mut self.marked, true) {
            self.note(log, Tone::Mark, "⏹ interrupted");
        }
    }

    /// Adds a block for a call; consecutive reads share one.
    fn announce(&mut self, log: &mut Log, name: &str) -> Rc<RefCell<CallBlock>> {
        self.announced += 1;
        let call = Rc::new(RefCell::new(CallBlock::new(format!("announced-{}", self.announced), name)));
        if self.session.call_kind(name) == CallKind::Read {
            let reads = self.reads.get_or_insert_with(|| {
                let reads = Rc::new(RefCell::new(Reads::default()));
                log.push(reads.clone());
                reads
            });
            reads.borrow_mut().add(call.clone());
        } else {
            self.end_reads();
            log.push(call.clone());
        }
        call
    }

    /// Closes all open blocks.
    fn close(&mut self) {
        self.end_prose();
        for (_, call) in self.arriving.drain() {
            call.borrow_mut().give_up();
        }
        for (_, call) in self.calls.drain() {
            call.borrow_mut().give_up();
        }
        self.end_reads();
    }

    fn end_prose(&mut self) {
        self.prose.drain().for_each(|(_, prose)| prose.borrow_mut().finish());
        self.thinking.drain().for_each(|(_, thought)| thought.borrow_mut().finish());
    }

    /// `error` is the error that the run failed with.
    fn end_retries(&mut self, error: Option<&str>) {
        if let Some(retrying) = self.retrying.take() {
            retrying.borrow_mut().end(error);
        }
    }

    fn end_reads(&mut self) {
        if let Some(reads) = self.reads.take() {
            reads.borrow_mut().close();
        }
    }
}

pub fn said(content: &[Content], gallery: &Gallery) -> Note {
    let pictures = content.iter().filter_map(|block| match block {
        Content::Image(image) => Some(gallery.hang(&image.data, &image.mime_type)),
        _ => None,
    });
    Note::user(text_of(content), pictures.collect())
}

fn remind(reminded: &Reminded) -> String {
    let Reminded { kind, attempt, max_attempts, .. } = reminded;
    format!("reminded the model of its unfinished {kind} list ({attempt} of {max_attempts})")
}
