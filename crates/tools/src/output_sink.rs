//! Takes in any amount of output and keeps what fits: cleaned, its head and its tail in memory, all of it in a file.
//!
//! Until the limit is passed everything is held; then the head is settled, the rest flows through a bounded window that
//! becomes the tail, and the full text goes to an artifact. Memory stays the same for a kilobyte and a gigabyte.

mod clean;

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use omp_stdx::format;
use serde::{Deserialize, Serialize};

use crate::artifacts::{ArtifactFile, Artifacts};
use clean::Cleaner;

/// Longest text that is shown.
pub const MAX_BYTES: usize = 50 * 1024;
/// Its part before the gap. The end of an output says more than its beginning, so the tail gets the larger part.
const HEAD_BYTES: usize = 20 * 1024;
const TAIL_BYTES: usize = MAX_BYTES - HEAD_BYTES;
/// Longer lines are cut where they are shown.
const MAX_LINE_BYTES: usize = 4096;
/// What is kept of the newest output; more than is shown, because long lines shrink.
const WINDOW_BYTES: usize = 4 * TAIL_BYTES;
/// An artifact is closed at this size: a command that prints without end must not fill the disk.
const MAX_ARTIFACT_BYTES: u64 = 1024 * 1024 * 1024;

/// Collects the output of one command.
pub struct OutputSink {
    artifacts: Arc<dyn Artifacts>,
    tool: &'static str,
    cleaner: Cleaner,
    /// All of the output until it overflows, then the newest of it.
    recent: String,
    /// Settled when the output overflows.
    head: Option<String>,
    /// True once something between head and `recent` has been let go.
    window_cut: bool,
    spill: Spill,
    total_bytes: u64,
    total_breaks: u64,
}

/// The output as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub text: String,
    pub truncation: Option<Truncation>,
}

/// What was left out, as session files have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// Which part was left out.
    pub direction: String,
    /// `bytes` or `columns`.
    pub truncated_by: String,
    pub total_lines: u64,
    pub total_bytes: u64,
    pub output_lines: u64,
    pub output_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

enum Spill {
    NotNeeded,
    Writing { artifact: ArtifactFile, written: u64 },
    Failed { reason: String },
}

impl OutputSink {
    pub fn new(artifacts: Arc<dyn Artifacts>, tool: &'static str) -> Self {
        Self {
            artifacts,
            tool,
            cleaner: Cleaner::default(),
            recent: String::new(),
            head: None,
            window_cut: false,
            spill: Spill::NotNeeded,
            total_bytes: 0,
            total_breaks: 0,
        }
    }

    /// Takes in the next bytes, which may end anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        let before = self.recent.len();
        self.cleaner.feed(bytes, &mut self.recent);
        self.take_in(before);
    }

    /// The newest output, at most `limit` bytes of it.
    pub fn tail(&self, limit: usize) -> &str {
        let start = self.recent.len().saturating_sub(limit);
        &self.recent[self.recent.ceil_char_boundary(start)..]
    }

    /// Ends the output.
    pub fn finish(mut self) -> Summary {
        let before = self.recent.len();
        self.cleaner.finish(&mut self.recent);
        self.take_in(before);
        match self.head.take() {
            Some(head) => self.head_and_tail(head),
            None if self.recent.split('\n').all(|line| line.len() <= MAX_LINE_BYTES) => {
                Summary { text: self.recent, truncation: None }
            }
            None => self.narrowed(),
        }
    }

    fn take_in(&mut self, before: usize) {
        let fresh = &self.recent[before..];
        self.total_bytes += fresh.len() as u64;
        self.total_breaks += line_breaks(fresh);
        if self.head.is_some() {
            self.spill.write(fresh);
            self.shrink_window();
        } else if self.recent.len() > MAX_BYTES {
            self.overflow();
        }
    }

    fn overflow(&mut self) {
        self.spill = Spill::start(&*self.artifacts, self.tool);
        self.spill.write(&self.recent);
        let (head, taken) = head_of(&self.recent);
        self.head = Some(head);
        self.window_cut = !self.recent[..taken].ends_with('\n');
        self.recent.drain(..taken);
    }

    fn shrink_window(&mut self) {
        if self.recent.len() > 2 * WINDOW_BYTES {
            let start = self.recent.ceil_char_boundary(self.recent.len() - WINDOW_BYTES);
            self.recent.drain(..start);
            self.window_cut = true;
        }
    }

    /// Everything fits but for lines that are too long.
    fn narrowed(mut self) -> Summary {
        self.spill = Spill::start(&*self.artifacts, self.tool);
        self.spill.write(&self.recent);
        let text: String = self.recent.split_inclusive('\n').map(narrow).collect();
        let (note, artifact_id) = self.spill.end();
        let truncation = self.truncation("columns", &text, artifact_id);
        let separator = if text.ends_with('\n') { "" } else { "\n" };
        Summary { text: format!("{text}{separator}[Long lines were cut. {note}]\n"), truncation: Some(truncation) }
    }

    fn head_and_tail(mut self, mut head: String) -> Summary {
        let tail = tail_of(&self.recent, self.window_cut);
        if !head.ends_with('\n') {
            head.push('\n');
        }
        let (note, artifact_id) = self.spill.end();
        let truncation = self.truncation("bytes", &[head.as_str(), &tail].concat(), artifact_id);
        let lines = format::grouped(truncation.total_lines.saturating_sub(truncation.output_lines));
        let bytes = format::bytes(self.total_bytes.saturating_sub(truncation.output_bytes));
        let text = format!("{head}[… {lines} lines ({bytes}) left out. {note}]\n{tail}");
        Summary { text, truncation: Some(truncation) }
    }

    fn truncation(&self, by: &str, shown: &str, artifact_id: Option<String>) -> Truncation {
        let unfinished_line = u64::from(self.total_bytes > 0 && !self.recent.ends_with('\n'));
        Truncation {
            direction: "middle".into(),
            truncated_by: by.into(),
            total_lines: self.total_breaks + unfinished_line,
            total_bytes: self.total_bytes,
            output_lines: shown.lines().count() as u64,
            output_bytes: shown.len() as u64,
            artifact_id,
        }
    }
}

impl Spill {
    fn start(artifacts: &dyn Artifacts, tool: &str) -> Self {
        match artifacts.create(tool) {
            Ok(artifact) => Spill::Writing { artifact, written: 0 },
            Err(error) => Spill::Failed { reason: error.to_string() },
        }
    }

    fn write(&mut self, text: &str) {
        let Spill::Writing { artifact, written } = self else { return };
        let room = usize::try_from(MAX_ARTIFACT_BYTES - *written).unwrap_or(usize::MAX);
        let text = &text[..text.floor_char_boundary(room)];
        match artifact.file.write_all(text.as_bytes()) {
            Ok(()) => *written += text.len() as u64,
            Err(error) => *self = Spill::Failed { reason: error.to_string() },
        }
    }

    /// What is said of the full output, and its id.
    fn end(&mut self) -> (String, Option<String>) {
        match self {
            Spill::NotNeeded => (String::new(), None),
            Spill::Failed { reason } => (format!("The full output could not be kept: {reason}"), None),
            Spill::Writing { artifact, written } => {
                let cut = if *written + 4 > MAX_ARTIFACT_BYTES { "The first gigabyte" } else { "Full" };
                (format!("{cut}: artifact://{}", artifact.id), Some(artifact.id.clone()))
            }
        }
    }
}

fn line_breaks(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// Whole lines from the start, and how much of the text they stand for. A first line that has not ended yet is split.
fn head_of(text: &str) -> (String, usize) {
    let (mut head, mut taken) = (String::new(), 0);
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let shown = narrow(line);
        if head.len() + shown.len() > HEAD_BYTES {
            break;
        }
        head.push_str(&shown);
        taken += line.len();
    }
    if taken == 0 {
        taken = text.floor_char_boundary(MAX_LINE_BYTES);
        head.push_str(&text[..taken]);
    }
    (head, taken)
}

/// Whole lines up to the end. `cut` says that the text begins in the middle of a line.
fn tail_of(text: &str, cut: bool) -> String {
    let whole = match text.find('\n').filter(|at| cut && at + 1 < text.len()) {
        Some(end_of_rest) => &text[end_of_rest + 1..],
        None if cut && text.len() > MAX_LINE_BYTES => {
            let start = text.ceil_char_boundary(text.len() - MAX_LINE_BYTES);
            return format!("…{}", &text[start..]);
        }
        None => text,
    };
    let (mut lines, mut size) = (Vec::new(), 0);
    for line in whole.split_inclusive('\n').rev() {
        let shown = narrow(line);
        size += shown.len();
        if size > TAIL_BYTES {
            break;
        }
        lines.push(shown);
    }
    lines.into_iter().rev().collect()
}

/// A line, cut if it is too long.
fn narrow(line: &str) -> Cow<'_, str> {
    let body = line.strip_suffix('\n').unwrap_or(line);
    if body.len() <= MAX_LINE_BYTES {
        return Cow::Borrowed(line);
    }
    let end = body.floor_char_boundary(MAX_LINE_BYTES);
    let rest = format::bytes((body.len() - end) as u64);
    Cow::Owned(format!("{}…[+{rest}]{}", &body[..end], &line[body.len()..]))
}

#[cfg(test)]
mod tests;
