//! Test support for all wire APIs: a model, a growing conversation, a fixture reader, the prefix check.

use std::fmt::Write;
use std::sync::Arc;

use omp_types::{
    Api, AssistantMessage, CacheRetention, Content, CustomMessage, ImageContent, InputKind, Message, MessageBuilder,
    Model, ModelError, OtherMessage, Prices, Request, StopReason, Terms, TextContent, ThinkingContent, ThinkingLevel,
    ToolCall, ToolResultMessage, ToolSpec, UserMessage,
};
use serde_json::{Value, json};

use super::{WireApi, wire_for};
use crate::auth::Credential;

pub(crate) fn model(api: Api) -> Model {
    Model {
        id: "m-1".into(),
        name: "M".into(),
        api,
        provider: "mine".into(),
        base_url: "https://llm.example.com/v1".into(),
        reasoning: true,
        input: vec![InputKind::Text, InputKind::Image],
        cost: Prices { input: 1.0, output: 10.0, cache_read: 0.1, cache_write: 2.0 },
        context_window: 200_000,
        max_tokens: 64_000,
        headers: Default::default(),
        thinking: None,
        compat: Value::Null,
        context_promotion_target: None,
    }
}

pub(crate) fn request(model: Model, messages: Vec<Message>) -> Request {
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "File to read."}},
        "required": ["path"],
    });
    Request {
        model: Arc::new(model),
        system: "Be brief.".into(),
        tools: [ToolSpec { name: "read".into(), description: "Reads a file.".into(), parameters }].into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        thinking: ThinkingLevel::Medium,
        max_tokens: None,
        session_id: Some("session-1".into()),
        cache: CacheRetention::Short,
        terms: Terms::default(),
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(UserMessage { timestamp: 0, ..UserMessage::text(text) })
}

pub(crate) fn image() -> Content {
    Content::Image(ImageContent { data: "iVBORw0=".into(), mime_type: "image/png".into() })
}

pub(crate) fn answer(model: &Model, content: Vec<Content>) -> Message {
    let mut answer = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
    answer.stop_reason = StopReason::ToolUse;
    answer.content = content;
    Message::Assistant(answer)
}

pub(crate) fn thinking(text: &str, signature: &str) -> Content {
    let thinking_signature = (!signature.is_empty()).then(|| signature.to_owned());
    Content::Thinking(ThinkingContent { thinking: text.into(), thinking_signature })
}

pub(crate) fn signed_text(text: &str, signature: &str) -> Content {
    Content::Text(TextContent { text: text.into(), text_signature: Some(signature.into()) })
}

pub(crate) fn call(id: &str, path: &str) -> ToolCall {
    let arguments = json!({ "path": path }).as_object().cloned().unwrap_or_default();
    ToolCall { id: id.into(), name: "read".into(), arguments, ..ToolCall::default() }
}

pub(crate) fn result(id: &str, content: Vec<Content>) -> Message {
    Message::ToolResult(ToolResultMessage { is_error: false, ..failed(id, content) })
}

fn failed(id: &str, content: Vec<Content>) -> ToolResultMessage {
    ToolResultMessage { content, timestamp: 0, ..ToolResultMessage::error(&call(id, ""), "") }
}

/// Creates a conversation with everything that a wire API has to write; the caller supplies the signatures.
pub(crate) fn conversation(model: &Model, thinking_signature: &str, call_id: &str) -> Vec<Message> {
    vec![
        Message::User(UserMessage { timestamp: 0, ..UserMessage::new(vec![Content::text("Look \"here\"."), image()]) }),
        answer(
            model,
            vec![
                thinking("hm", thinking_signature),
                Content::text("Reading."),
                Content::ToolCall(call(call_id, "a.txt")),
                Content::ToolCall(call("other", "b.png")),
            ],
        ),
        Message::ToolResult(failed(call_id, vec![Content::text("one"), Content::text("two")])),
        result("other", vec![image()]),
        Message::Custom(CustomMessage {
            custom_type: "note".into(),
            content: vec![Content::text("A note.")],
            display: false,
            details: None,
            timestamp: 0,
        }),
        Message::Other(OtherMessage { role: "bashExecution".into(), value: json!({"role": "bashExecution"}) }),
    ]
}

/// Formats a request as sent, one line per field and per list item, in byte order.
pub(crate) fn shown(request: &Request) -> String {
    let wire = wire_for(&request.model.api).unwrap();
    let call = wire.encode(request, &Credential::ApiKey("key".into())).unwrap();
    let headers: Vec<_> = call.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let mut shown = format!("{}\n{}\n", call.url, headers.join("\n"));
    for (key, value) in serde_json::from_slice::<serde_json::Map<_, _>>(&call.body).unwrap() {
        match value {
            Value::Array(items) => {
                writeln!(shown, "{key}:").unwrap();
                items.iter().for_each(|item| writeln!(shown, "  {item}").unwrap());
            }
            value => writeln!(shown, "{key}: {value}").unwrap(),
        }
    }
    shown
}

/// Returns the body as JSON.
pub(crate) fn encoded(request: &Request) -> Value {
    let call = wire_for(&request.model.api).unwrap().encode(request, &Credential::ApiKey("key".into())).unwrap();
    serde_json::from_slice(&call.body).unwrap()
}

/// Checks that each body, without closing brackets and moving cache markers, is a prefix of the next.
#[track_caller]
pub(crate) fn check_prefixes(model: &Model, sign: impl Fn(usize) -> (String, String), markers: &[&str]) {
    let wire = wire_for(&model.api).unwrap();
    let mut messages = Vec::new();
    let mut before: Option<String> = None;
    for turn in 0..20 {
        let (thinking_signature, call_id) = sign(turn);
        messages.extend(conversation(model, &thinking_signature, &call_id));
        let body = wire.encode(&request(model.clone(), messages.clone()), &Credential::None).unwrap().body;
        let mut body = String::from_utf8(body).unwrap();
        for marker in markers {
            body = body.replace(marker, "");
        }
        let open = body.trim_end_matches(['}', ']']).to_owned();
        if let Some(before) = before {
            assert!(open.len() > before.len() && open.starts_with(&before), "turn {turn}:\n{before}\n---\n{open}");
        }
        before = Some(open);
    }
}

/// Decodes a fixture (`event:` and `data:` lines, blank line between events) and formats the result.
pub(crate) fn decode(model: &Model, sse: &str) -> String {
    let (answer, error) = decode_message(model, sse);
    tell(&answer, error)
}

pub(crate) fn decode_message(model: &Model, sse: &str) -> (AssistantMessage, Option<ModelError>) {
    let wire: &dyn WireApi = wire_for(&model.api).unwrap();
    let mut decoder = wire.decoder(Arc::new(model.clone()));
    let mut answer = MessageBuilder::new(model);
    for event in sse.split("\n\n") {
        let field =
            |name: &str| event.lines().find_map(|line| line.trim_start().strip_prefix(name)).map(str::trim_start);
        let Some(data) = field("data:") else { continue };
        if let Err(error) = decoder.event(field("event:").unwrap_or_default(), data, &mut answer) {
            return (answer.message().clone(), Some(error));
        }
        if answer.is_finished() {
            return (answer.message().clone(), None);
        }
    }
    let error = decoder.end(&mut answer).err();
    assert!(error.is_some() || answer.is_finished(), "a decoder must finish or fail");
    (answer.message().clone(), error)
}

/// Checks that a stream that is cut anywhere before its end gives a retryable error, never an answer.
#[track_caller]
pub(crate) fn check_cuts(model: &Model, sse: &str, last: &str) {
    let end = sse.find(last).expect("the fixture has an end") + last.len();
    for cut in (0..end).filter(|cut| sse.is_char_boundary(*cut)) {
        let (_, error) = decode_message(model, &sse[..cut]);
        assert_eq!(error.map(|error| error.kind), Some(omp_types::ErrorKind::Protocol), "cut at {cut}");
    }
}

fn tell(answer: &AssistantMessage, error: Option<ModelError>) -> String {
    let mut told = String::new();
    let mark = |signature: &Option<String>| signature.as_ref().map(|text| format!(" <{text}>")).unwrap_or_default();
    for block in &answer.content {
        match block {
            Content::Text(block) => writeln!(told, "text {:?}{}", block.text, mark(&block.text_signature)),
            Content::Thinking(block) => {
                writeln!(told, "thinking {:?}{}", block.thinking, mark(&block.thinking_signature))
            }
            Content::ToolCall(call) => {
                let arguments = call.invalid_arguments.as_ref().map_or_else(
                    || Value::Object(call.arguments.clone()).to_string(),
                    |invalid| format!("invalid {invalid:?}"),
                );
                writeln!(told, "call {} {} {arguments}{}", call.id, call.name, mark(&call.thought_signature))
            }
            other => writeln!(told, "{other:?}"),
        }
        .unwrap();
    }
    match error {
        Some(error) => writeln!(told, "{:?}: {error}", error.kind).unwrap(),
        None => {
            let usage = answer.usage;
            let counts = [usage.input, usage.output, usage.cache_read, usage.cache_write];
            writeln!(told, "{:?}, tokens {counts:?}, ${:.7}", answer.stop_reason, usage.cost.total).unwrap();
        }
    }
    told
}
