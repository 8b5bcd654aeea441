//! The spending of a session, as it is shown.

use std::collections::{BTreeMap, VecDeque};

use omp_types::{ModelTally, Usage};

use super::budget::BudgetLimits;
use super::cause::{BreakCause, PrefixBreak};
use super::estimate::Estimate;

/// Turns that are kept individually; older ones are only in the sums.
pub const MOST_TURNS: usize = 50;

/// Everything spent on a session, whether or not it became part of the conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// The usage of earlier runs, as far as the conversation records it, and of this one.
    pub session: Usage,
    /// Usage by model, in the order in which they first answered.
    pub models: Vec<ModelTally>,
    /// One for each prompt of this run that has been answered, oldest first; at most [`MOST_TURNS`].
    pub turns: VecDeque<TurnSpent>,
    /// Requests outside the conversation: titles, side questions.
    pub beside: BTreeMap<&'static str, SideUsage>,
    /// Answers that rules took back. They are also in the sums.
    pub taken_back: SideUsage,
    pub breaks: BTreeMap<BreakCause, BreakCost>,
    /// The estimate for the newest request.
    pub estimate: Option<Estimate>,
    /// The limits of the session.
    pub limits: BudgetLimits,
    /// The limits of this run of the program, and its usage.
    pub run: (BudgetLimits, Usage),
}

/// The usage from a prompt to the end of its work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TurnSpent {
    /// Starts at 1.
    pub number: usize,
    pub answers: usize,
    pub usage: Usage,
}

/// Requests of one kind that are not part of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SideUsage {
    pub requests: usize,
    pub usage: Usage,
}

/// The total cost of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BreakCost {
    pub times: usize,
    pub tokens: u64,
    pub cost: f64,
}

/// One line for a turn: tokens in and out, share of the prompt that came from a cache, cost.
pub fn cost_line(usage: &Usage) -> String {
    let prompt = usage.prompt_tokens();
    let mut line = format!("{} in", short(prompt));
    if prompt > 0 {
        line.push_str(&format!(" ({}% cached)", cached_percent(usage)));
    }
    line.push_str(&format!(", {} out", short(usage.output)));
    if usage.cost.total > 0.0 {
        line.push_str(&format!(", ${:.4}", usage.cost.total));
    }
    line
}

/// The share of the prompts that came from a cache.
pub fn cached_percent(usage: &Usage) -> u64 {
    usage.cache_read.saturating_mul(100) / usage.prompt_tokens().max(1)
}

fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..100_000 => format!("{:.1}k", tokens as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

impl Account {
    /// The number of cache breaks that were not deliberate.
    pub fn unexpected_breaks(&self) -> usize {
        self.breaks.iter().filter(|(cause, _)| cause.is_unexpected()).map(|(_, broken)| broken.times).sum()
    }

    pub(super) fn add_break(&mut self, broken: PrefixBreak) {
        let sum = self.breaks.entry(broken.cause).or_default();
        sum.times += 1;
        sum.tokens += broken.tokens;
        sum.cost += broken.cost;
    }

    pub(super) fn add_to_turn(&mut self, number: usize, usage: Usage) -> Usage {
        if self.turns.back().is_none_or(|turn| turn.number != number) {
            if self.turns.len() >= MOST_TURNS {
                self.turns.pop_front();
            }
            self.turns.push_back(TurnSpent { number, ..TurnSpent::default() });
        }
        let Some(turn) = self.turns.back_mut() else { return usage };
        turn.answers += 1;
        turn.usage += usage;
        turn.usage
    }
}
