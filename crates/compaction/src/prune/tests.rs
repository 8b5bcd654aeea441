//! Tests of what is pruned, when, and what is never touched.

use serde_json::json;

use super::*;
use crate::sample::text_of;
use crate::sample::{Line, facts, result, transcript};

const COLD: CacheState = CacheState { last_request_ms: None, lifetime_ms: 300_000 };
const WARM: CacheState = CacheState { last_request_ms: Some(1_000), lifetime_ms: 300_000 };
const NOW: u64 = 2_000;

/// Returns the first 60 characters of all results after pruning, enough for the placeholders.
fn texts(pruned: &Option<Pruned>) -> Vec<String> {
    let messages = pruned.as_ref().map(|pruned| pruned.transcript.messages().to_vec()).unwrap_or_default();
    let results = messages.iter().filter(|message| matches!(***message, Message::ToolResult(_)));
    results.map(|it| it.content()[0].as_text().unwrap_or_default().chars().take(60).collect()).collect()
}

fn every_turn() -> PrunePolicy {
    PrunePolicy { facts: facts(), ..PrunePolicy::default() }
}

fn before_compaction() -> PrunePolicy {
    PrunePolicy { pass: Pass::BeforeCompaction, ..every_turn() }
}

/// Creates a call and its result with this number of tokens.
fn output(id: usize, tool: &str, path: &str, tokens: usize) -> [Line; 2] {
    [
        Line::Call(id.to_string(), tool.into(), json!({"path": path})),
        Line::Result(id.to_string(), tool.into(), text_of(tokens)),
    ]
}

/// Marks results by message index.
fn marked(lines: &[Line], useless: &[usize], details: &[(usize, serde_json::Value)]) -> Transcript {
    Transcript::repair(lines.iter().enumerate().map(|(at, line)| match line {
        Line::Result(id, tool, text) => {
            let mut result = result(id, tool, text, at as u64);
            result.useless = useless.contains(&at);
            result.details = details.iter().find(|(marked, _)| *marked == at).map(|(_, details)| details.clone());
            Message::ToolResult(result)
        }
        line => line.message(at as u64),
    }))
}

#[test]
fn old_output_goes_once_it_is_worth_it() {
    let session = |sizes: &[usize]| -> Transcript {
        transcript(&sizes.iter().enumerate().flat_map(|(at, size)| output(at, "bash", "", *size)).collect::<Vec<_>>())
    };
    let check = |sizes: &[usize], expect: &[&str]| {
        let pruned = prune(&session(sizes), &before_compaction(), NOW, WARM);
        let cut: Vec<String> = texts(&pruned).into_iter().filter(|text| text.starts_with('[')).collect();
        assert_eq!(cut, expect, "{sizes:?}");
    };
    check(&[30_000, 5_000, 40_000], &["[Output truncated - 30000 tokens]", "[Output truncated - 5000 tokens]"]);
    check(&[15_000, 40_000], &[]);
    check(&[30_000, 30, 40_000], &["[Output truncated - 30000 tokens]"]);
    check(&[30_000, 20_000, 19_000], &[]);
    check(&[], &[]);
    let once = prune(&session(&[30_000, 40_000]), &before_compaction(), NOW, WARM).unwrap();
    assert!(prune(&once.transcript, &before_compaction(), NOW, WARM).is_none(), "twice changes nothing");
}

#[test]
fn skills_and_the_plan_are_never_pruned() {
    let check = |tool: &str, path: &str, stays: bool| {
        let mut lines = output(0, tool, path, 50_000).to_vec();
        lines.extend(output(1, "bash", "", 50_000));
        lines.extend(output(2, "bash", "", 45_000));
        let policy = PrunePolicy { plan_file: Some("local://PLAN.md".into()), ..before_compaction() };
        let pruned = prune(&transcript(&lines), &policy, NOW, WARM);
        assert_eq!(texts(&pruned)[0].starts_with("word"), stays, "{tool} {path}");
        assert!(texts(&pruned)[1].starts_with('['));
    };
    check("skill", "", true);
    check("read", "skill://rust/notes.md:1-20", true);
    check("read", "local://PLAN.md:raw", true);
    check("read", "src/PLAN.md", false);
    check("bash", "skill://rust", false);
}

#[test]
fn stale_results_go_when_the_cache_is_cold() {
    let filler = |tokens: usize| vec![Line::Answer(text_of(tokens))];
    let check = |behind: usize, cache: CacheState, policy: &PrunePolicy, expect: &str| {
        let mut lines = output(0, "search", "", 100).to_vec();
        lines.extend(filler(behind));
        let pruned = prune(&marked(&lines, &[1], &[]), policy, NOW, cache);
        assert_eq!(texts(&pruned).first().map_or("", String::as_str), expect, "{behind}");
    };
    let every_turn = every_turn();
    check(10, WARM, &every_turn, "");
    check(8_100, COLD, &every_turn, USELESS);
    check(8_100, CacheState { last_request_ms: Some(0), lifetime_ms: NOW }, &every_turn, USELESS);
    check(10, COLD, &PrunePolicy { drop_useless: false, ..every_turn.clone() }, "");
}

#[test]
fn a_useless_result_smaller_than_its_placeholder_stays_and_so_does_a_failed_one() {
    let lines = [output(0, "find", "", 3), output(1, "find", "", 300)].concat();
    assert!(prune(&marked(&lines, &[1], &[]), &every_turn(), NOW, COLD).is_none());
    let failed = marked(&lines, &[3], &[]);
    let failed = Transcript::repair(failed.messages().iter().map(|message| match (**message).clone() {
        Message::ToolResult(mut result) => {
            result.is_error = true;
            Message::ToolResult(result)
        }
        other => other,
    }));
    assert!(prune(&failed, &every_turn(), NOW, COLD).is_none());
}

#[test]
fn useless_and_replaced_results_go_from_the_protected_end_too() {
    let mut lines = output(0, "bash", "", 30_000).to_vec();
    lines.extend(output(1, "bash", "", 40_000));
    lines.extend(output(2, "search", "", 500));
    let pruned = prune(&marked(&lines, &[5], &[]), &before_compaction(), NOW, WARM);
    assert_eq!(texts(&pruned)[2], USELESS);
    assert_eq!(texts(&pruned)[0], "[Output truncated - 30000 tokens]");
}

#[test]
fn a_newer_read_replaces_what_it_shows_again() {
    let check_tool = |tool: &str, older: &str, newer: &str, shown: &str, replaced: bool| {
        let lines = [output(0, tool, older, 500), output(1, "read", newer, 500)].concat();
        let pruned = prune(&marked(&lines, &[], &[(3, json!({"shown": shown}))]), &every_turn(), NOW, COLD);
        let expect: &[String] = if replaced { &[SUPERSEDED.into(), "word ".repeat(12)] } else { &[] };
        assert_eq!(texts(&pruned), expect, "{tool} {older} {newer}");
    };
    let check = |older: &str, newer: &str, shown: &str, replaced: bool| {
        check_tool("read", older, newer, shown, replaced);
    };
    check("a.rs", "a.rs", "all", true);
    check("a.rs:5-9", "a.rs", "all", true);
    check("a.rs:5-9", "a.rs", "part", false);
    check("a.rs:5-9", "a.rs:5-9", "part", true);
    check("a.rs:5-9", "a.rs:1-4", "part", false);
    check("a.rs", "a.rs", "outline", false);
    check("a.rs", "b.rs", "all", false);
    check("skill://a", "skill://a", "all", false);
    check_tool("count", "a.rs", "a.rs", "all", false);
}
