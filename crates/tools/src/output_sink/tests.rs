//! Tests the shown part of small, large, wide and dirty outputs.

use std::io::{Read, Seek};
use std::sync::Mutex;

use super::*;
use crate::artifacts::NoArtifacts;

/// Keeps artifacts in unnamed files.
#[derive(Default)]
struct Kept(Mutex<Vec<std::fs::File>>);

impl Artifacts for Kept {
    fn create(&self, tool: &str) -> std::io::Result<ArtifactFile> {
        let file = tempfile::tempfile()?;
        let mut kept = self.0.lock().unwrap();
        kept.push(file.try_clone()?);
        Ok(ArtifactFile { id: format!("{tool}{}", kept.len() - 1), file: Box::new(file) })
    }
}

impl Kept {
    fn texts(&self) -> Vec<String> {
        let read = |file: &mut std::fs::File| {
            let mut text = String::new();
            file.rewind().unwrap();
            file.read_to_string(&mut text).unwrap();
            text
        };
        self.0.lock().unwrap().iter_mut().map(read).collect()
    }
}

fn sink_of<'a>(artifacts: &Arc<Kept>, chunks: impl IntoIterator<Item = &'a [u8]>) -> OutputSummary {
    let mut sink = OutputSink::new(artifacts.clone(), "bash");
    chunks.into_iter().for_each(|chunk| sink.push(chunk));
    sink.finish()
}

#[track_caller]
fn cleans(bytes: &[u8], expect: &str) {
    let kept = Arc::new(Kept::default());
    for size in 1..=bytes.len().max(1) {
        let summary = sink_of(&kept, bytes.chunks(size));
        assert_eq!((summary.text.as_str(), summary.truncation), (expect, None), "in pieces of {size}");
    }
    assert!(kept.texts().is_empty());
}

#[test]
fn output_is_plain_text_however_it_is_cut() {
    cleans(b"", "");
    cleans(b"plain\n\ttext", "plain\n\ttext");
    cleans(b"\x1b[1;31mred\x1b[0m\x1b(B\x1b=.", "red.");
    cleans(b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab");
    cleans(b"\x1b]never ends\nnext", "\nnext");
    cleans(b"a\r\nb\rc\r\r\nd\r", "a\nb\nc\nd\n");
    cleans(b"a\x00b\x08\x7fc", "abc");
    cleans("é漢🦀".as_bytes(), "é漢🦀");
    cleans("x\u{9b}31my\u{85}z".as_bytes(), "xyz");
    cleans(b"bad \xff\xfe \xe9t\xc3", "bad \u{fffd}\u{fffd} \u{fffd}t\u{fffd}");
    cleans(b"\xf0\x9f\xa6 half", "\u{fffd} half");
}

#[test]
fn short_output_is_whole() {
    let text = "line\n".repeat(10_000);
    let kept = Arc::new(Kept::default());
    let summary = sink_of(&kept, text.as_bytes()[..50_000].chunks(999));
    assert_eq!((summary.text.len(), summary.truncation), (50_000, None));
    assert!(kept.texts().is_empty());
}

#[test]
fn long_output_keeps_both_ends_and_spills() {
    let text: String = (1..=100_000).map(|number| format!("line {number}\n")).collect();
    let kept = Arc::new(Kept::default());
    let summary = sink_of(&kept, text.as_bytes().chunks(7001));
    let truncation = summary.truncation.unwrap();
    assert!(summary.text.starts_with("line 1\nline 2\n") && summary.text.ends_with("line 99999\nline 100000\n"));
    assert!(summary.text.len() < MAX_BYTES + 200, "{}", summary.text.len());
    let gap = summary.text.lines().find(|line| line.starts_with("[…")).unwrap();
    let left_out = 100_000 - truncation.output_lines;
    assert!(gap.contains(&format::grouped(left_out)) && gap.ends_with("Full: artifact://bash0]"), "{gap}");
    let is_whole = |line: &str| line.strip_prefix("line ").is_some_and(|number| number.parse::<u32>().is_ok());
    assert!(summary.text.lines().filter(|line| !line.starts_with("[…")).all(is_whole));
    assert_eq!((truncation.total_lines, truncation.total_bytes), (100_000, text.len() as u64));
    assert_eq!(truncation.artifact_id.as_deref(), Some("bash0"));
    let (head, tail) = (truncation.head_range.unwrap(), truncation.tail_range.unwrap());
    assert_eq!((head.start, tail.end, truncation.elided_lines), (1, 100_000, Some(left_out)));
    assert_eq!(head.end + left_out + 1, tail.start);
    for at in [head.end, tail.start] {
        assert!(summary.text.contains(&format!("\nline {at}\n")), "{at}");
    }
    for at in [head.end + 1, tail.start - 1] {
        assert!(!summary.text.contains(&format!("\nline {at}\n")), "{at}");
    }
    assert_eq!(kept.texts(), [text]);
}

#[test]
fn wide_lines_are_cut_and_kept_whole_elsewhere() {
    let text = format!("short\n{}\nend", "x".repeat(10_000));
    let kept = Arc::new(Kept::default());
    let summary = sink_of(&kept, [text.as_bytes()]);
    let lines: Vec<_> = summary.text.lines().map(|line| &line[line.len().saturating_sub(12)..]).collect();
    assert_eq!(lines, ["short", "xxx…[+9KB]", "end", "fact://bash0]"[1..].as_ref()]);
    assert_eq!(summary.truncation.unwrap().truncated_by, "columns");
    assert_eq!(kept.texts(), [text]);
}

#[test]
fn one_endless_line_is_bounded() {
    let chunk = vec![b'x'; 64 * 1024];
    let kept = Arc::new(Kept::default());
    let mut sink = OutputSink::new(kept.clone(), "bash");
    for _ in 0..100 {
        sink.push(&chunk);
        assert!(sink.recent.len() <= 2 * SinkLimits::default().window() + chunk.len());
        assert_eq!(sink.tail(10).len(), 10);
    }
    let summary = sink.finish();
    assert!(summary.text.len() < 3 * SinkLimits::default().columns, "{}", summary.text.len());
    assert_eq!(summary.truncation.unwrap().total_bytes, 100 * 64 * 1024);
    assert_eq!(kept.texts()[0].len(), 100 * 64 * 1024);
}

#[test]
fn without_artifacts_the_reason_is_told() {
    let mut sink = OutputSink::new(Arc::new(NoArtifacts), "bash");
    sink.push("many\n".repeat(20_000).as_bytes());
    let summary = sink.finish();
    assert!(summary.text.contains("could not be saved: this session stores no files"), "{}", summary.text);
    assert_eq!(summary.truncation.unwrap().artifact_id, None);
}

#[test]
fn limits_are_what_they_are_set_to() {
    let limits =
        SinkLimits { spill_bytes: 100, head_bytes: 20, tail_bytes: 60, tail_lines: 2, columns: 5, capture_bytes: 1000 };
    let mut sink = OutputSink::with_limits(Arc::new(Kept::default()), "bash", limits);
    let text: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    sink.push(text.as_bytes());
    let summary = sink.finish();
    assert_eq!(summary.captured.as_deref(), Some(text.as_str()));
    let shown: Vec<&str> = summary.text.lines().collect();
    assert_eq!((shown[0], shown.len()), ("line …[+1B]", 4), "{shown:?}");
    assert!(shown[3].starts_with("line "), "{shown:?}");

    let mut sink = OutputSink::with_limits(Arc::new(Kept::default()), "bash", limits);
    (0..10).for_each(|_| sink.push(text.as_bytes()));
    assert_eq!(sink.finish().captured, None);
}
