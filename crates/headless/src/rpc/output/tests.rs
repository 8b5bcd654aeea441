//! The queue with fast, slow, stopped and disconnected readers.

use serde_json::{Value, json};

use super::*;
use crate::rpc::spill::MAX_SPILL;

/// A reader that can be stopped and records what it has read.
#[derive(Clone, Default)]
struct Reader {
    inner: Arc<(Mutex<Reading>, Condvar)>,
}

#[derive(Default)]
struct Reading {
    stopped: bool,
    /// The writer is blocked by this reader.
    blocked: bool,
    gone: bool,
    bytes: Vec<u8>,
}

impl Reader {
    fn change(&self, change: impl FnOnce(&mut Reading)) {
        change(&mut self.inner.0.lock().unwrap());
        self.inner.1.notify_all();
    }

    fn wait_blocked(&self) {
        let reading = self.inner.0.lock().unwrap();
        drop(self.inner.1.wait_while(reading, |reading| !reading.blocked).unwrap());
    }

    fn frames(&self) -> Vec<Value> {
        let reading = self.inner.0.lock().unwrap();
        let lines = reading.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut reading = self.inner.0.lock().unwrap();
        reading.blocked = reading.stopped;
        self.inner.1.notify_all();
        reading = self.inner.1.wait_while(reading, |reading| reading.stopped).unwrap();
        reading.blocked = false;
        if reading.gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        reading.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text(index: usize, delta: &str) -> StreamEvent {
    StreamEvent::TextDelta { content_index: index, delta: delta.to_owned() }
}

/// Returns a queue whose writer is blocked in the first frame by a stopped reader.
fn stopped() -> (Output, Reader) {
    let reader = Reader::default();
    reader.change(|reading| reading.stopped = true);
    let output = Output::start(reader.clone()).unwrap();
    output.frame(&json!({"type": "first"}));
    reader.wait_blocked();
    (output, reader)
}

async fn read_on(output: &Output, reader: &Reader) -> Vec<Value> {
    reader.change(|reading| reading.stopped = false);
    output.flush(Duration::from_secs(30)).await;
    reader.frames()
}

fn kinds(frames: &[Value]) -> Vec<String> {
    frames.iter().map(|frame| frame["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pieces_that_wait_are_joined_with_those_of_the_same_block() {
    let (output, reader) = stopped();
    for event in [text(0, "a"), text(0, "b"), text(1, "c")] {
        output.piece(event);
    }
    output.frame(&json!({"type": "between"}));
    output.piece(text(1, "d"));
    let frames = read_on(&output, &reader).await;
    assert_eq!(kinds(&frames), ["first", "message_update", "message_update", "between", "message_update"]);
    let deltas: Vec<_> = frames.iter().filter_map(|frame| frame["assistantMessageEvent"]["delta"].as_str()).collect();
    assert_eq!(deltas, ["ab", "c", "d"]);
}

#[tokio::test]
async fn only_the_newest_partial_output_of_a_call_waits() {
    let (output, reader) = stopped();
    for (call, step) in [("a", 1), ("b", 1), ("a", 2), ("a", 3)] {
        output.partial(call, &json!({"type": call, "step": step}));
    }
    let frames = read_on(&output, &reader).await;
    assert_eq!(frames[1..], [json!({"type": "a", "step": 3}), json!({"type": "b", "step": 1})]);
}

#[tokio::test]
async fn a_reader_that_stops_costs_bounded_memory_and_loses_only_pieces() {
    let (output, reader) = stopped();
    let long = "x".repeat(10_000);
    for number in 0..2000 {
        output.frame(&json!({"type": "message_start", "number": number}));
        for _ in 0..50 {
            output.piece(text(0, "word "));
        }
        output.partial("call", &json!({"type": "partial", "text": long}));
        output.frame(&json!({"type": "message_end", "number": number, "text": long}));
    }
    let (memory, file) = output.waiting();
    assert!(memory <= MAX_MEMORY, "{memory}");
    assert!(file > 10 << 20, "{file}");
    let frames = read_on(&output, &reader).await;
    let numbers = |kind: &str| -> Vec<u64> {
        let found = frames.iter().filter(|frame| frame["type"] == kind);
        found.map(|frame| frame["number"].as_u64().unwrap()).collect()
    };
    let all: Vec<u64> = (0..2000).collect();
    assert_eq!(numbers("message_start"), all);
    assert_eq!(numbers("message_end"), all);
}

#[tokio::test]
async fn what_comes_after_the_flood_is_in_memory_again() {
    let (output, reader) = stopped();
    let long = "x".repeat(100_000);
    for _ in 0..100 {
        output.frame(&json!({"type": "flood", "text": long}));
    }
    reader.change(|reading| reading.stopped = false);
    while output.waiting() != (0, 0) {
        tokio::task::yield_now().await;
    }
    output.piece(text(0, "seen"));
    output.frame(&json!({"type": "last"}));
    let frames = read_on(&output, &reader).await;
    assert_eq!(kinds(&frames)[100..], ["flood", "message_update", "last"]);
}

#[tokio::test]
async fn a_reader_that_never_comes_back_is_told_what_it_missed() {
    let (output, reader) = stopped();
    let long = "x".repeat(1_000_000);
    for number in 0..60 {
        output.frame(&json!({"type": "event", "number": number, "text": long}));
    }
    let (memory, file) = output.waiting();
    assert!(memory <= MAX_MEMORY && file <= MAX_SPILL, "{memory} {file}");
    let frames = read_on(&output, &reader).await;
    let (last, kept) = frames.split_last().unwrap();
    assert_eq!(last["type"], "rpc_frame_error");
    let lost = 60 - (kept.len() - 1);
    assert!(lost > 0 && last["error"].as_str().unwrap().starts_with(&format!("{lost} frames were dropped")), "{last}");
    assert!(kept[1..].iter().enumerate().all(|(at, frame)| frame["number"] == at), "a gap before the end");
}

#[tokio::test]
async fn a_reader_that_is_gone_ends_it() {
    let (output, reader) = stopped();
    reader.change(|reading| (reading.gone, reading.stopped) = (true, false));
    output.closed().await;
    output.frame(&json!({"type": "more"}));
    assert_eq!(output.waiting().1, 0);
    output.flush(Duration::from_secs(30)).await;
}

#[tokio::test]
async fn a_flush_does_not_wait_for_a_reader_that_does_not_read() {
    let (output, reader) = stopped();
    output.frame(&json!({"type": "unread"}));
    output.flush(Duration::from_millis(20)).await;
    reader.change(|reading| reading.stopped = false);
}
