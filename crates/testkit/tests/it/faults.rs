//! Tests the bytes of every fault.

use omp_testkit::{Fault, FaultKind, FaultStatus, Moment, Script, Server, Turn, Wire};
use serde_json::{Value, json};

use crate::client::{Answer, Client, Ending, data, path, request};

fn turn() -> Turn {
    Turn::text(["one ", "two ", "three"]).and_call("read", json!({"path": "a.txt"}))
}

async fn start(fault: impl Into<Fault>) -> Server {
    Server::start(turn().fault(fault.into())).await.unwrap()
}

async fn answer(wire: Wire, fault: impl Into<Fault>) -> Answer {
    let server = start(fault).await;
    Client::connect(&server).await.ask(wire).await
}

/// Returns the whole stream without a fault.
async fn whole(wire: Wire) -> String {
    let server = Server::start(turn()).await.unwrap();
    Client::connect(&server).await.ask(wire).await.text()
}

#[tokio::test]
async fn resets_and_closes_come_at_their_moment() {
    for wire in Wire::ALL {
        let whole = whole(wire).await;
        for (reset, ending) in [(true, Ending::Reset), (false, Ending::Closed)] {
            let kind = |at| if reset { FaultKind::Reset { at } } else { FaultKind::Close { at } };
            let server = start(kind(Moment::BeforeHeaders)).await;
            let mut client = Client::connect(&server).await;
            client.send("POST", path(wire), request(wire, 0).to_string().as_bytes()).await;
            assert_eq!(client.answer().await.unwrap_err(), ending, "{wire:?}");

            let answer_at = |at| answer(wire, kind(at));
            let empty = answer_at(Moment::AfterHeaders).await;
            assert_eq!((empty.ending, empty.text().as_str()), (ending, ""));
            let half = answer_at(Moment::MidStream).await;
            assert_eq!((half.ending, half.text().as_str()), (ending, &whole[..whole.len() / 2]));
            let two = answer_at(Moment::AfterEvents(2)).await;
            assert_eq!((two.ending, two.data().len()), (ending, 2));
        }
    }
}

#[tokio::test]
async fn an_endless_stall_lasts_until_the_client_hangs_up() {
    for at in [Moment::BeforeHeaders, Moment::AfterHeaders, Moment::MidStream] {
        let server = start(Fault::stall(at)).await;
        let mut client = Client::connect(&server).await;
        client.send("POST", path(Wire::Anthropic), request(Wire::Anthropic, 0).to_string().as_bytes()).await;
        server.until(|counts| counts.stalls == 1).await;
        assert_eq!(server.counts().answers, 0);
        drop(client);
        let counts = server.until(|counts| counts.hangups == 1).await;
        assert_eq!(counts.answers, 0);
    }
}

#[tokio::test]
async fn a_short_stall_goes_on_where_it_stopped() {
    for at in [Moment::BeforeHeaders, Moment::AfterHeaders, Moment::MidStream] {
        let stalled = answer(Wire::Responses, FaultKind::Stall { at, ms: Some(1) }).await;
        assert_eq!(stalled.ending, Ending::Complete);
        assert_eq!(stalled.text(), whole(Wire::Responses).await);
    }
}

#[tokio::test]
async fn error_statuses_carry_headers_and_the_providers_own_body() {
    let kinds = ["/error/type", "/error/code", "/error/code", "/error/status"];
    let rows: [(u16, [&str; 4]); 4] = [
        (401, ["authentication_error", "invalid_api_key", "invalid_api_key", "UNAUTHENTICATED"]),
        (429, ["rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"]),
        (500, ["api_error", "server_error", "server_error", "INTERNAL"]),
        (529, ["overloaded_error", "server_error", "server_error", "UNAVAILABLE"]),
    ];
    for (code, words) in rows {
        for ((wire, pointer), word) in Wire::ALL.into_iter().zip(kinds).zip(words) {
            let status = FaultStatus::new(code).retry_after("7").header("x-should-retry", "true");
            let answer = answer(wire, status).await;
            assert_eq!((answer.status, answer.ending), (code, Ending::Complete));
            assert_eq!(answer.header("retry-after"), Some("7"));
            assert_eq!(answer.header("x-should-retry"), Some("true"));
            assert_eq!(answer.json().pointer(pointer).and_then(Value::as_str), Some(word), "{wire:?} {code}");
        }
    }
    let own =
        answer(Wire::Anthropic, FaultStatus::new(503).body("<b>down</b>").header("content-type", "text/html")).await;
    assert_eq!((own.text().as_str(), own.header("content-type")), ("<b>down</b>", Some("text/html")));
    assert_eq!(own.headers.iter().filter(|(name, _)| name == "content-type").count(), 1);
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_refused_in_the_providers_words() {
    let rows = ["prompt is too long", "maximum context length", "exceeds the context window", "input token count"];
    for (wire, words) in Wire::ALL.into_iter().zip(rows) {
        let answer = answer(wire, FaultKind::ContextOverflow).await;
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains(words), "{wire:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn an_error_can_come_inside_a_stream() {
    let rows = [
        (Wire::Anthropic, "/error/type", "overloaded_error"),
        (Wire::Completions, "/error/code", "server_error"),
        (Wire::Responses, "/response/error/code", "server_error"),
        (Wire::Google, "/error/status", "UNAVAILABLE"),
    ];
    for (wire, pointer, word) in rows {
        let answer = answer(wire, FaultKind::ErrorEvent { code: 529 }).await;
        let events = answer.data();
        assert_eq!((answer.status, answer.ending), (200, Ending::Complete));
        assert!(events.len() > 1, "{wire:?}");
        let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
        assert_eq!(last.pointer(pointer).and_then(Value::as_str), Some(word), "{wire:?}: {last}");
    }
}

#[tokio::test]
async fn one_event_in_the_middle_is_malformed() {
    for wire in Wire::ALL {
        let events = answer(wire, FaultKind::MalformedEvent).await.data();
        let sound = data(&whole(wire).await);
        let differing: Vec<usize> = (0..sound.len()).filter(|&i| sound[i] != events[i]).collect();
        assert_eq!(differing, [sound.len() / 2], "{wire:?}");
        assert!(serde_json::from_str::<Value>(&events[differing[0]]).is_err());
    }
}

#[tokio::test]
async fn a_web_page_and_an_empty_stream_are_no_answers() {
    for wire in Wire::ALL {
        let page = answer(wire, FaultKind::Html).await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(page.text().starts_with("<!doctype html>"));
        let empty = answer(wire, FaultKind::EmptyStream).await;
        assert_eq!((empty.status, empty.ending, empty.text().as_str()), (200, Ending::Complete, ""));
        assert_eq!(empty.header("content-type"), Some("text/event-stream; charset=utf-8"));
    }
}

#[tokio::test]
async fn terminal_events_can_be_missing() {
    for (wire, tail) in Wire::ALL.into_iter().zip([2, 3, 1, 1]) {
        let sound = data(&whole(wire).await);
        let cut = answer(wire, FaultKind::NoTerminal).await;
        assert_eq!((cut.ending, cut.data().as_slice()), (Ending::Complete, &sound[..sound.len() - tail]), "{wire:?}");
        let cut = answer(wire, FaultKind::NoLastEvent).await;
        assert_eq!(cut.data(), &sound[..sound.len() - 1], "{wire:?}");
    }
}

#[tokio::test]
async fn a_line_can_be_huge() {
    for wire in Wire::ALL {
        let answer = answer(wire, FaultKind::HugeLine { megabytes: 1 }).await;
        let text = answer.text();
        let longest = text.lines().map(str::len).max().unwrap();
        assert!(longest > 1 << 20, "{wire:?}: {longest}");
        let events = answer.data();
        assert!(events.iter().filter(|data| *data != "[DONE]").all(|data| serde_json::from_str::<Value>(data).is_ok()));
    }
}

#[tokio::test]
async fn arguments_can_stop_half_way() {
    for wire in [Wire::Anthropic, Wire::Completions, Wire::Responses] {
        let text = answer(wire, FaultKind::TruncatedArguments).await.text();
        assert!(text.contains(r#"{\"path\":"#) && !text.contains("a.txt"), "{wire:?}: {text}");
    }
    let text = answer(Wire::Google, FaultKind::TruncatedArguments).await.text();
    assert!(text.contains("MALFORMED_FUNCTION_CALL"), "{text}");
}

#[tokio::test]
async fn a_fault_ends_after_its_number_of_attempts() {
    let script = Script::new([turn().fault(Fault::status(529).times(2)), Turn::text("next")]);
    let server = Server::start(script).await.unwrap();
    let mut client = Client::connect(&server).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(client.ask(Wire::Anthropic).await.status);
    }
    assert_eq!(statuses, [529, 529, 200, 200]);
    let turns: Vec<_> = server.requests().iter().map(|request| request.turn).collect();
    assert_eq!(turns, [Some(0), Some(0), Some(0), Some(1)]);
}

#[tokio::test]
async fn scripts_made_in_rust_are_checked_too() {
    let error = Server::start(turn().fault(Fault::status(200))).await.err().unwrap();
    assert!(error.to_string().contains("turn 1: status 200 is not an error"), "{error}");
}
