//! Finds the positions of hunks and converts them to splices. A hunk that fits several positions is refused.

use std::borrow::Cow;

use similar::DiffTag;

use super::hunk::{Hunk, HunkLine};
use crate::diff::text_ops;
use crate::file_edit::{Draft, DraftId, EditRefused, EditRules};
use crate::replace::indent::Shift;
use crate::replace::ladder::{self, MatchRung, find_block};
use crate::replace::{places, shift_at};
use crate::text_file::{Splice, TextFile};

pub(super) fn apply(draft: &mut Draft<'_>, id: DraftId, hunks: &[Hunk]) -> Result<(), EditRefused> {
    let file = draft.text(id)?.clone();
    let path = draft.path(id).display.clone();
    let (splices, tolerated) = splices(&file, &path, draft.rules(), hunks)?;
    if let Some((seen, now)) = draft.stale(id) {
        if let Some(first) = tolerated.first() {
            return Err(EditRefused::edit(format!(
                "{path} changed after it was read (#{seen}, now #{now}), and the lines of {} do not match exactly. \
                 Nothing was written.\nThe most likely place is now:\n{}",
                first.name.to_lowercase(),
                places::shown(&file, &[first.at], first.lines.min(6))
            )));
        }
        draft.warn(
            id,
            format!("{path} changed after it was read (#{seen}, now #{now}); the lines of the patch were still there."),
        );
    }
    for Tolerated { name, at, tolerance, .. } in tolerated {
        draft.warn(id, format!("{name} was found {tolerance}, at line {}. Check the result.", at + 1));
    }
    draft.update(id, file.splice(&splices));
    Ok(())
}

/// Applies the hunks before the first one that cannot be located and returns their number.
pub(super) fn apply_first(draft: &mut Draft<'_>, id: DraftId, hunks: &[Hunk]) -> Result<usize, EditRefused> {
    let file = draft.text(id)?.clone();
    let path = draft.path(id).display.clone();
    let mut locator = Locator::new(&file, &path, draft.rules());
    let mut splices = Vec::new();
    let mut count = 0;
    for hunk in hunks {
        let Ok((rung, at)) = locator.find(hunk, "The hunk") else { break };
        let Some(made) = hunk_splices(&file, at, hunk, rung) else { break };
        splices.extend(made);
        count += 1;
    }
    splices.sort_by_key(|splice| splice.at);
    draft.update(id, file.splice(&splices));
    Ok(count)
}

/// A hunk whose lines match the file only approximately.
pub(super) struct Tolerated {
    name: String,
    at: usize,
    lines: usize,
    tolerance: Cow<'static, str>,
}

/// Converts all hunks to splices, in file order.
pub(super) fn splices(
    file: &TextFile,
    path: &str,
    rules: EditRules,
    hunks: &[Hunk],
) -> Result<(Vec<Splice>, Vec<Tolerated>), EditRefused> {
    let mut locator = Locator::new(file, path, rules);
    let (mut splices, mut tolerated) = (Vec::new(), Vec::new());
    for (index, hunk) in hunks.iter().enumerate() {
        let name = if hunks.len() == 1 { "The hunk".to_owned() } else { format!("Hunk {}", index + 1) };
        let (rung, at) = locator.find(hunk, &name)?;
        splices.extend(hunk_splices(file, at, hunk, rung).ok_or_else(|| bad_indent(&name, file, at))?);
        if let Some(tolerance) = rung.tolerance() {
            tolerated.push(Tolerated { name, at, lines: hunk.old().len(), tolerance });
        }
    }
    splices.sort_by_key(|splice| splice.at);
    Ok((splices, tolerated))
}

struct Locator<'a> {
    file: &'a TextFile,
    path: &'a str,
    rules: EditRules,
    /// Lines covered by earlier hunks.
    taken: Vec<std::ops::Range<usize>>,
    /// The line after the previous hunk.
    next: usize,
    /// Distance of the previous hunk from its line number.
    moved: isize,
}

impl<'a> Locator<'a> {
    fn new(file: &'a TextFile, path: &'a str, rules: EditRules) -> Self {
        Self { file, path, rules, taken: Vec::new(), next: 0, moved: 0 }
    }

    fn find(&mut self, hunk: &Hunk, name: &str) -> Result<(MatchRung, usize), EditRefused> {
        let old = hunk.old();
        let (rung, at) = if old.is_empty() {
            (MatchRung::Exact, self.insertion(hunk, name)?)
        } else {
            self.block(hunk, &old, name)?
        };
        self.taken.push(at..at + old.len());
        self.next = at + old.len();
        if let Some(line) = hunk.line {
            self.moved = at as isize - (line.max(1) as isize - 1);
        }
        Ok((rung, at))
    }

    /// Returns the position of a hunk with only new lines: after the anchor, at the line number, or at the end.
    fn insertion(&self, hunk: &Hunk, name: &str) -> Result<usize, EditRefused> {
        let count = self.file.line_count();
        if hunk.at_end || (hunk.anchors.is_empty() && hunk.line.is_none()) {
            return Ok(count);
        }
        if hunk.anchors.is_empty() {
            // Diff programs number an insertion by the line before it.
            return Ok(hunk.line.unwrap_or(count).min(count));
        }
        match self.anchors(hunk, name)?[..] {
            [only] => Ok(only + 1),
            ref several => Err(self.ambiguous(name, "its @@ line occurs", several)),
        }
    }

    fn block(&self, hunk: &Hunk, old: &[&str], name: &str) -> Result<(MatchRung, usize), EditRefused> {
        let free = |start: usize| {
            let end = start + old.len();
            let at_end = !hunk.at_end || end == self.file.line_count();
            at_end && self.taken.iter().all(|taken| end <= taken.start || start >= taken.end)
        };
        let Some((rung, found)) = find_block(self.file, old, self.rules, &free) else {
            return Err(self.not_found(hunk, old, name));
        };
        let wanted = if hunk.anchors.is_empty() { found.clone() } else { self.behind_anchors(hunk, &found, name)? };
        let later: Vec<usize> = wanted.iter().copied().filter(|at| *at >= self.next).collect();
        let numbered = hunk.line.map(|line| line.max(1) as isize - 1 + self.moved);
        let on_number = numbered.and_then(|line| wanted.iter().find(|at| **at as isize == line));
        match (&wanted[..], &later[..], on_number) {
            ([only], _, _) => Ok((rung, *only)),
            (_, _, Some(at)) => Ok((rung, *at)),
            // Hunks are in file order.
            (_, [only], _) if self.next > 0 => Ok((rung, *only)),
            _ => Err(self.ambiguous(name, "its lines occur", &wanted)),
        }
    }

    /// Returns the first match after each line that fits the anchors.
    fn behind_anchors(&self, hunk: &Hunk, found: &[usize], name: &str) -> Result<Vec<usize>, EditRefused> {
        let anchors = self.anchors(hunk, name)?;
        let mut firsts: Vec<usize> =
            anchors.iter().filter_map(|anchor| found.iter().copied().find(|at| at >= anchor)).collect();
        firsts.dedup();
        if firsts.is_empty() {
            return Err(EditRefused::edit(format!(
                "{name}: its lines occur in {}, but not below \"{}\"; nothing was written:\n{}",
                self.path,
                hunk.anchors.join("\" / \""),
                places::shown(self.file, found, 0)
            )));
        }
        Ok(firsts)
    }

    /// Returns the lines that match the last anchor, each below matches of the anchors before it.
    fn anchors(&self, hunk: &Hunk, name: &str) -> Result<Vec<usize>, EditRefused> {
        let mut from = 0;
        let mut lines = Vec::new();
        for anchor in &hunk.anchors {
            lines = self.lines_like(anchor, from);
            let Some(first) = lines.first() else {
                return Err(EditRefused::edit(format!(
                    "{name}: no line of {} is \"{anchor}\"; nothing was written\nhint: after @@ comes a whole line of the file",
                    self.path
                )));
            };
            from = first + 1;
        }
        Ok(lines)
    }

    /// Returns whole-line matches first, then lines that start with the anchor, because diff programs truncate their
    /// headings.
    fn lines_like(&self, anchor: &str, from: usize) -> Vec<usize> {
        let wanted = anchor.trim();
        let all = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (from..self.file.line_count()).filter(|at| fits(self.file.line(*at).trim())).collect()
        };
        let whole = all(&|line| line == wanted);
        if whole.is_empty() { all(&|line| line.starts_with(wanted)) } else { whole }
    }

    fn ambiguous(&self, name: &str, what: &str, lines: &[usize]) -> EditRefused {
        EditRefused::edit(format!(
            "{name}: {what} in {} places of {}; nothing was written:\n{}\nhint: give more lines around the change, or a line \
             above it after @@",
            lines.len(),
            self.path,
            places::shown(self.file, lines, 0)
        ))
    }

    fn not_found(&self, hunk: &Hunk, old: &[&str], name: &str) -> EditRefused {
        let near = ladder::nearest(self.file, old);
        let place = if hunk.at_end { "at the end of" } else { "in" };
        let shown = if near.is_empty() {
            String::new()
        } else {
            format!(". Similar lines are here:\n{}", places::shown(self.file, &near, 2))
        };
        EditRefused::edit(format!(
            "{name}: its lines were not found {place} {}; nothing was written{shown}\nhint: copy the lines as they are in the file",
            self.path
        ))
    }
}

fn bad_indent(name: &str, file: &TextFile, at: usize) -> EditRefused {
    EditRefused::edit(format!(
        "{name} was found at line {} with another indentation, which cannot be applied to the new lines; nothing was \
         written:\n{}\nhint: copy the indentation of the file",
        at + 1,
        places::shown(file, &[at], 2)
    ))
}

/// Context lines are not rewritten, so they stay identical to the byte. A line that is removed and added again counts as
/// kept.
fn hunk_splices(file: &TextFile, at: usize, hunk: &Hunk, rung: MatchRung) -> Option<Vec<Splice>> {
    let old = hunk.old();
    let shift = match rung {
        MatchRung::Exact | MatchRung::TrailingBlanks => Shift::Same,
        MatchRung::Indentation | MatchRung::Punctuation => shift_at(file, at, &old)?,
        MatchRung::Similar(_) => shift_at(file, at, &old).unwrap_or(Shift::Same),
    };
    let mut splices = Vec::new();
    let mut next = at;
    for run in hunk.lines.chunk_by(|a, b| is_kept(a) == is_kept(b)) {
        if is_kept(&run[0]) {
            next += run.len();
            continue;
        }
        let side = |added: bool| -> Vec<&str> {
            run.iter().filter(|line| matches!(line, HunkLine::Added(_)) == added).map(HunkLine::text).collect()
        };
        let (removed, added) = (side(false), side(true));
        let ops = text_ops(&removed, &added);
        for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
            let insert = added[op.new_range()].iter().map(|line| shift.apply(line)).collect::<Option<Vec<_>>>()?;
            splices.push(Splice { at: next + op.old_range().start, delete: op.old_range().len(), insert });
        }
        next += removed.len();
    }
    Some(splices)
}

fn is_kept(line: &HunkLine) -> bool {
    matches!(line, HunkLine::Kept(_))
}
