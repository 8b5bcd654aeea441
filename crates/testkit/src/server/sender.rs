//! Executes the steps of an answer on a socket.

use std::io::{self, Write};
use std::time::Duration;

use bytes::BytesMut;
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::plan::{PlannedResponse, ResponseStep, StreamHead};
use super::record::Counts;
use crate::script::Split;
use crate::wire::Wire;

/// Whether the connection can be used after an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    KeepAlive,
    Finished,
}

pub struct Sender<'a> {
    pub socket: &'a mut TcpStream,
    /// Bytes that arrive while an answer is sent, kept for the next request.
    pub incoming: &'a mut BytesMut,
    pub counts: &'a tokio::sync::watch::Sender<Counts>,
    body: Option<ChunkedBody>,
    pending: Vec<u8>,
}

/// State of a chunked body.
struct ChunkedBody {
    gzip: Option<GzEncoder<Vec<u8>>>,
    split: Option<Split>,
    /// Body bytes sent so far, after compression.
    sent: usize,
}

/// Bytes that are buffered before a write unless a step flushes them.
const BATCH: usize = 16 * 1024;
const FILL_BLOCK: usize = 64 * 1024;
const MAX_INCOMING: usize = 1024 * 1024;

impl<'a> Sender<'a> {
    pub fn new(
        socket: &'a mut TcpStream,
        incoming: &'a mut BytesMut,
        counts: &'a tokio::sync::watch::Sender<Counts>,
    ) -> Self {
        Self { socket, incoming, counts, body: None, pending: Vec::new() }
    }

    pub async fn send(mut self, steps: Vec<ResponseStep>) -> io::Result<Ending> {
        for step in steps {
            match step {
                ResponseStep::Whole(response) => self.pending.extend(whole(&response)),
                ResponseStep::Head(head) => self.open(head),
                ResponseStep::Body(bytes) => self.write(&bytes).await?,
                ResponseStep::Fill(count) => self.fill(count).await?,
                ResponseStep::Pause(time) => self.wait(Some(time)).await?,
                ResponseStep::Stall(time) => {
                    self.flush().await?;
                    self.counts.send_modify(|counts| counts.stalls += 1);
                    self.wait(time).await?;
                }
                ResponseStep::KeepAlive(bytes, pause) => {
                    self.counts.send_modify(|counts| counts.stalls += 1);
                    loop {
                        self.write(&bytes).await?;
                        self.wait(Some(pause)).await?;
                    }
                }
                ResponseStep::Reset => {
                    self.flush().await?;
                    self.socket.set_zero_linger()?;
                    return Ok(Ending::Finished);
                }
                ResponseStep::Close => {
                    self.flush().await?;
                    self.socket.shutdown().await?;
                    return Ok(Ending::Finished);
                }
                ResponseStep::End => self.end().await?,
            }
        }
        self.flush().await?;
        Ok(Ending::KeepAlive)
    }

    fn open(&mut self, head: StreamHead) {
        self.pending.extend(stream_head(&head));
        let gzip = head.gzip.then(|| GzEncoder::new(Vec::new(), Compression::fast()));
        self.body = Some(ChunkedBody { gzip, split: head.split, sent: 0 });
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        let sent = match &mut body.gzip {
            Some(encoder) => {
                encoder.write_all(bytes)?;
                encoder.flush()?;
                std::mem::take(encoder.get_mut())
            }
            None => bytes.to_vec(),
        };
        self.put(&sent).await
    }

    async fn end(&mut self) -> io::Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        if let Some(encoder) = body.gzip.take() {
            let rest = encoder.finish()?;
            self.body = Some(body);
            self.put(&rest).await?;
        }
        self.pending.extend(b"0\r\n\r\n");
        self.flush().await
    }

    /// Sends bytes unchanged, in the pieces of the framing.
    async fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        let start = body.sent;
        body.sent += bytes.len();
        let Some(split) = body.split.clone() else {
            chunk(&mut self.pending, bytes);
            return if self.pending.len() >= BATCH { self.flush().await } else { Ok(()) };
        };
        for piece in pieces(bytes, start, &split) {
            chunk(&mut self.pending, piece);
            self.flush().await?;
            // Lets a client on the same thread read each piece separately.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn fill(&mut self, mut count: u64) -> io::Result<()> {
        let block = vec![b'x'; FILL_BLOCK];
        while count > 0 {
            let size = count.min(FILL_BLOCK as u64);
            self.write(&block[..size as usize]).await?;
            count -= size;
        }
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.pending).await?;
        self.pending.clear();
        Ok(())
    }

    /// Sends nothing for a while, or forever. The answer ends if the client hangs up meanwhile.
    async fn wait(&mut self, time: Option<Duration>) -> io::Result<()> {
        self.flush().await?;
        let pause = async {
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = pause => Ok(()),
            () = hung_up(self.socket, self.incoming) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

async fn hung_up(socket: &mut TcpStream, incoming: &mut BytesMut) {
    while incoming.len() <= MAX_INCOMING {
        match socket.read_buf(incoming).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn whole(response: &PlannedResponse) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", response.body.len()));
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&response.body);
    bytes
}

fn stream_head(head: &StreamHead) -> Vec<u8> {
    let request_id = if head.wire == Wire::Anthropic { "request-id" } else { "x-request-id" };
    let encoding = if head.gzip { "content-encoding: gzip\r\n" } else { "" };
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n\
         {request_id}: req_testkit\r\n{encoding}transfer-encoding: chunked\r\n\r\n"
    )
    .into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Status",
    }
}

/// Sends nothing for no bytes, because an empty chunk would end the body.
fn chunk(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    out.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Splits `bytes`, which begin at offset `start` of the body, as `split` requires.
fn pieces<'a>(bytes: &'a [u8], start: usize, split: &Split) -> Vec<&'a [u8]> {
    let cuts_after = |offset: usize| match split {
        Split::EveryByte => true,
        Split::Every(size) => offset.is_multiple_of((*size).max(1)),
        Split::At(offsets) => offsets.binary_search(&offset).is_ok(),
    };
    let mut pieces = Vec::new();
    let mut from = 0;
    for to in 1..=bytes.len() {
        if to == bytes.len() || cuts_after(start + to) {
            pieces.push(&bytes[from..to]);
            from = to;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: usize, split: Split, expect: &str) {
        let shown: Vec<_> = pieces(b"abcdef", start, &split).into_iter().map(String::from_utf8_lossy).collect();
        assert_eq!(shown.join("|"), expect);
    }

    #[test]
    fn bodies_are_cut_by_their_own_offsets() {
        check(0, Split::EveryByte, "a|b|c|d|e|f");
        check(0, Split::Every(4), "abcd|ef");
        check(3, Split::Every(4), "a|bcde|f");
        check(0, Split::At(vec![1, 5]), "a|bcde|f");
        check(6, Split::At(vec![1, 5, 8]), "ab|cdef");
    }
}
