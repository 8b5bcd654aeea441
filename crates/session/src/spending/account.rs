//! What a session has taken so far, as it is shown.

use std::collections::{BTreeMap, VecDeque};

use omp_types::{ModelTally, Usage};

use super::budget::BudgetLimits;
use super::cause::{BreakCause, PrefixBreak};
use super::estimate::Estimate;

/// Turns that are kept one by one; older ones are in the sums only.
pub const MOST_TURNS: usize = 50;

/// Everything spent on a session, whether or not it became part of the conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// What earlier runs took, as far as the conversation tells of it, and everything since.
    pub session: Usage,
    /// By the model, in the order in which they first answered.
    pub models: Vec<ModelTally>,
    /// One for each prompt of this run that has been answered, oldest first; at most [`MOST_TURNS`].
    pub turns: VecDeque<TurnSpent>,
    /// What was asked beside the conversation: titles, side questions.
    pub beside: BTreeMap<&'static str, Beside>,
    /// Answers that rules took back. They are in the sums too.
    pub taken_back: Beside,
    pub breaks: BTreeMap<BreakCause, Broken>,
    /// The estimate for the newest request.
    pub estimate: Option<Estimate>,
    /// What the session may take.
    pub limits: BudgetLimits,
    /// What this run of the program may take, and what it took.
    pub run: (BudgetLimits, Usage),
}

/// From a prompt to the end of the work on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TurnSpent {
    /// Counted from 1.
    pub number: usize,
    pub answers: usize,
    pub usage: Usage,
}

/// Requests of one kind of which nothing is in the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    pub requests: usize,
    pub usage: Usage,
}

/// What one cause has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Broken {
    pub times: usize,
    pub tokens: u64,
    pub cost: f64,
}

/// A turn in one short line: tokens in and out, how much of the prompt came from a cache, what it cost.
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

/// How much of the prompts came from a cache.
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
    /// Prefixes that broke although nobody wanted it.
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
