//! Whether compaction pays: the summary costs a request and the shorter prefix has to be cached again.

use omp_stdx::format::grouped;
use omp_types::Prices;

/// Expected number of further requests: a turn of real work.
const EXPECTED_REQUESTS: f64 = 30.0;
/// Minimum share of the context to save; less is not worth the loss of detail.
const LEAST_PART: f64 = 0.1;
const PER_MILLION: f64 = 1_000_000.0;

/// Estimates before a compaction, in tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// The whole context now.
    pub before: u64,
    /// Input of the summarizer.
    pub summarized: u64,
    /// Output of the summarizer.
    pub summary: u64,
    /// The context afterwards: system prompt and tools, kept messages, summary, ledger.
    pub after: u64,
    pub prices: Prices,
}

/// Returns the reason, as text for the user, if the compaction does not pay within the expected requests. Must not be used
/// when the context is full, because then there is no choice.
pub(crate) fn would_cost_more_than_it_saves(estimate: &Estimate) -> Option<String> {
    let Estimate { before, after, .. } = *estimate;
    let saved = before.saturating_sub(after);
    if (saved as f64) < before as f64 * LEAST_PART {
        return Some(format!("only {} of {} tokens would be saved", grouped(saved), grouped(before)));
    }
    let (cost, saving) = (estimate.cost(), estimate.saving_per_request() * EXPECTED_REQUESTS);
    // If nothing has a price, fewer tokens are always better.
    (cost > saving).then(|| {
        format!(
            "it would cost about ${cost:.4} and save about ${saving:.4} over the next {EXPECTED_REQUESTS:.0} requests"
        )
    })
}

impl Estimate {
    /// The summary, and writing the new prefix to the cache instead of reading the old one.
    fn cost(&self) -> f64 {
        let Prices { input, output, .. } = self.prices;
        let recached = (self.cached_write() - self.cached_read()).max(0.0);
        (self.summarized as f64 * input + self.summary as f64 * output + self.after as f64 * recached) / PER_MILLION
    }

    fn saving_per_request(&self) -> f64 {
        self.before.saturating_sub(self.after) as f64 * self.cached_read() / PER_MILLION
    }

    /// Providers without a price for cached input bill it as normal input.
    fn cached_read(&self) -> f64 {
        if self.prices.cache_read > 0.0 { self.prices.cache_read } else { self.prices.input }
    }

    fn cached_write(&self) -> f64 {
        self.prices.cache_write.max(self.prices.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: u64, after: u64, prices: (f64, f64, f64, f64), expect: &str) {
        let (input, output, cache_read, cache_write) = prices;
        let prices = Prices { input, output, cache_read, cache_write };
        let summarized = before.saturating_sub(after);
        let estimate = Estimate { before, summarized, summary: 1_000, after, prices };
        assert_eq!(would_cost_more_than_it_saves(&estimate).unwrap_or_default(), expect);
    }

    #[test]
    fn it_pays_where_much_is_saved_and_not_where_little_is() {
        let (sonnet, free) = ((3.0, 15.0, 0.3, 3.75), (0.0, 0.0, 0.0, 0.0));
        let uncached = (3.0, 15.0, 0.0, 0.0);
        check(100_000, 95_000, free, "only 5,000 of 100,000 tokens would be saved");
        check(100_000, 120_000, free, "only 0 of 100,000 tokens would be saved");
        check(0, 0, free, "");
        check(100_000, 30_000, free, "");
        check(100_000, 30_000, uncached, "");
        check(100_000, 30_000, sonnet, "");
        let reason = "it would cost about $0.3465 and save about $0.2700 over the next 30 requests";
        check(100_000, 70_000, sonnet, reason);
    }
}
