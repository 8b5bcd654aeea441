//! The exploration between `checkpoint` and `rewind`: when it is on, and how its report takes its place.
//!
//! The file only grows: after a rewind its next entry follows the checkpoint's turn instead of the exploration, which
//! stays in the file as a branch that was left. Whoever loads the file walks back from its end and so meets the same
//! conversation, without knowing of rewinds.

use std::sync::Arc;

use omp_agent::ToolOutcome;
use omp_store::EntryId;
use omp_types::{Message, Transcript};
use serde_json::{Value, json};

use crate::recorder::{Recorder, RecorderError};
use crate::reminder::hidden;

const CHECKPOINT: &str = "checkpoint";
const REWIND: &str = "rewind";

const REPORT_FOLLOWS: &str = "The exploration that began at the checkpoint is over and its steps are no longer shown. \
    Do not repeat it and do not call `rewind` again; go on from its report:";
const REMINDER: &str = "<system-warning>\nA checkpoint is active. Call `rewind` with what you found; only then may you \
    end your turn.\n</system-warning>";
/// A model that does not listen is let go after this.
const MAX_REMINDERS: u32 = 3;

/// The active checkpoint, if there is one.
#[derive(Default)]
pub(crate) struct Exploration {
    checkpoint: Option<Checkpoint>,
}

struct Checkpoint {
    call_id: String,
    started_at: Value,
    /// Known when the turn of the checkpoint is over.
    place: Option<Place>,
    /// What to put in place of the exploration at the end of the turn.
    report: Option<String>,
    reminders: u32,
}

/// The last entry of the checkpoint's turn; none where nothing is saved.
struct Place(Option<EntryId>);

impl Exploration {
    /// Why a call cannot be made now, for the model.
    pub fn refusal(&self, tool: &str) -> Option<&'static str> {
        let exploring = self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.report.is_none());
        match tool {
            CHECKPOINT if self.checkpoint.is_some() => Some("Checkpoint already active."),
            REWIND if !exploring => Some(
                "No active checkpoint. After a rewind its report stands in the conversation: go on from there, or call \
                 `checkpoint` before another exploration.",
            ),
            _ => None,
        }
    }

    /// Looks at a finished call.
    pub fn note(&mut self, outcome: &ToolOutcome) {
        let details = outcome.output.details.as_ref();
        let detail = |name: &str| details.and_then(|details| details.get(name)).cloned().unwrap_or_default();
        match (outcome.name.as_str(), &mut self.checkpoint) {
            _ if outcome.output.is_error => {}
            (CHECKPOINT, active) => {
                *active = Some(Checkpoint {
                    call_id: outcome.call_id.clone(),
                    started_at: detail("startedAt"),
                    place: None,
                    report: None,
                    reminders: 0,
                });
            }
            (REWIND, Some(active)) => active.report = detail("report").as_str().map(str::to_owned),
            _ => {}
        }
    }

    /// Remembers the place of a new checkpoint, or goes back to it when there is a report.
    pub fn after_turn(&mut self, transcript: &mut Transcript, recorder: &mut Recorder) -> Result<(), RecorderError> {
        let Some(active) = &mut self.checkpoint else { return Ok(()) };
        let place = active.place.get_or_insert_with(|| Place(recorder.mark()));
        let Some(report) = active.report.take() else { return Ok(()) };
        // Providers may give two calls one id, so the name counts as well.
        let found = transcript.rewind_to(|result| {
            result.tool_call_id == active.call_id && result.tool_name == CHECKPOINT && !result.is_error
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

    /// What to tell a model that wants to end its turn in the middle of an exploration.
    pub fn reminder(&mut self) -> Option<Arc<Message>> {
        let active = self.checkpoint.as_mut().filter(|active| active.reminders < MAX_REMINDERS)?;
        active.reminders += 1;
        Some(hidden("rewind-reminder", REMINDER, None))
    }

    /// Forgets the checkpoint; the conversation stays as it is.
    pub fn abandon(&mut self) {
        self.checkpoint = None;
    }
}
