//! Spending limits of a run of the program and of a session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_stdx::format::grouped;
use omp_types::Usage;

/// `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetLimits {
    /// All tokens that a provider counts, including cached ones.
    pub max_tokens: Option<u64>,
    /// In the currency of the prices, which is US dollars for every catalogue entry.
    pub max_cost: Option<f64>,
}

/// The budget of one run of the program, shared by all the sessions it opens.
#[derive(Debug, Default)]
pub struct RunBudget {
    state: Mutex<State>,
}

/// The limits that apply to a session.
#[derive(Clone, Debug, Default)]
pub struct SessionBudget {
    /// Shared by all sessions of this run of the program.
    pub run: Arc<RunBudget>,
    pub session: BudgetLimits,
}

#[derive(Debug, Default)]
struct State {
    limits: BudgetLimits,
    used: Usage,
}

impl BudgetLimits {
    pub fn is_none(&self) -> bool {
        self.max_tokens.is_none() && self.max_cost.is_none()
    }

    /// The stricter of both limits.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        Self {
            max_tokens: self.max_tokens.into_iter().chain(other.max_tokens).min(),
            max_cost: least(self.max_cost, other.max_cost),
        }
    }

    /// Why a request must not be made. `next` is the usage of its prompt.
    fn refusal(&self, whose: Whose, used: &Usage, next: Next) -> Option<String> {
        let (name, hint) = (whose.name(), whose.hint());
        if let Some(most) = self.max_tokens
            && (used.total_tokens >= most || used.total_tokens.saturating_add(next.tokens) > most)
        {
            let (used, most) = (grouped(used.total_tokens), grouped(most));
            return Some(format!(
                "token budget of this {name} reached: {used} of {most} tokens used, and the next request needs about {}\nhint: {hint}",
                grouped(next.tokens)
            ));
        }
        if let Some(most) = self.max_cost
            && (used.cost.total >= most || used.cost.total + next.cost > most)
        {
            let used = used.cost.total;
            return Some(format!(
                "cost budget of this {name} reached: ${used:.4} of ${most:.4} used, and the next request needs about ${:.4}\nhint: {hint}",
                next.cost
            ));
        }
        None
    }
}

impl RunBudget {
    pub fn new(limits: BudgetLimits) -> Self {
        Self { state: Mutex::new(State { limits, used: Usage::default() }) }
    }

    pub fn limits(&self) -> BudgetLimits {
        self.lock().limits
    }

    pub fn used(&self) -> Usage {
        self.lock().used
    }

    pub(super) fn lift(&self) {
        self.lock().limits = BudgetLimits::default();
    }

    pub(super) fn add(&self, usage: Usage) {
        self.lock().used += usage;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The minimum usage of the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Next {
    pub tokens: u64,
    pub cost: f64,
}

/// Why no further request may be made, if so.
pub(super) fn refusal(run: &RunBudget, session: &BudgetLimits, spent: &Usage, next: Next) -> Option<String> {
    let of_run = { run.limits().refusal(Whose::Run, &run.used(), next) };
    of_run.or_else(|| session.refusal(Whose::Session, spent, next))
}

#[derive(Clone, Copy)]
enum Whose {
    Run,
    Session,
}

impl Whose {
    fn name(self) -> &'static str {
        match self {
            Whose::Run => "run",
            Whose::Session => "session",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Whose::Run => {
                "the session is saved; continue with `omp -c` and a higher --max-tokens or --max-cost, or with `/budget off` here"
            }
            Whose::Session => {
                "the session is saved; raise the limit with `/budget cost 5` or `/budget tokens 2000000`, remove it with `/budget off`, or raise budget.maxTokens and budget.maxCost"
            }
        }
    }
}
