//! The state of a session costs the same however much was said.

use std::time::{Duration, Instant};

use omp_testkit::{ScriptedLlm, Turn};
use omp_types::{Message, UserMessage};

use crate::stage::Stage;

const MESSAGES: usize = 100_000;
/// What one look may cost, and how many are taken: together more than any scheduler's hiccup.
const LIMIT: Duration = Duration::from_millis(5);
const LOOKS: u32 = 1000;

#[tokio::test]
async fn a_look_at_a_session_of_100_000_messages_is_cheap() {
    let history = (0..MESSAGES).map(|number| Message::User(UserMessage::text(number.to_string()))).collect();
    let stage = Stage::with(ScriptedLlm::new([Turn::text("unused")]), |options| options.history = history);
    let begun = Instant::now();
    for _ in 0..LOOKS {
        assert_eq!(stage.session.snapshot().message_count, MESSAGES);
    }
    let each = begun.elapsed() / LOOKS;
    assert!(each < LIMIT, "{each:?}");
}
