//! Accepts any amount of output and keeps a bounded part: cleaned, with head and tail in memory and the full text in a file.
//!
//! Everything is held until the limit is exceeded. Then the head is fixed, the rest passes through a bounded window that
//! becomes the tail, and the full text goes to an artifact. Memory use is the same for a kilobyte and a gigabyte.

mod clean;
mod scan;

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use omp_stdx::format;
use omp_types::Stripped;
use serde::{Deserialize, Serialize};

use crate::artifacts::{ArtifactFile, Artifacts};
use clean::Cleaner;

/// The longest text that is shown.
pub const MAX_BYTES: usize = 50 * 1024;
/// Limits how much of an output is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkLimits {
    /// Output longer than this is shown by its head and tail (`tools.artifactSpillThreshold`).
    pub spill_bytes: usize,
    /// `tools.artifactHeadBytes`
    pub head_bytes: usize,
    /// `tools.artifactTailBytes`
    pub tail_bytes: usize,
    /// `tools.artifactTailLines`
    pub tail_lines: usize,
    /// Lines longer than this are truncated when shown (`tools.outputMaxColumns`).
    pub columns: usize,
    /// Output up to this size is also kept whole, for callers that rewrite it.
    pub capture_bytes: usize,
}

impl SinkLimits {
    /// Bytes kept of the newest output: more than is shown, because long lines are truncated.
    fn window(self) -> usize {
        4 * self.tail_bytes.max(self.columns).min(MAX_WINDOW)
    }
}

/// Caps the window at four times this size, whatever the settings say.
const MAX_WINDOW: usize = 1024 * 1024;
/// Caps the size of an artifact, so that a command with endless output cannot fill the disk.
const MAX_ARTIFACT_BYTES: u64 = 1024 * 1024 * 1024;

/// Collects the output of one command.
pub struct OutputSink {
    artifacts: Arc<dyn Artifacts>,
    limits: SinkLimits,
    tool: &'static str,
    cleaner: Cleaner,
    /// All output until it overflows, then the newest part.
    recent: String,
    /// Set when the output overflows.
    head: Option<String>,
    /// True once text between `head` and `recent` was dropped.
    window_cut: bool,
    spill: OutputSpill,
    total_bytes: u64,
    total_breaks: u64,
    /// All output as long as it fits.
    captured: Option<String>,
}

/// The output in the form that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSummary {
    pub text: String,
    pub truncation: Option<Truncation>,
    /// The whole output, if it was requested and not too large.
    pub captured: Option<String>,
    /// Escapes and control characters that were removed.
    pub stripped: Stripped,
}

/// Describes the omitted part, in the format of session files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// Which part was omitted.
    pub direction: String,
    /// `bytes` or `columns`.
    pub truncated_by: String,
    pub total_lines: u64,
    pub total_bytes: u64,
    pub output_lines: u64,
    pub output_bytes: u64,
    /// Lines shown before the omitted part, counted from 1; absent if only long lines were truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_range: Option<LineRange>,
    /// Lines shown after the omitted part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_range: Option<LineRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elided_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elided_lines: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

/// A line range; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRange {
    pub start: u64,
    pub end: u64,
}

enum OutputSpill {
    NotNeeded,
    Writing { artifact: ArtifactFile, written: u64 },
    Failed { reason: String },
}

impl OutputSink {
    pub fn new(artifacts: Arc<dyn Artifacts>, tool: &'static str) -> Self {
        Self::with_limits(artifacts, tool, SinkLimits::default())
    }

    pub fn with_limits(artifacts: Arc<dyn Artifacts>, tool: &'static str, limits: SinkLimits) -> Self {
        Self {
            artifacts,
            limits,
            tool,
            cleaner: Cleaner::default(),
            recent: String::new(),
            head: None,
            window_cut: false,
            spill: OutputSpill::NotNeeded,
            total_bytes: 0,
            total_breaks: 0,
            captured: (limits.capture_bytes > 0).then(String::new),
        }
    }

    /// Adds the next bytes, which may end anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        let before = self.recent.len();
        self.cleaner.feed(bytes, &mut self.recent);
        self.take_in(before);
    }

    /// Returns the newest output, at most `limit` bytes.
    pub fn tail(&self, limit: usize) -> &str {
        let start = self.recent.len().saturating_sub(limit);
        &self.recent[self.recent.ceil_char_boundary(start)..]
    }

    /// Ends the output and returns the summary.
    pub fn finish(mut self) -> OutputSummary {
        let before = self.recent.len();
        self.cleaner.finish(&mut self.recent);
        self.take_in(before);
        let captured = self.captured.take();
        let stripped = std::mem::take(&mut self.cleaner.dropped);
        let summary = match self.head.take() {
            Some(head) => self.head_and_tail(head),
            None if self.recent.split('\n').all(|line| is_narrow(line, self.limits.columns)) => {
                OutputSummary { text: self.recent, truncation: None, captured: None, stripped: Stripped::default() }
            }
            None => self.narrowed(),
        };
        OutputSummary { captured, stripped, ..summary }
    }

    fn take_in(&mut self, before: usize) {
        let fresh = &self.recent[before..];
        self.total_bytes += fresh.len() as u64;
        self.total_breaks += scan::line_breaks(fresh.as_bytes());
        if self.total_bytes > self.limits.capture_bytes as u64 {
            self.captured = None;
        } else if let Some(captured) = &mut self.captured {
            captured.push_str(fresh);
        }
        if self.head.is_some() {
            self.spill.write(fresh);
            self.shrink_window();
        } else if self.recent.len() > self.limits.spill_bytes {
            self.overflow();
        }
    }

    fn overflow(&mut self) {
        self.spill = OutputSpill::start(&*self.artifacts, self.tool);
        self.spill.write(&self.recent);
        let (head, taken) = head_of(&self.recent, self.limits);
        self.head = Some(head);
        self.window_cut = !self.recent[..taken].ends_with('\n');
        self.recent.drain(..taken);
    }

    fn shrink_window(&mut self) {
        let window = self.limits.window();
        if self.recent.len() > 2 * window {
            let start = self.recent.ceil_char_boundary(self.recent.len() - window);
            self.recent.drain(..start);
            self.window_cut = true;
        }
    }

    /// Builds the summary if everything fits except for lines that are too long.
    fn narrowed(mut self) -> OutputSummary {
        self.spill = OutputSpill::start(&*self.artifacts, self.tool);
        self.spill.write(&self.recent);
        let text: String = self.recent.split_inclusive('\n').map(|line| narrow(line, self.limits.columns)).collect();
        let (note, artifact_id) = self.spill.end();
        let truncation = self.truncation("columns", &text, artifact_id);
        let separator = if text.ends_with('\n') { "" } else { "\n" };
        let text = format!("{text}{separator}[Long lines were cut. {note}]\n");
        OutputSummary { text, truncation: Some(truncation), captured: None, stripped: Stripped::default() }
    }

    fn head_and_tail(mut self, mut head: String) -> OutputSummary {
        let tail = tail_of(&self.recent, self.window_cut, self.limits);
        if !head.ends_with('\n') {
            head.push('\n');
        }
        let (note, artifact_id) = self.spill.end();
        let mut truncation = self.truncation("bytes", &[head.as_str(), &tail].concat(), artifact_id);
        let lines = truncation.total_lines.saturating_sub(truncation.output_lines);
        let bytes = self.total_bytes.saturating_sub(truncation.output_bytes);
        let (first, last) = (head.lines().count() as u64, tail.lines().count() as u64);
        truncation.head_range = (first > 0).then_some(LineRange { start: 1, end: first });
        let total = truncation.total_lines;
        truncation.tail_range = (last > 0).then_some(LineRange { start: (total + 1).saturating_sub(last), end: total });
        (truncation.elided_bytes, truncation.elided_lines) = (Some(bytes), Some(lines));
        let (lines, bytes) = (format::grouped(lines), format::bytes(bytes));
        let text = format!("{head}[… {lines} lines ({bytes}) left out. {note}]\n{tail}");
        OutputSummary { text, truncation: Some(truncation), captured: None, stripped: Stripped::default() }
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
            head_range: None,
            tail_range: None,
            elided_bytes: None,
            elided_lines: None,
            artifact_id,
        }
    }
}

impl OutputSpill {
    fn start(artifacts: &dyn Artifacts, tool: &str) -> Self {
        match artifacts.create(tool) {
            Ok(artifact) => OutputSpill::Writing { artifact, written: 0 },
            Err(error) => OutputSpill::Failed { reason: error.to_string() },
        }
    }

    fn write(&mut self, text: &str) {
        let OutputSpill::Writing { artifact, written } = self else { return };
        let room = usize::try_from(MAX_ARTIFACT_BYTES - *written).unwrap_or(usize::MAX);
        let text = &text[..text.floor_char_boundary(room)];
        match artifact.file.write_all(text.as_bytes()) {
            Ok(()) => *written += text.len() as u64,
            Err(error) => *self = OutputSpill::Failed { reason: error.to_string() },
        }
    }

    /// Returns a note about the full output, and its artifact id.
    fn end(&mut self) -> (String, Option<String>) {
        if let OutputSpill::Writing { artifact, .. } = self
            && let Err(error) = artifact.file.flush()
        {
            *self = OutputSpill::Failed { reason: error.to_string() };
        }
        match self {
            OutputSpill::NotNeeded => (String::new(), None),
            OutputSpill::Failed { reason } => (format!("The full output could not be saved: {reason}"), None),
            OutputSpill::Writing { artifact, written } => {
                let cut = if *written + 4 > MAX_ARTIFACT_BYTES { "The first gigabyte" } else { "Full" };
                (format!("{cut}: artifact://{}", artifact.id), Some(artifact.id.clone()))
            }
        }
    }
}

/// Returns whole lines from the start and the number of input bytes they cover. Splits the first line if it does not end.
fn head_of(text: &str, limits: SinkLimits) -> (String, usize) {
    let (mut head, mut taken) = (String::new(), 0);
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let shown = narrow(line, limits.columns);
        if head.len() + shown.len() > limits.head_bytes {
            break;
        }
        head.push_str(&shown);
        taken += line.len();
    }
    if taken == 0 {
        taken = text.floor_char_boundary(limits.columns.min(limits.head_bytes));
        head.push_str(&text[..taken]);
    }
    (head, taken)
}

/// Returns whole lines at the end. `cut` means that the text begins in the middle of a line.
fn tail_of(text: &str, cut: bool, limits: SinkLimits) -> String {
    let columns = limits.columns.min(limits.tail_bytes);
    let whole = match text.find('\n').filter(|at| cut && at + 1 < text.len()) {
        Some(end_of_rest) => &text[end_of_rest + 1..],
        None if cut && text.len() > columns => {
            let start = text.ceil_char_boundary(text.len() - columns);
            return format!("…{}", &text[start..]);
        }
        None => text,
    };
    let (mut lines, mut size) = (Vec::new(), 0);
    for line in whole.split_inclusive('\n').rev().take(limits.tail_lines) {
        let shown = narrow(line, limits.columns);
        size += shown.len();
        if size > limits.tail_bytes {
            break;
        }
        lines.push(shown);
    }
    lines.into_iter().rev().collect()
}

fn is_narrow(line: &str, columns: usize) -> bool {
    line.len() <= columns || line.chars().count() <= columns
}

/// Truncates a line that is too long.
fn narrow(line: &str, columns: usize) -> Cow<'_, str> {
    let body = line.strip_suffix('\n').unwrap_or(line);
    if is_narrow(body, columns) {
        return Cow::Borrowed(line);
    }
    let end = body.char_indices().nth(columns).map_or(body.len(), |(at, _)| at);
    let rest = format::bytes((body.len() - end) as u64);
    Cow::Owned(format!("{}…[+{rest}]{}", &body[..end], &line[body.len()..]))
}

#[cfg(test)]
mod tests;
