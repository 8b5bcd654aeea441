//! What a compaction needs of the session whose conversation it shortens.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_store::{Compaction, Custom, EntryId};
use omp_types::{Llm, Message, Model, ModelError, Request, Transcript};
use tokio_util::sync::CancellationToken;

use crate::cut::ConversationEntry;
use crate::hooks::{BeforeSummary, Compacting, CompactionPlan, TreePlan};
use crate::outcome::{Compacted, CompactionReason};
use crate::settings::CompactionStrategy;

/// The session, for as long as one compaction takes. A problem with its file is a sentence.
pub trait CompactionSession: Send + Sync {
    fn llm(&self) -> &dyn Llm;

    fn model(&self) -> &Arc<Model>;

    /// The session's next request without its messages. No tool has to be called in it.
    fn request(&self) -> Request;

    /// How long to wait before a failed request is made again, for the `attempt`th time; `None` when the failure stands.
    fn retry_delay(&self, error: &ModelError, attempt: u32) -> Option<Duration>;

    /// Whether the waits before retries take place.
    fn waits(&self) -> bool;

    /// Ends the compaction early.
    fn cancel(&self) -> &CancellationToken;

    /// Whether a full context is shortened without being asked.
    fn compacts(&self) -> bool;

    /// The session's file.
    fn file(&self) -> Option<PathBuf>;

    /// The conversation as the file has it; `None` for a session without a file.
    fn recorded(&self) -> Result<Option<Vec<ConversationEntry>>, String>;

    /// What is left behind when the session goes on from `target`; `None` for a session without a file.
    fn left_branch(&self, target: Option<&EntryId>) -> Result<Option<LeftBranch>, String>;

    /// A conversation as it may be sent.
    fn as_sent(&self, messages: Vec<Message>) -> Transcript;

    /// Writes a compaction: where it stands, and the conversation from then on. `None` for a session without a file.
    fn write_compaction(&self, compaction: &Compaction) -> Result<Option<(EntryId, Vec<Message>)>, String>;

    fn write_note(&self, note: Custom) -> Result<(), String>;

    /// Writes a message before which nothing is told any more.
    fn begin_anew(&self, message: &Arc<Message>) -> Result<(), String>;

    /// The conversation has become this one.
    fn replaced(&self, messages: &[Arc<Message>]);

    /// Old output is blanked, so the next request begins differently.
    fn pruned(&self);

    /// Asked before anything is shortened: why that must not be done, if so.
    fn before<'a>(&'a self, by_hand: bool, instructions: Option<&'a str>) -> BoxFuture<'a, Option<String>>;

    /// Asked before anything is summarized: whether somebody cancels it or has written the summary.
    fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary;

    /// What the summarizing model is told besides.
    fn compacting(&self, plan: &CompactionPlan<'_>) -> Compacting;

    /// A summary is in the file. `from_extension`: no model has written it.
    fn compacted(&self, compacted: &Compacted, from_extension: bool);

    /// Asked before the session goes on from another entry, and before the branch that is left is summed up.
    fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary;

    /// Told after the conversation was shortened.
    fn after(&self) -> BoxFuture<'_, ()>;

    fn tell(&self, event: CompactionEvent) -> BoxFuture<'_, ()>;
}

/// The part of the tree that a move leaves.
#[derive(Clone, Debug, Default)]
pub struct LeftBranch {
    /// Where the session stands before the move.
    pub from: Option<EntryId>,
    pub messages: Vec<Arc<Message>>,
}

/// What happens during a compaction, for whoever watches the session.
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
    /// The conversation begins anew with this document.
    HandedOff(Arc<Message>),
}

/// Says something to the user.
pub(crate) async fn tell(session: &dyn CompactionSession, text: &str) {
    session.tell(CompactionEvent::Notice(text.to_owned())).await;
}
