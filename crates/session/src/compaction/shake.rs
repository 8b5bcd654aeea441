//! The mechanical strategy: old tool results are shortened and old thinking is dropped, without asking a model.

use omp_types::Transcript;

use super::prune::PruneNote;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ShakePolicy {
    /// Tokens at the end that stay as they are.
    pub keep_recent_tokens: u64,
    pub least_saving: u64,
}

pub(crate) struct Shaken {
    pub transcript: Transcript,
    pub saved_tokens: u64,
    pub notes: Vec<PruneNote>,
}

pub(crate) fn shake(transcript: &Transcript, policy: &ShakePolicy) -> Option<Shaken> {
    let _ = (transcript, policy);
    None
}
