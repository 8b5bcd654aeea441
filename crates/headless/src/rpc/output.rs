//! The output queue to the client, in bounded memory, however slowly the client reads.
//!
//! A separate thread writes, so that the session never waits for a pipe. Deltas of an answer that are still queued are
//! merged with the next one, and dropped once too many are queued: the end of the message contains all of it. Deltas in a
//! burst wait a few milliseconds for each other, because a write and a thread switch for each would cost more. All other
//! frames are kept: first in memory, then in an unnamed file. A client that lets even that fill up is told how much it
//! missed.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use omp_types::StreamEvent;
use omp_wire::{FrameErrorFrame, MessageUpdateFrame};
use serde::Serialize;
use tokio::sync::watch;

use super::limit::Encoder;
use super::spill::Spill;

/// Caps the bytes queued in memory before frames go to the file.
const MAX_MEMORY: usize = 4 << 20;
/// Caps the bytes of queued deltas; later ones are dropped.
const MAX_PIECES: usize = 1 << 20;
/// A delta of this size is not merged with more.
const MAX_PIECE: usize = 64 << 10;
/// Deltas are written at most this often; other frames at once.
const PACE: Duration = Duration::from_millis(4);
/// How many items back the queue searches for an older state of the same call.
const LOOK_BACK: usize = 64;

/// A handle to the queue.
#[derive(Clone)]
pub struct Output {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Notified when there is something to write.
    filled: Condvar,
    progress: watch::Sender<Written>,
}

/// The progress of the writer.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Written {
    batches: u64,
    idle: bool,
    closed: bool,
}

struct Queue {
    items: VecDeque<Item>,
    /// Bytes in `items`, and how many of them are deltas.
    held: usize,
    pieces: usize,
    /// Deltas are dropped until another frame arrives.
    gap: bool,
    spill: Spill,
    /// The number of dropped frames.
    lost: u64,
    encoder: Encoder,
    writer: Writer,
    finished: bool,
    closed: bool,
}

/// What the writer thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Works,
    WaitsForAnything,
    /// Waits for deltas to accumulate.
    WaitsForMoreThanPieces,
}

enum Item {
    /// One or more complete lines.
    Lines(Vec<u8>),
    /// A text, thinking or argument delta, not yet encoded so that it can be merged.
    Piece(StreamEvent),
    /// Partial output of a call, replaced by newer output of the same call.
    Partial { call_id: String, line: Vec<u8> },
}

impl Output {
    /// Starts the writer thread. It ends after [`Output::flush`], or when the pipe is closed.
    pub fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let queue = Queue {
            items: VecDeque::new(),
            held: 0,
            pieces: 0,
            gap: false,
            spill: Spill::default(),
            lost: 0,
            encoder: Encoder::default(),
            writer: Writer::Works,
            finished: false,
            closed: false,
        };
        let progress = watch::Sender::new(Written::default());
        let shared = Arc::new(Shared { queue: Mutex::new(queue), filled: Condvar::new(), progress });
        let writer = shared.clone();
        std::thread::Builder::new().name("rpc-output".to_owned()).spawn(move || writer.write_all(out))?;
        Ok(Self { shared })
    }

    /// Queues a frame that must not be lost. Returns `false` if it had to be shortened.
    pub fn frame(&self, frame: &impl Serialize) -> bool {
        // Frames consist of strings, numbers and JSON values, so encoding cannot fail.
        let Ok(json) = serde_json::to_vec(frame) else { return false };
        let mut queue = self.shared.lock();
        let whole = queue.encoder.keeps(&json);
        let lines = queue.encoder.lines(json);
        queue.push_lines(lines);
        self.shared.wake(&queue);
        whole
    }

    /// Queues a frame for which there is an alternative. Returns `false` if it is too long for a line and was not sent.
    pub fn frame_if_short(&self, frame: &impl Serialize) -> bool {
        let Ok(json) = serde_json::to_vec(frame) else { return false };
        if !Encoder::fits(&json) {
            return false;
        }
        let mut queue = self.shared.lock();
        let lines = queue.encoder.lines(json);
        queue.push_lines(lines);
        self.shared.wake(&queue);
        true
    }

    /// Queues a delta of an answer.
    pub fn piece(&self, event: StreamEvent) {
        let mut queue = self.shared.lock();
        queue.push_piece(event);
        if queue.writer == Writer::WaitsForAnything {
            self.shared.filled.notify_one();
        }
    }

    /// Queues partial output of a running call.
    pub fn partial(&self, call_id: &str, frame: &impl Serialize) {
        let Ok(json) = serde_json::to_vec(frame) else { return };
        let mut queue = self.shared.lock();
        let line = queue.encoder.lines(json);
        queue.push_partial(call_id, line);
        self.shared.wake(&queue);
    }

    /// Sends frames that are too long for a line in chunks from now on.
    pub fn use_chunks(&self) {
        self.shared.lock().encoder.use_chunks();
    }

    /// Resolves when the pipe is closed.
    pub async fn closed(&self) {
        // The sender lives in `self`, so the channel cannot close.
        let _ = self.shared.progress.subscribe().wait_for(|written| written.closed).await;
    }

    /// Waits until everything is written, or until nothing was written for `patience`. Then the writer ends.
    pub async fn flush(&self, patience: Duration) {
        {
            let mut queue = self.shared.lock();
            queue.finished = true;
            self.shared.filled.notify_one();
        }
        let mut progress = self.shared.progress.subscribe();
        loop {
            let before = progress.borrow_and_update().batches;
            let moved = progress.wait_for(|now| now.idle || now.closed || now.batches != before);
            match tokio::time::timeout(patience, moved).await {
                Ok(Ok(now)) if !now.idle && !now.closed => {}
                _ => return,
            }
        }
    }

    /// Returns the bytes in memory and in the file.
    #[cfg(test)]
    pub fn waiting(&self) -> (usize, u64) {
        let queue = self.shared.lock();
        (queue.held, queue.spill.unread())
    }
}

impl Queue {
    fn push_lines(&mut self, lines: Vec<u8>) {
        self.gap = false;
        if self.closed {
            return;
        }
        let full = !self.items.is_empty() && self.held + lines.len() > MAX_MEMORY;
        if !full && self.spill.is_empty() && self.lost == 0 {
            self.held += lines.len();
            self.items.push_back(Item::Lines(lines));
        } else if self.lost > 0 || self.spill.push(&lines).is_err() {
            // After a lost frame all frames are dropped until the reader has caught up, so that there is only one gap.
            self.lost += 1;
        }
    }

    fn push_piece(&mut self, event: StreamEvent) {
        if self.closed || self.gap {
            return;
        }
        let size = piece_size(&event);
        if !self.spill.is_empty() || self.lost > 0 || self.pieces + size > MAX_PIECES {
            self.gap = true;
            return;
        }
        self.held += size;
        self.pieces += size;
        if let Some(Item::Piece(last)) = self.items.back_mut()
            && join(last, &event)
        {
            return;
        }
        self.items.push_back(Item::Piece(event));
    }

    fn push_partial(&mut self, id: &str, new: Vec<u8>) {
        let waiting = self.items.iter_mut().rev().take(LOOK_BACK).find_map(|item| match item {
            Item::Partial { call_id, line } if call_id == id => Some(line),
            _ => None,
        });
        if let Some(line) = waiting {
            self.held = self.held - line.len() + new.len();
            *line = new;
            return;
        }
        let full = self.held + new.len() > MAX_MEMORY;
        if self.closed || full || !self.spill.is_empty() || self.lost > 0 {
            return;
        }
        self.held += new.len();
        self.items.push_back(Item::Partial { call_id: id.to_owned(), line: new });
    }

    fn holds_only_pieces(&self) -> bool {
        !self.items.is_empty() && self.items.iter().all(|item| matches!(item, Item::Piece(_)))
    }

    /// Takes the next lines to write; none if the queue is empty.
    fn take(&mut self, into: &mut Vec<u8>) {
        into.clear();
        if self.items.is_empty() {
            self.take_spilled(into);
            return;
        }
        for item in self.items.drain(..) {
            match item {
                Item::Lines(lines) | Item::Partial { line: lines, .. } => into.extend_from_slice(&lines),
                Item::Piece(event) => {
                    line(into, &MessageUpdateFrame { assistant_message_event: Cow::Borrowed(&event) })
                }
            }
        }
        (self.held, self.pieces) = (0, 0);
        // Releases the memory of a burst.
        self.items.shrink_to(LOOK_BACK);
    }

    fn take_spilled(&mut self, into: &mut Vec<u8>) {
        if let Err(error) = self.spill.read(into) {
            self.spill = Spill::default();
            self.lost += 1;
            line(into, &FrameErrorFrame { error: format!("frames were lost: {error}").into() });
        }
        if self.spill.is_empty() && self.lost > 0 {
            let count = std::mem::take(&mut self.lost);
            let error = format!("{count} frames were dropped: the reader fell too far behind");
            line(into, &FrameErrorFrame { error: error.into() });
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, queue: &Queue) {
        if queue.writer != Writer::Works {
            self.filled.notify_one();
        }
    }

    fn write_all(&self, mut out: impl Write) {
        let mut batch = Vec::new();
        let mut paced = Instant::now();
        while self.next(&mut batch, &mut paced) {
            if out.write_all(&batch).and_then(|()| out.flush()).is_err() {
                break;
            }
            self.progress.send_modify(|written| written.batches += 1);
            if batch.capacity() > MAX_MEMORY {
                batch = Vec::new();
            }
        }
        let mut queue = self.lock();
        queue.closed = true;
        queue.items = VecDeque::new();
        queue.spill = Spill::default();
        drop(queue);
        self.progress.send_modify(|written| written.closed = true);
    }

    /// Waits for the next batch; returns `false` at the end. Deltas alone are not taken before `paced`.
    fn next(&self, batch: &mut Vec<u8>, paced: &mut Instant) -> bool {
        let mut queue = self.lock();
        loop {
            let now = Instant::now();
            if queue.holds_only_pieces() {
                if now < *paced && !queue.finished {
                    queue.writer = Writer::WaitsForMoreThanPieces;
                    queue = self.filled.wait_timeout(queue, *paced - now).unwrap_or_else(PoisonError::into_inner).0;
                    queue.writer = Writer::Works;
                    continue;
                }
                *paced = now + PACE;
            }
            queue.take(batch);
            if !batch.is_empty() {
                return true;
            }
            if queue.finished {
                self.progress.send_modify(|written| written.idle = true);
                return false;
            }
            queue.writer = Writer::WaitsForAnything;
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.writer = Writer::Works;
        }
    }
}

fn line(into: &mut Vec<u8>, frame: &impl Serialize) {
    let start = into.len();
    match serde_json::to_writer(&mut *into, frame) {
        Ok(()) => into.push(b'\n'),
        Err(_) => into.truncate(start),
    }
}

fn piece_size(event: &StreamEvent) -> usize {
    delta_of(event).map_or(0, |(_, delta)| delta.len()) + size_of::<Item>()
}

/// Appends a delta to the previous one if both belong to the same block.
fn join(last: &mut StreamEvent, next: &StreamEvent) -> bool {
    let Some((index, more)) = delta_of(next) else { return false };
    let (StreamEvent::TextDelta { content_index, delta }
    | StreamEvent::ThinkingDelta { content_index, delta }
    | StreamEvent::ToolCallDelta { content_index, delta }) = last
    else {
        return false;
    };
    // A block has one kind, so the same index means the same kind.
    if *content_index != index || delta.len() + more.len() > MAX_PIECE {
        return false;
    }
    delta.push_str(more);
    true
}

fn delta_of(event: &StreamEvent) -> Option<(usize, &str)> {
    match event {
        StreamEvent::TextDelta { content_index, delta }
        | StreamEvent::ThinkingDelta { content_index, delta }
        | StreamEvent::ToolCallDelta { content_index, delta } => Some((*content_index, delta)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
