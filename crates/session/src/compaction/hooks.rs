//! Where extensions take part in a compaction.

use omp_types::Message;
use serde_json::Value;
use std::sync::Arc;

use super::outcome::{Compacted, CompactionReason};

/// Asked and told in the order of their list; the first answer counts.
pub trait CompactionHooks: Send + Sync {
    /// Before anything is summarized.
    fn before(&self, _plan: &CompactionPlan<'_>) -> BeforeCompaction {
        BeforeCompaction::Go
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
pub enum BeforeCompaction {
    #[default]
    Go,
    Cancel,
    /// This is the summary; no model is asked.
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
