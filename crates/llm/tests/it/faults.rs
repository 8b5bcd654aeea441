//! Tests of misbehaving servers: every stream ends in a classified error, none hangs.

use futures_util::StreamExt;
use omp_llm::Providers;
use omp_types::{Api, ErrorKind, Llm, Model, ModelError, StreamEvent};
use tokio::net::TcpListener;

use crate::server::{Reply, Server};
use crate::talk::{KEY, ask, model, providers, request};

const PART: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
    "\"content_block\":{\"type\":\"text\",\"text\":\"Half an\"}}\n\n",
);

async fn failure_of(providers: &Providers, model: Model) -> (ModelError, String) {
    let (_, message) = ask(providers, request(model)).await;
    let text = message.text();
    (message.error.unwrap(), text)
}

async fn failure(reply: Reply) -> (ModelError, String) {
    let server = Server::start(reply).await;
    failure_of(&providers(&[]), model(Api::AnthropicMessages, "anthropic", &server.base_url)).await
}

#[track_caller]
fn check((error, text): (ModelError, String), kind: ErrorKind, words: &str, kept: &str) {
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(words), "{error}");
    assert!(error.message.contains("anthropic"), "{error}");
    assert_eq!(text, kept);
}

#[tokio::test]
async fn connections_that_break() {
    let network = ErrorKind::Network;
    check(failure(Reply::nothing().then_reset()).await, network, "before it answered", "");
    check(failure(Reply::nothing()).await, network, "before it answered", "");
    check(failure(Reply::unfinished(PART)).await, network, "in the middle of its answer", "Half an");
    check(failure(Reply::unfinished(PART).then_reset()).await, network, "in the middle of its answer", "Half an");
}

#[tokio::test]
async fn streams_that_stall() {
    let quick =
        providers(&[("PI_OPENAI_STREAM_FIRST_EVENT_TIMEOUT_MS", "80"), ("PI_OPENAI_STREAM_IDLE_TIMEOUT_MS", "80")]);
    for (reply, words, kept) in [
        (Reply::nothing().then_stall(), "sent nothing within", ""),
        (Reply::unfinished(PART).then_stall(), "in the middle of its answer", "Half an"),
    ] {
        let server = Server::start(reply).await;
        let model = model(Api::AnthropicMessages, "anthropic", &server.base_url);
        check(failure_of(&quick, model).await, ErrorKind::Network, words, kept);
    }
}

#[tokio::test]
async fn answers_that_are_no_streams() {
    let protocol = ErrorKind::Protocol;
    let page = b"<!DOCTYPE html><title>Log in</title>";
    check(failure(Reply::status(200, "text/html; charset=utf-8", &[], page)).await, protocol, "<title>Log in", "");
    let json = br#"{"id":"msg","status":"fine"}"#;
    check(failure(Reply::status(200, "application/json", &[], json)).await, protocol, "JSON without an answer", "");
    check(failure(Reply::status(200, "application/json", &[], b"{\"id\": ")).await, protocol, "cannot be read", "");
    check(failure(Reply::status(200, "text/plain", &[], b"hello there")).await, protocol, "hello there", "");
    check(failure(Reply::events("")).await, protocol, "empty", "");
    check(failure(Reply::events(": ping\n\n")).await, protocol, "no event", "");
    let hidden = br#"{"error":{"type":"overloaded_error","message":"Try later"}}"#;
    check(failure(Reply::status(200, "application/json", &[], hidden)).await, ErrorKind::Overloaded, "Try later", "");
    check(failure(Reply::events(PART)).await, protocol, "message_stop", "Half an");
    check(failure(Reply::raw("SSH-2.0-OpenSSH_9.9\r\n")).await, protocol, "no usable answer", "");
}

#[tokio::test]
async fn an_event_without_end_is_cut() {
    let endless = format!("data: {}", "x".repeat(17 << 20));
    check(failure(Reply::events(&endless)).await, ErrorKind::Protocol, "larger than 16 MiB", "");
}

#[tokio::test]
async fn refusals_are_sorted() {
    let body = br#"{"type":"error","error":{"type":"rate_limit_error","message":"Too fast"}}"#;
    let limited = failure(Reply::status(429, "application/json", &[("retry-after", "3")], body)).await;
    assert_eq!(limited.0.retry_after.map(|wait| wait.as_secs()), Some(3));
    assert_eq!(limited.0.status, Some(429));
    check(limited, ErrorKind::RateLimit, "Too fast", "");
    let echo = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
    let wrong_key = failure(Reply::status(401, "application/json", &[], echo.as_bytes())).await;
    check(wrong_key, ErrorKind::Auth, "bad key [key]\nhint: check the key in use: ANTHROPIC_API_KEY in the", "");
    check(failure(Reply::status(529, "text/plain", &[], b"")).await, ErrorKind::Overloaded, "(529)", "");
    let long = br#"{"error":{"message":"prompt is too long: 3 tokens > 2 maximum"}}"#;
    check(failure(Reply::status(400, "application/json", &[], long)).await, ErrorKind::ContextOverflow, "too long", "");
    let broken_off = Reply::raw("HTTP/1.1 500 X\r\ncontent-length: 99\r\n\r\nout of mem");
    check(failure(broken_off).await, ErrorKind::Overloaded, "(500): out of mem", "");
}

#[tokio::test]
async fn a_request_that_cannot_be_made() {
    let nobody = Providers::new(
        omp_http::Client::new(&omp_types::Env::default(), omp_http::HttpConfig::default()),
        omp_llm::Auth::new(omp_types::Env::default()),
    );
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let anthropic = || model(Api::AnthropicMessages, "anthropic", &format!("http://{gone}"));
    check(failure_of(&nobody, anthropic()).await, ErrorKind::Auth, "hint: set ANTHROPIC_OAUTH_TOKEN or", "");
    let other = Model { api: Api::Other("bedrock".into()), ..anthropic() };
    check(failure_of(&providers(&[]), other).await, ErrorKind::BadRequest, "`bedrock`", "");
    let lost = Model { base_url: "htp:/nowhere".into(), ..anthropic() };
    check(failure_of(&providers(&[]), lost).await, ErrorKind::BadRequest, "not a usable URL", "");
    let no_server = failure_of(&providers(&[]), anthropic()).await;
    check(no_server, ErrorKind::Network, "hint: is the server running", "");
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    let server = Server::start(Reply::unfinished(PART).then_stall()).await;
    let mut stream = providers(&[]).stream(request(model(Api::AnthropicMessages, "anthropic", &server.base_url)));
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. }) {
            break;
        }
    }
    assert_eq!(stream.message().text(), "Half an");
    drop(stream);
    server.silent_connection_closed().await;
}
