//! Tests requests through a working HTTP proxy: tunnels to one server, and passwords.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omp_http::{Client, HttpConfig, HttpError, HttpErrorKind};
use omp_types::Env;
use tokio::io::{self, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::server::{Reply, Server, ok, read_request};
use crate::tls;

/// Answers every CONNECT with a tunnel to the same server.
struct Tunnel {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Tunnel {
    async fn start(reach: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(tunnel(stream, reach, log.clone()));
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn tunnel(mut stream: TcpStream, reach: SocketAddr, log: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    let request = read_request(&mut stream).await;
    log.lock().unwrap().push(request);
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    let mut server = TcpStream::connect(reach).await?;
    io::copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}

async fn get(url: &str, pairs: &[(&str, &str)]) -> Result<String, HttpError> {
    let client = Client::new(&pairs.iter().copied().collect::<Env>(), HttpConfig::default());
    let key = [("x-api-key".to_owned(), "for the server only".to_owned())];
    let body = client.get_bytes(url, &key, Duration::from_secs(60), 100).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// `me:open sesame`
const BASIC: &str = "proxy-authorization: Basic bWU6b3BlbiBzZXNhbWU=\r\n";

#[tokio::test]
async fn the_tunnel_carries_tls_and_the_proxy_learns_nothing_but_the_host() {
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let proxy = Tunnel::start(tls::serve(false)).await;
        let setting = format!("http://me:open%20sesame@{}", proxy.address);
        let pairs = [(variable, setting.as_str()), ("SSL_CERT_FILE", tls::CA)];
        assert_eq!(get("https://localhost/secret", &pairs).await.unwrap(), "hello");
        let requests = proxy.requests();
        let head = requests[0].to_ascii_lowercase();
        assert!(head.starts_with("connect localhost:443 http/1.1\r\n"), "{head}");
        assert!(head.contains(&BASIC.to_ascii_lowercase()), "{head}");
        assert!(!head.contains("secret") && !head.contains("x-api-key"), "{head}");
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn the_certificate_behind_the_tunnel_is_checked() {
    let proxy = Tunnel::start(tls::serve(false)).await;
    let setting = format!("http://{}", proxy.address);
    let pairs = [("HTTPS_PROXY", setting.as_str()), ("SSL_CERT_FILE", tls::CA)];
    let error = get("https://somebody-else.invalid/", &pairs).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls, "{error}");
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn exceptions_count_for_https_too() {
    let unused = Tunnel::start("127.0.0.1:1".parse().unwrap()).await;
    let setting = format!("http://{}", unused.address);
    let rows = [
        ("127.0.0.1", "127.0.0.0/8"),
        ("localhost", "LOCALHOST"),
        ("localhost", "x.example,*.localhost"),
        ("localhost", "x.example localhost"),
        ("localhost", "*"),
        ("127.0.0.1", "x.example, *"),
    ];
    for (name, exceptions) in rows {
        let url = format!("https://{name}:{}/", tls::serve(false).port());
        let pairs = [("HTTPS_PROXY", setting.as_str()), ("no_proxy", exceptions), ("SSL_CERT_FILE", tls::CA)];
        assert_eq!(get(&url, &pairs).await.unwrap(), "hello", "{exceptions}");
    }
    assert_eq!(unused.requests(), [""; 0]);
}

#[tokio::test]
async fn each_scheme_has_its_own_proxy() {
    let server = Server::start(vec![Reply::Bytes(ok("text/plain", b"hello"))]).await;
    let unused = Tunnel::start(server.address).await;
    let setting = format!("http://{}", unused.address);
    assert_eq!(get(&server.url("/"), &[("HTTPS_PROXY", &setting)]).await.unwrap(), "hello");
    let pairs = [("HTTP_PROXY", setting.as_str()), ("SSL_CERT_FILE", tls::CA)];
    assert_eq!(get(&format!("https://{}/", tls::serve(false)), &pairs).await.unwrap(), "hello");
    assert_eq!(unused.requests(), [""; 0]);
}

#[tokio::test]
async fn a_plain_request_shows_the_password_to_the_proxy() {
    let proxy = Server::start(vec![Reply::Bytes(ok("text/plain", b"hello"))]).await;
    let setting = format!("http://me:open%20sesame@{}", proxy.address);
    assert_eq!(get("http://example.invalid/x", &[("HTTP_PROXY", &setting)]).await.unwrap(), "hello");
    let request = &proxy.requests()[0];
    assert!(request.starts_with("GET http://example.invalid/x HTTP/1.1\r\n") && request.contains(BASIC), "{request}");
}
