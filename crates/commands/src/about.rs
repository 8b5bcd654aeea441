//! `/changelog`: shows the newest changes.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};
use omp_stdx::page::Page;

const CHANGELOG: &str = include_str!("../../../CHANGELOG.md");
/// Caps the entries shown unless all are requested.
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
                "" => Ok(SlashReply::Page(Page::of_markdown(newest(CHANGELOG, NEWEST)))),
                "full" => Ok(SlashReply::Page(Page::of_markdown(CHANGELOG.trim_end()))),
                other => Err(format!("unknown argument `{other}`\nhint: usage: /changelog [full]")),
            }
        }
        .boxed()
    }
}

/// Returns the first entries with their heading, each in full.
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
        text.push_str(&format!("\n\n{more} more; `/changelog full` shows all"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entries_are_shown_whole() {
        let log = "# Changelog\n\nWords.\n\n## 2\n\n- a\n  more of a\n- b\n\n## 1\n\n- c\n";
        for (most, expect) in [
            (1, "## 2\n\n- a\n  more of a\n\n2 more; `/changelog full` shows all"),
            (2, "## 2\n\n- a\n  more of a\n- b\n\n## 1\n\n1 more; `/changelog full` shows all"),
            (9, "## 2\n\n- a\n  more of a\n- b\n\n## 1\n\n- c"),
        ] {
            assert_eq!(newest(log, most), expect, "{most}");
        }
        assert!(newest(CHANGELOG, NEWEST).lines().filter(|line| line.starts_with("- ")).count() == NEWEST);
    }
}
