//! Calls the hooks of all features of a session in the right order.

use std::sync::Arc;

use omp_agent::{AgentEvent, CheckedCall, RunEnd, Stop, ToolOutcome};
use omp_compaction::{BeforeSummary, Compacted, Compacting, CompactionPlan, TreeMove, TreePlan};
use omp_store::Context;
use omp_types::{AssistantMessage, Message, ModelError, ToolCall, Transcript};
use serde_json::Value;

use super::{AcceptedMessages, CallVerdict, EndReason, FeatureMessage, SessionCx, StartSource};
use crate::control::Control;
use crate::event::SessionEvent;
use crate::recorder::RecorderError;
use crate::resumed::Resumed;
use crate::spending::RequestParts;

impl Control {
    pub fn cx(self: &Arc<Self>) -> SessionCx {
        SessionCx { control: self.clone() }
    }

    pub fn resume(self: &Arc<Self>, resumed: &Resumed) {
        let cx = self.cx();
        self.features.iter().for_each(|feature| feature.resume(&cx, resumed));
    }

    pub async fn start(self: &Arc<Self>, source: StartSource) {
        let cx = self.cx();
        for feature in &self.features {
            feature.start(&cx, source).await;
        }
    }

    pub async fn begin_prompt(self: &Arc<Self>, said: &[Arc<Message>]) {
        let cx = self.cx();
        for feature in &self.features {
            feature.begin_prompt(&cx, said).await;
        }
    }

    pub fn begin_run(&self) {
        self.features.iter().for_each(|feature| feature.begin_run());
    }

    pub async fn hear(self: &Arc<Self>, mut said: Vec<Arc<Message>>) -> AcceptedMessages {
        let cx = self.cx();
        for feature in &self.features {
            said = feature.hear(&cx, said).await?;
        }
        Ok(said)
    }

    /// Messages for the model that are sent with the next prompt.
    pub fn news(&self) -> Vec<Arc<Message>> {
        self.features.iter().filter_map(|feature| feature.news()).map(FeatureMessage::into_message).collect()
    }

    pub fn stops_run(&self) -> Option<String> {
        self.features.iter().find_map(|feature| feature.stops_run())
    }

    /// Messages to be added to the next request; they are already written to the file.
    pub fn before_request(&self) -> Result<Vec<Arc<Message>>, RecorderError> {
        let said =
            self.features.iter().filter_map(|feature| feature.before_request()).map(FeatureMessage::into_message);
        let said: Vec<Arc<Message>> = said.collect();
        for message in &said {
            self.record(message)?;
            self.add_message(message.clone());
        }
        Ok(said)
    }

    pub fn weigh_request(self: &Arc<Self>, parts: &RequestParts, transcript: &Transcript) -> Option<RunEnd> {
        let cx = self.cx();
        self.features.iter().find_map(|feature| feature.weigh_request(&cx, parts, transcript))
    }

    pub fn hear_event(self: &Arc<Self>, event: &AgentEvent) -> Result<Vec<SessionEvent>, Stop> {
        let cx = self.cx();
        let mut told = Vec::new();
        for feature in &self.features {
            told.extend(feature.hear_event(&cx, event)?);
        }
        Ok(told)
    }

    pub fn after_event(self: &Arc<Self>, event: &AgentEvent) -> Vec<SessionEvent> {
        let cx = self.cx();
        self.features.iter().filter_map(|feature| feature.after_event(&cx, event)).collect()
    }

    /// Writes a message to the file, together with what was typed for it and the entries that features write around it.
    pub fn record(&self, message: &Arc<Message>) -> Result<(), RecorderError> {
        let typed = self.standing().prepared.delivered(message);
        let mut recorder = self.recorder();
        for feature in &self.features {
            feature.before_record(message, &mut recorder)?;
        }
        if let Some(typed) = typed {
            recorder.note(typed)?;
        }
        recorder.message(message)?;
        self.features.iter().rev().try_for_each(|feature| feature.after_record(message, &mut recorder))
    }

    pub fn cuts(&self, partial: &AssistantMessage) -> bool {
        self.features.iter().any(|feature| feature.cuts(partial))
    }

    pub fn after_cut(self: &Arc<Self>, transcript: &mut Transcript) -> Vec<Arc<Message>> {
        let cx = self.cx();
        let said = self.features.iter().filter_map(|feature| feature.after_cut(&cx, transcript));
        said.map(FeatureMessage::into_message).collect()
    }

    /// Asks each feature about a call; each sees the changes made by the features before it.
    pub async fn before_call(self: &Arc<Self>, call: &mut CheckedCall<'_>) -> CallVerdict {
        let cx = self.cx();
        let mut all = CallVerdict::default();
        for feature in &self.features {
            let word = feature.before_call(&cx, call).await;
            if word.refusal.is_some() {
                return word;
            }
            all.permission = word.permission.or(all.permission);
        }
        all
    }

    pub fn call_runs(&self, call: &ToolCall) {
        self.features.iter().for_each(|feature| feature.call_runs(call));
    }

    pub async fn before_change(self: &Arc<Self>, id: &str, what: &str) {
        let cx = self.cx();
        for feature in &self.features {
            feature.before_change(&cx, id, what).await;
        }
    }

    pub async fn after_change(self: &Arc<Self>, id: &str) {
        let cx = self.cx();
        for feature in self.features.iter().rev() {
            feature.after_change(&cx, id).await;
        }
    }

    /// Returns the messages to be added after the results of the turn, in the order of the features.
    pub async fn after_call(self: &Arc<Self>, outcome: &mut ToolOutcome) -> Vec<FeatureMessage> {
        let cx = self.cx();
        let mut said = Vec::new();
        for feature in self.features.iter().rev() {
            said.extend(feature.after_call(&cx, outcome).await);
        }
        said.reverse();
        said
    }

    pub fn after_turn(self: &Arc<Self>, transcript: &mut Transcript) -> Result<(), Stop> {
        let cx = self.cx();
        self.features.iter().try_for_each(|feature| feature.after_turn(&cx, transcript))
    }

    /// Returns the message of the first feature that has one.
    pub async fn before_finish(self: &Arc<Self>) -> Option<FeatureMessage> {
        let cx = self.cx();
        for feature in &self.features {
            let said = feature.before_finish(&cx).await;
            if said.is_some() {
                return said;
            }
        }
        None
    }

    pub fn after_refusal(
        self: &Arc<Self>,
        error: &ModelError,
        refused: &Transcript,
        written: &dyn Fn() -> Option<Value>,
    ) -> Option<Transcript> {
        let cx = self.cx();
        self.features.iter().find_map(|feature| feature.after_refusal(&cx, error, refused, written))
    }

    pub fn end_run(&self, end: &RunEnd) -> Option<Transcript> {
        // Every feature is called, even after one has returned a transcript.
        self.features.iter().rev().fold(None, |known, feature| feature.end_run(end).or(known))
    }

    pub async fn end_prompt(self: &Arc<Self>) {
        let cx = self.cx();
        for feature in self.features.iter().rev() {
            feature.end_prompt(&cx).await;
        }
    }

    pub fn idle(self: &Arc<Self>, end: &RunEnd) {
        let cx = self.cx();
        self.features.iter().for_each(|feature| feature.idle(&cx, end));
    }

    /// Converts messages to the form in which they may be sent.
    pub fn as_sent(&self, messages: impl IntoIterator<Item = Message>) -> Transcript {
        let sent = |message| self.features.iter().fold(message, |message, feature| feature.as_sent(message));
        Transcript::repair(messages.into_iter().map(sent))
    }

    pub async fn before_compaction(self: &Arc<Self>, by_hand: bool, instructions: Option<&str>) -> Option<String> {
        let cx = self.cx();
        for feature in &self.features {
            let why = feature.before_compaction(&cx, by_hand, instructions).await;
            if why.is_some() {
                return why;
            }
        }
        None
    }

    pub fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary {
        first_wish(self.features.iter().map(|feature| feature.before_summary(plan)))
    }

    pub fn compacting(&self, plan: &CompactionPlan<'_>) -> Compacting {
        self.features.iter().fold(Compacting::default(), |all, feature| all.and(feature.compacting(plan)))
    }

    pub fn compacted(&self, compacted: &Compacted, from_extension: bool) {
        self.features.iter().for_each(|feature| feature.compacted(compacted, from_extension));
    }

    pub fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary {
        let wishes = self.features.iter().map(|feature| feature.before_move(plan));
        first_wish(wishes.filter(|wish| plan.summarizes || !matches!(wish, BeforeSummary::Summary { .. })))
    }

    pub async fn after_compaction(self: &Arc<Self>) {
        let cx = self.cx();
        for feature in self.features.iter().rev() {
            feature.after_compaction(&cx).await;
        }
    }

    pub fn conversation_replaced(&self) {
        self.features.iter().for_each(|feature| feature.conversation_replaced());
    }

    pub fn moved(self: &Arc<Self>, moved: &TreeMove, context: &Context) {
        let cx = self.cx();
        self.features.iter().for_each(|feature| feature.moved(&cx, moved, context));
    }

    pub async fn user_wanted(self: &Arc<Self>, kind: &'static str, message: &str) {
        let cx = self.cx();
        for feature in &self.features {
            feature.user_wanted(&cx, kind, message).await;
        }
    }

    pub async fn end(self: &Arc<Self>, reason: EndReason) {
        let cx = self.cx();
        for feature in self.features.iter().rev() {
            feature.end(&cx, reason).await;
        }
    }
}

fn first_wish(mut wishes: impl Iterator<Item = BeforeSummary>) -> BeforeSummary {
    wishes.find(|wish| *wish != BeforeSummary::Go).unwrap_or_default()
}
