//! Tests requests through a SOCKS5 proxy that connects to one server for any name.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omp_http::{Client, HttpConfig, HttpError, HttpErrorKind};
use omp_types::Env;
use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::server::{Reply, Server, ok};
use crate::tls;

/// Implements RFC 1928, and RFC 1929 for the password.
struct Socks {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Socks {
    async fn start(password: Option<&'static str>, reach: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, password, reach, log.clone()));
            }
        });
        Self { address, seen }
    }

    /// Returns `user:password` if it was requested, and the requested address type.
    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn relay(
    mut stream: TcpStream,
    password: Option<&str>,
    reach: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
) -> io::Result<()> {
    assert_eq!(stream.read_u8().await?, 5, "the version of the protocol");
    let methods = counted(&mut stream).await?;
    let method = if password.is_some() { 2 } else { 0 };
    assert!(methods.as_bytes().contains(&method), "{methods:?}");
    stream.write_all(&[5, method]).await?;
    if let Some(password) = password {
        assert_eq!(stream.read_u8().await?, 1, "the version of the negotiation");
        let given = format!("{}:{}", counted(&mut stream).await?, counted(&mut stream).await?);
        let welcome = given == password;
        log.lock().unwrap().push(given);
        stream.write_all(&[1, u8::from(!welcome)]).await?;
        if !welcome {
            return Ok(());
        }
    }
    let target = target(&mut stream).await?;
    log.lock().unwrap().push(target);
    stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0]).await?;
    let mut server = TcpStream::connect(reach).await?;
    io::copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}

/// Reads bytes with a length prefix.
async fn counted(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(String::from_utf8(bytes).unwrap())
}

async fn target(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    assert_eq!(head[..3], [5, 1, 0], "a request to connect");
    let host = match head[3] {
        1 => format!("address {}", Ipv4Addr::from(stream.read_u32().await?)),
        3 => format!("name {}", counted(stream).await?),
        4 => format!("address {}", Ipv6Addr::from(stream.read_u128().await?)),
        other => format!("unknown kind {other}"),
    };
    Ok(format!("{host} port {}", stream.read_u16().await?))
}

async fn get(url: &str, pairs: &[(&str, &str)]) -> Result<String, HttpError> {
    let client = Client::new(&pairs.iter().copied().collect::<Env>(), HttpConfig::default());
    let body = client.get_bytes(url, &[], Duration::from_secs(60), 100).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

async fn hello() -> Server {
    Server::start(vec![Reply::Bytes(ok("text/plain", b"hello"))]).await
}

#[tokio::test]
async fn with_an_h_the_proxy_resolves_the_name() {
    let server = hello().await;
    let proxy = Socks::start(None, server.address).await;
    let setting = format!("socks5h://{}", proxy.address);
    for (at, variable) in ["ALL_PROXY", "all_proxy", "HTTP_PROXY"].into_iter().enumerate() {
        assert_eq!(get("http://only-the-proxy-knows.invalid/x", &[(variable, &setting)]).await.unwrap(), "hello");
        assert_eq!(proxy.seen()[at..], ["name only-the-proxy-knows.invalid port 80"]);
        let request = &server.requests()[at];
        let expect = "GET /x HTTP/1.1\r\n";
        assert!(request.starts_with(expect) && request.contains("host: only-the-proxy-knows.invalid\r\n"), "{request}");
    }
}

#[tokio::test]
async fn without_an_h_the_name_is_resolved_here() {
    let server = hello().await;
    let proxy = Socks::start(None, server.address).await;
    let setting = format!("socks5://{}", proxy.address);
    assert_eq!(get("http://localhost:81/", &[("ALL_PROXY", &setting)]).await.unwrap(), "hello");
    let seen = proxy.seen();
    assert!(["address 127.0.0.1 port 81", "address ::1 port 81"].contains(&seen[0].as_str()), "{seen:?}");
    assert_eq!((seen.len(), server.requests().len()), (1, 1));
}

#[tokio::test]
async fn the_proxy_may_ask_for_a_password() {
    let server = hello().await;
    let proxy = Socks::start(Some("me:open sesame"), server.address).await;
    for scheme in ["socks5", "socks5h"] {
        let setting = format!("{scheme}://me:open%20sesame@{}", proxy.address);
        assert_eq!(get("http://127.0.0.1:81/", &[("ALL_PROXY", &setting)]).await.unwrap(), "hello");
    }
    assert_eq!(proxy.seen(), ["me:open sesame", "address 127.0.0.1 port 81"].repeat(2));

    let wrong = format!("socks5h://me:barley@{}", proxy.address);
    let error = get("http://127.0.0.1:81/", &[("ALL_PROXY", &wrong)]).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Proxy, "{error}");
    assert!(error.to_string().contains("hint: check") && !error.to_string().contains("barley"), "{error}");
    assert_eq!((proxy.seen().pop().unwrap().as_str(), server.requests().len()), ("me:barley", 2));
}

#[tokio::test]
async fn tls_passes_through() {
    let proxy = Socks::start(None, tls::serve(false)).await;
    let setting = format!("socks5h://{}", proxy.address);
    let pairs = [("ALL_PROXY", setting.as_str()), ("SSL_CERT_FILE", tls::CA)];
    assert_eq!(get("https://localhost/", &pairs).await.unwrap(), "hello");
    assert_eq!(proxy.seen(), ["name localhost port 443"]);
}

#[tokio::test]
async fn exceptions_go_around_it() {
    let server = hello().await;
    let proxy = Socks::start(None, server.address).await;
    let setting = format!("socks5h://{}", proxy.address);
    for exceptions in ["127.0.0.1", "127.0.0.0/8", "other.example, 127.0.0.1", "*"] {
        let pairs = [("ALL_PROXY", setting.as_str()), ("NO_PROXY", exceptions)];
        assert_eq!(get(&server.url("/"), &pairs).await.unwrap(), "hello", "{exceptions}");
    }
    assert_eq!(proxy.seen(), [""; 0]);
}
