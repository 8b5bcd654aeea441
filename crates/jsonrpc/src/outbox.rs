//! The only queue to the other side. It numbers messages in write order and is bounded: while the other side does not read,
//! senders wait.

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::framing::encode;
use crate::lock;
use crate::message::Outgoing;
use crate::protocol::Protocol;

/// Queued messages are written together up to this size.
const BATCH_BYTES: usize = 64 << 10;

pub(crate) struct Outbox {
    protocol: Protocol,
    sender: mpsc::Sender<Queued>,
    /// Free room in bytes.
    room: Arc<Semaphore>,
    order: Mutex<SendOrder>,
    closed: CancellationToken,
}

/// Locked while a message gets its number and is queued, never while waiting.
struct SendOrder {
    next: i64,
    closed: bool,
}

/// A message, and the room that it takes until it is written.
struct Queued {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

/// The reading end of an outbox.
pub(crate) struct OutboxReader {
    queued: mpsc::Receiver<Queued>,
    closed: CancellationToken,
}

/// Why a message was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    TooLong {
        bytes: usize,
    },
    /// There is no room now; only returned if the call must not wait.
    Full,
    Closed,
}

impl Outbox {
    pub(crate) fn new(protocol: Protocol) -> (Self, OutboxReader) {
        let (sender, queued) = mpsc::channel(protocol.limits.outgoing.max(1));
        let room = Arc::new(Semaphore::new(room_of(protocol.limits.outgoing_bytes)));
        let (order, closed) = (Mutex::new(SendOrder { next: 1, closed: false }), CancellationToken::new());
        let queue = OutboxReader { queued, closed: closed.clone() };
        (Self { protocol, sender, room, order, closed }, queue)
    }

    /// Waits for room. Dropping the future sends nothing.
    pub(crate) async fn send(&self, message: Outgoing) -> Result<(), Unsent> {
        self.send_numbered(message, |_, _| (), |_| ()).await
    }

    /// Waits for room and sends; `stamp` may insert the number into the message, and `before` is called when sending can no
    /// longer fail, before the other side can answer.
    pub(crate) async fn send_numbered(
        &self,
        message: Outgoing,
        stamp: impl FnOnce(i64, &mut Outgoing),
        before: impl FnOnce(i64),
    ) -> Result<(), Unsent> {
        let places = async {
            let room =
                self.room.clone().acquire_many_owned(self.permits(&message)).await.map_err(|_| Unsent::Closed)?;
            Ok((room, self.sender.reserve().await.map_err(|_| Unsent::Closed)?))
        };
        let (room, slot) = tokio::select! {
            biased;
            () = self.closed.cancelled() => return Err(Unsent::Closed),
            places = places => places?,
        };
        self.put(message, stamp, |number, bytes| {
            before(number);
            slot.send(Queued { bytes, _room: room });
            Ok(())
        })
    }

    /// Sends without waiting.
    pub(crate) fn try_send(&self, message: Outgoing) -> Result<(), Unsent> {
        self.try_send_then(message, || ())
    }

    /// Sends without waiting; `before` is called when sending can no longer fail, before the other side can answer.
    pub(crate) fn try_send_then(&self, message: Outgoing, before: impl FnOnce()) -> Result<(), Unsent> {
        let room = self.room.clone().try_acquire_many_owned(self.permits(&message)).map_err(|_| Unsent::Full)?;
        let full_or_closed = |error| match error {
            TrySendError::Full(_) => Unsent::Full,
            TrySendError::Closed(_) => Unsent::Closed,
        };
        self.put(
            message,
            |_, _| (),
            |_, bytes| {
                let slot = self.sender.try_reserve().map_err(full_or_closed)?;
                before();
                slot.send(Queued { bytes, _room: room });
                Ok(())
            },
        )
    }

    /// Refuses further messages; waiting senders fail at once. Queued messages are still written.
    pub(crate) fn close(&self) {
        lock(&self.order).closed = true;
        self.closed.cancel();
    }

    /// Numbers are assigned only to written messages, because DAP requires consecutive numbers.
    fn put(
        &self,
        mut message: Outgoing,
        stamp: impl FnOnce(i64, &mut Outgoing),
        queue: impl FnOnce(i64, Vec<u8>) -> Result<(), Unsent>,
    ) -> Result<(), Unsent> {
        let mut order = lock(&self.order);
        if order.closed {
            return Err(Unsent::Closed);
        }
        stamp(order.next, &mut message);
        let bytes = encode(self.protocol.framing, &self.protocol.dialect.write(order.next, message));
        if bytes.len() > self.protocol.limits.frames.message_bytes {
            return Err(Unsent::TooLong { bytes: bytes.len() });
        }
        queue(order.next, bytes)?;
        order.next += 1;
        Ok(())
    }

    fn permits(&self, message: &Outgoing) -> u32 {
        permits(message.weight(), self.protocol.limits.outgoing_bytes)
    }
}

/// Number of permits of a semaphore that counts bytes.
pub(crate) fn room_of(bytes: usize) -> usize {
    bytes.clamp(1, u32::MAX as usize >> 3)
}

/// A message larger than the whole room takes all of it.
pub(crate) fn permits(bytes: usize, room: usize) -> u32 {
    u32::try_from(bytes.min(room_of(room))).unwrap_or(u32::MAX)
}

impl OutboxReader {
    /// Writes until the outbox is closed and empty, then closes `writer`.
    pub(crate) async fn write_all(mut self, mut writer: impl AsyncWrite + Unpin) -> io::Result<()> {
        while let Some(first) = self.next().await {
            // Holds the room of all messages until they are written.
            let mut batch = vec![first];
            let mut bytes = batch[0].bytes.len();
            while bytes < BATCH_BYTES
                && let Ok(next) = self.queued.try_recv()
            {
                bytes += next.bytes.len();
                batch.push(next);
            }
            match batch.as_slice() {
                [only] => writer.write_all(&only.bytes).await?,
                several => {
                    let joined = several.iter().map(|message| message.bytes.as_slice()).collect::<Vec<_>>().concat();
                    writer.write_all(&joined).await?;
                }
            }
            if self.queued.is_empty() {
                writer.flush().await?;
            }
        }
        writer.shutdown().await
    }

    async fn next(&mut self) -> Option<Queued> {
        tokio::select! {
            biased;
            message = self.queued.recv() => message,
            // All sent messages are already queued.
            () = self.closed.cancelled() => self.queued.try_recv().ok(),
        }
    }
}
