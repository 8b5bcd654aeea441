//! Whether shortening the conversation pays: the summary has to be made and the shorter prefix has to be cached anew.

use omp_types::Prices;

/// What is known before a compaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// The whole context now.
    pub before: u64,
    /// What the summarizer would read.
    pub summarized: u64,
    /// What the summarizer would write.
    pub summary: u64,
    /// The context afterwards: system prompt and tools, what is kept, summary, ledger.
    pub after: u64,
    pub prices: Prices,
}

/// The reason, in words for the user, when it does not pay within the requests that may be expected.
pub(crate) fn would_cost_more_than_it_saves(estimate: &Estimate) -> Option<String> {
    (estimate.after >= estimate.before).then(|| String::from("nothing would be saved"))
}
