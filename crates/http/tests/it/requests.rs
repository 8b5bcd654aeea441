//! Tests what is sent, and to whom.

use std::time::Duration;

use omp_http::{Client, HttpConfig, HttpErrorKind};
use omp_types::Env;

use crate::server::{Reply, Server, ok};

const MINUTE: Duration = Duration::from_secs(60);

fn client(pairs: &[(&str, &str)]) -> Client {
    Client::new(&pairs.iter().copied().collect::<Env>(), HttpConfig::default())
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

async fn hello() -> Server {
    Server::start(vec![Reply::Bytes(ok("text/plain", b"hello"))]).await
}

#[tokio::test]
async fn later_headers_replace_earlier_ones() {
    let server = hello().await;
    let headers = [header("x-api-key", "old"), header("X-Api-Key", "new")];
    client(&[]).get_bytes(&server.url("/p?q=1"), &headers, MINUTE, 100).await.unwrap();
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /p?q=1 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("x-api-key: new\r\n") && !request.contains("old"), "{request}");
    assert!(request.contains("user-agent: omp/"), "{request}");
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_named_without_its_value() {
    let error = client(&[]).get_bytes("http://127.0.0.1:1/", &[header("x-api-key", "se\nsame")], MINUTE, 1).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::InvalidRequest);
    assert!(error.to_string().contains("x-api-key") && !error.to_string().contains("same"), "{error}");
}

#[tokio::test]
async fn a_key_is_not_carried_to_another_server() {
    let other = hello().await;
    let redirect =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", other.url("/"));
    let server = Server::start(vec![Reply::Bytes(redirect.into_bytes())]).await;
    let headers = [header("authorization", "Bearer sesame")];
    let response = client(&[]).post_stream(&server.url("/"), &headers, b"{}".to_vec()).await.unwrap();
    assert_eq!(response.status, 307);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_server_may_move_a_request_within_itself() {
    let redirect = b"HTTP/1.1 308 Permanent Redirect\r\nlocation: /new\r\ncontent-length: 0\r\n\r\n".to_vec();
    let server = Server::start(vec![Reply::Bytes(redirect), Reply::Bytes(ok("text/plain", b"hello"))]).await;
    let body = client(&[]).get_bytes(&server.url("/old"), &[header("x-api-key", "k")], MINUTE, 100).await.unwrap();
    assert_eq!(&body[..], b"hello");
    assert!(server.requests()[1].starts_with("GET /new ") && server.requests()[1].contains("x-api-key: k"));
}

#[tokio::test]
async fn endless_redirects_end() {
    let redirect = b"HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n".to_vec();
    let server = Server::start(vec![Reply::Bytes(redirect)]).await;
    let error = client(&[]).get_bytes(&server.url("/"), &[], MINUTE, 100).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Status(302));
}

#[tokio::test]
async fn proxies_come_from_the_given_environment() {
    let proxy = hello().await;
    let address = proxy.address.to_string();
    let through = client(&[("http_proxy", &address)]);
    let body = through.get_bytes("http://example.invalid/x", &[], MINUTE, 100).await.unwrap();
    assert_eq!(&body[..], b"hello");
    assert!(proxy.requests()[0].starts_with("GET http://example.invalid/x HTTP/1.1\r\n"));

    let direct = hello().await;
    let around = client(&[("HTTP_PROXY", &address), ("NO_PROXY", "127.0.0.1,localhost")]);
    around.get_bytes(&direct.url("/"), &[], MINUTE, 100).await.unwrap();
    assert_eq!((proxy.requests().len(), direct.requests().len()), (1, 1));
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n".to_vec();
    let proxy = Server::start(vec![Reply::Bytes(refusal)]).await;
    let client = client(&[("HTTPS_PROXY", &proxy.url("")), ("SSL_CERT_FILE", include_str!("certs/ca.pem"))]);
    let error = client.get_bytes("https://example.invalid/x", &[], MINUTE, 100).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Proxy, "{error}");
    assert!(proxy.requests()[0].starts_with("CONNECT example.invalid:443 "));
}

#[tokio::test]
async fn a_plain_request_reads_no_certificates() {
    let server = hello().await;
    let client = client(&[("SSL_CERT_FILE", "/nowhere"), ("NODE_EXTRA_CA_CERTS", "/nowhere")]);
    assert!(client.get_bytes(&server.url("/"), &[], MINUTE, 100).await.is_ok());
    let error = client.get_bytes("https://127.0.0.1:1/", &[], MINUTE, 100).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls);
}
