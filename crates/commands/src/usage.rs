//! `/usage` and `/budget`: show the usage of the session, and set its limits.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{
    Account, BreakCause, BreakCost, BudgetLimits, Session, SlashCommand, SlashReply, TurnSpent, cost_line,
};
use omp_stdx::format;
use omp_stdx::md_table::{Align, MdTable};
use omp_stdx::page::Page;
use omp_types::Usage;

/// Caps the turns shown.
const TURNS_SHOWN: usize = 5;

pub struct UsageCommand;

impl SlashCommand for UsageCommand {
    fn name(&self) -> &str {
        "usage"
    }

    fn aliases(&self) -> &[&str] {
        &["cost"]
    }

    fn description(&self) -> &str {
        "Show tokens and cost by model and turn"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[show]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if !matches!(arguments, "" | "show") {
                return Err(format!("unknown argument `{arguments}`\nhint: usage: /usage [show]"));
            }
            Ok(SlashReply::Page(report(&session.snapshot().spending)))
        }
        .boxed()
    }
}

fn report(account: &Account) -> Page {
    let mut page = match account.models.is_empty() {
        true => Page::default().text("No model has answered yet."),
        false => Page::default().heading(2, "Usage").table(models(account)),
    };
    let newest = turns(account.turns.iter().rev().take(TURNS_SHOWN).rev());
    if !newest.is_empty() {
        page = page.heading(2, "Turns").table(newest);
    }
    let spent = |requests: usize, usage: &Usage| format!("{}, {}", times(requests), cost_line(usage));
    let beside = account.beside.iter().map(|(kind, it)| format!("{kind}: {}", spent(it.requests, &it.usage)));
    let lost = Some(account.taken_back).filter(|lost| lost.requests > 0);
    let lists = [
        ("Other requests", beside.collect()),
        ("Answers discarded by rules", lost.iter().map(|lost| spent(lost.requests, &lost.usage)).collect()),
        ("Prompt cache misses", account.breaks.iter().map(break_row).collect()),
        ("Budget", budgets(account)),
    ];
    let listed = lists.into_iter().filter(|(_, items): &(&str, Vec<String>)| !items.is_empty());
    listed.fold(page, |page, (title, items)| page.heading(2, title).list(items))
}

/// Returns the columns that both tables have: tokens and cost.
fn figures(usage: &Usage) -> [String; 5] {
    [
        format::grouped(usage.prompt_tokens()),
        format!("{}%", omp_session::cached_percent(usage)),
        format::grouped(usage.cache_write),
        format::grouped(usage.output),
        format!("${:.4}", usage.cost.total),
    ]
}

fn turns<'a>(turns: impl Iterator<Item = &'a TurnSpent>) -> MdTable {
    let mut table = table_of("Turn");
    for turn in turns {
        let [input, cached, written, output, cost] = figures(&turn.usage);
        table.row([turn.number.to_string(), turn.answers.to_string(), input, cached, written, output, cost]);
    }
    table
}

fn table_of(first: &str) -> MdTable {
    use Align::{Left, Right};
    let rest = ["Answers", "Input", "Cached", "Written", "Output", "Cost"].map(|name| (name, Right));
    let [answers, input, cached, written, output, cost] = rest;
    MdTable::new([(first, Left), answers, input, cached, written, output, cost])
}

fn break_row((cause, broken): (&BreakCause, &BreakCost)) -> String {
    let kind = match cause {
        cause if cause.is_deliberate() => "expected",
        cause if cause.is_unexpected() => "unexpected",
        _ => "expired",
    };
    let mut row = format!(
        "{}, {kind}: {}, about {} tokens sent again uncached",
        cause.words(),
        times(broken.times),
        format::grouped(broken.tokens)
    );
    if broken.cost > 0.0 {
        row.push_str(&format!(", ${:.4}", broken.cost));
    }
    row
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Returns a line for each budget that is set.
fn budgets(account: &Account) -> Vec<String> {
    let line = |whose: &str, limits: BudgetLimits, used: Usage| {
        let used_tokens = format::grouped(used.total_tokens);
        let tokens = limits.max_tokens.map(|most| format!("{used_tokens} of {} tokens", format::grouped(most)));
        let cost = limits.max_cost.map(|most| format!("${:.4} of ${most:.4}", used.cost.total));
        let parts: Vec<String> = tokens.into_iter().chain(cost).collect();
        (!parts.is_empty()).then(|| format!("this {whose}: {}", parts.join(", ")))
    };
    let (limits, used) = account.run;
    [line("session", account.limits, account.session), line("run", limits, used)].into_iter().flatten().collect()
}

/// Returns a row for each model, and their sum if there are several.
fn models(account: &Account) -> MdTable {
    let mut table = table_of("Model");
    let mut row = |name: String, answers: usize, usage: &Usage| {
        let [input, cached, written, output, cost] = figures(usage);
        table.row([name, answers.to_string(), input, cached, written, output, cost]);
    };
    let (mut answers, mut all) = (0, Usage::default());
    for model in &account.models {
        row(model.selector(), model.answers, &model.usage);
        answers += model.answers;
        all += model.usage;
    }
    if account.models.len() > 1 {
        row("all".to_owned(), answers, &all);
    }
    table
}

pub struct BudgetCommand;

const BUDGET_HINT: &str = "hint: for example: /budget cost 2.50, /budget tokens 2000000, /budget off";

impl SlashCommand for BudgetCommand {
    fn name(&self) -> &str {
        "budget"
    }

    fn description(&self) -> &str {
        "Show or set the token and cost limits of this session"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[cost <dollars> | tokens <count> | off]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let before = session.snapshot().spending.limits;
            if !arguments.is_empty() {
                session.set_limits(limits(arguments, before)?);
            }
            let account = session.snapshot().spending.clone();
            let lines = budgets(&account);
            Ok(SlashReply::Text(match lines.is_empty() {
                true => format!("no budget set; {} so far", cost_line(&account.session)),
                false => lines.join("\n"),
            }))
        }
        .boxed()
    }
}

/// Returns the new limits for the typed arguments.
fn limits(arguments: &str, before: BudgetLimits) -> Result<BudgetLimits, String> {
    let mut words = arguments.split_whitespace();
    let unknown = || format!("`{arguments}` is not a valid budget\n{BUDGET_HINT}");
    match (words.next(), words.next(), words.next()) {
        (Some("off"), None, None) => Ok(BudgetLimits::default()),
        (Some("cost"), Some(cost), None) => {
            Ok(BudgetLimits { max_cost: Some(parse_cost(cost).map_err(|_| unknown())?), ..before })
        }
        (Some("tokens"), Some(count), None) => {
            Ok(BudgetLimits { max_tokens: Some(parse_tokens(count).map_err(|_| unknown())?), ..before })
        }
        _ => Err(unknown()),
    }
}

/// Parses a token count: `200000`, `200k`, `1.5M`.
pub fn parse_tokens(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.trim_end_matches(['k', 'K', 'm', 'M']) {
        digits if digits.len() == text.len() => (digits, 1.0),
        digits if text.len() - digits.len() > 1 => return Err(no_tokens(text)),
        digits if text.ends_with(['k', 'K']) => (digits, 1e3),
        digits => (digits, 1e6),
    };
    let count: f64 = digits.parse().map_err(|_| no_tokens(text))?;
    let count = count * unit;
    if count.is_finite() && (1.0..=1e15).contains(&count) { Ok(count as u64) } else { Err(no_tokens(text)) }
}

fn no_tokens(text: &str) -> String {
    format!("`{text}` is not a number of tokens; use one such as 200000, 200k or 1.5M")
}

/// Parses an amount in dollars: `2`, `0.50`, `$3`.
pub fn parse_cost(text: &str) -> Result<f64, String> {
    let cost: Option<f64> = text.strip_prefix('$').unwrap_or(text).parse().ok();
    cost.filter(|cost| cost.is_finite() && *cost > 0.0 && *cost <= 1e9)
        .ok_or_else(|| format!("`{text}` is not an amount of dollars; use one such as 0.50 or 3"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use omp_session::SideUsage;
    use omp_types::ModelTally;

    use super::*;

    fn usage(input: u64, cache_read: u64, cost: f64) -> Usage {
        let mut usage = Usage { input, output: 2, cache_read, ..Usage::default() };
        usage.cost.total = cost;
        usage.total_tokens = input + cache_read + 2;
        usage
    }

    #[test]
    fn models_turns_and_what_was_lost() {
        assert_eq!(report(&Account::default()).plain(), "No model has answered yet.");
        let model = |provider: &str, model: &str, answers, usage| ModelTally {
            provider: provider.into(),
            model: model.into(),
            answers,
            usage,
        };
        let account = Account {
            session: usage(15, 45, 0.75),
            models: vec![model("a", "long-model", 1, usage(10, 30, 0.5)), model("b", "m", 2, usage(5, 15, 0.25))],
            turns: [TurnSpent { number: 1, answers: 3, usage: usage(15_000, 45_000, 0.75) }].into(),
            beside: BTreeMap::from([("title", SideUsage { requests: 1, usage: usage(9, 0, 0.0) })]),
            taken_back: SideUsage { requests: 2, usage: usage(7, 0, 0.0) },
            breaks: BTreeMap::from([
                (BreakCause::ModelSwitch, BreakCost { times: 2, tokens: 900, cost: 0.0 }),
                (BreakCause::Eviction, BreakCost { times: 1, tokens: 5000, cost: 0.0135 }),
            ]),
            limits: BudgetLimits { max_tokens: Some(1000), max_cost: Some(2.0) },
            run: (BudgetLimits { max_tokens: None, max_cost: Some(1.0) }, usage(15, 45, 0.75)),
            ..Account::default()
        };
        let expect = [
            "## Usage",
            "",
            "| Model        | Answers | Input | Cached | Written | Output |    Cost |",
            "| ------------ | ------: | ----: | -----: | ------: | -----: | ------: |",
            "| a/long-model |       1 |    40 |    75% |       0 |      2 | $0.5000 |",
            "| b/m          |       2 |    20 |    75% |       0 |      2 | $0.2500 |",
            "| all          |       3 |    60 |    75% |       0 |      4 | $0.7500 |",
            "",
            "## Turns",
            "",
            "| Turn | Answers |  Input | Cached | Written | Output |    Cost |",
            "| ---- | ------: | -----: | -----: | ------: | -----: | ------: |",
            "| 1    |       3 | 60,000 |    75% |       0 |      2 | $0.7500 |",
            "",
            "## Other requests",
            "",
            "- title: once, 9 in (0% cached), 2 out",
            "",
            "## Answers discarded by rules",
            "",
            "- 2 times, 7 in (0% cached), 2 out",
            "",
            "## Prompt cache misses",
            "",
            "- the model changed, expected: 2 times, about 900 tokens sent again uncached",
            "- the provider no longer had it, unexpected: once, about 5,000 tokens sent again uncached, $0.0135",
            "",
            "## Budget",
            "",
            "- this session: 62 of 1,000 tokens, $0.7500 of $2.0000",
            "- this run: $0.7500 of $1.0000",
        ];
        assert_eq!(report(&account).markdown(), expect.join("\n"));
    }

    #[test]
    fn budgets_as_they_are_typed() {
        let before = BudgetLimits { max_tokens: Some(5), max_cost: Some(1.0) };
        let check = |typed: &str, expect: Option<(Option<u64>, Option<f64>)>| {
            let limits = limits(typed, before).map(|limits| (limits.max_tokens, limits.max_cost));
            assert_eq!(limits.ok(), expect, "{typed}");
        };
        check("off", Some((None, None)));
        check("cost 2.5", Some((Some(5), Some(2.5))));
        check("cost $3", Some((Some(5), Some(3.0))));
        check("tokens 200k", Some((Some(200_000), Some(1.0))));
        check("tokens 1.5M", Some((Some(1_500_000), Some(1.0))));
        for bad in [
            "cost",
            "cost -1",
            "cost NaN",
            "cost inf",
            "tokens 0",
            "tokens 5kk",
            "tokens k",
            "tokens 1 2",
            "on",
            "cost 1e99",
        ] {
            check(bad, None);
        }
    }
}
