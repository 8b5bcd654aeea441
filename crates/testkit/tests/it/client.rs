//! A client that returns the received bytes unchanged.

use std::io::ErrorKind;

use bytes::BytesMut;
use omp_testkit::{Server, Wire};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct Client {
    pub socket: TcpStream,
    buffer: BytesMut,
}

const READ: usize = 64 * 1024;

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The chunks of a chunked body, or one whole body.
    pub chunks: Vec<Vec<u8>>,
    pub ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Received up to the last chunk or the promised length.
    Complete,
    /// The connection was closed properly before that.
    Closed,
    /// The connection was reset.
    Reset,
}

impl Client {
    pub async fn connect(server: &Server) -> Self {
        let socket = TcpStream::connect(server.address()).await.unwrap();
        socket.set_nodelay(true).unwrap();
        Self { socket, buffer: BytesMut::with_capacity(READ) }
    }

    pub async fn send(&mut self, method: &str, path: &str, body: &[u8]) {
        let head = format!("{method} {path} HTTP/1.1\r\n{}content-length: {}\r\n\r\n", headers(path), body.len());
        self.socket.write_all(head.as_bytes()).await.unwrap();
        self.socket.write_all(body).await.unwrap();
    }

    pub async fn ask(&mut self, wire: Wire) -> Answer {
        self.send("POST", path(wire), request(wire, 0).to_string().as_bytes()).await;
        self.answer().await.unwrap()
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, b"").await;
        self.answer().await.unwrap()
    }

    /// Returns only the next head, unchanged.
    pub async fn answer_head(&mut self) -> String {
        self.until(b"\r\n\r\n").await.unwrap()
    }

    /// Returns `Err` if the connection ended before a whole head.
    pub async fn answer(&mut self) -> Result<Answer, Ending> {
        let head = self.until(b"\r\n\r\n").await?;
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut answer = Answer { status, headers, chunks: Vec::new(), ending: Ending::Complete };
        let body = if answer.header("transfer-encoding") == Some("chunked") {
            self.chunks(&mut answer.chunks).await
        } else {
            let length = answer.header("content-length").unwrap().parse().unwrap();
            self.take(length).await.map(|body| answer.chunks.push(body))
        };
        answer.ending = body.err().unwrap_or(Ending::Complete);
        Ok(answer)
    }

    async fn chunks(&mut self, chunks: &mut Vec<Vec<u8>>) -> Result<(), Ending> {
        loop {
            let size = usize::from_str_radix(self.until(b"\r\n").await?.trim(), 16).unwrap();
            let data = self.take(size).await?;
            assert_eq!(self.take(2).await?, b"\r\n");
            if size == 0 {
                return Ok(());
            }
            chunks.push(data);
        }
    }

    async fn until(&mut self, mark: &[u8]) -> Result<String, Ending> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|window| window == mark) {
                let found = self.buffer.split_to(at + mark.len());
                return Ok(String::from_utf8(found.to_vec()).unwrap());
            }
            self.more().await?;
        }
    }

    async fn take(&mut self, size: usize) -> Result<Vec<u8>, Ending> {
        while self.buffer.len() < size {
            self.more().await?;
        }
        Ok(self.buffer.split_to(size).to_vec())
    }

    async fn more(&mut self) -> Result<(), Ending> {
        self.buffer.reserve(READ);
        match self.socket.read_buf(&mut self.buffer).await {
            Ok(0) => Err(Ending::Closed),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Err(Ending::Reset),
            Err(error) => panic!("{error}"),
        }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn body(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body()).unwrap()
    }

    /// Returns the data of every event.
    pub fn data(&self) -> Vec<String> {
        data(&self.text())
    }
}

/// A small, independent reader of server-sent events.
pub fn data(stream: &str) -> Vec<String> {
    let plain = stream.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let events = plain
        .split("\n\n")
        .map(|event| event.lines().filter_map(|line| line.strip_prefix("data: ")).collect::<Vec<_>>().join("\n"));
    events.filter(|data| !data.is_empty()).collect()
}

/// Returns the headers that every service requires.
pub fn headers(path: &str) -> String {
    let key = match Wire::of_path(path) {
        Some(Wire::Anthropic) => "x-api-key: k\r\nanthropic-version: 2023-06-01",
        Some(Wire::Google) => "x-goog-api-key: k",
        _ => "authorization: Bearer k",
    };
    format!("host: x\r\nuser-agent: test\r\naccept: text/event-stream\r\ncontent-type: application/json\r\n{key}\r\n")
}

pub fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "/v1/messages",
        Wire::Completions => "/v1/chat/completions",
        Wire::Responses => "/v1/responses",
        Wire::Google => "/v1beta/models/mock-model:streamGenerateContent?alt=sse",
    }
}

/// Builds a request after this many answers.
pub fn request(wire: Wire, answers: usize) -> Value {
    let (user, model) = match wire {
        Wire::Google => {
            (json!({"role": "user", "parts": [{"text": "hi"}]}), json!({"role": "model", "parts": [{"text": "ok"}]}))
        }
        _ => (json!({"role": "user", "content": "hi"}), json!({"role": "assistant", "content": "ok"})),
    };
    let mut conversation = vec![user.clone()];
    for _ in 0..answers {
        conversation.extend([model.clone(), user.clone()]);
    }
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools = match wire {
        Wire::Google => json!([{"functionDeclarations": [{"name": "read", "parameters": schema}]}]),
        Wire::Completions => json!([{"type": "function", "function": {"name": "read", "parameters": schema}}]),
        Wire::Responses => json!([{"type": "function", "name": "read", "parameters": schema}]),
        Wire::Anthropic => json!([{"name": "read", "input_schema": schema}]),
    };
    match wire {
        Wire::Google => json!({"tools": tools, "contents": conversation}),
        Wire::Responses => json!({"model": "mock-model", "stream": true, "tools": tools, "input": conversation}),
        Wire::Completions => json!({
            "model": "mock-model", "stream": true, "stream_options": {"include_usage": true},
            "tools": tools, "messages": conversation,
        }),
        Wire::Anthropic => json!({
            "model": "mock-model", "max_tokens": 100, "stream": true, "tools": tools, "messages": conversation,
        }),
    }
}
