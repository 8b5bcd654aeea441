//! Opens a session of 100,000 entries (100 MB) and reads its context; prints time and peak memory.
//!
//! `cargo bench -p omp-store`. Shapes and sizes are those of the side-by-side benchmark: a compaction every 1,000
//! entries and one 400 before the end.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use omp_store::{BlobStore, LoadedSession};

const ENTRIES: usize = 100_000;
const COMPACT_EVERY: usize = 1_000;
const LAST_COMPACTION: usize = 400;
const ROUNDS: usize = 7;

fn main() {
    let temp = tempfile::tempdir().unwrap();
    measure(temp.path(), "100,000 entries", ENTRIES, true);
    measure(temp.path(), "10,000 entries, no compaction", ENTRIES / 10, false);
}

fn measure(folder: &Path, name: &str, entries: usize, compact: bool) {
    let path = folder.join("2026-01-01T00-00-00-000Z_bench.jsonl");
    let bytes = build(&path, entries, compact);
    let before = peak_memory_kb();
    let mut opens = Vec::new();
    let mut contexts = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut session = LoadedSession::open(&path, BlobStore::new(folder)).unwrap();
        opens.push(start.elapsed());
        let start = Instant::now();
        let context = session.context();
        contexts.push(start.elapsed());
        assert!(session.report().is_empty(), "{}", session.report());
        assert!(!context.messages.is_empty());
    }
    println!(
        "{name} ({} MB): open {:?} + context {:?} (median of {ROUNDS}); peak memory {} kB, before opening {} kB",
        bytes / 1_000_000,
        median(&mut opens),
        median(&mut contexts),
        peak_memory_kb(),
        before,
    );
}

fn build(path: &Path, entries: usize, compact: bool) -> u64 {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    writeln!(out, r#"{{"type":"session","version":3,"id":"bench","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}}"#)
        .unwrap();
    let filler = "line of a file that was read by the tool, with some words in it\\n".repeat(33);
    let mut parent = "null".to_owned();
    for number in 0..entries {
        let id = format!("{:08x}", 0x1000_0000 + number);
        let compaction = compact && number > 0 && (number % COMPACT_EVERY == 0 || number == entries - LAST_COMPACTION);
        let kind = if compaction { "compaction" } else { "message" };
        let mut line =
            format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","#);
        if compaction {
            let kept = 0x1000_0000 + number - 8;
            let summary = "Summary of the earlier work. ".repeat(30);
            let _ = write!(line, r#""summary":"{summary}","firstKeptEntryId":"{kept:08x}","tokensBefore":90000}}"#);
        } else {
            let _ = write!(line, r#""message":{}}}"#, message(number, &filler));
        }
        writeln!(out, "{line}").unwrap();
        parent = format!("\"{id}\"");
    }
    out.flush().unwrap();
    std::fs::metadata(path).unwrap().len()
}

fn message(number: usize, filler: &str) -> String {
    let answer = |stop: &str, content: String| {
        format!(
            r#"{{"role":"assistant","content":[{content}],"api":"anthropic-messages","provider":"mock","model":"mock-model","usage":{{"input":5000,"output":50,"cacheRead":0,"cacheWrite":0,"totalTokens":5050,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}},"stopReason":"{stop}","timestamp":1750000000000,"responseId":"msg_0","duration":10.5,"ttft":8.25}}"#
        )
    };
    let group = number / 4;
    match number % 4 {
        0 => format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"Question {group}: please look at file number {group} and tell me what it does."}}],"attribution":"user","timestamp":1750000000000}}"#
        ),
        1 => answer(
            "toolUse",
            format!(
                r#"{{"type":"text","text":"I will read the file."}},{{"type":"toolCall","id":"toolu_{group}","name":"read","arguments":{{"path":"src/file{group}.txt"}}}}"#
            ),
        ),
        2 => format!(
            r#"{{"role":"toolResult","toolCallId":"toolu_{group}","toolName":"read","isError":false,"content":[{{"type":"text","text":"{filler}"}}],"timestamp":1750000000000}}"#
        ),
        _ => answer(
            "stop",
            format!(
                r#"{{"type":"text","text":"File {group} holds **text** lines.\n\n- one\n- two\n\n{}"}}"#,
                "It does what it says. ".repeat(8)
            ),
        ),
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Returns 0 if the system does not report it.
fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
