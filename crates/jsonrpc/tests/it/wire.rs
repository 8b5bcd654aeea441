//! The other end of a connection, at the level of raw messages.

use std::collections::VecDeque;
use std::sync::Arc;

use omp_jsonrpc::{Connection, FrameDecoder, FrameLimits, Framing, Handler, MessageFrame, Protocol, encode};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};

use crate::soon;

pub struct Wire {
    stream: DuplexStream,
    framing: Framing,
    decoder: FrameDecoder,
    read: VecDeque<Value>,
}

/// Creates a connection and its raw other end.
pub fn wired(protocol: Protocol, handler: impl Handler) -> (Connection, Wire) {
    let (ours, stream) = duplex(4 << 10);
    let (reader, writer) = split(ours);
    let framing = protocol.framing;
    let decoder = FrameDecoder::new(framing, FrameLimits::default());
    let connection = Connection::open(reader, writer, protocol, Arc::new(handler));
    (connection, Wire { stream, framing, decoder, read: VecDeque::new() })
}

/// Creates two connections that are connected to each other.
pub fn paired(protocol: &Protocol, ours: impl Handler, theirs: impl Handler) -> (Connection, Connection) {
    let (one, other) = duplex(4 << 10);
    let open = |stream, handler: Arc<dyn Handler>| {
        let (reader, writer) = split(stream);
        Connection::open(reader, writer, protocol.clone(), handler)
    };
    (open(one, Arc::new(ours)), open(other, Arc::new(theirs)))
}

impl Wire {
    /// Returns `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Value> {
        let mut buffer = vec![0; 1 << 10];
        while self.read.is_empty() {
            let read = soon(self.stream.read(&mut buffer)).await.unwrap();
            if read == 0 {
                return None;
            }
            let mut frames = Vec::new();
            self.decoder.push(&buffer[..read], &mut frames).unwrap();
            self.read.extend(frames.into_iter().map(|frame| match frame {
                MessageFrame::Message { value, .. } => value,
                other => panic!("{other:?}"),
            }));
        }
        self.read.pop_front()
    }

    pub async fn say(&mut self, message: Value) {
        assert!(self.try_say(message).await, "nobody reads any more");
    }

    /// Returns whether the other side still reads.
    pub async fn try_say(&mut self, message: Value) -> bool {
        let bytes = encode(self.framing, &message);
        soon(self.stream.write_all(&bytes)).await.is_ok()
    }

    pub async fn write(&mut self, text: &str) {
        soon(self.stream.write_all(text.as_bytes())).await.unwrap();
    }
}
