//! Tracks spending: estimates requests, counts usage, explains lost prompt caches, and enforces limits.
//!
//! [`Spending::before`] is called before every request and [`Spending::answered`] for every answer. Between the two, the
//! request is compared with the previous one (`prefix`): their common prefix should come from the provider's cache, and if
//! it does not, one cause is named. Code that changes the conversation on purpose reports that with [`Spending::expect`];
//! [`Spending::expected_cached`] returns how much of a future request should be cached. Requests outside the conversation
//! are counted by [`Spending::beside`] and never compared.

mod account;
mod budget;
mod cause;
mod estimate;
mod prefix;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_types::{AssistantMessage, Message, Tally, Transcript, Usage, now_ms};

pub use account::{Account, BreakCost, MOST_TURNS, SideUsage, TurnSpent, cached_percent, cost_line};
pub use budget::{BudgetLimits, RunBudget, SessionBudget};
pub use cause::{BreakCause, PrefixBreak};
pub use estimate::Estimate;
pub use prefix::RequestParts;
pub use settings::SPENDING_SETTINGS;

use budget::Next;
use prefix::{Fixed, Sent, Shared};

/// Models whose last request is remembered.
const MOST_MODELS: usize = 4;
/// Not every provider caches shorter prompts, so nothing is reported for them.
const LEAST_CACHED: u64 = 4_096;

/// The actual and the expected usage of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    pub message: Usage,
    /// Since the prompt.
    pub turn: Usage,
    /// Since the beginning of the session, side questions and titles included.
    pub session: Usage,
    pub estimate: Estimate,
    /// The expected cost of the prompt.
    pub expected_cost: f64,
    /// Prompt tokens that came from the cache.
    pub cached: u64,
    pub break_cause: Option<PrefixBreak>,
}

impl Spent {
    /// The break of the cached prefix, if no action of the user explains it.
    pub fn unexpected_break(&self) -> Option<PrefixBreak> {
        self.break_cause.filter(|broken| broken.cause.is_unexpected())
    }
}

#[derive(Default)]
pub(crate) struct Spending {
    fixed: Fixed,
    /// The last request of each model, newest last.
    sent: Vec<Sent>,
    pending: Option<Pending>,
    tally: Tally,
    /// The usage in this process.
    used: Usage,
    account: Account,
    /// Number of prompts so far.
    turn: usize,
    budget: SessionBudget,
}

/// A request that is under way.
struct Pending {
    sent: Sent,
    estimate: Estimate,
    shared: Shared,
}

impl Spending {
    /// Starts with the usage of earlier runs.
    pub fn after(history: &[Message], budget: SessionBudget) -> Self {
        let mut spending = Self { tally: Tally::of(history), budget, ..Self::default() };
        spending.settle();
        spending
    }

    /// Replaces all limits, on behalf of the user.
    pub fn set_limits(&mut self, limits: BudgetLimits) {
        self.budget.run.lift();
        self.budget.session = limits;
        self.settle();
    }

    /// The usage of all requests in this process.
    pub fn used(&self) -> Usage {
        self.used
    }

    pub fn account(&self) -> Account {
        self.account.clone()
    }

    pub fn begin_turn(&mut self) {
        self.turn += 1;
    }

    /// Announces that the next request will not extend the last one, and why.
    pub fn expect(&mut self, cause: BreakCause) {
        self.sent.iter_mut().for_each(|sent| sent.noted = Some(cause));
    }

    /// Compares and estimates the next request. An error is the reason why it must not be made.
    pub fn before(&mut self, asked: &RequestParts, transcript: &Transcript, now: Instant) -> Result<(), String> {
        let messages = transcript.for_model();
        let Pending { sent, estimate, shared } = self.weigh(asked, &messages, now);
        self.account.estimate = Some(estimate);
        let next = Next { tokens: estimate.total().max(estimate.cached), cost: estimate.cost(&asked.model) };
        if let Some(refusal) = budget::refusal(&self.budget.run, &self.budget.session, &self.tally.usage, next) {
            return Err(refusal);
        }
        self.pending = Some(Pending { sent, estimate, shared });
        Ok(())
    }

    /// How much of a request with these parts should be in the provider's cache, in the provider's own tokens.
    pub fn expected_cached(&mut self, asked: &RequestParts, messages: &[Arc<Message>], now: Instant) -> u64 {
        if self.sent.is_empty() {
            return self.cached_by_earlier_run(asked, messages, now).unwrap_or_default();
        }
        self.weigh(asked, messages, now).shared.cached
    }

    /// The cached tokens after a resume: the last request of the earlier run went up to its last answer, as far as the
    /// conversation shows.
    fn cached_by_earlier_run(&mut self, asked: &RequestParts, messages: &[Arc<Message>], now: Instant) -> Option<u64> {
        let answered = messages.iter().rposition(|it| it.as_assistant().is_some_and(|answer| !answer.failed()))?;
        let answer = messages[answered].as_assistant()?;
        if answer.provider != asked.model.provider || answer.model != asked.model.id {
            return None;
        }
        let age = Duration::from_millis(now_ms().saturating_sub(answer.timestamp));
        let then = now.checked_sub(age)?;
        let (mut sent, _) = Sent::new(&mut self.fixed, asked, &messages[..answered], None, then);
        sent.counted = answer.usage.prompt_tokens();
        let (next, _) = Sent::new(&mut self.fixed, asked, messages, Some(&sent), now);
        Some(sent.shared_with(&next, messages, asked.cache).cached)
    }

    /// Compares a request with the previous ones.
    fn weigh(&mut self, asked: &RequestParts, messages: &[Arc<Message>], now: Instant) -> Pending {
        let (sent, estimate) = Sent::new(&mut self.fixed, asked, messages, self.sent.last(), now);
        let known = self.sent.iter().rfind(|known| known.is_of(&asked.model));
        let shared = match (known, self.sent.last()) {
            (Some(known), newest) => {
                let shared = known.shared_with(&sent, messages, asked.cache);
                let switched = newest.is_some_and(|newest| !newest.is_of(&asked.model));
                let cause = shared.cause.map(|cause| match cause {
                    // The cache would not have expired if the other model had not answered meanwhile.
                    BreakCause::Expired if switched => BreakCause::ModelSwitch,
                    cause => cause,
                });
                Shared { cause, ..shared }
            }
            (None, Some(newest)) => {
                let possible = newest.shared_with(&sent, messages, asked.cache).cached;
                Shared { cached: 0, possible, cause: Some(BreakCause::ModelSwitch) }
            }
            (None, None) => Shared::default(),
        };
        let factor = known.map_or(1.0, Sent::factor);
        let estimate = Estimate { cached: shared.cached, ..estimate.scaled(factor) };
        Pending { sent, estimate, shared }
    }

    /// Why no further request outside the conversation may be made.
    pub fn refusal(&self) -> Option<String> {
        budget::refusal(&self.budget.run, &self.budget.session, &self.tally.usage, Next::default())
    }

    /// Counts an answer, complete or not. `None` if its request is unknown.
    pub fn answered(&mut self, answer: &AssistantMessage) -> Option<Spent> {
        self.count(answer);
        let turn = self.account.add_to_turn(self.turn, answer.usage);
        let Pending { mut sent, estimate, shared } = self.pending.take()?;
        let usage = answer.usage;
        let expected_cost = estimate.cost(&sent.model);
        let taken = !answer.failed() || usage.prompt_tokens() > 0;
        let mut break_cause = None;
        if taken {
            let before = self.sent.iter().position(|known| known.is_of(&sent.model));
            let before = before.map(|at| self.sent.remove(at));
            sent.counted = usage.prompt_tokens();
            let noted = before.as_ref().and_then(|before| before.noted);
            sent.caches = usage.cache_read + usage.cache_write > 0 || before.is_some_and(|before| before.caches);
            break_cause = broken(&sent, shared, noted, &usage);
            if let Some(broken) = break_cause {
                self.account.add_break(broken);
            }
            self.remember(sent);
        }
        self.settle();
        let (session, cached) = (self.account.session, usage.cache_read);
        Some(Spent { message: usage, turn, session, estimate, expected_cost, cached, break_cause })
    }

    /// A rule took the newest answer back. The request is kept; a provider that was cut off may not have cached it.
    pub fn taken_back(&mut self, answer: Option<&AssistantMessage>) {
        self.expect(BreakCause::RuleDiscard);
        self.account.taken_back.requests += 1;
        self.account.taken_back.usage += answer.map(|answer| answer.usage).unwrap_or_default();
    }

    /// Counts an answer to a request outside the conversation.
    pub fn beside(&mut self, kind: &'static str, answer: &AssistantMessage) {
        self.count(answer);
        let beside = self.account.beside.entry(kind).or_default();
        beside.requests += 1;
        beside.usage += answer.usage;
        self.settle();
    }

    fn count(&mut self, answer: &AssistantMessage) {
        self.tally.add_beside(answer);
        self.budget.run.add(answer.usage);
        self.used += answer.usage;
    }

    fn remember(&mut self, sent: Sent) {
        if self.sent.len() >= MOST_MODELS {
            self.sent.remove(0);
        }
        self.sent.push(sent);
    }

    fn settle(&mut self) {
        self.account.session = self.tally.usage;
        self.account.limits = self.budget.session;
        self.account.run = (self.budget.run.limits(), self.budget.run.used());
        self.account.models.clone_from(&self.tally.models);
    }
}

/// The cause of a broken prefix: one that was known before, or a cache eviction. `noted` is the announced cause for the
/// previous request.
fn broken(sent: &Sent, shared: Shared, noted: Option<BreakCause>, usage: &Usage) -> Option<PrefixBreak> {
    let prices = &sent.model.cost;
    if let Some(cause) = shared.cause {
        let lost = shared.possible.saturating_sub(shared.cached);
        return Some(PrefixBreak::new(cause, lost, prices, usage));
    }
    let forgotten = sent.caches && shared.cached >= LEAST_CACHED && usage.cache_read.saturating_mul(2) < shared.cached;
    let cause = noted.filter(|cause| *cause == BreakCause::RuleDiscard).unwrap_or(BreakCause::Eviction);
    forgotten.then(|| PrefixBreak::new(cause, shared.cached - usage.cache_read, prices, usage))
}
