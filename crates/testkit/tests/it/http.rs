//! Tests plain HTTP: connections, request bodies, listings, recorded and refused requests.

use omp_testkit::{Script, Select, Server, Turn, Wire};
use serde_json::Value;
use tokio::io::AsyncWriteExt;

use crate::client::{Client, Ending, headers, path, request};

#[tokio::test]
async fn one_connection_serves_many_requests_and_all_are_recorded() {
    let server = Server::start([Turn::text("one"), Turn::text("two")]).await.unwrap();
    let mut client = Client::connect(&server).await;
    assert!(client.ask(Wire::Anthropic).await.text().contains("one"));
    assert!(client.ask(Wire::Completions).await.text().contains("two"));
    assert_eq!(client.get("/v1/models").await.status, 200);
    let requests = server.requests();
    let seen: Vec<_> = requests.iter().map(|r| (r.method.as_str(), r.path.as_str(), r.connection, r.turn)).collect();
    assert_eq!(
        seen,
        [
            ("POST", "/v1/messages", 0, Some(0)),
            ("POST", "/v1/chat/completions", 0, Some(1)),
            ("GET", "/v1/models", 0, None)
        ]
    );
    assert_eq!(requests[0].header("Host"), Some("x"));
    assert_eq!(requests[0].json().unwrap(), request(Wire::Anthropic, 0));
    assert!(requests[0].at <= requests[1].at);
    assert_eq!(server.model_requests().len(), 2);
    assert_eq!(server.counts().connections, 1);
}

#[tokio::test]
async fn every_wire_has_its_short_paths() {
    let server = Server::start(Script::generate(4, |i| Turn::text(format!("turn {i}")))).await.unwrap();
    let mut client = Client::connect(&server).await;
    let paths =
        ["/anthropic/v1/messages", "/chat/completions", "/responses", "/models/m:streamGenerateContent?alt=sse"];
    for (wire, path) in Wire::ALL.into_iter().zip(paths) {
        client.send("POST", path, request(wire, 0).to_string().as_bytes()).await;
        assert_eq!(client.answer().await.unwrap().status, 200, "{path}");
    }
}

#[tokio::test]
async fn chunked_request_bodies_are_read_and_100_continue_is_answered() {
    let server = Server::start(Turn::text("hello")).await.unwrap();
    let mut client = Client::connect(&server).await;
    let body = request(Wire::Anthropic, 0).to_string();
    let (first, second) = body.split_at(7);
    let message = format!(
        "POST /v1/messages HTTP/1.1\r\n{}expect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n\
         {:x}\r\n{first}\r\n{:x};note=1\r\n{second}\r\n0\r\nx-trailer: 1\r\n\r\n",
        headers("/v1/messages"),
        first.len(),
        second.len()
    );
    client.socket.write_all(message.as_bytes()).await.unwrap();
    let interim = client.answer_head().await;
    assert!(interim.starts_with("HTTP/1.1 100 Continue"), "{interim}");
    assert!(client.answer().await.unwrap().text().contains("hello"));
    assert_eq!(server.requests()[0].body, body.as_bytes());
}

#[tokio::test]
async fn models_are_listed_in_each_providers_way() {
    let server = Server::start(Script::new([]).models(&["m1", "m2"])).await.unwrap();
    let mut client = Client::connect(&server).await;
    let rows = [
        ("/v1/models", "/data/1/id", "m2"),
        ("/models", "/data/0/id", "m1"),
        ("/v1beta/models?pageSize=50", "/models/0/name", "models/m1"),
        ("/api/tags", "/models/1/name", "m2"),
        ("/props", "/model_path", "models/m1.gguf"),
    ];
    for (path, pointer, expect) in rows {
        let answer = client.get(path).await;
        assert_eq!(answer.json().pointer(pointer).and_then(Value::as_str), Some(expect), "{path}");
    }
    assert_eq!(client.get("/v1/nothing").await.status, 404);
}

async fn check_refused(script: Script, path: &str, body: &str, expect: &str) {
    let server = Server::start(script).await.unwrap();
    let mut client = Client::connect(&server).await;
    client.send("POST", path, body.as_bytes()).await;
    let answer = client.answer().await.unwrap();
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains(expect), "{}", answer.text());
}

#[tokio::test]
async fn mistakes_of_the_client_are_refused() {
    let script = || Script::new([Turn::text("x")]);
    check_refused(script(), "/v1/messages", "{", "not JSON").await;
    check_refused(script(), "/v1/messages", "{}", "stream").await;
    check_refused(script(), "/models/m:streamGenerateContent", "{}", "alt=sse").await;
    let unpaired = r#"{"stream":true,"input":[{"type":"function_call","call_id":"c"}]}"#;
    check_refused(script(), "/responses", unpaired, "No tool output found for function call c.").await;
    let fine = request(Wire::Anthropic, 0).to_string();
    check_refused(Script::new([]), "/v1/messages", &fine, "no turn left: it has 0").await;
}

#[tokio::test]
async fn what_no_service_takes_is_refused_and_fails_the_test() {
    let server = Server::start([Turn::text("x")]).await.unwrap();
    let mut client = Client::connect(&server).await;
    let body = request(Wire::Completions, 0).to_string();
    let bare = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    client.socket.write_all(bare.as_bytes()).await.unwrap();
    assert_eq!(client.answer().await.unwrap().status, 415);
    client.send("POST", "/v1/messages", br#"{"model":"m","stream":true,"messages":[]}"#).await;
    let answer = client.answer().await.unwrap();
    assert_eq!((answer.status, answer.json()["error"]["message"].as_str()), (400, Some("max_tokens: Field required")));
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(server))).unwrap_err();
    let told = told.downcast_ref::<String>().unwrap();
    assert!(told.contains("415 Unsupported Media Type") && told.contains("max_tokens"), "{told}");
}

#[tokio::test]
async fn what_is_not_http_is_refused_and_closed() {
    for text in ["GET / HTTP/1.0\r\n\r\n", "nonsense\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n"] {
        let server = Server::start(Turn::text("x")).await.unwrap();
        let mut client = Client::connect(&server).await;
        client.socket.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(client.answer().await.unwrap().status, 400, "{text:?}");
        assert_eq!(client.answer().await.unwrap_err(), Ending::Closed);
    }
}

#[tokio::test]
async fn the_number_of_answers_in_the_request_can_pick_the_turn() {
    let script = Script::generate(3, |i| Turn::text(format!("turn-{i}"))).select(Select::AssistantCount);
    let server = Server::start(script).await.unwrap();
    let mut client = Client::connect(&server).await;
    for wire in Wire::ALL {
        for answers in [2, 0, 1] {
            client.send("POST", path(wire), request(wire, answers).to_string().as_bytes()).await;
            let text = client.answer().await.unwrap().text();
            assert!(text.contains(&format!("turn-{answers}")), "{wire:?} {answers}: {text}");
        }
    }
}

#[tokio::test]
async fn requests_without_tools_can_be_answered_aside() {
    let server = Server::start(Script::new([Turn::text("main")]).aux("a title")).await.unwrap();
    let mut client = Client::connect(&server).await;
    client
        .send(
            "POST",
            "/v1/messages",
            br#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
        )
        .await;
    assert!(client.answer().await.unwrap().text().contains("a title"));
    assert!(client.ask(Wire::Anthropic).await.text().contains("main"));
}

#[tokio::test]
async fn dropping_the_server_closes_its_connections() {
    let server = Server::start(Turn::text("x")).await.unwrap();
    let mut client = Client::connect(&server).await;
    server.until(|counts| counts.connections == 1).await;
    drop(server);
    assert!(matches!(client.answer().await, Err(Ending::Closed | Ending::Reset)));
}
