//! Parses the freeform envelope: `*** Begin Patch`, one section per file, `*** End Patch`.

use super::PatchOp;
use super::hunk::parse_hunks;
use crate::file_edit::EditRefused;

/// An operation and its file, with the path as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOp {
    pub path: String,
    pub op: PatchOp,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";

/// Parses a whole patch. A patch without its end line is considered truncated and refused.
pub fn parse_envelope(input: &str) -> Result<Vec<FileOp>, EditRefused> {
    let lines: Vec<&str> = input.lines().collect();
    let begin = lines
        .iter()
        .position(|line| line.trim() == BEGIN)
        .ok_or_else(|| EditRefused::edit(format!("The patch must begin with \"{BEGIN}\" on a line of its own.")))?;
    if let Some(stray) = lines[..begin].iter().find(|line| !is_wrapping(line)) {
        return Err(EditRefused::edit(format!("\"{}\" comes before \"{BEGIN}\".", clipped(stray))));
    }
    let end = lines.iter().rposition(|line| line.trim() == END).filter(|end| *end > begin).ok_or_else(|| {
        EditRefused::edit(format!("The patch has no \"{END}\" and was probably cut off; nothing was written."))
    })?;
    if let Some(stray) = lines[end + 1..].iter().find(|line| !is_wrapping(line)) {
        return Err(EditRefused::edit(format!("\"{}\" comes after \"{END}\".", clipped(stray))));
    }
    let sections = sections(&lines[begin + 1..end])?;
    if sections.is_empty() {
        return Err(EditRefused::edit("The patch names no file."));
    }
    sections.into_iter().map(PatchSection::into_op).collect()
}

/// Parses the complete parts of a patch that is still being streamed. The unfinished last line is left out.
pub fn parse_partial_envelope(input: &str) -> Vec<FileOp> {
    let whole = input.rfind('\n').map_or("", |end| &input[..end]);
    let lines: Vec<&str> = whole.lines().collect();
    let Some(begin) = lines.iter().position(|line| line.trim() == BEGIN) else { return Vec::new() };
    let body = lines[begin + 1..].split(|line| line.trim() == END).next().unwrap_or_default();
    sections(body).unwrap_or_default().into_iter().map_while(PatchSection::into_partial_op).collect()
}

/// Detects empty lines, code fences and the here-document that some models put around a patch.
fn is_wrapping(line: &str) -> bool {
    let line = line.trim();
    let here = line.split_once("<<").is_some_and(|(command, _)| matches!(command.trim(), "" | "apply_patch" | "cat"));
    line.is_empty() || line.starts_with("```") || line == "EOF" || here
}

#[derive(Clone)]
struct PatchSection<'a> {
    head: &'a str,
    path: &'a str,
    rename: Option<&'a str>,
    body: Vec<&'a str>,
}

fn sections<'a>(lines: &[&'a str]) -> Result<Vec<PatchSection<'a>>, EditRefused> {
    let mut sections: Vec<PatchSection<'a>> = Vec::new();
    for line in lines {
        let opened = [ADD, UPDATE, DELETE].into_iter().find_map(|head| Some((head, line.strip_prefix(head)?.trim())));
        if let Some((head, path)) = opened {
            if path.is_empty() {
                return Err(EditRefused::edit(format!("\"{head}\" names no file.")));
            }
            sections.push(PatchSection { head, path, rename: None, body: Vec::new() });
            continue;
        }
        let Some(section) = sections.last_mut() else {
            if line.trim().is_empty() {
                continue;
            }
            return Err(EditRefused::edit(format!(
                "\"{}\" comes before the first file.\nhint: begin with \"{ADD}\", \"{UPDATE}\" or \"{DELETE}\"",
                clipped(line)
            )));
        };
        match line.strip_prefix(MOVE) {
            Some(to) if section.head == UPDATE && section.body.is_empty() && section.rename.is_none() => {
                section.rename = Some(to.trim());
            }
            Some(_) => return Err(EditRefused::edit(format!("\"{MOVE}\" must follow \"{UPDATE}\" directly."))),
            None => section.body.push(line),
        }
    }
    Ok(sections)
}

impl PatchSection<'_> {
    /// Returns the operation without its last hunk if that is still empty.
    fn into_partial_op(mut self) -> Option<FileOp> {
        loop {
            if let Ok(op) = self.clone().into_op() {
                return Some(op);
            }
            let last = self.body.iter().rposition(|line| line.starts_with("@@"))?;
            self.body.truncate(last);
        }
    }

    fn into_op(self) -> Result<FileOp, EditRefused> {
        let path = self.path.to_owned();
        let wrong = |line: &str, why: &str| {
            EditRefused::edit(format!("In the section of {path}: \"{}\" {why}.", clipped(line)))
        };
        let blank_only = self.body.iter().all(|line| line.trim().is_empty());
        let op = match self.head {
            ADD => {
                let mut content = String::new();
                let last_text = self.body.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
                for line in &self.body[..last_text] {
                    let text = if line.is_empty() { Some("") } else { line.strip_prefix('+') };
                    content.push_str(text.ok_or_else(|| wrong(line, "does not start with +"))?);
                    content.push('\n');
                }
                PatchOp::Create { content }
            }
            DELETE if blank_only => PatchOp::Delete,
            DELETE => return Err(wrong(self.body.first().copied().unwrap_or_default(), "follows a deletion")),
            _ => {
                let rename = self.rename.map(str::to_owned);
                if blank_only && rename.is_some() {
                    return Ok(FileOp { path, op: PatchOp::Update { hunks: Vec::new(), rename } });
                }
                let hunks = parse_hunks(&self.body.join("\n"))
                    .map_err(|error| EditRefused::edit(format!("In the section of {path}: {error}")))?;
                PatchOp::Update { hunks, rename }
            }
        };
        Ok(FileOp { path, op })
    }
}

fn clipped(line: &str) -> String {
    line.chars().take(80).collect()
}
