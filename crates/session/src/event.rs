//! What a session tells its front ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{AgentEvent, RunEnd};
use omp_types::{Message, Model, ThinkingLevel, Usage};

use crate::desk::Question;

#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// Anything of the loop but its end, which [`SessionEvent::AgentEnd`] tells with more knowledge.
    Agent(AgentEvent),
    AgentEnd {
        messages: Vec<Arc<Message>>,
        /// `false` when a retry follows.
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
    Question(Question),
    /// A prompt has been worked off, for good or ill.
    Idle {
        end: RunEnd,
        /// Messages that were queued for a run that failed or was aborted.
        undelivered: Vec<Arc<Message>>,
    },
}

/// The session at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub session_id: String,
    pub file: Option<PathBuf>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub running: bool,
    pub message_count: usize,
    pub queued: usize,
    /// Summed over the answers of this process.
    pub usage: Usage,
}
