//! Events that a session sends to its front ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{AgentEvent, QueueModes, RunEnd};
use omp_compaction::{Compacted, CompactionReason, CompactionStrategy};
use omp_policy::ApprovalMode;
use omp_types::{Message, Model, ThinkingLevel, Usage};
use serde_json::Value;

use crate::desk::Question;
use crate::features::{JobEnded, Quarantined, RulesFired};
use crate::prepared::Prompt;
use crate::refused::Refused;
use crate::spending::{Account, Spent};

#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// Any event of the agent loop except its end, which [`SessionEvent::AgentEnd`] reports in more detail.
    Agent(AgentEvent),
    AgentEnd {
        messages: Vec<Arc<Message>>,
        /// `false` when a retry or a repetition of the prompt follows.
        is_terminal: bool,
    },
    RetryStart {
        attempt: u32,
        max_attempts: u32,
        delay: Duration,
        reason: String,
    },
    RetryEnd {
        success: bool,
        attempt: u32,
        final_error: Option<String>,
    },
    /// The model was given a reminder when it was about to stop.
    Reminded(Reminded),
    /// The model broke stream rules. If this stops its answer, the event comes before the answer's end.
    RulesFired(RulesFired),
    Question(Question),
    /// A call was not run because it needs approval and no user is attending. The model gets the same text as the result of
    /// the call.
    Refused(Refused),
    /// A prompt was queued behind the running work; the event has the number of queued prompts.
    Queued {
        waiting: usize,
    },
    /// A background job has ended; the model is notified with its next request.
    JobEnded(JobEnded),
    /// The provider refused a block, which is left out of all further requests.
    Quarantined(Quarantined),
    /// The cost of an answer, sent after the answer's end.
    Spent(Box<Spent>),
    /// A compaction of the conversation starts.
    CompactionStart {
        reason: CompactionReason,
        action: CompactionStrategy,
    },
    /// A compaction ended. If it has a `result`, the beginning of the conversation that is sent has changed.
    CompactionEnd {
        reason: CompactionReason,
        action: CompactionStrategy,
        result: Option<Box<Compacted>>,
        aborted: bool,
        will_retry: bool,
        error: Option<String>,
        /// Why no compaction was needed.
        skipped: Option<String>,
    },
    /// A message for the user.
    Notice {
        /// The component that sends it, in one word.
        source: &'static str,
        text: String,
    },
    /// The question no longer needs an answer.
    Dismissed {
        id: u64,
    },
    /// A source of slash commands has changed its commands: [`crate::Session::commands`].
    CommandsChanged,
    /// The session has a new title.
    Renamed {
        title: String,
    },
    /// The conversation was replaced: the session continues from another entry of its file.
    Moved,
    /// A prompt has ended, whether it succeeded or not.
    Idle {
        end: RunEnd,
        /// Prompts that were queued for a run that failed or was aborted.
        undelivered: Vec<Prompt>,
    },
}

/// A reminder given to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reminded {
    /// The kind of the reminder, such as `todo`.
    pub kind: &'static str,
    /// The open items, in the format that front ends know for this kind.
    pub items: Value,
    pub attempt: u32,
    pub max_attempts: u32,
}

/// The state of the session at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub session_id: String,
    pub title: Option<String>,
    pub file: Option<PathBuf>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub running: bool,
    /// Whether the running prompt has reported its end and is only cleaning up.
    pub answered: bool,
    pub message_count: usize,
    pub queued: usize,
    pub modes: QueueModes,
    pub auto_retry: bool,
    /// Whether the conversation is compacted automatically.
    pub auto_compaction: bool,
    /// Whether a compaction or a branch summary is in progress.
    pub compacting: bool,
    /// Whether a summary is written for a branch that is left (`branchSummary.enabled`).
    pub sums_up_branches: bool,
    pub approval_mode: ApprovalMode,
    /// Whether plan mode is on, in which nothing in the project changes.
    pub plans: bool,
    /// The usage of all requests made in this process.
    pub usage: Usage,
    /// The usage of the session so far: by model, by turn, and what lost caches have cost.
    pub spending: Arc<Account>,
}
