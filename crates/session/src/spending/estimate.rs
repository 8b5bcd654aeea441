//! What a request will take, told before it is sent.

use omp_types::{Message, Model};

/// Prompt tokens by part. Corrected by what the provider counted last, where it has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub system: u64,
    pub tools: u64,
    pub user: u64,
    pub assistant: u64,
    pub tool_results: u64,
    /// What the program has put into the conversation.
    pub custom: u64,
    /// How much of it the provider should still have from the request before.
    pub cached: u64,
}

impl Estimate {
    pub fn total(&self) -> u64 {
        self.system + self.tools + self.user + self.assistant + self.tool_results + self.custom
    }

    /// What reading the prompt costs with this model. The answer comes on top.
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
