//! Plans the file edits of a parsed patch. Nothing is written here: either every section can be planned or the whole patch
//! is refused.

use std::path::Path;

use super::absorb::absorb_duplicates;
use super::apply::{check_bounds, check_overlaps, line_splices, with_boundaries};
use super::mismatch::mismatch_report;
use super::recover::{carry_over, still_valid};
use super::section::{HashlinePatch, HashlineSection};
use super::{HashlineError, HashlineOp};
use crate::file_edit::{
    EditRefused, Editable, FileEdit, FileIdentity, FileSource, load_editable, lookalike, new_next_to, no_change,
    not_found,
};
use crate::path::ResolvedPath;
use crate::snapshot::{FileSnapshot, Tag};
use crate::text_file::{Splice, TextFile};

#[derive(Clone, Copy, Debug)]
pub struct HashlineOptions {
    /// Also drop repeated neighbouring lines from plain inserts.
    pub drop_insert_duplicates: bool,
    /// Refuse files that are marked as generated.
    pub block_generated: bool,
}

impl Default for HashlineOptions {
    fn default() -> Self {
        Self { drop_insert_duplicates: false, block_generated: true }
    }
}

pub struct HashlinePlanner<'a> {
    pub files: &'a dyn FileSource,
    /// Returns the snapshot of a file for a tag.
    pub seen: &'a dyn Fn(&Path, Tag) -> Option<FileSnapshot>,
    pub options: HashlineOptions,
}

impl From<EditRefused> for HashlineError {
    fn from(refused: EditRefused) -> Self {
        Self(refused.to_string())
    }
}

impl HashlinePlanner<'_> {
    /// Plans every file of the patch. Warnings about the whole patch are attached to the first file.
    pub fn plan(&self, patch: HashlinePatch) -> Result<Vec<FileEdit>, HashlineError> {
        let mut warnings = patch.warnings;
        let sections = self.merge(patch.sections, &mut warnings)?;
        let mut edits = sections
            .into_iter()
            .map(|(path, section)| self.plan_section(path, section))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(first) = edits.first_mut() {
            first.warnings.splice(0..0, warnings);
        }
        Ok(edits)
    }

    /// Merges sections of the same file, under any name, so that all their numbers refer to the same content.
    fn merge(
        &self,
        sections: Vec<HashlineSection>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<(ResolvedPath, HashlineSection)>, HashlineError> {
        let mut merged: Vec<(FileIdentity, ResolvedPath, HashlineSection)> = Vec::new();
        for section in sections {
            let path = self.files.locate(&section.path)?;
            let identity = FileIdentity::of(&path.absolute);
            match merged.iter_mut().find(|(known, ..)| *known == identity) {
                Some((_, first, earlier)) => {
                    if first.display != path.display {
                        warnings.push(format!(
                            "{} and {} are two names of one file; their operations were combined.",
                            first.display, path.display
                        ));
                    }
                    join(first, earlier, section)?;
                }
                None => merged.push((identity, path, section)),
            }
        }
        Ok(merged.into_iter().map(|(_, path, section)| (path, section)).collect())
    }

    fn plan_section(&self, path: ResolvedPath, section: HashlineSection) -> Result<FileEdit, HashlineError> {
        let anchored = section.ops.iter().any(|op| op.kind.anchors().is_some());
        if anchored && section.tag.is_none() {
            return Err(HashlineError(format!(
                "Missing hashline file hash for anchored edit to {0}; use [{0}#TAG] from your latest read.",
                path.display
            )));
        }
        check_overlaps(&section.ops)?;
        let before = load_editable(self.files, &path, section.tag, self.options.block_generated)?;
        if before.is_none() && section.tag.is_some() {
            return Err(HashlineError(not_found(&path)));
        }
        let file = before.as_ref().map_or_else(|| TextFile::parse(&b""[..]), |before| before.text.clone());
        let mut ops = section.ops;
        let mut warnings = Vec::new();
        if let Some(other) = lookalike(&path.absolute).filter(|_| before.is_none()) {
            warnings.push(new_next_to(&path.display, &other));
        }
        let splices = match section.tag.filter(|tag| anchored && file.tag() != *tag) {
            Some(stale) => self.recover(&path, stale, &ops, &file, &mut warnings)?,
            None => self.direct(&mut ops, &file, &mut warnings)?,
        };
        let after = file.splice(&with_boundaries(&ops, splices, file.line_count()));
        if before.is_some() && after[..] == file.bytes()[..] {
            return Err(HashlineError(no_change(&path.display, &warnings)));
        }
        let after = Some(TextFile::parse(after));
        let edit = match before {
            Some(before) => before.becomes(path, after)?,
            None => Editable::created(path, after)?,
        };
        Ok(edit.warned(warnings))
    }

    /// Plans against the current content, which the numbers refer to.
    fn direct(
        &self,
        ops: &mut [HashlineOp],
        file: &TextFile,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Splice>, HashlineError> {
        check_bounds(ops, file.line_count())?;
        warnings.extend(absorb_duplicates(ops, file, self.options.drop_insert_duplicates));
        Ok(line_splices(ops))
    }

    /// Plans against content that is no longer on disk.
    fn recover(
        &self,
        path: &ResolvedPath,
        stale: Tag,
        ops: &[HashlineOp],
        file: &TextFile,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Splice>, HashlineError> {
        let mismatch = || HashlineError(mismatch_report(&path.display, stale, file, ops));
        let mut replayed = ops.to_vec();
        let mut notes = Vec::new();
        let moved = match (self.seen)(&path.absolute, stale) {
            Some(FileSnapshot::Whole(bytes)) => {
                let old = TextFile::parse(bytes);
                let splices = self.direct(&mut replayed, &old, &mut notes)?;
                carry_over(&splices, &old, file)
            }
            Some(FileSnapshot::Lines(known)) => {
                Some(line_splices(&replayed)).filter(|splices| still_valid(splices, &known, file))
            }
            None => None,
        };
        let moved = moved.ok_or_else(mismatch)?;
        warnings.extend(notes);
        warnings.push(format!(
            "{} changed after it was read (#{stale}, now #{}); the edit was applied to the same lines of the current content. Check the result.",
            path.display,
            file.tag()
        ));
        Ok(moved)
    }
}

fn join(path: &ResolvedPath, earlier: &mut HashlineSection, later: HashlineSection) -> Result<(), HashlineError> {
    if let (Some(first), Some(second)) = (earlier.tag, later.tag)
        && first != second
    {
        return Err(HashlineError(format!(
            "Two sections for {} carry different tags (#{first} and #{second}); use the one from your latest read for both.",
            path.display
        )));
    }
    earlier.tag = earlier.tag.or(later.tag);
    earlier.ops.extend(later.ops);
    Ok(())
}
