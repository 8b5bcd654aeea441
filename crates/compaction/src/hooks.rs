//! Hook types for compactions and moves to another branch.

use omp_store::{BranchSummary, EntryId};
use omp_types::Message;
use serde_json::Value;
use std::sync::Arc;

use crate::outcome::{CompactionFailure, CompactionReason};
use crate::session::{CompactionSession, LeftBranch};

/// The planned compaction.
pub struct CompactionPlan<'a> {
    pub reason: CompactionReason,
    pub instructions: Option<&'a str>,
    /// Messages that leave the context.
    pub messages: &'a [Arc<Message>],
    pub previous_summary: Option<&'a str>,
    pub tokens_before: u64,
}

/// A hook's decision before a summary is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BeforeSummary {
    #[default]
    Go,
    Cancel,
    /// Use this summary, if one is wanted, without a model.
    Summary {
        summary: String,
        details: Option<Value>,
    },
}

/// Changes to the input of the summarizing model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacting {
    /// Replaces the default prompt.
    pub prompt: Option<String>,
    pub context: Vec<String>,
    /// Data that is stored in the entry.
    pub preserve_data: Option<Value>,
}

/// The planned move in the session tree.
pub struct TreePlan<'a> {
    /// `None` for the position before the first entry.
    pub to: Option<&'a EntryId>,
    /// Whether the abandoned branch is to be summarized. Otherwise a supplied summary is ignored.
    pub summarizes: bool,
    pub instructions: Option<&'a str>,
    /// The abandoned branch, read from the file on demand.
    pub left: &'a dyn Fn() -> LeftBranch,
}

/// A completed move.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeMove {
    pub from: Option<EntryId>,
    /// The new position: the summary, if there is one.
    pub to: Option<EntryId>,
    /// `from_extension` means that no model has written it.
    pub summary: Option<BranchSummary>,
}

impl Compacting {
    /// Fills unset fields from the next hook.
    pub fn and(mut self, next: Self) -> Self {
        self.prompt = self.prompt.or(next.prompt);
        self.context.extend(next.context);
        self.preserve_data = self.preserve_data.or(next.preserve_data);
        self
    }
}

/// The combined requests of all hooks.
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

    /// Returns whether no hook has requested a change.
    pub fn is_plain(&self) -> bool {
        self.own.is_none() && self.compacting.prompt.is_none() && self.compacting.context.is_empty()
    }
}
