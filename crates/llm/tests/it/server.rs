//! A loopback server that reads one request per connection and answers with given bytes.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The response on one connection: chunks that are sent separately, and then an end.
#[derive(Clone)]
pub struct Reply {
    pieces: Vec<Vec<u8>>,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Close,
    Stall,
    Reset,
}

impl Reply {
    /// A complete stream of events.
    pub fn events(sse: &str) -> Self {
        Self::status(200, "text/event-stream", &[], sse.as_bytes())
    }

    /// A complete stream, sent in chunks of `size` bytes.
    pub fn events_in_pieces(sse: &str, size: usize) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let pieces = std::iter::once(head.as_bytes()).chain(sse.as_bytes().chunks(size));
        Self { pieces: pieces.map(<[u8]>::to_vec).collect(), end: End::Close }
    }

    pub fn status(status: u16, content_type: &str, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n{more}content-length: {}\r\n\r\n",
            body.len()
        );
        Self { pieces: vec![[head.as_bytes(), body].concat()], end: End::Close }
    }

    /// The start of a stream that announces more data than it sends.
    pub fn unfinished(sse: &str) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000000\r\n\r\n";
        Self { pieces: vec![[head, sse].concat().into_bytes()], end: End::Close }
    }

    pub fn raw(bytes: &str) -> Self {
        Self { pieces: vec![bytes.as_bytes().to_vec()], end: End::Close }
    }

    pub fn nothing() -> Self {
        Self { pieces: Vec::new(), end: End::Close }
    }

    pub fn then_stall(self) -> Self {
        Self { end: End::Stall, ..self }
    }

    pub fn then_reset(self) -> Self {
        Self { end: End::Reset, ..self }
    }
}

pub struct Server {
    pub base_url: String,
    requests: Arc<Mutex<Vec<Received>>>,
    silent: tokio::sync::Mutex<tokio::sync::mpsc::Receiver<TcpStream>>,
}

#[derive(Clone, Debug)]
pub struct Received {
    pub head: String,
    pub body: String,
}

impl Server {
    pub async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (keep, silent) = tokio::sync::mpsc::channel(8);
        tokio::spawn(accept(listener, reply, requests.clone(), keep));
        Self { base_url, requests, silent: silent.into() }
    }

    /// Returns once the client has closed the connection that got no end.
    pub async fn silent_connection_closed(&self) {
        let mut stream = self.silent.lock().await.recv().await.unwrap();
        let read = stream.read(&mut [0; 16]).await;
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }

    pub fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }
}

async fn accept(
    listener: TcpListener,
    reply: Reply,
    requests: Arc<Mutex<Vec<Received>>>,
    silent: tokio::sync::mpsc::Sender<TcpStream>,
) {
    while let Ok((mut stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        let request = read_request(&mut stream).await;
        requests.lock().unwrap().push(request);
        for piece in &reply.pieces {
            // The client may have closed the connection.
            if stream.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        match reply.end {
            End::Close => drop(stream.shutdown().await),
            End::Stall => drop(silent.send(stream).await),
            End::Reset => stream.set_zero_linger().unwrap(),
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Received {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap_or(0);
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let length =
            head.to_ascii_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if read == 0 || text.contains("\r\n\r\n") && body.len() >= length.unwrap_or(0) {
            return Received { head: head.to_owned(), body: body.to_owned() };
        }
    }
}
