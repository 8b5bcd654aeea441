//! The state of a session costs the same however much was said.

use std::time::Duration;

use omp_testkit::{Effort, ScriptedLlm, Turn};
use omp_types::{Message, UserMessage};

use crate::stage::Stage;

const MESSAGES: usize = 100_000;
/// What one look may cost, and how many are taken, for few would be too little to measure.
const LIMIT: Duration = Duration::from_millis(5);
const LOOKS: u32 = 1000;

#[tokio::test]
async fn a_look_at_a_session_of_100_000_messages_is_cheap() {
    let history = (0..MESSAGES).map(|number| Message::User(UserMessage::text(number.to_string()))).collect();
    let stage = Stage::with(ScriptedLlm::new([Turn::text("unused")]), |options| options.history = history);
    let effort = Effort::begin();
    for _ in 0..LOOKS {
        assert_eq!(stage.session.snapshot().message_count, MESSAGES);
    }
    let each = effort.spent() / LOOKS;
    assert!(each < LIMIT, "{each:?}");
}
