//! Stream rules: an answer that breaks one is stopped, or the model is notified afterwards.
//!
//! The listener of `omp-rules` gets every piece of an answer. A rule that may interrupt cuts the answer off; the partial
//! answer is removed or kept, and the rule's text is the next message for the model. A rule that may not interrupt is added
//! before the result of the call that broke it, or after the answer. Each delivery is recorded in the file, so that a
//! resumed session does not repeat it.

mod fired;
mod wording;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_agent::{AgentEvent, Stop, ToolOutcome};
use omp_compaction::TreeMove;
use omp_config::Rule;
use omp_rules::{ContextMode, Hit, RuleRepeat, RuleSettings, StreamListener, ViolationOrigin, Watch};
use omp_store::{Context, EntryId};
use omp_types::{AssistantMessage, Content, Message, StreamEvent, Transcript};
use serde_json::{Value, json};

use super::{FeatureMessage, SessionCx, SessionFeature};
use crate::event::SessionEvent;
use crate::recorder::{RecorderError, RunningRecorder};
use crate::resumed::Resumed;

pub use fired::RulesFired;

/// The type of the hidden messages that notify the model of a broken rule.
pub const TTSR_INJECTION: &str = "ttsr-injection";
/// How often one rule may stop the answers to one prompt. After that the rule is delivered without stopping, so that a
/// model that ignores it can still finish.
const MAX_INTERRUPTIONS: u32 = 3;

/// The rules that a session watches for.
#[derive(Clone, Debug, Default)]
pub struct StreamRules {
    pub watch: Arc<Watch>,
    pub settings: RuleSettings,
    /// Used to shorten the paths that the model sees.
    pub home: Option<PathBuf>,
}

pub(super) struct RulesWatched(Mutex<Watching>);

impl RulesWatched {
    pub fn new(rules: StreamRules) -> Self {
        Self(Mutex::new(Watching::new(rules)))
    }

    fn watching(&self) -> MutexGuard<'_, Watching> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFeature for RulesWatched {
    fn resume(&self, cx: &SessionCx, resumed: &Resumed) {
        let cwd = PathBuf::from(&cx.control.recorder().header().cwd);
        let mut watching = self.watching();
        watching.listener = StreamListener::new(cwd.clone());
        watching.cwd = cwd;
        watching.restore(&resumed.injected_rules);
    }

    fn before_request(&self) -> Option<FeatureMessage> {
        self.watching().injection(false)
    }

    fn hear_event(&self, _cx: &SessionCx, event: &AgentEvent) -> Result<Vec<SessionEvent>, Stop> {
        let mut watching = self.watching();
        watching.hear(event);
        Ok(watching.take_news().into_iter().map(SessionEvent::RulesFired).collect())
    }

    fn before_record(&self, _message: &Message, recorder: &mut RunningRecorder) -> Result<(), RecorderError> {
        let mut watching = self.watching();
        if watching.answer.cut {
            watching.answer.before = Some(recorder.before_draft()?);
        }
        Ok(())
    }

    fn after_record(&self, message: &Message, recorder: &mut RunningRecorder) -> Result<(), RecorderError> {
        match self.watching().delivered(message) {
            Some(names) => recorder.rules_injected(names),
            None => Ok(()),
        }
    }

    fn cuts(&self, partial: &AssistantMessage) -> bool {
        let mut watching = self.watching();
        watching.look(partial);
        watching.answer.cut
    }

    fn after_cut(&self, cx: &SessionCx, transcript: &mut Transcript) -> Option<FeatureMessage> {
        let mut watching = self.watching();
        if let Some(before) = watching.after_cut() {
            let answer = transcript.messages().last().and_then(|last| last.as_assistant());
            cx.control.spending().taken_back(answer);
            cx.control.tell_spending();
            transcript.pop_failed_reply();
            cx.control.recorder().leave_draft(before);
            cx.control.set_messages(transcript.messages());
        }
        watching.injection(true)
    }

    fn after_call<'a>(
        &'a self,
        cx: &'a SessionCx,
        outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        if let Some(names) = self.watching().remind(outcome) {
            // If this cannot be written, the result cannot be written either, and that ends the run.
            drop(cx.control.recorder().rules_injected(names));
        }
        ready(None).boxed()
    }

    fn before_finish<'a>(&'a self, _cx: &'a SessionCx) -> BoxFuture<'a, Option<FeatureMessage>> {
        ready(self.watching().injection(false)).boxed()
    }

    fn moved(&self, _cx: &SessionCx, _moved: &TreeMove, context: &Context) {
        self.watching().restore(&context.injected_rules);
    }
}

/// The rules being watched, and which of them were broken and reported.
struct Watching {
    rules: StreamRules,
    cwd: PathBuf,
    listener: StreamListener,
    /// The turn in which the model was last notified of a rule, by rule name.
    told: HashMap<String, u64>,
    turn: u64,
    interruptions: HashMap<usize, u32>,
    answer: Answer,
}

/// The state of the current answer.
#[derive(Default)]
struct Answer {
    /// The newest arguments of a call, which are scanned together with their context.
    arguments: Option<(usize, String)>,
    /// Rules to be delivered in the next message.
    pending: Vec<usize>,
    /// Rules to be delivered with the result of a call.
    by_call: Vec<(String, Vec<usize>)>,
    cut: bool,
    /// The entry before the answer that is cut off.
    before: Option<Option<EntryId>>,
    news: Vec<RulesFired>,
}

impl Watching {
    fn new(rules: StreamRules) -> Self {
        Self {
            rules,
            cwd: PathBuf::new(),
            listener: StreamListener::new(PathBuf::new()),
            told: HashMap::new(),
            turn: 0,
            interruptions: HashMap::new(),
            answer: Answer::default(),
        }
    }

    /// Resets the state for another conversation, in which the model was notified of these rules.
    fn restore(&mut self, told: &[String]) {
        self.turn = 0;
        self.told = told.iter().map(|name| (name.clone(), 0)).collect();
        self.answer = Answer::default();
    }

    fn hear(&mut self, event: &AgentEvent) {
        if self.rules.watch.is_empty() {
            return;
        }
        match event {
            AgentEvent::AgentStart => {
                self.interruptions.clear();
                // A run that could not be saved may have ended between a cut and its follow-up.
                (self.answer.cut, self.answer.before, self.answer.arguments) = (false, None, None);
            }
            AgentEvent::TurnStart => self.listener.reset(),
            AgentEvent::MessageUpdate { event } => self.streamed(event),
            AgentEvent::MessageEnd { message } => {
                let failed = message.as_assistant().is_some_and(AssistantMessage::failed);
                if failed {
                    self.answer.by_call.clear();
                }
                if failed && !self.answer.cut {
                    self.answer.pending.clear();
                }
            }
            AgentEvent::TurnEnd { .. } => {
                self.turn += 1;
                self.answer.by_call.clear();
            }
            _ => {}
        }
    }

    fn streamed(&mut self, event: &StreamEvent) {
        let watch = self.rules.watch.clone();
        let hits = match event {
            StreamEvent::TextDelta { content_index, delta } => self.listener.text(&watch, *content_index, delta),
            StreamEvent::ThinkingDelta { content_index, delta } => {
                self.listener.thinking(&watch, *content_index, delta)
            }
            StreamEvent::TextEnd { content_index, .. } | StreamEvent::ThinkingEnd { content_index, .. } => {
                self.listener.ended(&watch, *content_index)
            }
            StreamEvent::ToolCallDelta { content_index, delta } => {
                self.answer.arguments = Some((*content_index, delta.clone()));
                return;
            }
            StreamEvent::ToolCallEnd { content_index, tool_call: Content::ToolCall(call) } => {
                self.listener.call_ended(&watch, *content_index, call)
            }
            _ => return,
        };
        self.take(hits);
    }

    /// Scans the newest arguments of a call.
    fn look(&mut self, partial: &AssistantMessage) {
        let Some((index, delta)) = self.answer.arguments.take() else { return };
        if let Some(Content::ToolCall(call)) = partial.content.get(index) {
            let watch = self.rules.watch.clone();
            let hits = self.listener.arguments(&watch, index, call, &delta);
            self.take(hits);
        }
    }

    fn take(&mut self, mut hits: Vec<Hit>) {
        hits.retain(|hit| self.may_fire(hit.rule));
        let Some(origin) = hits.first().map(|hit| hit.origin.clone()) else { return };
        // A call that writes two files may break the same rule in each.
        let rules: BTreeSet<usize> = hits.iter().map(|hit| hit.rule).collect();
        let interrupts = rules.iter().any(|rule| self.interrupts(*rule, &origin));
        let named = rules.iter().filter_map(|rule| self.rules.watch.rule(*rule).cloned()).collect();
        self.answer.news.push(RulesFired { rules: named, interrupts });
        if interrupts {
            self.answer.cut = true;
            for rule in &rules {
                *self.interruptions.entry(*rule).or_default() += 1;
            }
        }
        match origin {
            ViolationOrigin::Tool(id) if !interrupts && !id.is_empty() => {
                match self.answer.by_call.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, waiting)) => waiting.extend(rules),
                    None => self.answer.by_call.push((id, rules.into_iter().collect())),
                }
            }
            _ => self.answer.pending.extend(rules),
        }
    }

    /// Whether the rule may fire: it was not delivered too recently and is not about to be delivered.
    fn may_fire(&self, rule: usize) -> bool {
        let Some(known) = self.rules.watch.rule(rule) else { return false };
        let waits = self.answer.pending.contains(&rule)
            || self.answer.by_call.iter().any(|(_, waiting)| waiting.contains(&rule));
        let is_due = match (self.told.get(&known.name), self.rules.settings.repeat) {
            (None, _) => true,
            (Some(_), RuleRepeat::Once) => false,
            (Some(told), RuleRepeat::AfterGap(gap)) => self.turn.saturating_sub(*told) >= gap,
        };
        is_due && !waits
    }

    fn interrupts(&self, rule: usize, origin: &ViolationOrigin) -> bool {
        let mode = self.rules.watch.interrupt_mode(rule).unwrap_or(self.rules.settings.interrupt);
        let in_tool = matches!(origin, ViolationOrigin::Tool(_));
        mode.interrupts(in_tool) && self.interruptions.get(&rule).is_none_or(|times| *times < MAX_INTERRUPTIONS)
    }

    fn take_news(&mut self) -> Vec<RulesFired> {
        std::mem::take(&mut self.answer.news)
    }

    /// The answer was cut off. `Some` if it is to be removed, with the entry before it.
    fn after_cut(&mut self) -> Option<Option<EntryId>> {
        self.answer.cut = false;
        self.answer.by_call.clear();
        let before = self.answer.before.take();
        before.filter(|_| self.rules.settings.context == ContextMode::Discard)
    }

    /// The next message about broken rules; `stopped` says whether the answer was cut off.
    fn injection(&mut self, stopped: bool) -> Option<FeatureMessage> {
        let pending = std::mem::take(&mut self.answer.pending);
        let rules = self.named(&pending);
        if rules.is_empty() {
            return None;
        }
        let text = wording::interrupt(&rules, stopped, &self.cwd, self.rules.home.as_deref());
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        Some(FeatureMessage::new(TTSR_INJECTION, text).with_details(json!({"rules": names})))
    }

    /// The names of the rules in a message, which count as delivered from now on.
    fn delivered(&mut self, message: &Message) -> Option<Vec<String>> {
        let Message::Custom(custom) = message else { return None };
        let details = custom.details.as_ref().filter(|_| custom.custom_type == TTSR_INJECTION)?;
        let names = details.get("rules").and_then(Value::as_array)?;
        let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        self.know(&names);
        (!names.is_empty()).then_some(names)
    }

    /// Adds the rules pending for this call before its result. Returns their names, if there are any.
    fn remind(&mut self, outcome: &mut ToolOutcome) -> Option<Vec<String>> {
        let at = self.answer.by_call.iter().position(|(id, _)| *id == outcome.call_id)?;
        let (_, rules) = self.answer.by_call.swap_remove(at);
        let rules = self.named(&rules);
        let text = wording::reminder(&rules, &self.cwd, self.rules.home.as_deref());
        outcome.output.content.insert(0, Content::text(text));
        let names: Vec<String> = rules.iter().map(|rule| rule.name.clone()).collect();
        self.know(&names);
        Some(names)
    }

    fn named(&self, rules: &[usize]) -> Vec<Arc<Rule>> {
        rules.iter().filter_map(|rule| self.rules.watch.rule(*rule).cloned()).collect()
    }

    fn know(&mut self, names: &[String]) {
        self.told.extend(names.iter().map(|name| (name.clone(), self.turn)));
    }
}
