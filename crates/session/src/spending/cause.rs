//! Why a provider had to read again what it had read before.

use std::fmt;

use omp_types::{Prices, Usage};

/// One cause for each way in which a request stops repeating the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreakCause {
    Compaction,
    /// Old results were shortened.
    Pruning,
    /// Another model answers; caches are kept for each model.
    ModelSwitch,
    ToolSet,
    /// The provider keeps the conversation apart for each way of thinking.
    Thinking,
    /// The answer had to call a certain tool, for which some providers keep the conversation apart.
    ForcedTool,
    SystemPrompt,
    /// The session went on from another entry of its file.
    Moved,
    /// An exploration was replaced by its report.
    Rewind,
    /// A block that the provider refused was left out.
    Quarantine,
    /// A rule took back what the model had said, and the request that was cut off for it is not in the cache.
    RuleDiscard,
    /// The pause was longer than the provider keeps a prompt.
    Expired,
    /// The provider should have had it and did not.
    Eviction,
    /// What was said before has changed, and nobody has said why.
    Unknown,
}

impl BreakCause {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Pruning => "pruning",
            Self::ModelSwitch => "model_switch",
            Self::ToolSet => "tool_set",
            Self::Thinking => "thinking",
            Self::ForcedTool => "forced_tool",
            Self::SystemPrompt => "system_prompt",
            Self::Moved => "moved",
            Self::Rewind => "rewind",
            Self::Quarantine => "quarantine",
            Self::RuleDiscard => "rule_discard",
            Self::Expired => "expired",
            Self::Eviction => "eviction",
            Self::Unknown => "unknown",
        }
    }

    /// The name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Compaction => "the conversation was compacted",
            Self::Pruning => "old results were shortened",
            Self::ModelSwitch => "another model answers",
            Self::ToolSet => "the tools have changed",
            Self::Thinking => "the thinking level has changed",
            Self::ForcedTool => "a tool had to be called",
            Self::SystemPrompt => "the system prompt has changed",
            Self::Moved => "the session went on from another place",
            Self::Rewind => "an exploration was replaced by its report",
            Self::Quarantine => "something the provider refused was left out",
            Self::RuleDiscard => "a rule took an answer back",
            Self::Expired => "the pause was longer than the provider keeps a prompt",
            Self::Eviction => "the provider no longer had it",
            Self::Unknown => "what was said before has changed",
        }
    }

    /// Whether somebody, or omp for a reason, has done it on purpose.
    pub fn is_deliberate(self) -> bool {
        !self.is_unexpected() && self != Self::Expired
    }

    /// Whether the user is warned: it costs money that nobody has decided to spend.
    pub fn is_unexpected(self) -> bool {
        matches!(self, Self::SystemPrompt | Self::Eviction | Self::Unknown)
    }
}

/// A prefix that broke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefixBreak {
    pub cause: BreakCause,
    /// Tokens that could have come from the cache and had to be read again.
    pub tokens: u64,
    /// What that cost more than reading them from the cache would have.
    pub cost: f64,
}

impl PrefixBreak {
    pub(super) fn new(cause: BreakCause, tokens: u64, prices: &Prices, usage: &Usage) -> Self {
        let anew = if usage.cache_write > 0 { prices.cache_write } else { prices.input };
        let cost = tokens as f64 * (anew - prices.cache_read).max(0.0) / 1_000_000.0;
        Self { cause, tokens, cost }
    }
}

impl fmt::Display for PrefixBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, tokens, cost } = self;
        let kind = match cause {
            cause if cause.is_deliberate() => "on purpose",
            BreakCause::Expired => "by time",
            _ => "unexpectedly",
        };
        write!(f, "the prompt cache was lost {kind}: {}; about {tokens} tokens were read again", cause.words())?;
        if *cost > 0.0 { write!(f, ", for ${cost:.4} more") } else { Ok(()) }
    }
}
