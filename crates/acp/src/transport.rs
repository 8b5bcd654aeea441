//! Reads and writes lines of JSON, with a limit on both sides.
//!
//! The protocol crate queues without limit in both directions. Code that sends many updates therefore waits for [`Flow`]
//! first, which has room when the client has read earlier updates: a client that stops reading blocks the session instead of
//! filling memory.
//!
//! The protocol crate also refuses every request that comes before `initialize` is answered. A client need not wait for that
//! answer, so nothing after an `initialize` is forwarded until it is sent.

use std::sync::{Arc, Mutex};

use agent_client_protocol::{Channel, RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcResponse, TransportFrame};
use futures_util::{FutureExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;

use crate::live::lock;

/// Longer lines are refused. Images are base64, several in one prompt.
const MAX_LINE: u64 = 64 * 1024 * 1024;
/// Caps the bytes written at once.
const BATCH: usize = 64 * 1024;
/// Caps the updates that the client has not read.
const MAX_WAITING: usize = 512;
/// Replaces a line that was too long, so that it is answered like any other invalid line.
const TOO_LONG: &str = r#"{"tooLong":true}"#;

pub struct Wires {
    pub flow: Flow,
    /// Ends when everything is written, or when the pipe is closed.
    pub writer: JoinHandle<()>,
}

/// Limits the number of unread updates.
#[derive(Clone)]
pub struct Flow(Arc<Semaphore>);

impl Flow {
    /// Waits until the client has read enough updates. Returns `false` once the connection is closing.
    pub async fn room(&self) -> bool {
        match self.0.acquire().await {
            Ok(permit) => {
                permit.forget();
                true
            }
            Err(_) => false,
        }
    }

    /// Stops waiting for the client.
    pub fn close(&self) {
        self.0.close();
    }
}

pub fn connect<I, O>(input: I, output: O) -> (Channel, Wires)
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let (ours, theirs) = Channel::duplex();
    let (frames, sender) = ours.into_parts();
    let flow = Flow(Arc::new(Semaphore::new(MAX_WAITING)));
    let greeting = Arc::new(Greeting::default());
    let writer = tokio::spawn(write_frames(frames, output, flow.clone(), greeting.clone()));
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Some(line) = next_line(&mut input, MAX_LINE).await {
            if line.trim().is_empty() {
                continue;
            }
            let frame = TransportFrame::parse_json(&line);
            let greets = greeting.begin(&frame);
            if sender.unbounded_send(frame).is_err() {
                break;
            }
            if greets {
                greeting.answered.notified().await;
            }
        }
    });
    (theirs, Wires { flow, writer })
}

/// An `initialize` that was not answered yet.
#[derive(Default)]
struct Greeting {
    id: Mutex<Option<RawJsonRpcId>>,
    answered: Notify,
}

impl Greeting {
    /// Whether the frame is an `initialize`; if so, starts to wait for its response.
    fn begin(&self, frame: &TransportFrame) -> bool {
        let TransportFrame::Single(RawJsonRpcMessage::Request(request)) = frame else { return false };
        let greets = &*request.method == "initialize";
        if greets {
            *lock(&self.id) = Some(request.id.clone());
        }
        greets
    }

    /// Checks whether a written frame is the response.
    fn see(&self, frame: &TransportFrame) {
        let TransportFrame::Single(RawJsonRpcMessage::Response(response)) = frame else { return };
        let (RawJsonRpcResponse::Result { id, .. } | RawJsonRpcResponse::Error { id, .. }) = response;
        if lock(&self.id).take_if(|waited| waited == id).is_some() {
            self.answered.notify_one();
        }
    }
}

/// Returns `None` at the end of the input or on an error.
async fn next_line<I: AsyncRead + Unpin>(input: &mut BufReader<I>, longest: u64) -> Option<String> {
    let mut line = Vec::new();
    let read = input.take(longest).read_until(b'\n', &mut line).await.ok()?;
    if read == 0 {
        return None;
    }
    if read as u64 == longest && !line.ends_with(b"\n") {
        drop(line);
        skip_line(input).await?;
        return Some(TOO_LONG.to_owned());
    }
    Some(String::from_utf8(line).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

async fn skip_line<I: AsyncRead + Unpin>(input: &mut BufReader<I>) -> Option<()> {
    loop {
        let buffered = input.fill_buf().await.ok()?;
        if buffered.is_empty() {
            return Some(());
        }
        let end = buffered.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffered.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Some(());
        }
    }
}

/// Writes frames as they arrive, queued ones in one batch.
async fn write_frames<O: AsyncWrite + Unpin>(
    mut frames: impl StreamExt<Item = TransportFrame> + Unpin,
    mut output: O,
    flow: Flow,
    greeting: Arc<Greeting>,
) {
    let mut open = true;
    while open && let Some(first) = frames.next().await {
        let (mut batch, mut updates) = (String::new(), 0);
        let mut next = Some(first);
        while let Some(frame) = next {
            updates += usize::from(is_update(&frame));
            greeting.see(&frame);
            // A frame that cannot be encoded is dropped.
            if let Ok(line) = frame.to_json() {
                batch.push_str(&line);
                batch.push('\n');
            }
            next = if batch.len() < BATCH { frames.next().now_or_never().flatten() } else { None };
        }
        let written = async {
            output.write_all(batch.as_bytes()).await?;
            output.flush().await
        };
        open = written.await.is_ok();
        flow.0.add_permits(updates);
    }
    flow.close();
    // No more responses will be written.
    greeting.answered.notify_one();
}

fn is_update(frame: &TransportFrame) -> bool {
    let TransportFrame::Single(RawJsonRpcMessage::Notification(notification)) = frame else { return false };
    &*notification.method == "session/update"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &'static [u8], expect: &[&str]) {
        let lines = async {
            let mut input = BufReader::new(input);
            let mut lines = Vec::new();
            while let Some(line) = next_line(&mut input, 8).await {
                lines.push(line);
            }
            lines
        };
        assert_eq!(lines.now_or_never().unwrap(), expect);
    }

    #[test]
    fn lines_that_are_too_long_are_skipped_and_told() {
        check(b"", &[]);
        check(b"a\nb", &["a\n", "b"]);
        check(b"1234567\nb\n", &["1234567\n", "b\n"]);
        check(b"12345678\nb\n", &[TOO_LONG, "b\n"]);
        check(b"123456789 and on\nb\n", &[TOO_LONG, "b\n"]);
        check(b"123456789 and on", &[TOO_LONG]);
        check(b"\xff\n", &["\u{fffd}\n"]);
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_stops_updates_until_it_does() {
        let (mut ours, theirs) = tokio::io::duplex(16);
        let (channel, wires) = connect(tokio::io::empty(), theirs);
        let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#;
        for _ in 0..MAX_WAITING {
            assert!(wires.flow.room().await);
            channel.tx.unbounded_send(TransportFrame::parse_json(update)).unwrap();
        }
        assert_eq!(tokio::task::unconstrained(wires.flow.room()).now_or_never(), None);
        let mut read = [0; 16];
        tokio::select! {
            roomy = wires.flow.room() => assert!(roomy),
            () = async { loop { ours.read_exact(&mut read).await.unwrap(); } } => {}
        }
        drop(ours);
        wires.writer.await.unwrap();
        // Nothing is read any more, so room is left only for what was read in time.
        while wires.flow.room().await {}
    }
}
