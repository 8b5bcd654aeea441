//! The two patch languages: JSON entries with `@@` hunks for one file, and the freeform envelope for several.
//!
//! Both become the same operations on a [`Draft`]. Hunks are located by their own lines; line numbers are only a hint.

use std::path::Path;

mod envelope;
mod hunk;
mod locate;

pub use envelope::{FileOp, parse_envelope, parse_partial_envelope};
pub use hunk::{Hunk, HunkLine, parse_hunks};

use crate::file_edit::{Draft, DraftId, EditRefused, EditRules, FileEdit, FileSource};
use crate::snapshot::Tag;

/// The operation on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchOp {
    Create { content: String },
    Update { hunks: Vec<Hunk>, rename: Option<String> },
    Delete,
}

pub struct PatchPlanner<'a> {
    pub files: &'a dyn FileSource,
    /// Returns the tag under which a file was last seen.
    pub last_seen: &'a dyn Fn(&Path) -> Option<Tag>,
    pub rules: EditRules,
}

impl PatchPlanner<'_> {
    /// Plans all operations; each one sees the result of those before it.
    pub fn plan(&self, ops: &[FileOp]) -> Result<Vec<FileEdit>, EditRefused> {
        if ops.is_empty() {
            return Err(EditRefused::edit("The patch has no operations."));
        }
        let mut draft = Draft::new(self.files, self.last_seen, self.rules);
        for FileOp { path, op } in ops {
            let id = draft.open(path)?;
            carry_out(&mut draft, id, op)?;
        }
        draft.finish()
    }

    /// Plans as many operations as possible for a patch that is still being streamed.
    pub fn plan_partial(&self, ops: &[FileOp]) -> Option<Vec<FileEdit>> {
        let mut draft = Draft::new(self.files, self.last_seen, self.rules);
        for FileOp { path, op } in ops {
            let Ok(id) = draft.open(path) else { break };
            let done = match op {
                // The last hunk may still lack the lines that determine its position.
                PatchOp::Update { hunks, rename } if !hunks.is_empty() => {
                    let all = locate::apply_first(&mut draft, id, hunks).is_ok_and(|count| count == hunks.len());
                    all && rename.as_ref().is_none_or(|to| draft.rename(id, to).is_ok())
                }
                op => carry_out(&mut draft, id, op).is_ok(),
            };
            if !done {
                break;
            }
        }
        draft.finish().ok()
    }
}

fn carry_out(draft: &mut Draft<'_>, id: DraftId, op: &PatchOp) -> Result<(), EditRefused> {
    match op {
        PatchOp::Create { content } => draft.create(id, content.as_bytes()),
        PatchOp::Delete => draft.delete(id),
        PatchOp::Update { hunks, rename } => {
            if hunks.is_empty() && rename.is_none() {
                let path = &draft.path(id).display;
                return Err(EditRefused::edit(format!("The update of {path} has neither a hunk nor a new name.")));
            }
            if !hunks.is_empty() {
                locate::apply(draft, id, hunks)?;
            }
            rename.as_ref().map_or(Ok(()), |to| draft.rename(id, to).map(drop))
        }
    }
}

/// The content of a new file: plain, or with a `+` in front of every line.
pub fn new_file_content(diff: &str) -> String {
    let body = diff.replace("\r\n", "\n");
    let lines: Vec<&str> = body.strip_suffix('\n').unwrap_or(&body).split('\n').collect();
    let marked = lines.iter().all(|line| line.starts_with('+'));
    let content =
        if marked { lines.iter().map(|line| &line[1..]).collect::<Vec<_>>().join("\n") } else { lines.join("\n") };
    if content.is_empty() { content } else { content + "\n" }
}

#[cfg(test)]
mod tests;
