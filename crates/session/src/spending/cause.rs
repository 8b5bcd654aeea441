//! Reasons why a provider could not use its prompt cache.

use std::fmt;

use omp_stdx::format::grouped;
use omp_types::{Prices, Usage};

/// One cause for each way in which a request stops extending the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreakCause {
    Compaction,
    /// Old tool results were shortened.
    Pruning,
    /// Another model answered; caches are per model.
    ModelSwitch,
    ToolSet,
    /// The provider caches the conversation separately for each thinking setting.
    Thinking,
    /// The answer was forced to call a tool, for which some providers cache the conversation separately.
    ForcedTool,
    SystemPrompt,
    /// The session moved to another entry of its file.
    Moved,
    /// An exploration was replaced by its report.
    Rewind,
    /// A block that the provider refused was left out.
    Quarantine,
    /// A rule took back an answer, and the request that was cut off is not in the cache.
    RuleDiscard,
    /// The pause was longer than the lifetime of the provider's cache.
    Expired,
    /// The provider should have had the prefix in its cache but did not.
    Eviction,
    /// Earlier messages have changed for an unknown reason.
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

    /// The name shown to users.
    pub fn words(self) -> &'static str {
        match self {
            Self::Compaction => "the conversation was compacted",
            Self::Pruning => "old results were shortened",
            Self::ModelSwitch => "the model changed",
            Self::ToolSet => "the tools changed",
            Self::Thinking => "the thinking level changed",
            Self::ForcedTool => "a tool was forced",
            Self::SystemPrompt => "the system prompt changed",
            Self::Moved => "the session continued from another entry",
            Self::Rewind => "an exploration was replaced by its report",
            Self::Quarantine => "content the provider refused was removed",
            Self::RuleDiscard => "a rule discarded an answer",
            Self::Expired => "the provider's cache expired",
            Self::Eviction => "the provider no longer had it",
            Self::Unknown => "earlier messages changed",
        }
    }

    /// Whether the user or omp did it on purpose.
    pub fn is_deliberate(self) -> bool {
        !self.is_unexpected() && self != Self::Expired
    }

    /// Whether the user is warned, because it costs money without a decision to spend it.
    pub fn is_unexpected(self) -> bool {
        matches!(self, Self::SystemPrompt | Self::Eviction | Self::Unknown)
    }
}

/// A prefix that was not read from the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefixBreak {
    pub cause: BreakCause,
    /// Tokens that could have come from the cache and had to be processed again.
    pub tokens: u64,
    /// The extra cost compared to reading them from the cache.
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
            cause if cause.is_deliberate() => "expected",
            BreakCause::Expired => "expired",
            _ => "unexpected",
        };
        let (words, tokens) = (cause.words(), grouped(*tokens));
        write!(f, "prompt cache miss ({kind}): {words}; about {tokens} tokens were sent again uncached")?;
        if *cost > 0.0 { write!(f, ", which cost ${cost:.4} more") } else { Ok(()) }
    }
}
