//! Measures how much 200 secrets add to the requests of a conversation of 1 MB, relative to none.
//!
//! `cargo bench -p omp-secrets`

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_secrets::{FoundSecret, SecretEntry, SecretKind, SecretMode, SecretOrigin, Veil, VeilKey};
use omp_types::{Message, UserMessage};

const SECRETS: usize = 200;
const MESSAGES: usize = 500;
const BYTES: usize = 2_000;

fn main() {
    let found = (0..SECRETS).map(|number| {
        let entry = SecretEntry {
            kind: SecretKind::Plain,
            content: format!("sk-{number:03}-of-the-user-{number}"),
            mode: SecretMode::Obfuscate,
        };
        FoundSecret { name: number.to_string(), entry, origin: SecretOrigin::Environment }
    });
    let (veil, warnings) = Veil::new(VeilKey::random(), found.collect());
    assert!(warnings.is_empty());
    let words = "the quick brown fox jumps over the lazy dog; sk-live, skip, sketch\n";
    let messages: Vec<Arc<Message>> = (0..MESSAGES)
        .map(|number| {
            let secret = if number % 50 == 0 {
                format!("sk-{:03}-of-the-user-{}", number / 50, number / 50)
            } else {
                String::new()
            };
            let text: String = words.chars().cycle().take(BYTES).collect();
            Arc::new(Message::User(UserMessage::text(text + &secret)))
        })
        .collect();
    let (nothing, _) = Veil::new(VeilKey::random(), Vec::new());
    let json = |message: &Arc<Message>| serde_json::to_string(message).expect("JSON").len();
    // Every turn serializes the whole conversation; earlier messages are already redacted.
    let turn = |veil: &Veil| best(|| json(&veil.hide_message(&messages[1])) + messages.iter().map(json).sum::<usize>());
    let first = |veil: &Veil| best(|| messages.iter().map(|message| json(&veil.hide_message(message))).sum());
    let one = best(|| Arc::strong_count(&veil.hide_message(&messages[1])));
    let ratio = |with: Duration, without: Duration| with.as_secs_f64() / without.as_secs_f64();
    println!(
        "1 MB of conversation, {SECRETS} secrets to none: a turn that adds {BYTES} bytes {:.3} times ({one:?} for hiding), \
         the first turn after a resume {:.2} times",
        ratio(turn(&veil), turn(&nothing)),
        ratio(first(&veil), first(&nothing)),
    );
}

fn best(mut work: impl FnMut() -> usize) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let began = Instant::now();
        std::hint::black_box(work());
        best = best.min(began.elapsed());
    }
    best
}
