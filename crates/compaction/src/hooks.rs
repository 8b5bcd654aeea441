//! What those who take part in a session are asked and told of a compaction, and of a move to another branch.

use omp_store::{BranchSummary, EntryId};
use omp_types::Message;
use serde_json::Value;
use std::sync::Arc;

use crate::outcome::{CompactionFailure, CompactionReason};
use crate::session::{CompactionSession, LeftBranch};

/// What is about to happen.
pub struct CompactionPlan<'a> {
    pub reason: CompactionReason,
    pub instructions: Option<&'a str>,
    /// Leaves the context.
    pub messages: &'a [Arc<Message>],
    pub previous_summary: Option<&'a str>,
    pub tokens_before: u64,
}

/// What somebody wants who was asked before.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BeforeSummary {
    #[default]
    Go,
    Cancel,
    /// This is the summary, where one is wanted; no model is asked.
    Summary {
        summary: String,
        details: Option<Value>,
    },
}

/// Changes to what the summarizing model is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacting {
    /// Instead of the usual prompt.
    pub prompt: Option<String>,
    pub context: Vec<String>,
    /// Kept in the entry.
    pub preserve_data: Option<Value>,
}

/// Where the session is about to go.
pub struct TreePlan<'a> {
    /// `None`: before the first entry.
    pub to: Option<&'a EntryId>,
    /// Whether the branch that is left is to be summed up. A summary that nobody wants is not used.
    pub summarizes: bool,
    pub instructions: Option<&'a str>,
    /// What is left behind, read from the file when it is asked for.
    pub left: &'a dyn Fn() -> LeftBranch,
}

/// A move that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeMove {
    pub from: Option<EntryId>,
    /// Where the session stands now: the summary, where there is one.
    pub to: Option<EntryId>,
    /// `from_extension` says that no model has written it.
    pub summary: Option<BranchSummary>,
}

impl Compacting {
    /// With what the next one wants, where this one does not say otherwise.
    pub fn and(mut self, next: Self) -> Self {
        self.prompt = self.prompt.or(next.prompt);
        self.context.extend(next.context);
        self.preserve_data = self.preserve_data.or(next.preserve_data);
        self
    }
}

/// What those who take part in the session want.
pub(crate) struct Hooked {
    pub own: Option<String>,
    pub details: Option<Value>,
    pub compacting: Compacting,
}

impl Hooked {
    pub fn ask(session: &dyn CompactionSession, plan: &CompactionPlan<'_>) -> Result<Self, CompactionFailure> {
        match session.before_summary(plan) {
            BeforeSummary::Go => Ok(Self { own: None, details: None, compacting: session.compacting(plan) }),
            BeforeSummary::Cancel => Err(CompactionFailure::Aborted),
            BeforeSummary::Summary { summary, details } => {
                Ok(Self { own: Some(summary), details, compacting: Compacting::default() })
            }
        }
    }

    /// Whether nobody has asked for anything out of the usual.
    pub fn is_plain(&self) -> bool {
        self.own.is_none() && self.compacting.prompt.is_none() && self.compacting.context.is_empty()
    }
}
