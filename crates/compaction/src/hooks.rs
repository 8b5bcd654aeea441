//! Where extensions take part in a compaction, and in a move to another branch.

use omp_store::{BranchSummary, EntryId};
use omp_types::Message;
use serde_json::Value;
use std::sync::Arc;

use crate::outcome::{Compacted, CompactionFailure, CompactionReason};

/// Asked and told in the order of their list; the first answer counts.
pub trait CompactionHooks: Send + Sync {
    /// Before anything is summarized.
    fn before(&self, _plan: &CompactionPlan<'_>) -> BeforeSummary {
        BeforeSummary::Go
    }

    /// What the summarizing model is told besides.
    fn compacting(&self, _plan: &CompactionPlan<'_>) -> Compacting {
        Compacting::default()
    }

    /// It is in the file. `from_extension`: a hook has written the summary.
    fn compacted(&self, _compacted: &Compacted, _from_extension: bool) {}
}

/// What is about to happen.
pub struct CompactionPlan<'a> {
    pub reason: CompactionReason,
    pub instructions: Option<&'a str>,
    /// Leaves the context.
    pub messages: &'a [Arc<Message>],
    pub previous_summary: Option<&'a str>,
    pub tokens_before: u64,
}

/// What a hook wants.
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

/// The same for moves within the session's tree.
pub trait TreeHooks: Send + Sync {
    /// Before the session goes anywhere, and before the branch that is left is summed up.
    fn before(&self, _plan: &TreePlan<'_>) -> BeforeSummary {
        BeforeSummary::Go
    }

    /// It is there.
    fn moved(&self, _moved: &TreeMove) {}
}

/// Where the session is about to go.
pub struct TreePlan<'a> {
    pub from: Option<&'a EntryId>,
    /// `None`: before the first entry.
    pub to: Option<&'a EntryId>,
    /// Whether the branch that is left is to be summed up.
    pub summarizes: bool,
    pub instructions: Option<&'a str>,
    /// What is left behind.
    pub messages: &'a [Arc<Message>],
}

/// A move that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeMove {
    pub from: Option<EntryId>,
    /// Where the session stands now: the summary, where there is one.
    pub to: Option<EntryId>,
    /// `from_extension` says that a hook has written it.
    pub summary: Option<BranchSummary>,
}

/// What the hooks want.
pub(crate) struct Hooked {
    pub own: Option<String>,
    pub details: Option<Value>,
    pub compacting: Compacting,
}

impl Hooked {
    pub fn ask(hooks: &[Arc<dyn CompactionHooks>], plan: &CompactionPlan<'_>) -> Result<Self, CompactionFailure> {
        let mut hooked = Self { own: None, details: None, compacting: Compacting::default() };
        for hook in hooks {
            match hook.before(plan) {
                BeforeSummary::Go => {}
                BeforeSummary::Cancel => return Err(CompactionFailure::Aborted),
                BeforeSummary::Summary { summary, details } => {
                    hooked.own = Some(summary);
                    hooked.details = details;
                    return Ok(hooked);
                }
            }
        }
        for hook in hooks {
            let Compacting { prompt, context, preserve_data } = hook.compacting(plan);
            hooked.compacting.prompt = hooked.compacting.prompt.or(prompt);
            hooked.compacting.context.extend(context);
            hooked.compacting.preserve_data = hooked.compacting.preserve_data.or(preserve_data);
        }
        Ok(hooked)
    }

    /// Whether nobody has asked for anything out of the usual.
    pub fn is_plain(&self) -> bool {
        self.own.is_none() && self.compacting.prompt.is_none() && self.compacting.context.is_empty()
    }
}
