//! What 200 rules cost on a long answer.
//!
//! `cargo bench -p omp-rules`: the matcher alone, in nanoseconds a token, and that twice the text takes twice the time.

#![allow(clippy::print_stdout, reason = "a bench prints what it measures")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use omp_config::{ItemSource, Level, Provider, Rule};
use omp_rules::{Listener, RuleSettings, Watch, bucket};
use omp_types::ToolCall;

const TOKENS: usize = 50_000;
const RULES: usize = 200;

fn main() {
    let rules = rules();
    let start = Instant::now();
    let buckets = bucket(&rules, &RuleSettings::default());
    println!("sorting {RULES} rules: {:?}", start.elapsed());
    assert_eq!((buckets.ttsr.rules().len(), buckets.warnings.len()), (RULES, 0));
    let tokens = tokens(2 * TOKENS);
    for (name, hear) in [("text", as_text as Hear), ("write", as_write)] {
        let (once, hits) = best(|| hear(&buckets.ttsr, &tokens[..TOKENS]));
        let (twice, _) = best(|| hear(&buckets.ttsr, &tokens));
        let a_token = once.as_nanos() / TOKENS as u128;
        let ratio = twice.as_secs_f64() / once.as_secs_f64();
        println!(
            "{name}: {TOKENS} tokens {once:?} ({a_token} ns a token, {hits} hits), twice as many {ratio:.2} times"
        );
    }
}

type Hear = fn(&Watch, &[String]) -> usize;

fn as_text(watch: &Watch, tokens: &[String]) -> usize {
    let mut listener = Listener::new(PathBuf::from("/tmp/project"));
    tokens.iter().map(|token| listener.text(watch, 0, token).len()).sum::<usize>() + listener.ended(watch, 0).len()
}

fn as_write(watch: &Watch, tokens: &[String]) -> usize {
    let mut listener = Listener::new(PathBuf::from("/tmp/project"));
    let mut call = ToolCall { id: "1".into(), name: "write".into(), ..ToolCall::default() };
    call.arguments.insert("path".into(), "src/a.rs".into());
    call.arguments.insert("content".into(), String::new().into());
    let mut hits = 0;
    for token in tokens {
        if let Some(serde_json::Value::String(content)) = call.arguments.get_mut("content") {
            content.push_str(token);
        }
        hits += listener.arguments(watch, 0, &call, token).len();
    }
    hits + listener.call_ended(watch, 0, &call).len()
}

/// The best of five: what disturbs can only add.
fn best(work: impl Fn() -> usize) -> (Duration, usize) {
    let mut best = (Duration::MAX, 0);
    for _ in 0..5 {
        let start = Instant::now();
        let hits = work();
        best = best.min((start.elapsed(), hits));
    }
    best
}

/// Prose and code, a few letters at a time, never twice the same line.
fn tokens(count: usize) -> Vec<String> {
    let words = [
        "let", " total", " =", " self", ".", "count", "();", "\n    ", "the", " model", " should", " write", " fn",
        " x",
    ];
    let mut seed = 1u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize
    };
    (0..count)
        .map(
            |at| {
                if at.is_multiple_of(17) { format!(" {:x}", next() % 9999) } else { words[next() % words.len()].into() }
            },
        )
        .collect()
}

/// Conditions such as people write: words, calls, boundaries, either way of writing, line starts, gaps.
fn rules() -> Vec<Rule> {
    let condition = |at: usize| match at % 6 {
        0 => format!(r"\bforbidden_{at}\s*\("),
        1 => format!(r"(?i)as an? (ai|language) model {at}"),
        2 => format!(r"(?m)^\s*use +legacy{at}::"),
        3 => format!(r"module{at}\.(get|set)[A-Z]\w+\(.*\)\s*;"),
        4 => format!(r"console{at}\.(log|debug)\("),
        _ => format!(r"[A-Za-z_]\w*_{at}\.unwrap\(\)"),
    };
    let rule = |at: usize| Rule {
        name: format!("rule-{at}"),
        content: "Do not.".into(),
        description: None,
        globs: if at.is_multiple_of(4) { vec!["*.rs".into()] } else { Vec::new() },
        always_apply: false,
        condition: vec![condition(at)],
        ast_condition: if at.is_multiple_of(20) { vec![format!("legacy_{at}($A)")] } else { Vec::new() },
        scope: Vec::new(),
        interrupt_mode: None,
        source: ItemSource { provider: Provider::Native, level: Level::User, path: format!("rule-{at}.md").into() },
    };
    (0..RULES).map(rule).collect()
}
