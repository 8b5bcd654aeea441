//! Takes tool output that is no longer worth its tokens out of the context, each call and result staying a pair.

use std::collections::BTreeSet;

use omp_types::Transcript;
use serde::{Deserialize, Serialize};

/// When the provider forgets the cached prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheState {
    /// When the last request was answered; `None` when nothing can be cached.
    pub last_request_ms: Option<u64>,
    pub lifetime_ms: u64,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Only what is stale, and only where the cache loses little.
    EveryTurn,
    /// Also old output, in case that makes a compaction needless.
    BeforeCompaction,
}

#[derive(Clone, Debug)]
pub(crate) struct PrunePolicy {
    pub pass: Pass,
    /// Tokens of the newest tool output that stay.
    pub protect_tokens: u64,
    pub least_saving: u64,
    /// `compaction.dropUseless`.
    pub drop_useless: bool,
    /// `compaction.supersedeReads`.
    pub supersede_reads: bool,
    pub protected_tools: BTreeSet<String>,
    /// The plan that is being carried out.
    pub plan_file: Option<String>,
}

pub(crate) struct Pruned {
    pub transcript: Transcript,
    pub saved_tokens: u64,
    pub notes: Vec<PruneNote>,
}

/// What was done to one result; kept in the file, so that a resumed session is told the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PruneNote {
    pub call_id: String,
    /// What stands in its place.
    pub text: String,
}

pub(crate) fn prune(transcript: &Transcript, policy: &PrunePolicy, now_ms: u64, cache: CacheState) -> Option<Pruned> {
    let _ = (transcript, policy, now_ms, cache);
    None
}

/// Does again what was done to a conversation before it was written and read.
pub(crate) fn apply_notes(transcript: &Transcript, notes: &[PruneNote]) -> Transcript {
    let _ = notes;
    transcript.clone()
}
