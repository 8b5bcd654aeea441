//! Parses a patch: headers, the envelope that some models put around it, operations and their payload lines.

use super::HashlineError;
use super::ops::{HashlineOp, HashlineOpKind, bad_target, parse_op, payload_after_delete};
use crate::snapshot::Tag;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashlinePatch {
    pub sections: Vec<HashlineSection>,
    pub warnings: Vec<String>,
}

/// The operations on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashlineSection {
    /// The path as the model wrote it.
    pub path: String,
    pub tag: Option<Tag>,
    pub ops: Vec<HashlineOp>,
}

const ABORTED: &str =
    "*** Abort ended the patch early: the operations before it were applied, anything after it was not.";

/// Parses a whole patch. Paths are not resolved and line numbers are not checked yet.
pub fn parse(input: &str) -> Result<HashlinePatch, HashlineError> {
    let lines: Vec<&str> =
        input.trim_start_matches('\u{feff}').split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let mut reader = HashlineReader::default();
    for (index, text) in lines.iter().enumerate() {
        let next = lines[index + 1..].iter().map(|line| line.trim()).find(|line| !line.is_empty());
        if !reader.line(text, index + 1, next)? {
            break;
        }
    }
    reader.finish()
}

#[derive(Default)]
struct HashlineReader {
    patch: HashlinePatch,
    /// The last operation, which still accepts payload lines.
    pending: Option<HashlineOp>,
    aborted: bool,
}

impl HashlineReader {
    /// Returns `false` at the end of the patch.
    fn line(&mut self, text: &str, number: usize, next: Option<&str>) -> Result<bool, HashlineError> {
        match text.trim() {
            "" | "*** Begin Patch" => return Ok(true),
            "*** End Patch" => return Ok(false),
            "*** Abort" => {
                self.aborted = true;
                self.patch.warnings.push(ABORTED.into());
                return Ok(false);
            }
            _ => {}
        }
        if let Some(section) = header(text)? {
            // A payload line in brackets that lacks its `+` looks like a header without a tag.
            let opens = next.is_some_and(|next| next.starts_with("BOF") || next.starts_with("EOF"));
            if section.tag.is_some() || text.starts_with('¶') || opens || self.pending.is_none() {
                self.open(section)?;
                return Ok(true);
            }
        }
        if self.patch.sections.is_empty() {
            return Err(no_header(text.trim()));
        }
        if let Some(payload) = text.strip_prefix('+') {
            self.payload(payload, number)?;
            return Ok(true);
        }
        match parse_op(text, number)? {
            Some(op) => self.op(op),
            None if self.pending.is_some() => {
                return Err(HashlineError::at(number, "payload continuation lines must start with +."));
            }
            None => return Err(bad_target(text, number)),
        }
        Ok(true)
    }

    fn open(&mut self, section: HashlineSection) -> Result<(), HashlineError> {
        self.flush();
        self.refuse_empty_section()?;
        self.patch.sections.push(section);
        Ok(())
    }

    fn payload(&mut self, payload: &str, number: usize) -> Result<(), HashlineError> {
        let Some(op) = &mut self.pending else {
            return Err(HashlineError::at(number, "payload line has no preceding ↑, ↓, :, or ! operation."));
        };
        let lines = op.kind.payload_mut().ok_or_else(|| payload_after_delete(number))?;
        lines.push(payload.to_owned());
        Ok(())
    }

    fn op(&mut self, op: HashlineOp) {
        if let (
            Some(HashlineOp { kind: HashlineOpKind::Replace { first, last, .. }, .. }),
            HashlineOpKind::Replace { first: a, last: b, .. },
        ) = (&self.pending, &op.kind)
            && (first, last) == (a, b)
        {
            self.patch.warnings.push(format!(
                "Detected an identical-range before/after replace pair at {first}-{last}: only the second payload was used."
            ));
            self.pending = None;
        }
        self.flush();
        self.pending = Some(op);
    }

    fn flush(&mut self) {
        let Some(mut op) = self.pending.take() else { return };
        if let Some(payload) = op.kind.payload_mut()
            && payload.is_empty()
        {
            payload.push(String::new());
        }
        if let Some(section) = self.patch.sections.last_mut() {
            section.ops.push(op);
        }
    }

    fn refuse_empty_section(&self) -> Result<(), HashlineError> {
        match self.patch.sections.last().filter(|section| section.ops.is_empty()) {
            Some(section) => Err(HashlineError(format!("The section for {} has no operations.", section.path))),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<HashlinePatch, HashlineError> {
        self.flush();
        if self.aborted {
            self.patch.sections.retain(|section| !section.ops.is_empty());
        }
        self.refuse_empty_section()?;
        if self.patch.sections.is_empty() {
            return Err(if self.aborted {
                HashlineError("*** Abort comes before any operation: nothing to do.".into())
            } else {
                no_header("")
            });
        }
        Ok(self.patch)
    }
}

fn no_header(got: &str) -> HashlineError {
    let got: String = got.chars().take(120).collect();
    HashlineError(format!(
        "input must begin with \"[PATH#TAG]\" on the first non-blank line for anchored edits; got: \"{got}\""
    ))
}

/// Parses `[path#tag]`, `[path]`, or `¶path#tag` with any number of `¶`.
fn header(text: &str) -> Result<Option<HashlineSection>, HashlineError> {
    let text = text.trim_end();
    let inner = match text.strip_prefix('¶') {
        Some(rest) => rest.trim_start_matches('¶').trim(),
        None => match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inner) => inner.trim(),
            None => return Ok(None),
        },
    };
    let (path, tag) = split_tag(inner)?;
    if path.is_empty() {
        return Err(HashlineError(format!("Input header \"{text}\" is empty; provide a file path.")));
    }
    Ok(Some(HashlineSection { path: path.to_owned(), tag, ops: Vec::new() }))
}

fn split_tag(inner: &str) -> Result<(&str, Option<Tag>), HashlineError> {
    let Some((path, tag)) = inner.rsplit_once('#') else { return Ok((inner, None)) };
    if let Ok(tag) = tag.trim().parse() {
        return Ok((path.trim(), Some(tag)));
    }
    if tag.is_empty() || tag.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(HashlineError(format!(
            "Header tag \"#{tag}\" of {path} is not four hex digits; copy the header from your latest read."
        )));
    }
    // The `#` is part of the file name.
    Ok((inner, None))
}
