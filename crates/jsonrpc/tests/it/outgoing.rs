//! Tests of outgoing messages: responses, cancellation, progress, limits, the end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_jsonrpc::{
    Connection, ConnectionLimits, Error, Handler, HandlerFuture, OutgoingCall, Peer, Protocol, RpcError,
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::wire::{Wire, paired, wired};
use crate::{PATIENCE, eventually, soon};

/// Returns its input, or fails.
struct Echo;

impl Handler for Echo {
    fn request(&self, _peer: &Peer, method: &str, params: Value) -> Option<HandlerFuture> {
        match method {
            "echo" => Some(Box::pin(async { Ok(params) })),
            "fail" => {
                Some(Box::pin(async { Err(RpcError { data: Some(params), ..RpcError::new(7, "no luck") }.into()) }))
            }
            _ => None,
        }
    }
}

/// Forwards notifications.
struct Listener(mpsc::UnboundedSender<(String, Value)>);

impl Handler for Listener {
    fn notification(&self, _peer: &Peer, method: &str, params: Value) -> BoxFuture<'static, ()> {
        self.0.send((method.to_owned(), params)).unwrap();
        Box::pin(std::future::ready(()))
    }
}

fn all_protocols() -> [Protocol; 4] {
    [Protocol::mcp(), Protocol::lsp(), Protocol::dap(), Protocol::json_lines()]
}

#[tokio::test]
async fn every_protocol_asks_and_answers() {
    for protocol in all_protocols() {
        let (ours, _theirs) = paired(&protocol, (), Echo);
        let peer = ours.peer();
        let large = json!({"text": "ü\n".repeat(100_000)});
        assert_eq!(soon(peer.request("echo", large.clone())).await.unwrap(), large);
        let answers = (0..50).map(|number| peer.request("echo", json!({"number": number})));
        for (number, answer) in soon(futures_util::future::join_all(answers)).await.into_iter().enumerate() {
            assert_eq!(answer.unwrap(), json!({"number": number}));
        }
        let failed = soon(peer.request("fail", json!(1))).await.unwrap_err();
        let Error::Refused { error, .. } = &failed else { panic!("{failed:?}") };
        assert_eq!((error.code, error.message.as_str()), (7, "no luck"));
        assert_eq!(failed.to_string(), "`fail` failed: no luck (code 7)");
        let unknown = soon(peer.request("what", Value::Null)).await.unwrap_err().to_string();
        assert!(unknown.contains("there is no method `what`"), "{unknown}");
    }
}

#[tokio::test]
async fn debug_adapters_count_every_message() {
    let (connection, mut wire) = wired(Protocol::dap(), Echo);
    let peer = connection.peer().clone();
    peer.notify("told", json!({})).await.unwrap();
    let asked = tokio::spawn(async move { peer.request("next", Value::Null).await });
    assert_eq!(wire.next().await.unwrap()["seq"], 1);
    assert_eq!(wire.next().await, Some(json!({"seq": 2, "type": "request", "command": "next"})));
    wire.say(json!({"seq": 1, "type": "request", "command": "echo", "arguments": {"a": 1}})).await;
    let response =
        json!({"seq": 3, "type": "response", "request_seq": 1, "success": true, "command": "echo", "body": {"a": 1}});
    assert_eq!(wire.next().await, Some(response));
    wire.say(json!({"seq": 2, "type": "response", "request_seq": 2, "success": true, "command": "next", "body": 5}))
        .await;
    assert_eq!(soon(asked).await.unwrap().unwrap(), json!(5));
}

#[derive(Clone, Copy, Debug)]
enum GiveUp {
    Drop,
    Token,
    Limit,
}

/// Sends a request, gives up in one way, and sends a notification; returns what the other side reads after the request.
async fn given_up(protocol: Protocol, allowed: Option<bool>, method: &str, how: GiveUp) -> Vec<Value> {
    let (connection, mut wire) = wired(protocol, ());
    let peer = connection.peer().clone();
    if let Some(allowed) = allowed {
        peer.allow_cancel(allowed);
    }
    let token = CancellationToken::new();
    let limit = if matches!(how, GiveUp::Limit) { Duration::from_millis(20) } else { PATIENCE };
    let call = OutgoingCall::new(method, json!({})).cancelled_by(token.clone()).limit(limit);
    let asking = peer.clone();
    let asked = tokio::spawn(async move { asking.call(call).await });
    wire.next().await.unwrap();
    match how {
        GiveUp::Drop => {
            asked.abort();
            assert!(asked.await.unwrap_err().is_cancelled());
        }
        GiveUp::Token => {
            token.cancel();
            assert!(matches!(soon(asked).await.unwrap(), Err(Error::Cancelled { .. })));
        }
        GiveUp::Limit => {
            let error = soon(asked).await.unwrap().unwrap_err();
            assert!(matches!(error, Error::TimedOut { .. }) && error.to_string().contains("hint:"), "{error}");
        }
    }
    peer.notify("after", Value::Null).await.unwrap();
    let mut read = Vec::new();
    loop {
        let message = wire.next().await.unwrap();
        if message.get("method").or(message.get("event")) == Some(&json!("after")) {
            return read;
        }
        read.push(message);
    }
}

#[tokio::test]
async fn what_is_given_up_is_taken_back_in_the_words_of_the_protocol() {
    for (how, reason) in
        [(GiveUp::Drop, "no longer needed"), (GiveUp::Token, "cancelled"), (GiveUp::Limit, "timed out")]
    {
        let lsp = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}});
        assert_eq!(given_up(Protocol::lsp(), None, "m", how).await, [lsp], "{how:?}");
        let params = json!({"requestId": 1, "reason": reason});
        let mcp = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        assert_eq!(given_up(Protocol::mcp(), None, "m", how).await, [mcp], "{how:?}");
        assert_eq!(given_up(Protocol::mcp(), None, "initialize", how).await, Vec::<Value>::new(), "{how:?}");
        let dap = json!({"seq": 2, "type": "request", "command": "cancel", "arguments": {"requestId": 1}});
        assert_eq!(given_up(Protocol::dap(), Some(true), "m", how).await, [dap], "{how:?}");
        assert_eq!(given_up(Protocol::dap(), None, "m", how).await, Vec::<Value>::new(), "{how:?}");
        assert_eq!(given_up(Protocol::json_lines(), None, "m", how).await, Vec::<Value>::new(), "{how:?}");
    }
}

#[tokio::test]
async fn what_was_answered_is_not_taken_back_and_late_answers_are_counted() {
    let (connection, mut wire) = wired(Protocol::lsp(), ());
    let peer = connection.peer().clone();
    let asking = peer.clone();
    let asked = tokio::spawn(async move { asking.request("m", Value::Null).await });
    wire.next().await.unwrap();
    for stray in [
        json!({"id": 99, "result": 1}),
        json!({"id": "1", "result": 1}),
        json!({"id": null, "error": {"code": -32700, "message": "cannot parse"}}),
    ] {
        wire.say(stray).await;
    }
    wire.say(json!({"id": 1, "result": "yes"})).await;
    assert_eq!(soon(asked).await.unwrap().unwrap(), "yes");
    wire.say(json!({"id": 1, "result": "again"})).await;
    peer.notify("after", Value::Null).await.unwrap();
    assert_eq!(wire.next().await.unwrap()["method"], "after");
    eventually(|| peer.oddities().ignored_responses == 4).await;
    assert_eq!(peer.oddities().noise, ["an error without a request: cannot parse (code -32700)"]);
}

/// Returns the error at the end of a connection, for a pending request and for a later one.
async fn end_of(protocol: Protocol, end: impl AsyncFnOnce(Wire)) -> String {
    let (connection, mut wire) = wired(protocol, ());
    let peer = connection.peer().clone();
    let asked: Vec<_> = (0..3)
        .map(|_| {
            let peer = peer.clone();
            tokio::spawn(async move { peer.request("m", Value::Null).await })
        })
        .collect();
    for _ in 0..3 {
        wire.next().await.unwrap();
    }
    end(wire).await;
    let mut texts = Vec::new();
    for asked in asked {
        texts.push(soon(asked).await.unwrap().unwrap_err().to_string());
    }
    texts.push(soon(peer.request("m", Value::Null)).await.unwrap_err().to_string());
    texts.push(soon(peer.notify("m", Value::Null)).await.unwrap_err().to_string());
    texts.push(format!("`m` failed: {}", soon(peer.ended()).await));
    drop(connection);
    texts.push(format!("`m` failed: {}", peer.end().unwrap()));
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
    texts.remove(0)
}

#[tokio::test]
async fn the_end_of_the_stream_fails_every_request_with_its_reason() {
    let closed = end_of(Protocol::mcp(), async |wire| drop(wire)).await;
    assert_eq!(closed, "`m` failed: the other side closed the connection");
    let bad = end_of(Protocol::lsp(), async |mut wire| wire.write("Segmentation fault\n").await).await;
    assert!(bad.contains("`Segmentation fault` is not a message header\nhint:"), "{bad}");
    let half = end_of(Protocol::dap(), async |mut wire| wire.write("Content-Length: 10\r\n\r\n{}").await).await;
    assert!(half.contains("ended in the middle of a message"), "{half}");
    let frames = omp_jsonrpc::FrameLimits { message_bytes: 100, ..Default::default() };
    let small = Protocol::mcp().with_limits(ConnectionLimits { frames, ..ConnectionLimits::default() });
    let long = end_of(small, async |mut wire| wire.write(&("x".repeat(200) + "\n")).await).await;
    assert!(long.contains("a message of 200B is longer than the limit of 100B\nhint:"), "{long}");
}

/// A dying process closes both streams, and only reading may reveal why.
#[tokio::test]
async fn the_reading_side_says_why_nothing_can_be_written() {
    for (said, want) in
        [(Some("out of memory\n"), "`out of memory` is not a message header"), (None, "cannot be written to: ")]
    {
        let (reader, mut says) = tokio::io::duplex(1 << 10);
        let (writer, reads) = tokio::io::duplex(1 << 10);
        let connection = Connection::open(reader, writer, Protocol::lsp(), Arc::new(()));
        let peer = connection.peer().clone();
        drop(reads);
        let asked = tokio::spawn(async move { peer.request("m", Value::Null).await });
        // There is only one thread, so writing has failed by the end of this loop.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        if let Some(said) = said {
            says.write_all(said.as_bytes()).await.unwrap();
        }
        let error = soon(asked).await.unwrap().unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
}

#[tokio::test]
async fn dropping_a_connection_fails_its_requests_and_closes_the_stream() {
    let (connection, mut wire) = wired(Protocol::mcp(), ());
    let peer = connection.peer().clone();
    let asked = tokio::spawn(async move { peer.request("m", Value::Null).await });
    wire.next().await.unwrap();
    drop(connection);
    let error = soon(asked).await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "`m` failed: the connection was closed on this side");
    while let Some(message) = wire.next().await {
        assert_eq!(message["method"], "notifications/cancelled");
    }
}

#[tokio::test]
async fn whoever_has_finished_writing_still_reads() {
    let (connection, mut wire) = wired(Protocol::mcp(), ());
    let peer = connection.peer().clone();
    let asking = peer.clone();
    let asked = tokio::spawn(async move { asking.request("m", Value::Null).await });
    wire.next().await.unwrap();
    peer.notify("last", Value::Null).await.unwrap();
    peer.finish_writing();
    let refused = peer.notify("later", Value::Null).await.unwrap_err().to_string();
    assert_eq!(refused, "`later` failed: the connection was closed on this side");
    assert_eq!(wire.next().await.unwrap()["method"], "last");
    wire.say(json!({"id": 1, "result": 5})).await;
    assert_eq!(soon(asked).await.unwrap().unwrap(), 5);
    assert!(peer.end().is_none());
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_answer() {
    type Report = fn(i64, u64) -> Value;
    let mcp: Report =
        |token, done| json!({"method": "notifications/progress", "params": {"progressToken": token, "progress": done}});
    let lsp: Report =
        |token, done| json!({"method": "$/progress", "params": {"token": token, "value": {"percentage": done}}});
    for (protocol, place, report, field) in [
        (Protocol::mcp(), "/params/_meta/progressToken", mcp, "progress"),
        (Protocol::lsp(), "/params/workDoneToken", lsp, "percentage"),
    ] {
        let (heard, mut notifications) = mpsc::unbounded_channel();
        let limits = ConnectionLimits { progress_reports: 3, ..ConnectionLimits::default() };
        let (connection, mut wire) = wired(protocol.with_limits(limits), Listener(heard));
        let peer = connection.peer().clone();
        let (call, mut progress) = OutgoingCall::new("work", json!({"a": 1})).with_progress();
        let asked = tokio::spawn(async move { peer.call(call).await });
        let request = wire.next().await.unwrap();
        assert_eq!(request["params"]["a"], 1);
        let token = request.pointer(place).unwrap().as_i64().unwrap();
        wire.say(report(token, 1)).await;
        assert_eq!(soon(progress.next()).await.unwrap()[field], 1);
        for done in 2..=6 {
            wire.say(report(token, done)).await;
        }
        // A foreign token is ignored.
        wire.say(report(token + 1, 9)).await;
        wire.say(json!({"id": request["id"], "result": "done"})).await;
        assert_eq!(soon(asked).await.unwrap().unwrap(), "done");
        let mut rest = Vec::new();
        while let Some(report) = soon(progress.next()).await {
            rest.push(report[field].as_u64().unwrap());
        }
        assert_eq!((rest, progress.dropped()), (vec![4, 5, 6], 2));
        let (_, other) = soon(notifications.recv()).await.unwrap();
        assert!(other.to_string().contains('9') && notifications.is_empty());
    }
}

/// Counts the messages accepted before there is no more room.
#[tokio::test]
async fn a_side_that_does_not_read_fills_no_memory() {
    let limits = ConnectionLimits {
        outgoing_bytes: 64 << 10,
        write: Duration::from_millis(100),
        request: Duration::from_millis(100),
        ..ConnectionLimits::default()
    };
    let (connection, mut wire) = wired(Protocol::mcp().with_limits(limits), ());
    let peer = connection.peer();
    let piece = json!({"text": "x".repeat(1_000)});
    let mut taken = 0;
    let refused = loop {
        match peer.notify("piece", piece.clone()).await {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
        assert!(taken < 1_000);
    };
    assert!(
        matches!(refused, Error::NotRead { .. }) && refused.to_string().contains("does not read\nhint:"),
        "{refused}"
    );
    assert!((50..90).contains(&taken), "{taken}");
    let refused = peer.request("ask", piece.clone()).await.unwrap_err();
    assert!(matches!(refused, Error::NotRead { .. }), "{refused}");
    // Waiting messages are sent in order when the other side reads again.
    let waiting = peer.clone();
    let asked = tokio::spawn(async move { waiting.call(OutgoingCall::new("ask", piece).limit(PATIENCE)).await });
    for _ in 0..taken {
        assert_eq!(wire.next().await.unwrap()["method"], "piece");
    }
    let request = wire.next().await.unwrap();
    wire.say(json!({"id": request["id"], "result": 1})).await;
    assert_eq!(soon(asked).await.unwrap().unwrap(), 1);
}

#[tokio::test]
async fn whoever_waits_to_send_is_told_when_nothing_is_sent_any_more() {
    let limits = ConnectionLimits { outgoing: 1, write: PATIENCE, ..ConnectionLimits::default() };
    for finish in [true, false] {
        let (connection, wire) = wired(Protocol::mcp().with_limits(limits), ());
        let waiting: Vec<_> = (0..10)
            .map(|_| {
                let peer = connection.peer().clone();
                tokio::spawn(async move { peer.notify("m", json!("x".repeat(4 << 10))).await })
            })
            .collect();
        eventually(|| waiting.iter().any(|one| one.is_finished())).await;
        assert!(waiting.iter().any(|one| !one.is_finished()));
        if finish {
            connection.peer().finish_writing();
        } else {
            drop(wire);
        }
        let mut refused = 0;
        for one in waiting {
            match soon(one).await.unwrap() {
                Ok(()) => {}
                Err(Error::Ended { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert!(refused > 0);
    }
}

#[tokio::test]
async fn what_is_too_long_is_not_sent() {
    let frames = omp_jsonrpc::FrameLimits { message_bytes: 200, ..Default::default() };
    let (connection, mut wire) =
        wired(Protocol::dap().with_limits(ConnectionLimits { frames, ..ConnectionLimits::default() }), ());
    let peer = connection.peer();
    let error = peer.request("m", json!("x".repeat(300))).await.unwrap_err().to_string();
    assert!(error.starts_with("`m` was not sent: it takes ") && error.contains("at most 200B\nhint:"), "{error}");
    peer.notify("next", Value::Null).await.unwrap();
    assert_eq!(wire.next().await.unwrap()["seq"], 1);
}

/// Some servers print a banner to stdout.
#[tokio::test]
async fn noise_is_kept_up_to_a_cap_and_harms_nothing() {
    let limits = ConnectionLimits { noise_lines: 3, ..ConnectionLimits::default() };
    let (connection, mut wire) = wired(Protocol::mcp().with_limits(limits), ());
    let peer = connection.peer().clone();
    for number in 0..10 {
        wire.write(&format!("Welcome {number}\n42\n\n")).await;
    }
    let asking = peer.clone();
    let asked = tokio::spawn(async move { asking.request("m", Value::Null).await });
    wire.next().await.unwrap();
    wire.write("[{\"id\":1,\"result\":7}, 5]\n").await;
    assert_eq!(soon(asked).await.unwrap().unwrap(), 7);
    eventually(|| peer.oddities().noise_count == 21).await;
    assert_eq!(peer.oddities().noise, ["Welcome 0", "a message that is not an object: 42", "Welcome 1"]);
}

/// However a request ends, none of its state is kept.
#[tokio::test]
async fn many_requests_at_once_from_many_tasks() {
    let seen = Arc::new(Mutex::new(0));
    let (ours, _theirs) = paired(&Protocol::lsp(), (), Echo);
    let tasks: Vec<_> = (0..20)
        .map(|task| {
            let (peer, seen) = (ours.peer().clone(), seen.clone());
            tokio::spawn(async move {
                for number in 0..20 {
                    let params = json!([task, number]);
                    assert_eq!(peer.request("echo", params.clone()).await.unwrap(), params);
                    *seen.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for task in tasks {
        soon(task).await.unwrap();
    }
    assert_eq!((*seen.lock().unwrap(), ours.peer().oddities()), (400, Default::default()));
}
