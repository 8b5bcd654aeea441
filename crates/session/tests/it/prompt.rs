//! Tests of the opening message, which is sent once and stays the same, and of the system prompt for each model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omp_session::{Command, GitState, Opening, PromptParts, SessionOptions, SystemPrompt};
use omp_testkit::{ScriptedLlm, Turn, mock_model};
use omp_types::{Message, Model, text_of};

use crate::stage::Stage;

/// Reports a project whose branch has another name each time.
fn look_around(options: &mut SessionOptions) {
    let looks = AtomicUsize::new(0);
    options.look_around = Some(Arc::new(move || {
        let head = format!("branch-{}", looks.fetch_add(1, Ordering::Relaxed));
        Opening { git: Some(GitState { head, changed: None }), tree: None }
    }));
}

/// Role and last word of each message that was sent.
fn sent(messages: &[Arc<Message>]) -> Vec<String> {
    let last = |message: &Message| text_of(message.content()).split_whitespace().last().unwrap_or_default().to_owned();
    messages.iter().map(|message| format!("{} {}", message.role(), last(message))).collect()
}

#[tokio::test]
async fn the_project_is_told_once_before_the_first_prompt() {
    let mut stage = Stage::with(ScriptedLlm::new(["one", "two", "three"].map(Turn::text)), look_around);
    stage.prompt("first").await;
    stage.prompt("second").await;
    let requests = stage.llm.requests();
    assert_eq!(sent(&requests[0].messages), ["custom branch-0", "user first"]);
    assert_eq!(sent(&requests[1].messages), ["custom branch-0", "user first", "assistant one", "user second"]);
    assert!(stage.entries().contains(&"custom_message project-state".to_owned()), "{:?}", stage.entries());
    // A conversation that starts over has no opening message.
    stage.session.go_to(None).await.unwrap();
    stage.prompt("third").await;
    assert_eq!(sent(&stage.llm.requests()[2].messages), ["custom branch-1", "user third"]);
}

#[tokio::test]
async fn a_model_that_is_switched_to_and_back_is_told_the_same_bytes() {
    let llm = ScriptedLlm::new(["one", "two", "three"].map(Turn::text));
    let prompt = SystemPrompt::new(&PromptParts::default()).unwrap();
    let mut stage = Stage::with(llm, |options| options.system = prompt);
    let small = Arc::new(Model { id: "small".into(), context_window: 8_192, ..mock_model() });
    for (number, model) in [Arc::new(mock_model()), small, Arc::new(mock_model())].into_iter().enumerate() {
        stage.send(Command::SetModel(model)).await;
        stage.prompt(&format!("prompt {number}")).await;
        assert_eq!(stage.session.system_prompt(), stage.llm.requests()[number].system);
    }
    let requests = stage.llm.requests();
    assert_eq!(requests[0].system, requests[2].system);
    assert!(requests[1].system.len() < requests[0].system.len());
}

#[tokio::test]
async fn the_cost_of_a_session_grows_with_what_is_said() {
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("An answer.")]), look_around);
    let before = stage.session.context().await;
    assert_eq!(before.parts.last().unwrap().kind, "projectState");
    stage.prompt("hello").await;
    let after = stage.session.context().await;
    let kinds: Vec<_> = after.parts.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, ["system", "tool", "user", "assistant", "custom"]);
    assert!(after.total_tokens > before.total_tokens && after.expected_cached_tokens > 0, "{after:?}");
}
