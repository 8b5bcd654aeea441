//! Keeps a long conversation within the model's context window: what is removed, what replaces it, what survives.

mod blank;
mod branch;
mod compactor;
mod cost;
mod cut;
mod details;
mod evicted;
mod files;
mod handoff;
mod hooks;
mod ledger;
mod native;
mod outcome;
mod promote;
mod prompts;
mod prospect;
mod prune;
mod remote;
mod serialize;
mod session;
mod settings;
mod shake;
mod shorten;
mod span;
mod summarize;
mod trigger;

#[cfg(test)]
mod planted_facts;
#[cfg(test)]
mod sample;

pub use blank::{BLANKED_ENTRY, ShakeMode};
pub use branch::BranchNote;
pub use compactor::{CompactionOptions, CompactionRequest, Compactor};
pub use cut::ConversationEntry;
pub use hooks::{BeforeSummary, Compacting, CompactionPlan, TreeMove, TreePlan};
pub use outcome::{Compacted, CompactionFailure, CompactionReason, Survived};
pub use prospect::Prospect;
pub use remote::RemoteSummary;
pub use session::{CompactionEvent, CompactionSession, LeftBranch};
pub use settings::{
    BranchSummaries, COMPACTION_SETTINGS, CompactionLimits, CompactionSettings, CompactionStrategy, IdleCompaction,
};

use cost::{Estimate, would_cost_more_than_it_saves};
use cut::{Cut, adapted_keep_recent, find_cut};
use details::{Survivors, compose, strip_tags};
use evicted::{Addresses, evicted_url};
use files::file_operations;
use prune::{CacheState, Pass, PruneNote, PrunePolicy, apply_notes, prune};
use serialize::serialize;
use shake::{ShakePolicy, shake, shake_notes, shake_pictures};

/// Returns the summary of the removed messages.
pub fn summary_in(messages: &[std::sync::Arc<omp_types::Message>]) -> Option<String> {
    span::Previous::of(messages).map(|previous| previous.summary)
}

/// Returns the summary and the short summary, if the message is a compaction summary.
pub fn compaction_summary(message: &omp_types::Message) -> Option<(String, Option<String>)> {
    let previous = span::Previous::of_message(message)?;
    Some((previous.summary, previous.short_summary))
}
