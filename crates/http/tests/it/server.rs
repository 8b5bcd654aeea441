//! A server that reads one request per connection and answers with given bytes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The answer for one connection.
#[derive(Clone)]
pub enum Reply {
    /// Sends these bytes, then closes the connection.
    Bytes(Vec<u8>),
    /// Sends these bytes, then nothing.
    Stall(Vec<u8>),
    /// Sends these bytes, then resets the connection.
    Reset(Vec<u8>),
}

pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers connections in order; the last reply is repeated.
    pub async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(accept(listener, replies, requests.clone()));
        Self { address, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, replies: Vec<Reply>, requests: Arc<Mutex<Vec<String>>>) {
    let mut silent = Vec::new();
    let mut turn = 0;
    while let Ok((mut stream, _)) = listener.accept().await {
        let request = read_request(&mut stream).await;
        requests.lock().unwrap().push(request);
        let reply = replies[turn.min(replies.len() - 1)].clone();
        turn += 1;
        match reply {
            Reply::Bytes(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                let _ = stream.shutdown().await;
            }
            Reply::Stall(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                silent.push(stream);
            }
            Reply::Reset(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                stream.set_zero_linger().unwrap();
            }
        }
    }
}

pub async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap_or(0);
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if read == 0 {
                return text.into_owned();
            }
            continue;
        };
        let length =
            head.to_ascii_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if read == 0 || body.len() >= length.unwrap_or(0) {
            return text.into_owned();
        }
    }
}

pub fn ok(content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}
