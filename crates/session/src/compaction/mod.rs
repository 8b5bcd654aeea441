//! Keeping a long conversation within what a model can hold: what is cut, what is told in its place, what survives.

mod blank;
mod branch;
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
pub(crate) mod prompts;
mod prune;
mod remote;
mod serialize;
mod settings;
mod shake;
mod shorten;
mod span;
mod summarize;
pub(crate) mod trigger;
mod upkeep;

#[cfg(test)]
mod planted_facts;
#[cfg(test)]
mod sample;

pub(crate) use blank::notes_in;
pub(crate) use branch::abandoned;
pub(crate) use cost::{Estimate, would_cost_more_than_it_saves};
pub(crate) use cut::{Cut, adapted_keep_recent, find_cut};
pub(crate) use details::{Survivors, compose, strip_tags};
pub(crate) use evicted::{Addresses, evicted_url};
pub(crate) use files::file_operations;
pub(crate) use outcome::Failure;
pub(crate) use prune::{CacheState, Pass, PruneNote, PrunePolicy, apply_notes, prune};
pub(crate) use serialize::serialize;
pub(crate) use shake::{ShakePolicy, shake};
pub(crate) use upkeep::{Scene, Upkeep, Wanted, tell};

/// The words that stand for what was taken out.
pub(crate) fn summary_in(messages: &[std::sync::Arc<omp_types::Message>]) -> Option<String> {
    span::Previous::of(messages).map(|previous| previous.summary)
}

/// The words that stand for what was taken out and the short ones, where a message is such a summary.
pub fn compaction_summary(message: &omp_types::Message) -> Option<(String, Option<String>)> {
    let previous = span::Previous::of_message(message)?;
    Some((previous.summary, previous.short_summary))
}

pub use blank::BLANKED_ENTRY;
pub use hooks::{BeforeSummary, Compacting, CompactionHooks, CompactionPlan, TreeHooks, TreeMove, TreePlan};
pub use outcome::{Compacted, CompactionReason, Survived};
pub use remote::RemoteSummary;
pub use settings::{
    BranchSummaries, COMPACTION_SETTINGS, CompactionLimits, CompactionSettings, CompactionStrategy, IdleCompaction,
};
pub use upkeep::CompactionOptions;
