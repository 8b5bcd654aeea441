//! Sends requests to a model and formats the results.

use std::sync::Arc;

use futures_util::StreamExt;
use omp_http::{Client, HttpConfig};
use omp_llm::{Auth, Providers};
use omp_types::{
    Api, AssistantMessage, CacheRetention, Env, InputKind, Llm, Message, Model, Prices, Request, StreamEvent, Terms,
    ThinkingLevel, ToolSpec, UserMessage,
};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

/// The key that every test sends; it must never appear in a message.
pub const KEY: &str = "test-key-sesame";

pub fn model(api: Api, provider: &str, base_url: &str) -> Model {
    Model {
        id: "model-1".into(),
        name: "Model 1".into(),
        api,
        provider: provider.into(),
        base_url: base_url.into(),
        reasoning: true,
        input: vec![InputKind::Text, InputKind::Image],
        cost: Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 },
        context_window: 200_000,
        max_tokens: 64_000,
        headers: Default::default(),
        thinking: None,
        compat: Value::Null,
        context_promotion_target: None,
    }
}

pub fn request(model: Model) -> Request {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let user = Message::User(UserMessage { timestamp: 0, ..UserMessage::text("Read a.txt.") });
    Request {
        model: Arc::new(model),
        system: "Be brief.".into(),
        tools: [ToolSpec { name: "read".into(), description: "Reads a file.".into(), parameters }].into(),
        messages: vec![Arc::new(user)],
        thinking: ThinkingLevel::Off,
        max_tokens: None,
        session_id: None,
        cache: CacheRetention::Short,
        terms: Terms::default(),
    }
}

pub fn providers(env: &[(&str, &str)]) -> Providers {
    let keys = [("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY), ("GEMINI_API_KEY", KEY)];
    let env: Env = keys.iter().chain(env).copied().collect();
    Providers::new(Client::new(&env, HttpConfig::default()), Auth::new(env.clone()))
}

/// Returns all events of an answer and the final message. Checks the invariants of every stream.
pub async fn ask(providers: &Providers, request: Request) -> (Vec<StreamEvent>, AssistantMessage) {
    let mut stream = providers.stream(request);
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert_eq!(events.first(), Some(&StreamEvent::Start));
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1, "{events:?}");
    assert!(events.last().is_some_and(StreamEvent::is_terminal), "{events:?}");
    let message = stream.message().clone();
    assert_eq!(message.failed(), message.error.is_some());
    assert_eq!(message.error_message, message.error.as_ref().map(|error| error.message.clone()));
    assert!(!format!("{message:?}").contains(KEY), "{message:?}");
    (events, message)
}

/// Decodes a server's reply with a model of that API.
pub async fn answer_to(api: Api, provider: &str, reply: Reply) -> (Vec<StreamEvent>, AssistantMessage) {
    let server = Server::start(reply).await;
    ask(&providers(&[]), request(model(api, provider, &server.base_url))).await
}

/// Formats one event per line as JSON; deltas that only differ in chunking are merged.
pub fn told(events: &[StreamEvent]) -> String {
    let mut lines: Vec<Value> = Vec::new();
    for event in events {
        let event = serde_json::to_value(event).unwrap();
        match lines.last_mut() {
            Some(last) if last["type"] == event["type"] && event["delta"].is_string() => {
                let joined = format!("{}{}", last["delta"].as_str().unwrap(), event["delta"].as_str().unwrap());
                last["delta"] = joined.into();
            }
            _ => lines.push(event),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
