//! Tests of incoming messages: responses, errors, order, cancellation, and overload.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use omp_jsonrpc::{
    Connection, ConnectionEnd, ConnectionLimits, Error, Handler, HandlerFuture, IncomingRequest, Peer, Protocol,
    RpcError,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

use crate::wire::{paired, wired};
use crate::{PATIENCE, eventually, soon};

/// A handler that behaves as the method name says, and records it.
#[derive(Clone)]
struct Worker {
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    release: Arc<Semaphore>,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Default for Worker {
    fn default() -> Self {
        let (running, most, dropped) = Default::default();
        Self { running, most, dropped, release: Arc::new(Semaphore::new(0)), heard: Arc::default() }
    }
}

/// Counts drops.
struct Running(Worker);

impl Running {
    fn new(worker: Worker) -> Self {
        let running = worker.running.fetch_add(1, Ordering::SeqCst) + 1;
        worker.most.fetch_max(running, Ordering::SeqCst);
        Self(worker)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Handler for Worker {
    fn request(&self, peer: &Peer, method: &str, params: Value) -> Option<HandlerFuture> {
        let (worker, peer) = (self.clone(), peer.clone());
        Some(match method {
            "wait" => Box::pin(async move {
                let running = Running::new(worker);
                running.0.release.acquire().await?.forget();
                Ok(params)
            }),
            "refuse" => Box::pin(async { Err(RpcError::new(RpcError::INVALID_PARAMS, "wrong").into()) }),
            "break" => Box::pin(async { Err("the disk is full".into()) }),
            "panic" => Box::pin(async { panic!("on purpose") }),
            "panic at once" => panic!("on purpose"),
            "call back" => Box::pin(async move { Ok(peer.request("theirs", params).await?) }),
            _ => return None,
        })
    }

    fn notification(&self, peer: &Peer, method: &str, params: Value) -> BoxFuture<'static, ()> {
        assert_ne!(method, "panic", "on purpose");
        let (worker, method, peer) = (self.clone(), method.to_owned(), peer.clone());
        Box::pin(async move {
            match method.as_str() {
                "ask" => drop(peer.request("theirs", Value::Null).await.unwrap()),
                "stay" => std::future::pending().await,
                _ => {}
            }
            tokio::task::yield_now().await;
            worker.heard.lock().unwrap().push(params);
        })
    }
}

fn count(of: &AtomicUsize) -> usize {
    of.load(Ordering::SeqCst)
}

#[tokio::test]
async fn what_goes_wrong_is_answered_and_the_connection_goes_on() {
    let (_connection, mut wire) = wired(Protocol::mcp(), Worker::default());
    for (method, code, message) in [
        ("unknown", -32601, "there is no method `unknown`"),
        ("refuse", -32602, "wrong"),
        ("break", -32603, "the disk is full"),
        ("panic", -32603, "the handler of the request panicked"),
        ("panic at once", -32603, "the handler of the request panicked"),
    ] {
        wire.say(json!({"jsonrpc": "2.0", "id": method, "method": method})).await;
        let error = json!({"code": code, "message": message});
        assert_eq!(wire.next().await, Some(json!({"jsonrpc": "2.0", "id": method, "error": error})));
    }
}

#[tokio::test]
async fn a_batch_is_answered_one_by_one() {
    let (_connection, mut wire) = wired(Protocol::json_lines(), ());
    wire.say(json!([{"id": 1, "method": "a"}, {"method": "b"}, {"id": null, "method": "c"}])).await;
    let ids = [wire.next().await.unwrap()["id"].clone(), wire.next().await.unwrap()["id"].clone()];
    assert_eq!(ids, [json!(1), Value::Null]);
}

#[tokio::test]
async fn several_are_worked_on_at_once_and_no_more_than_allowed() {
    let worker = Worker::default();
    let limits = ConnectionLimits { incoming_at_once: 2, incoming_waiting: 3, ..ConnectionLimits::default() };
    let (_connection, mut wire) = wired(Protocol::mcp().with_limits(limits), worker.clone());
    for id in 1..=6 {
        wire.say(json!({"id": id, "method": "wait", "params": id})).await;
    }
    // The sixth request exceeds both the concurrent and the waiting limit.
    let busy = wire.next().await.unwrap();
    assert_eq!((&busy["id"], &busy["error"]["code"]), (&json!(6), &json!(-32000)));
    wire.say(json!({"id": 3, "method": "wait"})).await;
    let again = wire.next().await.unwrap();
    assert_eq!((&again["id"], &again["error"]["code"]), (&json!(3), &json!(-32000)));
    eventually(|| count(&worker.running) == 2).await;
    worker.release.add_permits(5);
    let mut answered: Vec<i64> = Vec::new();
    for _ in 0..5 {
        answered.push(wire.next().await.unwrap()["result"].as_i64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!((answered, count(&worker.most)), (vec![1, 2, 3, 4, 5], 2));
}

#[tokio::test]
async fn the_same_id_twice_is_refused() {
    let worker = Worker::default();
    let (_connection, mut wire) = wired(Protocol::mcp(), worker.clone());
    wire.say(json!({"id": "x", "method": "wait", "params": 1})).await;
    wire.say(json!({"id": "x", "method": "wait", "params": 2})).await;
    assert_eq!(wire.next().await.unwrap()["error"]["code"], -32600);
    worker.release.add_permits(1);
    assert_eq!(wire.next().await, Some(json!({"jsonrpc": "2.0", "id": "x", "result": 1})));
}

/// One request in progress, and one that waits.
#[tokio::test]
async fn a_request_that_is_taken_back_is_dropped_and_answered_as_the_protocol_wants() {
    let ask = |id: i64| json!({"id": id, "method": "wait", "type": "request", "seq": id, "command": "wait"});
    let lsp = |id: i64| json!({"method": "$/cancelRequest", "params": {"id": id}});
    let mcp = |id: i64| json!({"method": "notifications/cancelled", "params": {"requestId": id}});
    let dap = |id: i64| json!({"seq": 9, "type": "request", "command": "cancel", "arguments": {"requestId": id}});
    type Cancel<'a> = &'a dyn Fn(i64) -> Value;
    for (protocol, cancel, answers) in [
        (Protocol::lsp(), &lsp as Cancel<'_>, json!([-32800, -32800])),
        (Protocol::mcp(), &mcp, json!([])),
        (Protocol::dap(), &dap, json!(["ack", "ack", "cancelled", "cancelled"])),
    ] {
        let worker = Worker::default();
        let limits = ConnectionLimits { incoming_at_once: 1, ..ConnectionLimits::default() };
        let (_connection, mut wire) = wired(protocol.with_limits(limits), worker.clone());
        wire.say(ask(1)).await;
        eventually(|| count(&worker.running) == 1).await;
        wire.say(ask(2)).await;
        wire.say(cancel(2)).await;
        wire.say(cancel(1)).await;
        wire.say(cancel(77)).await;
        eventually(|| count(&worker.dropped) == 1).await;
        wire.say(ask(3)).await;
        worker.release.add_permits(1);
        let mut heard = Vec::new();
        loop {
            let message = wire.next().await.unwrap();
            let is_third = message.get("id").or(message.get("request_seq")) == Some(&json!(3));
            if is_third {
                break;
            }
            let is_ack = message.get("command") == Some(&json!("cancel"));
            let short = if is_ack {
                json!("ack")
            } else {
                message.pointer("/error/code").unwrap_or(&message["message"]).clone()
            };
            heard.push(short);
        }
        heard.sort_by_key(Value::to_string);
        // The third cancels nothing, and is acknowledged if it is a request.
        let mut want = answers.as_array().unwrap().clone();
        if want.contains(&json!("ack")) {
            want.insert(0, json!("ack"));
        }
        assert_eq!((heard, count(&worker.dropped)), (want, 2));
    }
}

#[tokio::test]
async fn notifications_keep_their_order_and_the_last_ones_are_heard_after_the_end() {
    let worker = Worker::default();
    let (connection, mut wire) = wired(Protocol::lsp(), worker.clone());
    for number in 0..1_000 {
        wire.say(json!({"method": "told", "params": number})).await;
    }
    wire.say(json!({"method": "panic"})).await;
    wire.say(json!({"method": "told", "params": "last"})).await;
    drop(wire);
    soon(connection.peer().ended()).await;
    eventually(|| worker.heard.lock().unwrap().len() == 1_001).await;
    let mut want: Vec<Value> = (0..1_000).map(|number| json!(number)).collect();
    want.push(json!("last"));
    assert_eq!(*worker.heard.lock().unwrap(), want);
    assert_eq!(connection.peer().oddities().noise, ["the handler of the notification `panic` panicked"]);
}

/// Even while a notification is being handled.
#[tokio::test]
async fn what_the_other_side_asked_for_is_dropped_when_it_has_gone() {
    let worker = Worker::default();
    let (_connection, mut wire) = wired(Protocol::lsp(), worker.clone());
    wire.say(json!({"method": "stay"})).await;
    wire.say(json!({"id": 1, "method": "wait"})).await;
    eventually(|| count(&worker.running) == 1).await;
    drop(wire);
    eventually(|| count(&worker.dropped) == 1).await;
}

#[tokio::test]
async fn a_handler_may_ask_the_other_side_back() {
    struct Theirs;
    impl Handler for Theirs {
        fn request(&self, _peer: &Peer, _method: &str, params: Value) -> Option<HandlerFuture> {
            Some(Box::pin(async move { Ok(json!([params])) }))
        }
    }
    let worker = Worker::default();
    let (_ours, theirs) = paired(&Protocol::mcp(), worker.clone(), Theirs);
    theirs.peer().notify("ask", json!("heard")).await.unwrap();
    assert_eq!(soon(theirs.peer().request("call back", json!(1))).await.unwrap(), json!([1]));
    eventually(|| *worker.heard.lock().unwrap() == [json!("heard")]).await;
}

/// The other side sends requests endlessly, and never reads.
#[tokio::test]
async fn a_flood_of_requests_ends_the_connection() {
    let limits = ConnectionLimits { outgoing: 4, ..ConnectionLimits::default() };
    let (connection, mut wire) = wired(Protocol::mcp().with_limits(limits), ());
    while wire.try_say(json!({"id": 1, "method": "unknown"})).await {}
    let end = soon(connection.peer().ended()).await;
    assert!(matches!(end, ConnectionEnd::Flooded) && end.to_string().contains("hint:"), "{end}");
}

/// Takes every request and answers it only when it is released, or when it is cancelled.
#[derive(Clone, Default)]
struct Taker {
    taken: Arc<Mutex<Vec<IncomingRequest>>>,
}

impl Taker {
    fn next(&self) -> IncomingRequest {
        self.taken.lock().unwrap().remove(0)
    }
}

impl Handler for Taker {
    fn take_request(&self, peer: &Peer, request: IncomingRequest) -> Option<IncomingRequest> {
        assert_ne!(request.method, "panic", "on purpose");
        if request.method == "give back" {
            return Some(request);
        }
        if request.method == "at once" {
            request.responder.respond_soon(Ok(json!("now")));
            peer.post("ours", json!(1));
            return None;
        }
        self.taken.lock().unwrap().push(request);
        None
    }
}

#[tokio::test]
async fn a_handler_may_answer_when_and_as_it_likes() {
    let taker = Taker::default();
    let (connection, mut wire) = wired(Protocol::lsp(), taker.clone());
    wire.say(json!({"id": 1, "method": "a", "params": {"x": 1}})).await;
    wire.say(json!({"id": 2, "method": "b"})).await;
    wire.say(json!({"id": 3, "method": "at once"})).await;
    assert_eq!(wire.next().await, Some(json!({"jsonrpc": "2.0", "id": 3, "result": "now"})));
    assert_eq!(wire.next().await.unwrap()["method"], "ours");
    let first = taker.next();
    assert_eq!((first.method.as_str(), &first.params), ("a", &json!({"x": 1})));
    // It is not dropped when it is cancelled, and may do something after the response.
    wire.say(json!({"method": "$/cancelRequest", "params": {"id": 1}})).await;
    soon(first.responder.cancellation().cancelled()).await;
    first.responder.respond(Ok(json!("partly"))).await;
    connection.peer().notify("after", Value::Null).await.unwrap();
    assert_eq!(wire.next().await.unwrap()["result"], "partly");
    assert_eq!(wire.next().await.unwrap()["method"], "after");
    drop(taker.next());
    assert_eq!(wire.next().await.unwrap()["error"]["message"], "the request was dropped without a response");
    for (method, code) in [("panic", -32603), ("give back", -32601)] {
        wire.say(json!({"id": 1, "method": method})).await;
        assert_eq!(wire.next().await.unwrap()["error"]["code"], code, "{method}");
    }
}

#[tokio::test]
async fn open_requests_of_a_taker_are_limited_too() {
    let taker = Taker::default();
    let limits = ConnectionLimits { incoming_at_once: 1, incoming_waiting: 1, ..ConnectionLimits::default() };
    let (_connection, mut wire) = wired(Protocol::mcp().with_limits(limits), taker.clone());
    for id in 1..=3 {
        wire.say(json!({"id": id, "method": "a"})).await;
    }
    assert_eq!(wire.next().await.unwrap()["error"]["code"], -32000);
    taker.next().responder.respond(Ok(Value::Null)).await;
    assert_eq!(wire.next().await.unwrap()["id"], 1);
    wire.say(json!({"id": 4, "method": "at once"})).await;
    assert_eq!(wire.next().await.unwrap()["result"], "now");
}

/// The other side closes its half: its requests are still answered, ours fail at once.
#[tokio::test]
async fn a_half_open_connection_is_written_to_its_end() {
    let taker = Taker::default();
    let (ours, theirs) = tokio::io::duplex(4 << 10);
    let (reader, writer) = tokio::io::split(ours);
    let (mut read, mut write) = tokio::io::split(theirs);
    let connection = Connection::open(reader, writer, Protocol::mcp().half_open(), Arc::new(taker.clone()));
    let pending = {
        let peer = connection.peer().clone();
        tokio::spawn(async move { peer.request("never answered", Value::Null).await })
    };
    write.write_all(b"{\"id\": 1, \"method\": \"a\"}\n").await.unwrap();
    write.shutdown().await.unwrap();
    soon(connection.peer().input_ended()).await;
    assert!(matches!(soon(pending).await.unwrap(), Err(Error::Ended { .. })));
    let late = soon(connection.peer().request("late", Value::Null)).await;
    assert!(matches!(late, Err(Error::Ended { .. })), "{late:?}");
    taker.next().responder.respond(Ok(json!("answered"))).await;
    soon(connection.finish(PATIENCE)).await;
    let mut text = String::new();
    soon(read.read_to_string(&mut text)).await.unwrap();
    let methods: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(methods.last(), Some(&json!({"jsonrpc": "2.0", "id": 1, "result": "answered"})), "{text}");
    assert_eq!(methods.len(), 3, "{text}");
}

/// A slow handler slows down the other side instead of filling memory.
#[tokio::test]
async fn notifications_wait_for_room() {
    let slow = Slow::default();
    let limits = ConnectionLimits { incoming_bytes: 10_000, ..ConnectionLimits::default() };
    let (_connection, mut wire) = wired(Protocol::mcp().with_limits(limits), slow.clone());
    let said = Arc::new(AtomicUsize::new(0));
    let count_said = said.clone();
    let say = tokio::spawn(async move {
        for _ in 0..200 {
            wire.say(json!({"method": "told", "params": "x".repeat(1_000)})).await;
            count_said.fetch_add(1, Ordering::SeqCst);
        }
        wire
    });
    eventually(|| count(&said) >= 10).await;
    // There is only one thread, so everything that can make progress has made it.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert!(count(&said) < 30, "{}", count(&said));
    slow.release.add_permits(200);
    let _wire = soon(say).await.unwrap();
    eventually(|| count(&slow.heard) == 200).await;
}

/// A handler that processes only as many notifications as it is allowed to.
#[derive(Clone)]
struct Slow {
    release: Arc<Semaphore>,
    heard: Arc<AtomicUsize>,
}

impl Default for Slow {
    fn default() -> Self {
        Self { release: Arc::new(Semaphore::new(0)), heard: Arc::default() }
    }
}

impl Handler for Slow {
    fn notification(&self, _peer: &Peer, _method: &str, _params: Value) -> BoxFuture<'static, ()> {
        let slow = self.clone();
        Box::pin(async move {
            slow.release.acquire().await.unwrap().forget();
            slow.heard.fetch_add(1, Ordering::SeqCst);
        })
    }
}
