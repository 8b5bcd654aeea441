//! The exploration between `checkpoint` and `rewind`: when it is active, and how its report replaces it.
//!
//! The session file is append-only: after a rewind the next entry follows the checkpoint's turn instead of the exploration,
//! which stays in the file as an abandoned branch. A loader walks back from the last entry and so gets the same
//! conversation without knowing of rewinds.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_agent::{CheckedCall, RunEnd, Stop, ToolOutcome, ToolRole};
use omp_compaction::TreeMove;
use omp_policy::DecidedBy;
use omp_store::{Context, EntryId};
use omp_types::Transcript;
use serde_json::{Value, json};

use super::{CallVerdict, FeatureMessage, SessionCx, SessionFeature, hidden};
use crate::approvals;
use crate::recorder::{RecorderError, RunningRecorder};

const REPORT_FOLLOWS: &str = "The exploration that began at the checkpoint is over and its steps are no longer shown. \
    Do not repeat it and do not call `rewind` again; go on from its report:";
const REMINDER: &str = "<system-warning>\nA checkpoint is active. Call `rewind` with what you found; only then may you \
    end your turn.\n</system-warning>";
/// After this many reminders the model may stop without a report.
const MAX_REMINDERS: u32 = 3;

#[derive(Default)]
pub(super) struct Exploration(Mutex<Active>);

impl Exploration {
    fn active(&self) -> MutexGuard<'_, Active> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFeature for Exploration {
    fn before_call<'a>(&'a self, cx: &'a SessionCx, call: &'a mut CheckedCall<'_>) -> BoxFuture<'a, CallVerdict> {
        let refusal = self.active().refusal(call.role());
        if refusal.is_some() {
            approvals::refused(&cx.control, call.call(), &DecidedBy::Exploration);
        }
        ready(refusal.map(CallVerdict::refuse).unwrap_or_default()).boxed()
    }

    fn after_call<'a>(
        &'a self,
        cx: &'a SessionCx,
        outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        self.active().note(outcome, cx.tool_role(&outcome.name));
        ready(None).boxed()
    }

    fn after_turn(&self, cx: &SessionCx, transcript: &mut Transcript) -> Result<(), Stop> {
        let done = self.active().after_turn(transcript, &mut cx.control.recorder());
        done.map_err(|error| Stop(error.to_string()))
    }

    fn before_finish<'a>(&'a self, _cx: &'a SessionCx) -> BoxFuture<'a, Option<FeatureMessage>> {
        ready(self.active().reminder()).boxed()
    }

    fn end_run(&self, end: &RunEnd) -> Option<Transcript> {
        if *end == RunEnd::Aborted {
            self.active().abandon();
        }
        None
    }

    /// The checkpoint may not be part of the new conversation.
    fn conversation_replaced(&self) {
        self.active().abandon();
    }

    fn moved(&self, _cx: &SessionCx, _moved: &TreeMove, _context: &Context) {
        self.active().abandon();
    }
}

/// The active checkpoint, if there is one.
#[derive(Default)]
struct Active {
    checkpoint: Option<Checkpoint>,
}

struct Checkpoint {
    call_id: String,
    tool: String,
    started_at: Value,
    /// Set when the turn of the checkpoint is over.
    place: Option<Place>,
    /// The report that replaces the exploration at the end of the turn.
    report: Option<String>,
    reminders: u32,
}

/// The last entry of the checkpoint's turn; `None` if the session is not saved.
struct Place(Option<EntryId>);

impl Active {
    /// Why the call is not allowed now, in words for the model.
    fn refusal(&self, role: Option<ToolRole>) -> Option<&'static str> {
        let exploring = self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.report.is_none());
        match role {
            Some(ToolRole::Checkpoint) if self.checkpoint.is_some() => Some("Checkpoint already active."),
            Some(ToolRole::Rewind) if !exploring => Some(
                "No active checkpoint. After a rewind its report stands in the conversation: go on from there, or call \
                 `checkpoint` before another exploration.",
            ),
            _ => None,
        }
    }

    /// Updates the state after a finished call.
    fn note(&mut self, outcome: &ToolOutcome, role: Option<ToolRole>) {
        let details = outcome.output.details.as_ref();
        let detail = |name: &str| details.and_then(|details| details.get(name)).cloned().unwrap_or_default();
        match (role, &mut self.checkpoint) {
            _ if outcome.output.is_error => {}
            (Some(ToolRole::Checkpoint), active) => {
                *active = Some(Checkpoint {
                    call_id: outcome.call_id.clone(),
                    tool: outcome.name.clone(),
                    started_at: detail("startedAt"),
                    place: None,
                    report: None,
                    reminders: 0,
                });
            }
            (Some(ToolRole::Rewind), Some(active)) => active.report = detail("report").as_str().map(str::to_owned),
            _ => {}
        }
    }

    /// Stores the position of a new checkpoint, or goes back to it if there is a report.
    fn after_turn(&mut self, transcript: &mut Transcript, recorder: &mut RunningRecorder) -> Result<(), RecorderError> {
        let Some(active) = &mut self.checkpoint else { return Ok(()) };
        let place = active.place.get_or_insert_with(|| Place(recorder.mark()));
        let Some(report) = active.report.take() else { return Ok(()) };
        // A provider may use one id for two calls, so the tool name is compared as well.
        let found = transcript.rewind_to(|result| {
            result.tool_call_id == active.call_id && result.tool_name == active.tool && !result.is_error
        });
        let details = json!({"startedAt": active.started_at, "report": report});
        let report = hidden("rewind-report", format!("{REPORT_FOLLOWS}\n\n{report}"), Some(details));
        if found {
            recorder.go_back_to(place.0.take());
        }
        self.checkpoint = None;
        recorder.message(&report)?;
        transcript.push_input(report);
        Ok(())
    }

    /// The reminder for a model that wants to end its turn during an exploration.
    fn reminder(&mut self) -> Option<FeatureMessage> {
        let active = self.checkpoint.as_mut().filter(|active| active.reminders < MAX_REMINDERS)?;
        active.reminders += 1;
        Some(FeatureMessage::new("rewind-reminder", REMINDER))
    }

    /// Forgets the checkpoint; the conversation stays as it is.
    fn abandon(&mut self) {
        self.checkpoint = None;
    }
}
