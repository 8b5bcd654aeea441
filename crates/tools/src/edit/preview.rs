//! What an edit would do, shown while its arguments are still arriving. Files are read, never written.
//!
//! It is asked for with every few letters, so the newest answer is kept and given again until another line is whole.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use omp_view::{Block, DiffKind, DiffLine, Status, View};
use omp_workspace::FileEdit;

use super::render::diff_lines;
use crate::files::Files;

/// Longer arguments are shown by their title only.
const MAX_INPUT: usize = 256 * 1024;
/// The same for larger files.
const MAX_FILE: usize = 2 * 1024 * 1024;
const MAX_LINES: usize = 200;

#[derive(Default)]
pub struct Previews {
    newest: Mutex<Option<(u64, View)>>,
}

impl Previews {
    /// `key` is all that the preview depends on.
    pub fn view(
        &self,
        files: &Files,
        key: &str,
        title: impl FnOnce() -> String,
        plan: impl FnOnce() -> Option<Vec<FileEdit>>,
    ) -> Option<View> {
        let mut hasher = DefaultHasher::new();
        (files.cwd(), key).hash(&mut hasher);
        let key_hash = hasher.finish();
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, view)) = &*newest
            && *known == key_hash
        {
            return Some(view.clone());
        }
        let edits = if key.len() <= MAX_INPUT { plan().unwrap_or_default() } else { Vec::new() };
        let view =
            edits.iter().fold(View::new(title(), Status::Running), |view, edit| one_file(view, edit, edits.len() > 1));
        *newest = Some((key_hash, view.clone()));
        Some(view)
    }
}

fn one_file(view: View, edit: &FileEdit, named: bool) -> View {
    let view = if named { view.block(Block::Text(edit.path.display.clone())) } else { view };
    let size = |file: &Option<omp_workspace::TextFile>| file.as_ref().map_or(0, |file| file.bytes().len());
    if size(&edit.before).max(size(&edit.after)) > MAX_FILE {
        return view.block(Block::Text("(too large for a preview)".into()));
    }
    let (diff, before, after) = edit.diff();
    let mut lines = diff_lines(&diff.unified(&edit.path.display, &before, &after));
    let hidden = lines.len().saturating_sub(MAX_LINES);
    // What arrived last is what one wants to see.
    lines.drain(..hidden);
    if hidden > 0 {
        lines.insert(0, DiffLine { kind: DiffKind::Gap, line: 0, text: format!("{hidden} lines above") });
    }
    view.block(Block::Diff(lines))
}

/// Without the line that is still growing. `None` while there is no whole line.
pub fn whole_lines(text: &str) -> Option<&str> {
    text.rfind('\n').map(|end| &text[..=end])
}
