//! Previews an edit while its arguments are still arriving. Files are read, never written.
//!
//! A preview is requested for every few letters and costs about as much as the arguments and files are long. Every request
//! therefore adds a fixed allowance, and a new preview is computed once the allowances cover its cost; until then the
//! previous preview is returned. The preview of complete arguments is always computed in full.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use omp_agent::ArrivingCall;
use omp_view::{Block, Diff, DiffKind, DiffLine, Status, View, ViewFile};
use omp_workspace::{FileEdit, TextFile};
use serde_json::Value;

use super::render::{self, diff_lines};
use crate::details::typed_file;
use crate::files::Files;

/// Limits how much of an edit is processed and shown.
struct Bounds {
    /// Bytes of arguments; longer arguments are shown by their title only.
    input: usize,
    /// Bytes of the named files; larger ones are shown by their title only.
    files: usize,
    /// Lines shown of a file's diff.
    lines: usize,
    /// Which end of a longer diff is shown.
    end: PreviewEnd,
}

enum PreviewEnd {
    First,
    Last,
}

/// Limits while arguments arrive; the newest lines are shown.
const ARRIVING: Bounds = Bounds { input: 256 * 1024, files: 2 * 1024 * 1024, lines: 200, end: PreviewEnd::Last };
/// Limits for an approval request, which shows as much as a person could read.
const ASKED: Bounds = Bounds { input: 4 * 1024 * 1024, files: 16 * 1024 * 1024, lines: 20_000, end: PreviewEnd::First };
/// Bytes that each request adds to the allowance.
const ALLOWANCE: usize = 64 * 1024;
/// The newest preview of one tool.
#[derive(Default)]
pub struct Previews {
    newest: Mutex<NewestPreview>,
}

#[derive(Default)]
struct NewestPreview {
    /// The id of the tool call.
    call: String,
    view: Option<View>,
    /// Fingerprint of the arguments that the preview was made from.
    made_of: Option<u64>,
    /// Whether those arguments were complete.
    whole: bool,
    /// Bytes: the cost of the preview, and the unused allowance.
    cost: usize,
    saved: usize,
    #[cfg(test)]
    work: usize,
}

/// The arguments that have arrived, as one edit language reads them.
pub trait Arrived {
    /// Returns the files named so far.
    fn paths(&self) -> Vec<&str>;
    /// Returns the size of the arguments.
    fn len(&self) -> usize;
    /// Plans as much as possible. `whole` means that the arguments are complete, so expensive searches are allowed.
    fn plan(&self, whole: bool) -> Option<Vec<FileEdit>>;
}

impl Previews {
    /// Calls `arrived` only if a new preview is computed.
    pub fn view<A: Arrived>(
        &self,
        files: &Files,
        call: &ArrivingCall<'_>,
        arrived: impl FnOnce() -> Option<A>,
    ) -> Option<View> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.forget_other_call(call.id);
        let asked = fingerprint(files, call.arguments);
        if newest.is_due(asked, call.is_whole) {
            let arrived = arrived()?;
            let (view, cost) = made(files, &arrived, call.is_whole, &ARRIVING);
            newest.keep(view, asked, cost, call.is_whole);
        }
        newest.view.clone()
    }

    /// Returns the bytes processed so far.
    #[cfg(test)]
    pub fn work(&self) -> usize {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).work
    }
}

impl NewestPreview {
    fn forget_other_call(&mut self, call: &str) {
        if self.call != call {
            *self = Self {
                call: call.to_owned(),
                #[cfg(test)]
                work: self.work,
                ..Self::default()
            };
        }
    }

    /// Whether to compute a new preview now.
    fn is_due(&mut self, asked: u64, whole: bool) -> bool {
        // Unused allowance is capped: it only has to pay for the next preview.
        self.saved = (self.saved + ALLOWANCE).min(self.cost.max(ALLOWANCE));
        if self.made_of == Some(asked) && (self.whole || !whole) {
            return false;
        }
        whole || self.saved >= self.cost
    }

    fn keep(&mut self, view: View, asked: u64, cost: usize, whole: bool) {
        self.saved = self.saved.saturating_sub(cost);
        (self.view, self.made_of, self.whole, self.cost) = (Some(view), Some(asked), whole, cost);
        #[cfg(test)]
        {
            self.work += cost;
        }
    }
}

/// Distinguishes arguments by their newest parts, because hashing all of them for every delta is too slow.
fn fingerprint(files: &Files, partial: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    files.cwd().hash(&mut hasher);
    add(partial, &mut hasher);
    hasher.finish()
}

fn add(value: &Value, hasher: &mut DefaultHasher) {
    const EDGE: usize = 64;
    match value {
        Value::String(text) => {
            let bytes = text.as_bytes();
            (bytes.len(), &bytes[..bytes.len().min(EDGE)], &bytes[bytes.len().saturating_sub(EDGE)..]).hash(hasher);
        }
        Value::Array(items) => {
            items.len().hash(hasher);
            items.first().into_iter().chain(items.last()).for_each(|item| add(item, hasher));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            key.hash(hasher);
            add(value, hasher);
        }),
        Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string().hash(hasher),
    }
}

/// Previews complete arguments for an approval request. Returns `None` if no change can be shown, for example because a file
/// is too large; the request then shows the arguments.
pub fn outlook(files: &Files, arrived: &impl Arrived) -> Option<View> {
    let (view, _) = made(files, arrived, true, &ASKED);
    view.blocks.iter().any(|block| matches!(block, Block::Diff(_))).then_some(view)
}

/// Previews the change of one file for an approval request. Returns `None` if the file is too large.
pub fn outlook_of(title: String, edit: &FileEdit) -> Option<View> {
    let size = |file: &Option<TextFile>| file.as_ref().map_or(0, |file| file.bytes().len());
    let is_readable = size(&edit.before).saturating_add(size(&edit.after)) <= ASKED.files;
    is_readable.then(|| View::new(title, Status::Running).block(one_file(edit, false, &ASKED)))
}

fn made(files: &Files, arrived: &impl Arrived, whole: bool, bounds: &Bounds) -> (View, usize) {
    let paths = render::distinct(arrived.paths());
    let view = View::new(render::title(&paths), Status::Running);
    let length = arrived.len();
    let with_files = |view: View| {
        let mut files: Vec<ViewFile> = paths.iter().filter_map(|path| typed_file(path)).collect();
        let line = view.blocks.iter().find_map(|block| match block {
            Block::Diff(diff) => diff.first_change(),
            _ => None,
        });
        files.first_mut().into_iter().for_each(|first| first.line = line);
        view.files(files)
    };
    if length > bounds.input {
        return (with_files(view), length);
    }
    let sizes = paths.iter().fold(0usize, |sum, path| sum.saturating_add(size(files, path)));
    let cost = length.saturating_add(sizes);
    if sizes > bounds.files {
        return (with_files(view.block(Block::Text("(too large for a preview)".into()))), length);
    }
    let edits = arrived.plan(whole).unwrap_or_default();
    let several = edits.len() > 1;
    let view = edits.iter().fold(view, |view, edit| view.block(one_file(edit, several, bounds)));
    (with_files(view), cost)
}

fn size(files: &Files, typed: &str) -> usize {
    let metadata = files.resolve(typed).ok().and_then(|path| std::fs::metadata(path.absolute).ok());
    metadata.map_or(0, |metadata| usize::try_from(metadata.len()).unwrap_or(usize::MAX))
}

fn one_file(edit: &FileEdit, is_named: bool, bounds: &Bounds) -> Block {
    // A path shown to the user uses its display form.
    let path = if is_named { edit.path.display.clone() } else { edit.path.absolute.to_string_lossy().into_owned() };
    let (diff, before, after) = edit.diff();
    let mut lines = diff_lines(&diff.unified(&edit.path.display, &before, &after));
    let hidden = lines.len().saturating_sub(bounds.lines);
    let gap = |text: String| DiffLine { kind: DiffKind::Gap, line: 0, text };
    match bounds.end {
        _ if hidden == 0 => {}
        PreviewEnd::Last => drop(lines.splice(..hidden, [gap(format!("{hidden} lines above"))])),
        PreviewEnd::First => drop(lines.splice(bounds.lines.., [gap(format!("{hidden} more lines"))])),
    }
    Block::Diff(Diff::new(lines).of(path).named(is_named))
}

/// Removes the incomplete last line.
pub fn whole_lines(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}
