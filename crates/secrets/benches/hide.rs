//! What 200 secrets add to the requests of a conversation of 1 MB.
//!
//! `cargo bench -p omp-secrets`

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_secrets::{Entry, Found, Key, Kind, Mode, Origin, Veil};
use omp_types::{Message, UserMessage};

const SECRETS: usize = 200;
const MESSAGES: usize = 500;
const BYTES: usize = 2_000;

fn main() {
    let found = (0..SECRETS).map(|number| {
        let entry =
            Entry { kind: Kind::Plain, content: format!("sk-{number:03}-of-the-user-{number}"), mode: Mode::Obfuscate };
        Found { name: number.to_string(), entry, origin: Origin::Environment }
    });
    let (veil, warnings) = Veil::new(Key::random(), found.collect());
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
    let written = best(|| messages.iter().map(|message| serde_json::to_string(message).expect("JSON").len()).sum());
    let hidden = best(|| messages.iter().map(|message| Arc::strong_count(&veil.hide_message(message))).sum());
    let one = best(|| Arc::strong_count(&veil.hide_message(&messages[1])));
    println!(
        "1 MB: writing it as JSON {written:?}, hiding {SECRETS} secrets in all of it {hidden:?} ({:.2} times); \
         of a turn that adds {BYTES} bytes {one:?}",
        hidden.as_secs_f64() / written.as_secs_f64()
    );
}

fn best(mut work: impl FnMut() -> usize) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let began = Instant::now();
        std::hint::black_box(work());
        best = best.min(began.elapsed());
    }
    best
}
