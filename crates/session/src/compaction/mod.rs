//! Keeping a long conversation within what a model can hold: what is cut, what is told in its place, what survives.

mod cost;
mod cut;
mod details;
mod evicted;
mod files;
mod ledger;
pub(crate) mod prompts;
mod prune;
mod serialize;
mod shake;
mod shorten;

#[cfg(test)]
mod planted_facts;
#[cfg(test)]
mod sample;

pub(crate) use cost::{Estimate, would_cost_more_than_it_saves};
pub(crate) use cut::{Cut, Entry, adapted_keep_recent, find_cut};
pub(crate) use details::{Survivors, compose, strip_tags};
pub(crate) use evicted::{Addresses, Evicted, Span, evicted_url};
pub(crate) use files::{FileOps, file_operations};
pub(crate) use ledger::Ledger;
pub(crate) use prune::{CacheState, Pass, PruneNote, PrunePolicy, Pruned, apply_notes, prune};
pub(crate) use serialize::serialize;
pub(crate) use shake::{ShakePolicy, Shaken, shake};
