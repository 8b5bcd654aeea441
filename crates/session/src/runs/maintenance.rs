//! Keeps the conversation within the model's context window: on request, before a request, after a run, when idle.

use std::sync::Arc;

use omp_agent::RunEnd;
use omp_compaction::{
    BranchNote, Compacted, CompactionFailure, CompactionReason, CompactionRequest, Compactor, ShakeMode, TreeMove,
};
use omp_store::EntryId;
use omp_types::{AssistantMessage, ErrorKind, Message, Model, StopReason, ThinkingLevel, Transcript};
use tokio_util::sync::CancellationToken;

use crate::actor::Actor;
use crate::compacting::CompactingSession;
use crate::control::Control;
use crate::event::SessionEvent;
use crate::features;
use crate::history;
use crate::inbox::Inbox;
use crate::recorder::RecorderError;
use crate::retry::RetryPolicy;
use crate::spending::BreakCause;
use crate::{Command, GoToError};

/// How often one prompt may be recovered from a context overflow.
pub(crate) const MOST_RECOVERIES: u32 = 3;
/// The message to a model whose conversation was compacted during its work.
const GO_ON: &str = include_str!("go_on.md");

/// The result of a recovery.
pub(crate) enum Recovered {
    /// The run continues with these messages.
    GoOn(Vec<Arc<Message>>),
    Stays,
}

impl Recovered {
    pub fn goes_on(&self) -> bool {
        matches!(self, Recovered::GoOn(_))
    }
}

/// Checks the size of every request before it is sent.
pub(crate) struct Watch<'a> {
    pub upkeep: &'a mut Compactor,
    pub model: &'a Arc<Model>,
    pub thinking: ThinkingLevel,
    pub retry: RetryPolicy,
    pub cancel: &'a CancellationToken,
}

impl Watch<'_> {
    pub async fn before_request(
        &mut self,
        control: &Arc<Control>,
        transcript: &mut Transcript,
    ) -> Result<(), RecorderError> {
        let session = CompactingSession {
            control: control.clone(),
            model: self.model.clone(),
            thinking: self.thinking,
            retry: self.retry,
            cancel: self.cancel.clone(),
        };
        self.upkeep.tidy(&session, transcript);
        if !self.upkeep.options.settings.mid_turn || !self.upkeep.is_full(&session, transcript) {
            return Ok(());
        }
        // A larger model cannot be selected during a run; an overflow will end the run, and then it can.
        if self.upkeep.promotion(self.model).is_some() {
            return Ok(());
        }
        let works = transcript.messages().last().is_some_and(|last| matches!(**last, Message::ToolResult(_)));
        let wanted = CompactionRequest { reason: CompactionReason::Threshold, instructions: None, will_retry: false };
        let done = self.upkeep.run(&session, transcript, wanted).await;
        if done.is_ok() && works && self.upkeep.options.settings.auto_continue {
            let message = go_on();
            control.recorder().message(&message)?;
            control.add_message(message.clone());
            transcript.push_input(message);
        }
        count_spent(self.upkeep, control);
        Ok(())
    }
}

/// A hook that cancels, or a file that cannot be read.
fn tree_failure(failure: CompactionFailure) -> GoToError {
    match failure {
        CompactionFailure::Aborted => GoToError::Vetoed,
        other => GoToError::NotSummarized(other.told()),
    }
}

fn not_summarized(failure: CompactionFailure) -> GoToError {
    match failure {
        CompactionFailure::Aborted => GoToError::Cancelled,
        other => GoToError::NotSummarized(other.told()),
    }
}

/// Accounts for the cost of the summaries.
fn count_spent(upkeep: &mut Compactor, control: &Control) {
    upkeep.take_spent().iter().for_each(|answer| control.spent_beside("compaction", answer));
}

fn go_on() -> Arc<Message> {
    features::hidden("auto-continue", GO_ON.trim_end(), None)
}

impl Actor {
    /// Compacts on request of the user. The running prompt was already aborted.
    pub(crate) async fn compact(
        &mut self,
        instructions: Option<String>,
        inbox: &mut Inbox,
    ) -> Result<Compacted, String> {
        let wanted = CompactionRequest {
            reason: CompactionReason::Manual,
            instructions: instructions.as_deref(),
            will_retry: false,
        };
        match self.compact_now(wanted, inbox).await {
            Ok(Some(compacted)) => Ok(compacted),
            Ok(None) => Err("the conversation was shortened without a summary".to_owned()),
            Err(failure) => Err(failure.told()),
        }
    }

    async fn compact_now(
        &mut self,
        wanted: CompactionRequest<'_>,
        inbox: &mut Inbox,
    ) -> Result<Option<Compacted>, CompactionFailure> {
        let control = self.control.clone();
        let cancel = control.begin();
        let done = inbox.hearing(&control, Box::pin(self.keep_up(wanted, &cancel))).await;
        // The reply reports failures of the compaction; a full disk is also reported by the next prompt.
        let _ = self.control.recorder().sync();
        self.publish(false);
        done
    }

    /// Borrows the compactor, the conversation and the session interface.
    fn at_work(&mut self, cancel: &CancellationToken) -> (CompactingSession, &mut Compactor, &mut Transcript) {
        let session = CompactingSession {
            control: self.control.clone(),
            model: self.models.current.clone(),
            thinking: self.models.thinking,
            retry: self.guard.retry,
            cancel: cancel.clone(),
        };
        (session, &mut self.upkeep, &mut self.transcript)
    }

    async fn keep_up(
        &mut self,
        wanted: CompactionRequest<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<Compacted>, CompactionFailure> {
        let (session, upkeep, transcript) = self.at_work(cancel);
        let done = upkeep.run(&session, transcript, wanted).await;
        count_spent(&mut self.upkeep, &self.control);
        if done.is_ok() {
            self.control.conversation_replaced();
        }
        done
    }

    /// The next command. If the setting is on, a session that gets no command for long enough is compacted meanwhile.
    pub(crate) async fn next_command(&mut self, inbox: &mut Inbox) -> Option<Command> {
        if let Some(idle) = self.upkeep.options.settings.idle
            && self.upkeep.is_automatic()
            && self.control.compacts()
            && self.tokens() > idle.threshold_tokens
        {
            tokio::select! {
                biased;
                command = inbox.next() => return command,
                () = tokio::time::sleep(idle.timeout) => {}
            }
            let wanted = CompactionRequest { reason: CompactionReason::Idle, instructions: None, will_retry: false };
            // The result is reported by its event.
            let _ = self.compact_now(wanted, inbox).await;
        }
        inbox.next().await
    }

    /// The estimated tokens of the next request.
    fn tokens(&mut self) -> u64 {
        let (session, upkeep, transcript) = self.at_work(&CancellationToken::new());
        upkeep.tokens(&session, transcript)
    }

    /// Leaves out heavy content on request of the user.
    pub(crate) fn shake(&mut self, mode: ShakeMode) -> Result<u64, String> {
        let cancel = CancellationToken::new();
        let (session, upkeep, transcript) = self.at_work(&cancel);
        let saved = upkeep.shake_by_hand(&session, transcript, mode).map_err(|failure| failure.told())?;
        self.control.conversation_replaced();
        self.publish(false);
        Ok(saved)
    }

    /// Writes a handoff document on request of the user.
    pub(crate) async fn hand_off(&mut self, focus: Option<String>, inbox: &mut Inbox) -> Result<String, String> {
        let control = self.control.clone();
        let cancel = control.begin();
        control.set_compacting(true);
        let work = Box::pin(self.hand_off_now(focus.as_deref(), &cancel));
        let done = inbox.hearing(&control, work).await;
        control.set_compacting(false);
        self.publish(false);
        done.map_err(|failure| match failure {
            CompactionFailure::Aborted => "Handoff cancelled".to_owned(),
            other => other.told(),
        })
    }

    async fn hand_off_now(
        &mut self,
        focus: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<String, CompactionFailure> {
        let (session, upkeep, transcript) = self.at_work(cancel);
        let done = upkeep.hand_off(&session, transcript, focus).await;
        count_spent(&mut self.upkeep, &self.control);
        if done.is_ok() {
            self.control.conversation_replaced();
        }
        done
    }

    pub(crate) async fn edit_summary(&mut self, summary: &str) -> Result<Compacted, String> {
        if summary.trim().is_empty() {
            return Err("the summary is empty\nhint: write what the model needs to know".to_owned());
        }
        let cancel = CancellationToken::new();
        let (session, upkeep, transcript) = self.at_work(&cancel);
        let done = upkeep.correct(&session, transcript, summary.trim());
        self.publish(false);
        done.map_err(|failure| failure.told())
    }

    /// Moves to another entry, with a note about the branch that is left.
    pub(crate) async fn go_to(
        &mut self,
        leaf: Option<EntryId>,
        note: BranchNote,
        inbox: &mut Inbox,
    ) -> Result<(), GoToError> {
        let from = self.control.recorder().leaf();
        let (session, upkeep, _) = self.at_work(&CancellationToken::new());
        let hooked = upkeep.before_tree(&session, leaf.as_ref(), &note);
        let summary = match hooked.map_err(tree_failure)? {
            Some(own) => Some(own),
            None => self.branch_note(leaf.as_ref(), note, inbox).await?,
        };
        let found = self.control.recorder().go_to(leaf.clone());
        let context = found.ok_or(GoToError::Unrecorded)??;
        let Some(mut context) = context else { return Err(leaf.map_or(GoToError::Unrecorded, GoToError::NoEntry)) };
        let moved = TreeMove { from, to: leaf, summary };
        if let Some(summary) = &moved.summary {
            let written = self.control.recorder().branch_summary(summary.clone());
            let written = written.map_err(|error| GoToError::NotSummarized(error.to_string()))?;
            if let Some(Ok(Some(with_it))) = self.control.recorder().go_to(written) {
                context = with_it;
            }
        }
        self.control.spending().expect(BreakCause::Moved);
        self.transcript =
            self.upkeep.reblanked(self.control.as_sent(history::prepare(std::mem::take(&mut context.messages))));
        self.control.set_messages(self.transcript.messages());
        self.publish(false);
        let moved = TreeMove { to: self.control.recorder().leaf(), ..moved };
        self.tell(SessionEvent::Moved).await;
        self.control.moved(&moved, &context);
        Ok(())
    }

    /// The summary or note about the branch that is left, if there is to be one.
    async fn branch_note(
        &mut self,
        leaf: Option<&EntryId>,
        note: BranchNote,
        inbox: &mut Inbox,
    ) -> Result<Option<omp_store::BranchSummary>, GoToError> {
        if let BranchNote::Summary(words) = &note {
            let summed_up = self.summed_up(leaf, words.as_deref(), inbox).await;
            return summed_up.map_err(not_summarized);
        }
        if note == BranchNote::Nothing || !self.upkeep.options.settings.branches.always {
            return Ok(None);
        }
        match self.summed_up(leaf, None, inbox).await {
            Err(failure @ CompactionFailure::Aborted) => Err(not_summarized(failure)),
            Err(failure) => {
                // The summary was automatic, so its failure does not prevent the move.
                let text = format!("the branch was left without a summary: {}", failure.told());
                self.tell(SessionEvent::Notice { source: "tree", text }).await;
                Ok(None)
            }
            Ok(summary) => Ok(summary),
        }
    }

    /// Summarizes the branch that is left, and keeps handling commands meanwhile.
    async fn summed_up(
        &mut self,
        target: Option<&EntryId>,
        words: Option<&str>,
        inbox: &mut Inbox,
    ) -> Result<Option<omp_store::BranchSummary>, CompactionFailure> {
        let control = self.control.clone();
        let cancel = control.begin();
        control.set_compacting(true);
        let done = inbox.hearing(&control, Box::pin(self.sum_up(target, words, &cancel))).await;
        control.set_compacting(false);
        done
    }

    async fn sum_up(
        &mut self,
        target: Option<&EntryId>,
        words: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Option<omp_store::BranchSummary>, CompactionFailure> {
        let (session, upkeep, _) = self.at_work(cancel);
        let done = upkeep.summarize_branch(&session, target, words).await;
        count_spent(&mut self.upkeep, &self.control);
        done
    }

    /// The compaction that the end of a run calls for, if any.
    pub(crate) fn need(&mut self, end: &RunEnd, cancel: &CancellationToken) -> Option<CompactionReason> {
        match end {
            RunEnd::Failed(error) if error.kind == ErrorKind::ContextOverflow => Some(CompactionReason::Overflow),
            RunEnd::Finished if self.is_cut_off() => Some(CompactionReason::Incomplete),
            RunEnd::Finished => {
                let (session, upkeep, transcript) = self.at_work(cancel);
                upkeep.is_full(&session, transcript).then_some(CompactionReason::Threshold)
            }
            _ => None,
        }
    }

    /// Whether the last answer was cut off because the context was full.
    fn is_cut_off(&self) -> bool {
        let last = self.transcript.messages().last().and_then(|message| message.as_assistant());
        last.is_some_and(|answer| answer.stop_reason == StopReason::Length)
    }

    /// Whether the prompt continues after a successful compaction.
    pub(crate) fn goes_on_after(&self, need: CompactionReason) -> bool {
        match need {
            CompactionReason::Overflow | CompactionReason::Incomplete => true,
            _ => self.is_unfinished(),
        }
    }

    /// Whether the prompt can continue after a compaction, as far as is known before it: a short conversation has nothing
    /// to leave out.
    pub(crate) fn may_go_on_after(&mut self, need: CompactionReason, cancel: &CancellationToken) -> bool {
        if !self.goes_on_after(need) {
            return false;
        }
        if self.larger_model(need).is_some() {
            return true;
        }
        self.control.compacts() && self.upkeep.is_automatic() && self.may_shorten(cancel)
    }

    fn may_shorten(&mut self, cancel: &CancellationToken) -> bool {
        let (session, upkeep, transcript) = self.at_work(cancel);
        upkeep.may_shorten(&session, transcript)
    }

    /// Whether the last answer has no text, and so does not finish the prompt.
    fn is_unfinished(&self) -> bool {
        let last = self.transcript.messages().iter().rev().find_map(|message| message.as_assistant());
        let silent = |answer: &AssistantMessage| answer.text().trim().is_empty();
        self.upkeep.options.settings.auto_continue && last.is_some_and(silent)
    }

    /// Makes room by switching to a larger model, or else by a compaction.
    pub(crate) async fn recover(&mut self, need: CompactionReason, cancel: &CancellationToken) -> Recovered {
        let before = (self.transcript.clone(), self.control.recorder().leaf());
        match need {
            CompactionReason::Overflow => self.transcript.pop_failed_reply(),
            CompactionReason::Incomplete => self.take_back_answer(),
            _ => {}
        }
        let will_retry = matches!(need, CompactionReason::Overflow | CompactionReason::Incomplete);
        if self.promote(need).await {
            return if will_retry { Recovered::GoOn(Vec::new()) } else { Recovered::Stays };
        }
        let go_on_afterwards = self.goes_on_after(need);
        let wanted = CompactionRequest { reason: need, instructions: None, will_retry };
        let is_on = self.control.compacts() && self.upkeep.is_automatic();
        // No compaction is tried for a cut-off answer if nothing can be left out: its failure would add no information.
        let done = match is_on && (need != CompactionReason::Incomplete || self.may_shorten(cancel)) {
            true => self.keep_up(wanted, cancel).await.is_ok(),
            false => false,
        };
        if !done {
            // Restore the answer that was taken back.
            let (transcript, leaf) = before;
            self.transcript = transcript;
            if need == CompactionReason::Incomplete {
                self.control.recorder().set_leaf(leaf);
            }
            self.control.set_messages(self.transcript.messages());
        }
        match done {
            true if will_retry => Recovered::GoOn(Vec::new()),
            true if go_on_afterwards => Recovered::GoOn(vec![go_on()]),
            _ => Recovered::Stays,
        }
    }

    /// Removes the last answer from the conversation. In the file it stays on a branch of its own.
    fn take_back_answer(&mut self) {
        let parent = self.control.recorder().before_last_message();
        if let Some(parent) = parent {
            self.control.recorder().set_leaf(parent);
        }
        let kept = self.transcript.messages().split_last().map(|(_, kept)| kept.to_vec()).unwrap_or_default();
        self.transcript = self.control.as_sent(kept.iter().map(|message| Message::clone(message)));
    }

    fn larger_model(&self, need: CompactionReason) -> Option<Arc<Model>> {
        match need {
            CompactionReason::Overflow => self.upkeep.promotion_after_overflow(&self.models.current),
            _ => self.upkeep.promotion(&self.models.current),
        }
    }

    /// Switches to the larger model that the current one names, or else to the next larger one.
    async fn promote(&mut self, need: CompactionReason) -> bool {
        let Some(larger) = self.larger_model(need) else { return false };
        let text = format!(
            "the context is too large for {}; continuing with {}, which takes {} tokens",
            self.models.current.selector(),
            larger.selector(),
            larger.context_window
        );
        self.control.recorder().model_changed(&larger);
        self.models.current = larger;
        self.publish(true);
        self.tell(SessionEvent::Notice { source: "compaction", text }).await;
        true
    }
}
