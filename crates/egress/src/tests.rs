//! Tests the proxy on a real socket, with real servers on loopback.

use std::sync::Mutex;

use omp_types::AccessMap;
use tokio_util::task::AbortOnDropHandle;

use super::glance::tests::client_hello;
use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

/// A proxy and a server that answers each connection with the first bytes it received.
struct Scene {
    egress: Arc<Egress>,
    proxy: SocketAddr,
    server: SocketAddr,
    _tasks: Vec<AbortOnDropHandle<()>>,
}

impl Scene {
    /// `PORT` in `hosts` is replaced by the server's port.
    async fn new(hosts: &[&str], answers: &[&[&str]]) -> Self {
        let (server, echo) = echo().await;
        let hosts = hosts.iter().map(|host| host.replace("PORT", &server.port().to_string())).collect();
        let access = Access::new(AccessMap { hosts, ..AccessMap::default() });
        let answers = answers.iter().map(|answer| answer.iter().map(|text| text.parse().unwrap()).collect()).collect();
        let egress = Arc::new(Egress { resolver: Resolver::Scripted(Mutex::new(answers)), ..Egress::new(access) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = listener.local_addr().unwrap();
        let serving = AbortOnDropHandle::new(tokio::spawn(egress.clone().serve(listener)));
        Self { egress, proxy, server, _tasks: vec![echo, serving] }
    }

    /// Returns the whole answer to `sent`. `PORT` in it is replaced by the server's port.
    async fn ask(&self, sent: &str) -> String {
        let sent = sent.replace("PORT", &self.server.port().to_string());
        String::from_utf8_lossy(&self.send(&[sent.as_bytes()]).await).into_owned()
    }

    /// Sends each piece after an answer to the previous one, then reads to the end.
    async fn send(&self, pieces: &[&[u8]]) -> Vec<u8> {
        let talk = async {
            let mut stream = TcpStream::connect(self.proxy).await.unwrap();
            let mut heard = Vec::new();
            for (at, piece) in pieces.iter().enumerate() {
                stream.write_all(piece).await.unwrap();
                if at + 1 < pieces.len() && stream.read_buf(&mut heard).await.unwrap() == 0 {
                    return heard;
                }
            }
            stream.shutdown().await.unwrap();
            // A reset after the last bytes counts as an end.
            let _ = stream.read_to_end(&mut heard).await;
            heard
        };
        timeout(PATIENCE, talk).await.unwrap()
    }

    /// Waits until `count` connections are logged.
    async fn passages(&self, count: usize) -> Vec<Passage> {
        let logged = async {
            while self.egress.passages().len() < count {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, logged).await.unwrap();
        self.egress.passages()
    }
}

/// A server that answers `heard:` and the first bytes it receives, then closes.
async fn echo() -> (SocketAddr, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serve = async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; 64 * 1024];
            let read = client.read(&mut buffer).await.unwrap_or(0);
            let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
            let answer = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nheard:{text}");
            let _ = client.write_all(answer.as_bytes()).await;
        }
    };
    (address, AbortOnDropHandle::new(tokio::spawn(serve)))
}

#[tokio::test]
async fn a_host_that_is_named_is_reached_in_every_way() {
    let scene = Scene::new(&["*.example", "127.0.0.1:PORT"], &[&["127.0.0.1"]]).await;
    let port = scene.server.port();
    let said = scene.ask("GET http://api.example:PORT/x HTTP/1.1\r\nHost: api.example:PORT\r\n\r\n").await;
    assert!(
        said.contains(&format!("heard:GET /x HTTP/1.1\r\nHost: api.example:{port}\r\nConnection: close")),
        "{said}"
    );
    let connect = format!("CONNECT api.example:{port} HTTP/1.1\r\n\r\n");
    let said = scene.send(&[connect.as_bytes(), b"\0hello"]).await;
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("HTTP/1.1 200 ") && said.ends_with("heard:\0hello"), "{said}");
    let bytes = port.to_be_bytes();
    let by_name = [&[5, 1, 0, 3, 11][..], b"api.example", &bytes].concat();
    let said = scene.send(&[&[5, 1, 0], &by_name, b"\0hello"]).await;
    assert!(said.starts_with(&[5, 0, 5, 0, 0, 1]) && said.ends_with(b"heard:\0hello"), "{said:?}");
    let by_address = [&[5, 1, 0, 1, 127, 0, 0, 1][..], &bytes].concat();
    let said = scene.send(&[&[5, 1, 0], &by_address, b"\0hello"]).await;
    assert!(said.starts_with(&[5, 0, 5, 0]) && said.ends_with(b"heard:\0hello"), "{said:?}");
    let four_a = [&[4, 1][..], &bytes, &[0, 0, 0, 1], b"me\0api.example\0"].concat();
    let said = scene.send(&[&four_a, b"\0hello"]).await;
    assert!(said.starts_with(&[0, 0x5A]) && said.ends_with(b"heard:\0hello"), "{said:?}");
    let passages = scene.passages(5).await;
    assert_eq!(
        passages.iter().map(|passage| passage.by).collect::<Vec<_>>(),
        ["http", "connect", "socks5", "socks5", "socks4"]
    );
    assert!(passages.iter().all(|passage| passage.refused.is_none() && passage.port == port && passage.down > 6));
    assert_eq!((passages[1].host.as_str(), passages[1].up), ("api.example", 6));
}

#[tokio::test]
async fn other_hosts_are_refused_with_the_reason_and_what_helps() {
    let scene = Scene::new(&["api.example:PORT"], &[&["127.0.0.1"]]).await;
    let expect = "is blocked: it is not an allowed host\nhint: the user can add `evil.example` to `containment.hosts` in config.yml\n";
    for request in [
        "GET http://evil.example/ HTTP/1.1\r\n\r\n",
        "CONNECT evil.example:443 HTTP/1.1\r\n\r\n",
        "POST http://evil.example/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    ] {
        let said = scene.ask(request).await;
        assert!(said.starts_with("HTTP/1.1 403 Forbidden\r\n") && said.ends_with(expect), "{said}");
    }
    for host in [
        "api.example.evil",
        "evilapi.example",
        "x.api.example",
        "127.0.0.1",
        "[::1]",
        "169.254.169.254",
        "[::ffff:127.0.0.1]",
    ] {
        let said = scene.ask(&format!("CONNECT {host}:PORT HTTP/1.1\r\n\r\n")).await;
        assert!(said.starts_with("HTTP/1.1 403 "), "{host}: {said}");
    }
    // The allowed host with another port.
    assert!(scene.ask("CONNECT api.example:1 HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 403 "));
    let socks = [&[5, 1, 0, 3, 12][..], b"evil.example", &443_u16.to_be_bytes()].concat();
    assert_eq!(scene.send(&[&[5, 1, 0], &socks]).await[..4], [5, 0, 5, 2]);
    let four = [&[4, 1][..], &443_u16.to_be_bytes(), &[127, 0, 0, 1], b"me\0"].concat();
    assert_eq!(scene.send(&[&four]).await[..2], [0, 0x5B]);
    let passages = scene.passages(13).await;
    assert!(passages.iter().all(|passage| passage.refused.is_some() && passage.up == 0 && passage.down == 0));
    assert!(scene.egress.take_new().iter().all(|passage| passage.by_rule));
    assert_eq!(scene.egress.seen(), 13);
}

#[tokio::test]
async fn a_name_does_not_lead_inside() {
    for inside in
        ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "fd00::1", "64:ff9b::7f00:1", "0.0.0.0"]
    {
        let scene = Scene::new(&["api.example"], &[&[inside]]).await;
        let said = scene.ask("CONNECT api.example:PORT HTTP/1.1\r\n\r\n").await;
        assert!(
            said.starts_with("HTTP/1.1 403 ") && said.contains("it resolves to") && said.contains("hint:"),
            "{inside}: {said}"
        );
    }
    // Nor by a name that resolves differently the second time: the proxy connects to the checked address.
    let scene = Scene::new(&["api.example", "127.0.0.1"], &[&["127.0.0.1"], &["10.0.0.1"]]).await;
    let said = scene.ask("GET http://api.example:PORT/ HTTP/1.1\r\n\r\n").await;
    assert!(said.contains("heard:"), "{said}");
    let said = scene.ask("GET http://api.example:PORT/ HTTP/1.1\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("10.0.0.1, a private address"), "{said}");
}

#[tokio::test]
async fn localhost_is_this_machine_where_it_is_named() {
    let scene = Scene::new(&["localhost:PORT"], &[&["10.0.0.1"]]).await;
    let said = scene.ask("GET http://localhost:PORT/ HTTP/1.1\r\n\r\n").await;
    assert!(said.contains("heard:"), "{said}");
    assert!(scene.ask("GET http://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 403 "));
}

#[tokio::test]
async fn a_connection_cannot_ask_for_another_host_than_it_was_opened_for() {
    let scene = Scene::new(&["api.example", "cdn.example", "127.0.0.1"], &[&["127.0.0.1"]]).await;
    let connect = format!("CONNECT api.example:{} HTTP/1.1\r\n\r\n", scene.server.port());
    for size in [1, 7, 4096] {
        let hello = client_hello(&["evil.example"], size);
        let said = scene.send(&[connect.as_bytes(), &hello]).await;
        assert!(said.ends_with(&[0x15, 3, 1, 0, 2, 2, 112]), "{}", String::from_utf8_lossy(&said));
    }
    // Its own name, another allowed name, and none.
    for names in [&["API.example"][..], &["cdn.example"], &[]] {
        let said = scene.send(&[connect.as_bytes(), &client_hello(names, 4096)]).await;
        assert!(String::from_utf8_lossy(&said).contains("heard:\u{16}"), "{names:?}");
    }
    let said = scene.send(&[connect.as_bytes(), b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"]).await;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("403 Forbidden") && said.contains("the connection asks for evil.example"), "{said}");
    let said = scene.ask("GET http://api.example:PORT/ HTTP/1.1\r\nHost: evil.example\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 403 ") && !said.contains("heard"), "{said}");
    // A second request on the same connection is not forwarded to the host.
    let said =
        scene.ask("GET http://api.example:PORT/ HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").await;
    assert!(said.contains("heard:") && !said.contains("evil"), "{said}");
}

#[tokio::test]
async fn a_host_may_speak_first() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let _server = AbortOnDropHandle::new(tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        client.write_all(b"SSH-2.0-x\r\n").await.unwrap();
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).await.unwrap();
        client.write_all(&heard).await.unwrap();
    }));
    let scene = Scene::new(&["127.0.0.1"], &[&[]]).await;
    let mut stream = TcpStream::connect(scene.proxy).await.unwrap();
    stream.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"SSH-2.0-x\r\n") {
        assert_ne!(timeout(PATIENCE, stream.read_buf(&mut said)).await.unwrap().unwrap(), 0);
    }
    stream.write_all(b"SSH-2.0-y\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    timeout(PATIENCE, stream.read_to_end(&mut said)).await.unwrap().unwrap();
    assert!(said.ends_with(b"SSH-2.0-y\r\n"));
}

#[tokio::test]
async fn what_the_user_allows_counts_at_once() {
    let scene = Scene::new(&[], &[&["127.0.0.1"]]).await;
    let request = "GET http://api.example:PORT/ HTTP/1.1\r\n\r\n";
    assert!(scene.ask(request).await.starts_with("HTTP/1.1 403 "));
    scene.egress.access.change(|map| map.hosts.extend(["api.example".to_owned(), "127.0.0.1".to_owned()]));
    assert!(scene.ask(request).await.contains("heard:"));
}

#[tokio::test]
async fn bodies_go_on_whole_and_what_is_no_request_does_not() {
    let scene = Scene::new(&["localhost"], &[&[]]).await;
    let head = format!("POST http://localhost:{}/ HTTP/1.1\r\n", scene.server.port());
    let said = scene.ask(&format!("{head}Content-Length: 5\r\n\r\nhello")).await;
    assert!(said.ends_with("\r\n\r\nhello"), "{said}");
    let said = scene.ask(&format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")).await;
    assert!(said.ends_with("5\r\nhello\r\n0\r\n\r\n"), "{said}");
    for bad in ["\u{1}\u{2}", "GET / HTTP/1.1\r\n\r\n", "GET", "CONNECT x HTTP/1.1\r\n\r\n"] {
        let said = scene.ask(bad).await;
        assert!(said.starts_with("HTTP/1.1 400 ") && said.contains("hint:"), "{bad}: {said}");
    }
    let long = format!("GET http://localhost/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    assert!(scene.ask(&long).await.starts_with("HTTP/1.1 400 "));
    // SOCKS with BIND, with a password, and truncated.
    let bind = [&[5, 2, 0, 1, 127, 0, 0, 1][..], &scene.server.port().to_be_bytes()].concat();
    assert_eq!(scene.send(&[&[5, 1, 0], &bind]).await[..4], [5, 0, 5, 1]);
    assert_eq!(scene.send(&[&[5, 1, 2]]).await[..2], [5, 0xFF]);
    assert_eq!(scene.send(&[&[5]]).await[..2], [5, 1]);
    // No server listens there.
    let said = scene.ask("GET http://localhost:1/ HTTP/1.1\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 502 ") && said.contains("cannot connect to localhost:1: "), "{said}");
}

#[tokio::test]
async fn whoever_listens_hears_of_each_connection() {
    let scene = Scene::new(&["localhost"], &[&[]]).await;
    let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
    scene.egress.tell(move |passage| sender.send((passage.host.clone(), passage.refused.is_some())).unwrap());
    scene.ask("GET http://localhost:PORT/ HTTP/1.1\r\n\r\n").await;
    scene.ask("GET http://evil.example/ HTTP/1.1\r\n\r\n").await;
    for expect in [("localhost", false), ("evil.example", true)] {
        let heard = timeout(PATIENCE, told.recv()).await.unwrap().unwrap();
        assert_eq!((heard.0.as_str(), heard.1), expect);
    }
}

#[tokio::test]
async fn connections_end_with_the_proxy() {
    let scene = Scene::new(&["localhost"], &[&[]]).await;
    let mut stream = TcpStream::connect(scene.proxy).await.unwrap();
    let connect = format!("CONNECT localhost:{} HTTP/1.1\r\n\r\n", scene.server.port());
    stream.write_all(connect.as_bytes()).await.unwrap();
    assert_ne!(stream.read_u8().await.unwrap(), 0);
    let Scene { egress, _tasks: tasks, .. } = scene;
    drop(tasks);
    let mut rest = Vec::new();
    // The connection ends or is reset, but does not stay open.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.unwrap();
    let logged = async {
        while egress.passages().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, logged).await.unwrap();
}

/// An upstream proxy: sends `SSH-2.0-x` after each tunnel is open, and reports the requests it got.
async fn upstream(
    status: &'static str,
) -> (Upstream, tokio::sync::mpsc::UnboundedReceiver<String>, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://me:sesame@{}", listener.local_addr().unwrap());
    let (sender, told) = tokio::sync::mpsc::unbounded_channel();
    let serve = async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut heard = Vec::new();
            while !heard.windows(4).any(|end| end == b"\r\n\r\n") {
                client.read_buf(&mut heard).await.unwrap();
            }
            sender.send(String::from_utf8(heard).unwrap()).unwrap();
            client.write_all(format!("HTTP/1.1 {status}\r\nX: y\r\n\r\nSSH-2.0-x\r\n").as_bytes()).await.unwrap();
        }
    };
    let env = [("HTTP_PROXY", address.as_str()), ("HTTPS_PROXY", address.as_str()), ("NO_PROXY", "direct.example")];
    let (upstream, problems) = Upstream::from_env(&env.into_iter().collect());
    assert_eq!(problems, Vec::<String>::new());
    (upstream, told, AbortOnDropHandle::new(tokio::spawn(serve)))
}

impl Scene {
    async fn behind(upstream: Upstream, hosts: &[&str]) -> Self {
        let mut scene = Self::new(hosts, &[&["127.0.0.1"]]).await;
        let egress = Egress {
            resolver: Resolver::Scripted(Mutex::new(vec![vec!["127.0.0.1".parse().unwrap()]])),
            ..Egress::new(scene.egress.access.clone())
        };
        scene.egress = Arc::new(egress.through(upstream));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        scene.proxy = listener.local_addr().unwrap();
        scene._tasks.push(AbortOnDropHandle::new(tokio::spawn(scene.egress.clone().serve(listener))));
        scene
    }
}

#[tokio::test]
async fn hosts_are_asked_for_at_the_proxy_that_the_machine_has() {
    let (upstream, mut told, _server) = upstream("200 OK").await;
    let scene = Scene::behind(upstream, &["api.example", "direct.example", "127.0.0.1:PORT"]).await;
    let said = scene.ask("CONNECT api.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 200 ") && said.ends_with("SSH-2.0-x\r\n"), "{said}");
    let authorization = "Proxy-Authorization: Basic bWU6c2VzYW1l\r\n";
    let asked = format!("CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n{authorization}\r\n");
    assert_eq!(told.recv().await.unwrap(), asked);
    let said = scene.ask("GET http://api.example/x HTTP/1.1\r\n\r\n").await;
    assert!(said.ends_with("SSH-2.0-x\r\n"), "{said}");
    let asked = told.recv().await.unwrap();
    assert!(asked.starts_with(&format!("GET http://api.example:80/x HTTP/1.1\r\n{authorization}Host: api")), "{asked}");
    // Exceptions, and internal addresses that a rule names, are reached directly.
    for host in ["direct.example", "127.0.0.1"] {
        let said = scene.ask(&format!("GET http://{host}:PORT/ HTTP/1.1\r\n\r\n")).await;
        assert!(said.contains("heard:GET / HTTP/1.1"), "{host}: {said}");
    }
    // The rules apply as before.
    for refused in ["GET http://evil.example/ HTTP/1.1\r\n\r\n", "CONNECT 10.0.0.1:443 HTTP/1.1\r\n\r\n"] {
        let said = scene.ask(refused).await;
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
    }
    assert!(told.try_recv().is_err());
}

#[tokio::test]
async fn a_proxy_of_the_machine_that_refuses_is_named() {
    for (status, expect) in [("407 Who", "rejected the credentials (407)"), ("403 No", "answered 403")] {
        let (upstream, _told, _server) = upstream(status).await;
        let scene = Scene::behind(upstream, &["api.example"]).await;
        let said = scene.ask("CONNECT api.example:443 HTTP/1.1\r\n\r\n").await;
        assert!(said.starts_with("HTTP/1.1 502 ") && said.contains(expect) && !said.contains("sesame"), "{said}");
    }
}
