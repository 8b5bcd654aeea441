//! What a session tells its front ends.

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
    /// Anything of the loop but its end, which [`SessionEvent::AgentEnd`] tells with more knowledge.
    Agent(AgentEvent),
    AgentEnd {
        messages: Vec<Arc<Message>>,
        /// `false` when a retry follows, or the prompt once more.
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
    /// The model was reminded of something when it wanted to stop.
    Reminded(Reminded),
    /// The model broke rules. Where that stops its answer, this comes before the answer's end.
    RulesFired(RulesFired),
    Question(Question),
    /// A call was not run: it needs a yes, and nobody can be asked. Its result says the same to the model.
    Refused(Refused),
    /// A prompt waits for the running work; so many do now.
    Queued {
        waiting: usize,
    },
    /// A job in the background has ended; the model hears of it with its next request.
    JobEnded(JobEnded),
    /// The provider refused something, which is left out of what is sent from now on.
    Quarantined(Quarantined),
    /// What an answer took, behind its end.
    Spent(Box<Spent>),
    /// The conversation is being shortened.
    CompactionStart {
        reason: CompactionReason,
        action: CompactionStrategy,
    },
    /// It is shorter now, or stays as it is. From a `result` on, what is sent begins with something else.
    CompactionEnd {
        reason: CompactionReason,
        action: CompactionStrategy,
        result: Option<Box<Compacted>>,
        aborted: bool,
        will_retry: bool,
        error: Option<String>,
        /// Why nothing had to be done.
        skipped: Option<String>,
    },
    /// Something the user should know.
    Notice {
        /// What tells it, in one word.
        source: &'static str,
        text: String,
    },
    /// Nobody waits for the answer to this question any more.
    Dismissed {
        id: u64,
    },
    /// A source of slash commands has brought others: [`crate::Session::commands`].
    CommandsChanged,
    /// The session has a new title.
    Renamed {
        title: String,
    },
    /// The conversation is another one now: the session went on from another entry of its file.
    Moved,
    /// A prompt has been worked off, for good or ill.
    Idle {
        end: RunEnd,
        /// Prompts that were queued for a run that failed or was aborted.
        undelivered: Vec<Prompt>,
    },
}

/// What the model was reminded of.
#[derive(Clone, Debug, PartialEq)]
pub struct Reminded {
    /// What reminds, such as `todo`.
    pub kind: &'static str,
    /// What is left, as the front ends of this kind know it.
    pub items: Value,
    pub attempt: u32,
    pub max_attempts: u32,
}

/// The session at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub session_id: String,
    pub title: Option<String>,
    pub file: Option<PathBuf>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub running: bool,
    /// Whether the running prompt has told its end and only puts its things away.
    pub answered: bool,
    pub message_count: usize,
    pub queued: usize,
    pub modes: QueueModes,
    pub auto_retry: bool,
    /// Whether the conversation is shortened without being asked.
    pub auto_compaction: bool,
    /// Whether that is going on right now, or a branch being summed up.
    pub compacting: bool,
    /// Whether branches that are left are summed up (`branchSummary.enabled`).
    pub sums_up_branches: bool,
    pub approval_mode: ApprovalMode,
    /// Whether plan mode is on: nothing of the project changes.
    pub plans: bool,
    /// Summed over everything asked in this process.
    pub usage: Usage,
    /// What the session has taken so far: by model, by turn, and what was lost.
    pub spending: Arc<Account>,
}
