//! The interface that a compaction needs from its session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_store::{Compaction, Custom, EntryId};
use omp_types::{CallFactSource, Llm, Message, Model, ModelError, Request, Transcript};
use tokio_util::sync::CancellationToken;

use crate::cut::ConversationEntry;
use crate::hooks::{BeforeSummary, Compacting, CompactionPlan, TreePlan};
use crate::outcome::{Compacted, CompactionReason};
use crate::settings::CompactionStrategy;

/// The session during one compaction. Errors of its file are sentences.
pub trait CompactionSession: Send + Sync {
    fn llm(&self) -> &dyn Llm;

    fn model(&self) -> &Arc<Model>;

    /// Returns the session's next request without messages and without a forced tool.
    fn request(&self) -> Request;

    /// Returns the delay before the given retry of a failed request; `None` if it must not be retried.
    fn retry_delay(&self, error: &ModelError, attempt: u32) -> Option<Duration>;

    /// Whether retry delays are really waited for.
    fn waits(&self) -> bool;

    /// Cancels the compaction.
    fn cancel(&self) -> &CancellationToken;

    /// Whether a full context is compacted automatically.
    fn compacts(&self) -> bool;

    /// The session's file.
    fn file(&self) -> Option<PathBuf>;

    /// Returns the conversation in the file; `None` for a session without a file.
    fn recorded(&self) -> Result<Option<Vec<ConversationEntry>>, String>;

    /// Returns the branch that is abandoned when the session continues from `target`; `None` for a session without a file.
    fn left_branch(&self, target: Option<&EntryId>) -> Result<Option<LeftBranch>, String>;

    /// Returns what is known about the calls of the session's tools.
    fn call_facts(&self) -> Arc<dyn CallFactSource>;

    /// Converts messages to the form that is sent.
    fn as_sent(&self, messages: Vec<Message>) -> Transcript;

    /// Writes a compaction; returns its entry and the new conversation. `None` for a session without a file.
    fn write_compaction(&self, compaction: &Compaction) -> Result<Option<(EntryId, Vec<Message>)>, String>;

    fn write_note(&self, note: Custom) -> Result<(), String>;

    /// Writes a message with which the context starts over.
    fn begin_anew(&self, message: &Arc<Message>) -> Result<(), String>;

    /// Called after the conversation was replaced.
    fn replaced(&self, messages: &[Arc<Message>]);

    /// Called after old output was blanked, so that the next request starts differently.
    fn pruned(&self);

    /// Called before a compaction; returns the reason if it must not happen.
    fn before<'a>(&'a self, by_hand: bool, instructions: Option<&'a str>) -> BoxFuture<'a, Option<String>>;

    /// Called before a summary is made; a hook may cancel it or supply the summary.
    fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary;

    /// Returns additional input for the summarizing model.
    fn compacting(&self, plan: &CompactionPlan<'_>) -> Compacting;

    /// Called after a summary was written to the file. `from_extension`: no model has written it.
    fn compacted(&self, compacted: &Compacted, from_extension: bool);

    /// Called before the session continues from another entry, and before the abandoned branch is summarized.
    fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary;

    /// Called after the conversation was shortened.
    fn after(&self) -> BoxFuture<'_, ()>;

    fn tell(&self, event: CompactionEvent) -> BoxFuture<'_, ()>;
}

/// The part of the tree that a move abandons.
#[derive(Clone, Debug, Default)]
pub struct LeftBranch {
    /// The position before the move.
    pub from: Option<EntryId>,
    pub messages: Vec<Arc<Message>>,
}

/// Progress events of a compaction.
#[derive(Clone, Debug)]
pub enum CompactionEvent {
    Notice(String),
    Started {
        reason: CompactionReason,
        action: CompactionStrategy,
    },
    Ended {
        reason: CompactionReason,
        action: CompactionStrategy,
        result: Option<Box<Compacted>>,
        aborted: bool,
        will_retry: bool,
        /// Why nothing was done.
        skipped: Option<String>,
        error: Option<String>,
    },
    /// The conversation restarts with this document.
    HandedOff(Arc<Message>),
}

/// Sends a notice to the user.
pub(crate) async fn tell(session: &dyn CompactionSession, text: &str) {
    session.tell(CompactionEvent::Notice(text.to_owned())).await;
}
