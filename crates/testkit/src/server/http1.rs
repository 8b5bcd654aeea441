//! Reads HTTP/1.1 requests from a socket.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 256 * 1024 * 1024;

pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    pub fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Returns the next request, or `None` if the client closed the connection. `buffer` keeps the bytes of later requests.
pub async fn read_request(socket: &mut TcpStream, buffer: &mut BytesMut) -> io::Result<Option<ReceivedRequest>> {
    let Some(head) = read_head(socket, buffer).await? else { return Ok(None) };
    let (method, path, headers) = parse_head(&head)?;
    if find(&headers, "expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let chunked =
        find(&headers, "transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
    let body = if chunked {
        read_chunks(socket, buffer).await?
    } else {
        let length = find(&headers, "content-length").map_or(Ok(0), |value| value.trim().parse::<usize>());
        let length = length.map_err(|_| bad("content-length is not a number"))?;
        read_exactly(socket, buffer, length).await?
    };
    Ok(Some(ReceivedRequest { method, path, headers, body }))
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn bad(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

async fn read_head(socket: &mut TcpStream, buffer: &mut BytesMut) -> io::Result<Option<Bytes>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = buffer.split_to(end).freeze();
            buffer.advance(4);
            return Ok(Some(head));
        }
        if buffer.len() > MAX_HEAD {
            return Err(bad("the head of the request is too long"));
        }
        if socket.read_buf(buffer).await? == 0 {
            return if buffer.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
    }
}

type RequestHead = (String, String, Vec<(String, String)>);

fn parse_head(head: &[u8]) -> io::Result<RequestHead> {
    let text = std::str::from_utf8(head).map_err(|_| bad("the head of the request is not UTF-8"))?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1"), None) = (first.next(), first.next(), first.next(), first.next())
    else {
        return Err(bad("the first line is not `METHOD path HTTP/1.1`"));
    };
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header has no colon"))?;
        Ok((name.to_owned(), value.trim().to_owned()))
    });
    Ok((method.to_owned(), path.to_owned(), headers.collect::<io::Result<_>>()?))
}

async fn read_exactly(socket: &mut TcpStream, buffer: &mut BytesMut, length: usize) -> io::Result<Bytes> {
    if length > MAX_BODY {
        return Err(bad("the body of the request is too long"));
    }
    while buffer.len() < length {
        if socket.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(buffer.split_to(length).freeze())
}

async fn read_chunks(socket: &mut TcpStream, buffer: &mut BytesMut) -> io::Result<Bytes> {
    let mut body = BytesMut::new();
    loop {
        let line = read_line(socket, buffer).await?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| bad("a chunk has no length"))?;
        if body.len().saturating_add(length) > MAX_BODY {
            return Err(bad("the body of the request is too long"));
        }
        body.extend_from_slice(&read_exactly(socket, buffer, length).await?);
        // Skips the line end after the data; after the last chunk, trailers up to an empty line.
        while !read_line(socket, buffer).await?.is_empty() {}
        if length == 0 {
            return Ok(body.freeze());
        }
    }
}

async fn read_line(socket: &mut TcpStream, buffer: &mut BytesMut) -> io::Result<String> {
    loop {
        if let Some(end) = buffer.windows(2).position(|window| window == b"\r\n") {
            let line = buffer.split_to(end);
            buffer.advance(2);
            return String::from_utf8(line.to_vec()).map_err(|_| bad("a chunk has no length"));
        }
        if buffer.len() > MAX_HEAD {
            return Err(bad("a chunk has no length"));
        }
        if socket.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
