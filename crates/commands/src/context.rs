//! `/context`: shows the tokens of each part of the next request.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{ContextReport, Session, SlashCommand, SlashReply};
use omp_stdx::format;
use omp_stdx::md_table::{Align, MdTable};
use omp_stdx::page::Page;

pub struct ContextCommand;

impl SlashCommand for ContextCommand {
    fn name(&self) -> &str {
        "context"
    }

    fn description(&self) -> &str {
        "Show how many tokens each part of the context uses"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[json]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let report = session.context().await;
            let text = match arguments {
                "" => return Ok(SlashReply::Page(page(&report))),
                "json" => serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?,
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /context [json]")),
            };
            Ok(SlashReply::Text(text))
        }
        .boxed()
    }
}

/// The columns of the bar: it fits into 80 with room at its sides.
const BAR: usize = 60;

/// A kind of parts, with the sign that stands for it in the bar. The signs differ without colours too.
const GROUPS: [(&str, char, &[&str]); 4] = [
    ("System prompt", '█', &["system", "environment", "append"]),
    ("Instructions", '▓', &["contextFile", "rules", "rulebook", "skills"]),
    ("Tools", '▒', &["tool"]),
    ("Messages", '▞', &["user", "assistant", "toolResult", "custom", "projectState"]),
];
const FREE: char = '░';

fn page(report: &ContextReport) -> Page {
    let used = format::grouped(report.total_tokens);
    let head = match report.context_window {
        0 => format!("{}: {used} tokens", report.model),
        window => {
            let percent = report.total_tokens as f64 / window as f64 * 100.0;
            format!("{}: {used} of {} tokens ({percent:.1}%)", report.model, format::grouped(window))
        }
    };
    let groups = groups(report);
    let mut kinds =
        MdTable::new([("", Align::Sign), ("Kind", Align::Left), ("Tokens", Align::Right), ("Share", Align::Right)]);
    for (name, sign, tokens) in &groups {
        kinds.row([sign.to_string(), (*name).to_owned(), format::grouped(*tokens), report.share(*tokens)]);
    }
    let mut parts = MdTable::new([("Part", Align::Left), ("Tokens", Align::Right), ("Share", Align::Right)]);
    for (label, tokens) in report.labelled() {
        parts.row([label, format::grouped(tokens), report.share(tokens)]);
    }
    let cached = format::grouped(report.expected_cached_tokens);
    Page::default()
        .heading(2, "Context")
        .text(head)
        .drawing(bar(&groups))
        .table(kinds)
        .text(format!("Expected from the prompt cache: {cached} tokens. All figures are estimates."))
        .heading(2, "Parts")
        .table(parts)
}

/// Returns the kinds that are not empty, with the free space at the end.
fn groups(report: &ContextReport) -> Vec<(&'static str, char, u64)> {
    let tokens_of = |kinds: &[&str]| -> u64 {
        report.parts.iter().filter(|part| kinds.contains(&part.kind)).map(|part| part.tokens).sum()
    };
    let groups = GROUPS.iter().map(|(name, sign, kinds)| (*name, *sign, tokens_of(kinds)));
    let free = report.free_tokens.map(|free| ("Free", FREE, free));
    groups.chain(free).filter(|(_, _, tokens)| *tokens > 0).collect()
}

/// Draws the shares. A kind that is there takes at least one column.
fn bar(groups: &[(&str, char, u64)]) -> String {
    let all: u64 = groups.iter().map(|(_, _, tokens)| tokens).sum();
    if all == 0 {
        return FREE.to_string().repeat(BAR);
    }
    let exact = |tokens: u64| tokens as f64 / all as f64 * BAR as f64;
    let mut columns: Vec<usize> = groups.iter().map(|(_, _, tokens)| (exact(*tokens) as usize).max(1)).collect();
    // The largest kind absorbs the rounding error.
    if let Some(largest) = (0..columns.len()).max_by_key(|at| columns[*at]) {
        let others: usize = columns.iter().sum::<usize>() - columns[largest];
        columns[largest] = BAR.saturating_sub(others);
    }
    groups.iter().zip(columns).map(|((_, sign, _), count)| sign.to_string().repeat(count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_proportional_and_shows_every_kind() {
        for (groups, expect) in [
            (vec![("a", '█', 1), ("b", '▒', 1)], [30, 30]),
            (vec![("a", '█', 1), ("b", '▒', 1_000_000)], [1, 59]),
            (vec![("a", '█', 3), ("b", '▒', 1)], [45, 15]),
        ] {
            let bar = bar(&groups);
            let counted = ['█', '▒'].map(|sign| bar.chars().filter(|char| *char == sign).count());
            assert_eq!((counted, bar.chars().count()), (expect, BAR));
        }
        assert_eq!(bar(&[]).chars().count(), BAR);
    }
}
