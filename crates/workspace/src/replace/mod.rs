//! The `replace` edit language: replaces a text, found exactly or with increasing tolerance.
//!
//! A text must occur only once. On every rung but the first, lines that the old and the new text share keep the bytes of the
//! file, so a tolerance never rewrites unrelated content.

use std::path::Path;

use similar::DiffTag;

mod alike;
pub(crate) mod indent;
pub(crate) mod ladder;
mod literal;
pub(crate) mod places;

use indent::Shift;
use ladder::{MatchRung, find_block};

use crate::diff::text_ops;
use crate::file_edit::{Draft, DraftId, EditRefused, EditRules, FileEdit, FileSource};
use crate::snapshot::Tag;
use crate::text_file::{Splice, TextFile};

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub old_text: String,
    pub new_text: String,
    /// Replace every occurrence instead of requiring a single one.
    pub all: bool,
}

pub struct ReplacePlanner<'a> {
    pub files: &'a dyn FileSource,
    /// Returns the tag under which a file was last seen.
    pub last_seen: &'a dyn Fn(&Path) -> Option<Tag>,
    pub rules: EditRules,
}

impl ReplacePlanner<'_> {
    /// Plans all edits of one file; each one sees the result of those before it.
    pub fn plan(&self, path: &str, edits: &[TextEdit]) -> Result<Vec<FileEdit>, EditRefused> {
        let mut draft = Draft::new(self.files, self.last_seen, self.rules);
        let id = draft.open(path)?;
        if edits.is_empty() {
            return Err(EditRefused::edit("edits is empty: nothing to do"));
        }
        for (index, edit) in edits.iter().enumerate() {
            let name = if edits.len() == 1 { "old_text".to_owned() } else { format!("old_text of edit {}", index + 1) };
            replace_one(&mut draft, id, edit, &name)?;
        }
        draft.finish()
    }

    /// Plans as many edits as possible for a call that is still being streamed.
    pub fn plan_partial(&self, path: &str, edits: &[TextEdit]) -> Option<Vec<FileEdit>> {
        let mut draft = Draft::new(self.files, self.last_seen, self.rules);
        let id = draft.open(path).ok()?;
        for edit in edits {
            if replace_one(&mut draft, id, edit, "old_text").is_err() {
                break;
            }
        }
        draft.finish().ok()
    }
}

fn replace_one(draft: &mut Draft<'_>, id: DraftId, edit: &TextEdit, name: &str) -> Result<(), EditRefused> {
    if edit.old_text.is_empty() {
        return fill(draft, id, edit, name);
    }
    if edit.old_text == edit.new_text {
        return Err(EditRefused::edit(format!("{name} and its new_text are the same: nothing to do")));
    }
    let file = draft.text(id)?.clone();
    let path = draft.path(id).display.clone();
    let found = find(&file, edit, draft.rules());
    let made = found.map_err(|problem| EditRefused::edit(problem.say(&path, name, &file)))?;
    if let Some((seen, now)) = draft.stale(id) {
        if made.rung != MatchRung::Exact {
            let lines = places::shown(&file, &made.lines, 2);
            return Err(EditRefused::edit(format!(
                "{path} changed after it was read (#{seen}, now #{now}), and {name} is not in it exactly. Nothing was \
                 written.\nThe most likely place is now:\n{lines}"
            )));
        }
        draft.warn(
            id,
            format!("{path} changed after it was read (#{seen}, now #{now}); the text to replace was still there."),
        );
    }
    if let Some(tolerance) = made.rung.tolerance() {
        let numbers: Vec<String> = made.lines.iter().take(5).map(|line| (line + 1).to_string()).collect();
        draft.warn(id, format!("{name} was found {tolerance}, at line {}. Check the result.", numbers.join(", ")));
    }
    draft.update(id, made.content);
    Ok(())
}

/// An empty old text requires a file that is empty or missing.
fn fill(draft: &mut Draft<'_>, id: DraftId, edit: &TextEdit, name: &str) -> Result<(), EditRefused> {
    if !draft.exists(id) {
        return draft.create(id, edit.new_text.as_bytes());
    }
    if draft.text(id)?.line_count() > 0 {
        let hint = "hint: quote the lines next to the place, and repeat them in new_text";
        return Err(EditRefused::edit(format!("{name} is empty, but {} is not\n{hint}", draft.path(id).display)));
    }
    let mut content = draft.text(id)?.bytes().to_vec();
    content.extend_from_slice(edit.new_text.as_bytes());
    draft.update(id, content);
    Ok(())
}

struct ReplacedText {
    content: Vec<u8>,
    rung: MatchRung,
    /// Line numbers, counted from 0.
    lines: Vec<usize>,
}

enum ReplaceProblem {
    NotFound { nearest: Vec<usize> },
    Ambiguous { rung: MatchRung, lines: Vec<usize>, all_would_do: bool },
    AllNeedsLetter { rung: MatchRung, lines: Vec<usize> },
    Indentation { line: usize },
}

fn find(file: &TextFile, edit: &TextEdit, rules: EditRules) -> Result<ReplacedText, ReplaceProblem> {
    let literal = literal::Literal::new(file, &edit.old_text);
    match literal.lines() {
        [] => {}
        lines if lines.len() == 1 || edit.all => {
            return Ok(ReplacedText {
                content: literal.replaced(&edit.new_text),
                rung: MatchRung::Exact,
                lines: lines.to_vec(),
            });
        }
        lines => {
            return Err(ReplaceProblem::Ambiguous {
                rung: MatchRung::Exact,
                lines: lines.to_vec(),
                all_would_do: true,
            });
        }
    }
    let old = block_lines(&edit.old_text);
    // As in an exact match, a text without a final newline is followed by the newline in the file.
    let new =
        if edit.old_text.ends_with('\n') { block_lines(&edit.new_text) } else { edit.new_text.split('\n').collect() };
    let Some((rung, lines)) = find_block(file, &old, rules, &|_| true) else {
        return Err(ReplaceProblem::NotFound { nearest: ladder::nearest(file, &old) });
    };
    let letter = matches!(rung, MatchRung::Exact | MatchRung::TrailingBlanks);
    match (edit.all, lines.len()) {
        (true, _) if !letter => return Err(ReplaceProblem::AllNeedsLetter { rung, lines }),
        (false, 2..) => return Err(ReplaceProblem::Ambiguous { rung, lines, all_would_do: letter }),
        _ => {}
    }
    let mut splices = Vec::new();
    let mut free = 0;
    for at in lines.iter().copied() {
        if at >= free {
            free = at + old.len();
            splices.extend(line_splices(file, at, &old, &new, rung).ok_or(ReplaceProblem::Indentation { line: at })?);
        }
    }
    Ok(ReplacedText { content: file.splice(&splices), rung, lines })
}

/// Splits a text into lines; a newline at the end ends the last line and does not start another.
fn block_lines(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
}

/// Returns splices for the lines that differ between old and new text.
fn line_splices(file: &TextFile, at: usize, old: &[&str], new: &[&str], rung: MatchRung) -> Option<Vec<Splice>> {
    let shift = match rung {
        MatchRung::Exact | MatchRung::TrailingBlanks => Shift::Same,
        MatchRung::Indentation | MatchRung::Punctuation => shift_at(file, at, old)?,
        MatchRung::Similar(_) => shift_at(file, at, old).unwrap_or(Shift::Same),
    };
    let ops = text_ops(old, new);
    ops.iter()
        .filter(|op| op.tag() != DiffTag::Equal)
        .map(|op| {
            let insert = new[op.new_range()].iter().map(|line| shift.apply(line)).collect::<Option<Vec<_>>>()?;
            Some(Splice { at: at + op.old_range().start, delete: op.old_range().len(), insert })
        })
        .collect()
}

pub(crate) fn shift_at(file: &TextFile, at: usize, old: &[&str]) -> Option<Shift> {
    let lines: Vec<_> = (at..at + old.len()).map(|at| file.line(at)).collect();
    Shift::between(old.iter().copied().zip(lines.iter().map(|line| &**line)))
}

impl ReplaceProblem {
    fn say(&self, path: &str, name: &str, file: &TextFile) -> String {
        let how = |rung: &MatchRung| rung.tolerance().map_or(String::new(), |tolerance| format!(" {tolerance}"));
        match self {
            ReplaceProblem::NotFound { nearest } if nearest.is_empty() => {
                format!("{name} was not found in {path}; nothing was written\nhint: read the file again")
            }
            ReplaceProblem::NotFound { nearest } => format!(
                "{name} was not found in {path}; nothing was written. Similar lines are here:\n{}\nhint: copy the text \
                 as it is in the file",
                places::shown(file, nearest, 2)
            ),
            ReplaceProblem::Ambiguous { rung, lines, all_would_do } => format!(
                "{name} occurs in {} places of {path}{}; nothing was written:\n{}\nhint: quote more lines around the one you \
                 mean{}",
                lines.len(),
                how(rung),
                places::shown(file, lines, 0),
                if *all_would_do { ", or set all" } else { "" }
            ),
            ReplaceProblem::AllNeedsLetter { rung, lines } => format!(
                "{name} was found{} only, and all replaces only exact matches; nothing was written:\n{}",
                how(rung),
                places::shown(file, lines, 0)
            ),
            ReplaceProblem::Indentation { line } => format!(
                "{name} was found at line {} of {path} with another indentation, which cannot be applied to the new \
                 lines; nothing was written:\n{}\nhint: copy the indentation of the file",
                line + 1,
                places::shown(file, &[*line], 2)
            ),
        }
    }
}

#[cfg(test)]
mod tests;
