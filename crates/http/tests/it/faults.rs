//! Tests servers that stall, break or lie, and the resulting errors.

use std::io::Write;
use std::time::Duration;

use futures_util::StreamExt;
use omp_http::{Client, HttpConfig, HttpError, HttpErrorKind, Patience, StreamingResponse, TimeoutPhase};
use omp_types::Env;
use tokio::net::TcpListener;

use crate::server::{Reply, Server, ok};

const MINUTE: Duration = Duration::from_secs(60);

fn client(pairs: &[(&str, &str)]) -> Client {
    Client::new(&pairs.iter().copied().collect::<Env>(), HttpConfig::default())
}

async fn read(mut response: StreamingResponse) -> Result<String, HttpError> {
    let mut text = String::new();
    while let Some(chunk) = response.body.next().await {
        text.push_str(&String::from_utf8_lossy(&chunk?));
    }
    Ok(text)
}

async fn exchange(client: &Client, url: &str) -> Result<String, HttpError> {
    read(client.post_stream(url, &[], b"{}".to_vec()).await?).await
}

#[track_caller]
fn assert_error(outcome: Result<String, HttpError>, kind: HttpErrorKind, words: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

const PART: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100\r\n\r\ndata: a\n\n";

#[tokio::test]
async fn each_phase_has_its_own_timeout() {
    let limit = Some(Duration::from_millis(60));
    let quick = client(&[]).with_patience(Patience::new(limit, limit));
    let mute = Server::start(vec![Reply::Stall(Vec::new())]).await;
    let outcome = exchange(&quick, &mute.url("/x?key=sesame")).await;
    assert!(!outcome.clone().unwrap_err().to_string().contains("sesame"));
    assert_error(outcome, HttpErrorKind::Timeout(TimeoutPhase::FirstEvent), "sent nothing within 0.06 s");

    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9\r\n\r\n".to_vec();
    let head_only = Server::start(vec![Reply::Stall(head)]).await;
    assert_error(
        exchange(&quick, &head_only.url("/")).await,
        HttpErrorKind::Timeout(TimeoutPhase::FirstEvent),
        "sent nothing",
    );

    // Only the tested phase has a short limit, because a busy machine needs more time for the earlier ones.
    let later = client(&[]).with_patience(Patience::new(Some(MINUTE), limit));
    let stalled = Server::start(vec![Reply::Stall(PART.to_vec())]).await;
    assert_error(
        exchange(&later, &stalled.url("/")).await,
        HttpErrorKind::Timeout(TimeoutPhase::Idle),
        "sent nothing for 0.06 s in the middle",
    );
}

#[tokio::test]
async fn a_handshake_that_never_comes_is_a_connection_that_was_not_made() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let config = HttpConfig { connect_timeout: Some(Duration::from_millis(60)), ..HttpConfig::default() };
    let outcome = exchange(&Client::new(&Env::default(), config), &url).await;
    assert_error(
        outcome.clone(),
        HttpErrorKind::Timeout(TimeoutPhase::Connect),
        "connecting: no connection to https://127",
    );
    assert_error(outcome, HttpErrorKind::Timeout(TimeoutPhase::Connect), "PI_CONNECT_TIMEOUT_MS");
}

#[tokio::test]
async fn bytes_that_mean_nothing_do_not_count_for_a_reader_who_says_so() {
    let limit = Some(Duration::from_millis(60));
    let quick = client(&[]).with_patience(Patience::new(limit, limit));
    let server = Server::start(vec![Reply::Stall(PART.to_vec())]).await;
    let mut response = quick.post_stream(&server.url("/"), &[], b"{}".to_vec()).await.unwrap();
    response.body.watch_progress();
    let outcome = read(response).await;
    assert_error(
        outcome,
        HttpErrorKind::Timeout(TimeoutPhase::FirstEvent),
        "sent only keep-alives (9 bytes) within 0.06 s",
    );

    let later = client(&[]).with_patience(Patience::new(Some(MINUTE), limit));
    let server = Server::start(vec![Reply::Stall(PART.to_vec())]).await;
    let mut response = later.post_stream(&server.url("/"), &[], b"{}".to_vec()).await.unwrap();
    response.body.watch_progress();
    response.body.next().await.unwrap().unwrap();
    response.body.progressed();
    assert_error(read(response).await, HttpErrorKind::Timeout(TimeoutPhase::Idle), "between tokens");
}

#[tokio::test]
async fn without_a_limit_a_slow_answer_is_waited_for() {
    let server = Server::start(vec![Reply::Bytes(ok("text/plain", b"late"))]).await;
    let patient = client(&[]).with_patience(Patience::new(None, None));
    assert_eq!(exchange(&patient, &server.url("/")).await.unwrap(), "late");
}

#[tokio::test]
async fn broken_connections_are_told_apart() {
    let client = client(&[]);
    let before = Server::start(vec![Reply::Reset(Vec::new())]).await;
    assert_error(exchange(&client, &before.url("/")).await, HttpErrorKind::Reset, "before it answered");
    let within = Server::start(vec![Reply::Bytes(PART.to_vec())]).await;
    assert_error(exchange(&client, &within.url("/")).await, HttpErrorKind::Reset, "in the middle of its answer");
}

#[tokio::test]
async fn a_refused_connection_asks_whether_the_server_runs() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    assert_error(exchange(&client(&[]), &url).await, HttpErrorKind::Connect, "hint: is the server running");
    let proxied = client(&[("ALL_PROXY", &url)]);
    assert_error(exchange(&proxied, "http://example.invalid/").await, HttpErrorKind::Proxy, "hint: check HTTPS_PROXY");
    let socks = client(&[("all_proxy", &url.replace("http://", "socks5://").replace("/v1", ""))]);
    assert_error(exchange(&socks, "http://example.invalid/").await, HttpErrorKind::Proxy, "hint: check HTTPS_PROXY");
}

#[tokio::test]
async fn bad_compression_is_a_body_error() {
    let mut reply = ok("text/plain", b"this is no gzip at all");
    let at = reply.windows(2).position(|pair| pair == b"\r\n").unwrap() + 2;
    reply.splice(at..at, *b"content-encoding: gzip\r\n");
    let server = Server::start(vec![Reply::Bytes(reply)]).await;
    assert_error(exchange(&client(&[]), &server.url("/")).await, HttpErrorKind::Body, "decompressed");
}

#[tokio::test]
async fn gzip_is_undone() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"data: hello\n\n").unwrap();
    let mut reply = ok("text/event-stream", &gzip.finish().unwrap());
    let at = reply.windows(2).position(|pair| pair == b"\r\n").unwrap() + 2;
    reply.splice(at..at, *b"content-encoding: gzip\r\n");
    let server = Server::start(vec![Reply::Bytes(reply)]).await;
    assert_eq!(exchange(&client(&[]), &server.url("/")).await.unwrap(), "data: hello\n\n");
}

#[tokio::test]
async fn short_requests_have_a_limit_in_time_and_size() {
    let client = client(&[]);
    let stalled = Server::start(vec![Reply::Stall(PART.to_vec())]).await;
    let error = client.get_bytes(&stalled.url("/"), &[], Duration::from_millis(60), 1000).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Timeout(TimeoutPhase::Total));
    let large = Server::start(vec![Reply::Bytes(ok("application/json", b"[1,2,3]"))]).await;
    let error = client.get_bytes(&large.url("/"), &[], MINUTE, 6).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Body);
    let numbers: Vec<u8> = client.get_json(&large.url("/"), &[], MINUTE, 7).await.unwrap();
    assert_eq!(numbers, [1, 2, 3]);
    let error = client.get_json::<Vec<String>>(&large.url("/"), &[], MINUTE, 7).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Body);
}
