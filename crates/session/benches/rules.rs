//! Measures what 200 stream rules cost while a session streams an answer of 50,000 tokens: at most 1.3 times the CPU time
//! of a session without rules.
//!
//! Run it with `cargo bench -p omp-session`. Everything runs on one thread, so the elapsed time is the CPU time used.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_config::{ItemSource, Level, Provider, Rule};
use omp_rules::{RuleSettings, bucket};
use omp_session::{Command, Recorder, Session, SessionEvent, SessionOptions, StandardFeatures, StreamRules};
use omp_testkit::{ScriptedLlm, Text, Turn, mock_model};
use omp_types::Content;

const TOKENS: usize = 50_000;
const RULES: usize = 200;

fn main() {
    let buckets = bucket(&rules(), &RuleSettings::default());
    assert_eq!((buckets.ttsr.rules().len(), buckets.warnings.len()), (RULES, 0));
    let with = StreamRules { watch: buckets.ttsr, ..StreamRules::default() };
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        for (rules, best) in [StreamRules::default(), with.clone()].into_iter().zip(&mut best) {
            *best = (*best).min(stream(rules));
        }
    }
    let [without, with] = best;
    let ratio = with.as_secs_f64() / without.as_secs_f64();
    println!("{TOKENS} tokens: without rules {without:?}, with {RULES} rules {with:?}: {ratio:.2} times (limit 1.30)");
}

/// Sends one prompt, reads every event of its answer and returns the time taken.
fn stream(rules: StreamRules) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (session, _actor) = Session::open(options(rules));
        let mut events = session.events();
        let start = Instant::now();
        session.send(Command::Prompt(vec![Content::text("write")].into())).await.expect("a session");
        let mut pieces = 0;
        loop {
            match events.recv().await.expect("an event") {
                SessionEvent::Idle { .. } => break,
                SessionEvent::RulesFired(fired) => println!("a rule fired: {}", fired.line()),
                _ => pieces += 1,
            }
        }
        assert!(pieces > TOKENS / 100, "{pieces} pieces");
        start.elapsed()
    })
}

fn options(rules: StreamRules) -> SessionOptions {
    let llm = Arc::new(ScriptedLlm::new([Turn::text(Text::tokens(TOKENS))]));
    SessionOptions {
        system: "system".into(),
        max_turns: 1,
        features: StandardFeatures { rules, ..StandardFeatures::default() }.list(),
        ..SessionOptions::new(llm, Arc::new(mock_model()), Recorder::nowhere(std::path::Path::new("/")))
    }
}

/// Typical rule conditions: words, calls, word boundaries, alternatives, line starts, gaps.
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
        globs: Vec::new(),
        always_apply: false,
        condition: vec![condition(at)],
        ast_condition: Vec::new(),
        scope: Vec::new(),
        interrupt_mode: None,
        source: ItemSource { provider: Provider::Native, level: Level::User, path: format!("rule-{at}.md").into() },
    };
    (0..RULES).map(rule).collect()
}
