//! Replacement content for a conflict block: text, or keywords for its sides.

use std::collections::BTreeMap;

use super::markers::{ConflictBlock, find_blocks};
use super::{Conflict, ConflictError, Side};
use crate::text_file::{Eol, TextFile};

/// Returns the file with each of the conflicts (all of this file) replaced by its content. In the content, a line that is
/// exactly `@ours`, `@theirs`, `@base` or `@both` stands for that side.
pub fn resolve(file: &TextFile, picks: &[(&Conflict, &str)]) -> Result<Vec<u8>, ConflictError> {
    let blocks = find_blocks(file);
    let mut places = Vec::with_capacity(picks.len());
    for (conflict, content) in picks {
        places.push((locate(file, &blocks, conflict)?, expand(file, conflict, content)?));
    }
    places.sort_by_key(|(block, _)| block.lines.start);
    let mut bytes = Vec::with_capacity(file.bytes().len());
    let mut next = 0;
    for (block, content) in places {
        let (start, end) = (file.line_start(block.lines.start), file.line_start(block.lines.end));
        bytes.extend_from_slice(&file.bytes()[next.min(start)..start]);
        let unfinished = file.eol(block.lines.end - 1) == Some(Eol::Missing);
        bytes.extend_from_slice(if unfinished { without_last_break(&content) } else { &content });
        next = end;
    }
    bytes.extend_from_slice(&file.bytes()[next..]);
    Ok(bytes)
}

/// Finds the current position of the block: the old one, or the only position with the same bytes.
fn locate<'a>(
    file: &TextFile,
    blocks: &'a [ConflictBlock],
    conflict: &Conflict,
) -> Result<&'a ConflictBlock, ConflictError> {
    let same: Vec<&ConflictBlock> = blocks.iter().filter(|block| block.bytes(file) == conflict.bytes).collect();
    let gone = || ConflictError::Gone { id: conflict.id, display: conflict.display.clone() };
    match same.iter().find(|block| block.lines.start == conflict.start) {
        Some(block) => Ok(block),
        None if same.len() == 1 => Ok(same[0]),
        None => Err(gone()),
    }
}

fn expand(file: &TextFile, conflict: &Conflict, content: &str) -> Result<Vec<u8>, ConflictError> {
    let mut bytes = Vec::new();
    for line in content.lines() {
        match line {
            "@ours" => bytes.extend_from_slice(conflict.side_bytes(Side::Ours)?),
            "@theirs" => bytes.extend_from_slice(conflict.side_bytes(Side::Theirs)?),
            "@base" => bytes.extend_from_slice(conflict.side_bytes(Side::Base)?),
            "@both" => {
                bytes.extend_from_slice(conflict.side_bytes(Side::Ours)?);
                bytes.extend_from_slice(conflict.side_bytes(Side::Theirs)?);
            }
            text => {
                bytes.extend_from_slice(text.as_bytes());
                bytes.extend_from_slice(file.dominant_eol().bytes());
            }
        }
    }
    Ok(bytes)
}

fn without_last_break(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// Content for `conflict://*`: one side per conflict number, as lines like `3: @ours`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directives(pub BTreeMap<u32, String>);

impl Directives {
    /// Returns `None` if no line is a directive, and an error if only some are, because the others would be lost.
    pub fn parse(content: &str) -> Result<Option<Self>, ConflictError> {
        let mut sides = BTreeMap::new();
        let mut stray = None;
        for line in content.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match directive(line) {
                None => stray = stray.or(Some(line)),
                Some((id, side)) => {
                    if sides.insert(id, side.to_owned()).is_some() {
                        let text = format!("Bulk directive lists conflict #{id} twice — each id may appear once.");
                        return Err(ConflictError::Directives(text));
                    }
                }
            }
        }
        match stray {
            _ if sides.is_empty() => Ok(None),
            None => Ok(Some(Self(sides))),
            Some(line) => Err(ConflictError::Directives(format!(
                "Malformed `conflict://*` block: every line must be `<id>: @ours` (or @theirs, @base, @both), but one is: {}\n\
                 hint: write text of your own to `conflict://<id>`",
                line.chars().take(60).collect::<String>()
            ))),
        }
    }
}

fn directive(line: &str) -> Option<(u32, &str)> {
    let (id, side) = line.strip_prefix('#').unwrap_or(line).split_once([':', '='])?;
    let side = side.trim();
    let known = ["@ours", "@theirs", "@base", "@both"].contains(&side);
    Some((id.trim().parse().ok().filter(|_| known)?, side))
}
