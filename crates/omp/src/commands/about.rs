//! `/changelog` and `/usage`: what is new, and what the session took.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply, stats};
use omp_types::Usage;

const CHANGELOG: &str = include_str!("../../../../CHANGELOG.md");
/// Entries that are shown unless all are asked for.
const NEWEST: usize = 10;

pub struct ChangelogCommand;

impl SlashCommand for ChangelogCommand {
    fn name(&self) -> &str {
        "changelog"
    }

    fn description(&self) -> &str {
        "Show what is new in omp"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[full]")
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            match arguments {
                "" => Ok(SlashReply::Text(newest(CHANGELOG, NEWEST))),
                "full" => Ok(SlashReply::Text(CHANGELOG.trim_end().to_owned())),
                other => Err(format!("there is no `{other}`\nhint: /changelog [full]")),
            }
        }
        .boxed()
    }
}

/// The first entries with the heading above them, each whole.
fn newest(changelog: &str, most: usize) -> String {
    let body = changelog.find("\n## ").map_or(changelog, |at| &changelog[at + 1..]);
    let is_entry = |line: &str| line.starts_with("- ");
    let mut seen = 0;
    let shown = body.lines().take_while(|line| {
        seen += usize::from(is_entry(line));
        seen <= most
    });
    let mut text = shown.collect::<Vec<_>>().join("\n").trim_end().to_owned();
    let more = body.lines().filter(|line| is_entry(line)).count().saturating_sub(most);
    if more > 0 {
        text.push_str(&format!("\n\n{more} more: /changelog full"));
    }
    text
}

pub struct UsageCommand;

impl SlashCommand for UsageCommand {
    fn name(&self) -> &str {
        "usage"
    }

    fn description(&self) -> &str {
        "Show the tokens and the cost of this session, by model"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[show]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if !matches!(arguments, "" | "show") {
                return Err(format!("there is no `{arguments}`\nhint: /usage [show]"));
            }
            let messages = session.messages();
            let counted = stats("", messages.iter().map(|message| &**message), 0);
            let rows = counted.models.iter().map(|model| (model.selector(), model.answers, model.usage));
            Ok(SlashReply::Text(table(rows.collect())))
        }
        .boxed()
    }
}

fn table(mut rows: Vec<(String, usize, Usage)>) -> String {
    if rows.is_empty() {
        return "no model has answered yet".to_owned();
    }
    if rows.len() > 1 {
        let mut all = ("all".to_owned(), 0, Usage::default());
        for (_, answers, usage) in &rows {
            all.1 += answers;
            all.2 += *usage;
        }
        rows.push(all);
    }
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or_default();
    let row = |(name, answers, usage): &(String, usize, Usage)| {
        format!(
            "{name:width$}  {answers} {}, {} in, {} out, {} cache read, {} cache written, ${:.4}",
            if *answers == 1 { "answer" } else { "answers" },
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.cost.total
        )
    };
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entries_are_shown_whole() {
        let log = "# Changelog\n\nWords.\n\n## 2\n\n- a\n  more of a\n- b\n\n## 1\n\n- c\n";
        for (most, expect) in [
            (1, "## 2\n\n- a\n  more of a\n\n2 more: /changelog full"),
            (2, "## 2\n\n- a\n  more of a\n- b\n\n## 1\n\n1 more: /changelog full"),
            (9, "## 2\n\n- a\n  more of a\n- b\n\n## 1\n\n- c"),
        ] {
            assert_eq!(newest(log, most), expect, "{most}");
        }
        assert!(newest(CHANGELOG, NEWEST).lines().filter(|line| line.starts_with("- ")).count() == NEWEST);
    }

    #[test]
    fn models_and_their_sum() {
        let usage = |input, cost| {
            let mut usage = Usage { input, output: 2, ..Usage::default() };
            usage.cost.total = cost;
            usage
        };
        assert_eq!(table(Vec::new()), "no model has answered yet");
        let rows = vec![("a/long-model".to_owned(), 1, usage(10, 0.5)), ("b/m".to_owned(), 2, usage(5, 0.25))];
        let expect = [
            "a/long-model  1 answer, 10 in, 2 out, 0 cache read, 0 cache written, $0.5000",
            "b/m           2 answers, 5 in, 2 out, 0 cache read, 0 cache written, $0.2500",
            "all           3 answers, 15 in, 4 out, 0 cache read, 0 cache written, $0.7500",
        ];
        assert_eq!(table(rows), expect.join("\n"));
    }
}
