//! Tokens used by one answer, and their cost.

use serde::{Deserialize, Serialize};

use crate::model::Prices;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Prompt tokens neither read from nor written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub total_tokens: u64,
    pub cost: Cost,
}

/// Cost in the currency of the price list (US dollars for every catalogue entry).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    #[serde(serialize_with = "crate::number::serialize")]
    pub input: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub output: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub cache_read: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub cache_write: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub total: f64,
}

impl Usage {
    /// Fills `total_tokens` and `cost` from the token counts.
    pub fn priced(mut self, prices: &Prices) -> Self {
        const PER: f64 = 1_000_000.0;
        self.total_tokens = self.input + self.output + self.cache_read + self.cache_write;
        let mut cost = Cost {
            input: self.input as f64 * prices.input / PER,
            output: self.output as f64 * prices.output / PER,
            cache_read: self.cache_read as f64 * prices.cache_read / PER,
            cache_write: self.cache_write as f64 * prices.cache_write / PER,
            total: 0.0,
        };
        cost.total = cost.input + cost.output + cost.cache_read + cost.cache_write;
        self.cost = cost;
        self
    }

    /// Returns all prompt tokens, cached or not.
    pub fn prompt_tokens(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

impl std::ops::AddAssign for Usage {
    /// Saturating, because the counts of a damaged file may be arbitrary.
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.total_tokens, other.total_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.cost.input += other.cost.input;
        self.cost.output += other.cost.output;
        self.cost.cache_read += other.cost.cache_read;
        self.cost.cache_write += other.cost.cache_write;
        self.cost.total += other.cost.total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_largest_number() {
        let mut sum = Usage { input: u64::MAX, output: 1, ..Usage::default() };
        sum += Usage { input: 1, output: 2, ..Usage::default() };
        assert_eq!((sum.input, sum.output), (u64::MAX, 3));
    }

    #[test]
    fn prices_are_per_million_tokens() {
        let prices = Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 };
        let usage =
            Usage { input: 1_000_000, output: 100_000, cache_read: 1_000_000, ..Usage::default() }.priced(&prices);
        assert_eq!(usage.total_tokens, 2_100_000);
        assert!((usage.cost.total - (3.0 + 1.5 + 0.3)).abs() < 1e-9);
    }

    #[test]
    fn whole_costs_are_written_without_a_fraction() {
        let json = serde_json::to_string(&Usage::default()).unwrap();
        assert_eq!(
            json,
            r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#
        );
    }
}
