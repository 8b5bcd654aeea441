//! The estimated usage of a request, before it is sent.

use omp_types::{Message, Model};

/// Prompt tokens by part, corrected by the provider's last count if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub system: u64,
    pub tools: u64,
    pub user: u64,
    pub assistant: u64,
    pub tool_results: u64,
    /// Messages that the program added to the conversation.
    pub custom: u64,
    /// Tokens that should still be in the provider's cache from the previous request.
    pub cached: u64,
}

impl Estimate {
    pub fn total(&self) -> u64 {
        self.system + self.tools + self.user + self.assistant + self.tool_results + self.custom
    }

    /// The cost of the prompt with this model, without the answer.
    pub fn cost(&self, model: &Model) -> f64 {
        let prices = &model.cost;
        let anew = if prices.cache_write > 0.0 { prices.cache_write } else { prices.input };
        let cached = self.cached.min(self.total());
        (cached as f64 * prices.cache_read + (self.total() - cached) as f64 * anew) / 1_000_000.0
    }

    pub(super) fn add(&mut self, message: &Message, tokens: u64) {
        let part = match message {
            Message::User(_) => &mut self.user,
            Message::Assistant(_) => &mut self.assistant,
            Message::ToolResult(_) => &mut self.tool_results,
            Message::Custom(_) | Message::Other(_) => &mut self.custom,
        };
        *part += tokens;
    }

    pub(super) fn scaled(mut self, factor: f64) -> Self {
        for part in [
            &mut self.system,
            &mut self.tools,
            &mut self.user,
            &mut self.assistant,
            &mut self.tool_results,
            &mut self.custom,
        ] {
            *part = scale(*part, factor);
        }
        self
    }
}

pub(super) fn scale(tokens: u64, factor: f64) -> u64 {
    (tokens as f64 * factor).round() as u64
}
