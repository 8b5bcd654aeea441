//! Parses one operation line: its target, its action, and the text after its sign.

use super::HashlineError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashlineOp {
    /// Line number in the patch, counted from 1.
    pub line: usize,
    pub kind: HashlineOpKind,
}

/// Line numbers are counted from 1 and not yet checked against a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashlineOpKind {
    Insert { at: Anchor, payload: Vec<String> },
    Replace { first: usize, last: usize, payload: Vec<String> },
    Delete { first: usize, last: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Before(usize),
    After(usize),
    Start,
    End,
}

impl HashlineOpKind {
    /// Returns the lines that the operation removes.
    pub fn removed(&self) -> Option<(usize, usize)> {
        match self {
            HashlineOpKind::Insert { .. } => None,
            HashlineOpKind::Replace { first, last, .. } | HashlineOpKind::Delete { first, last } => {
                Some((*first, *last))
            }
        }
    }

    /// Returns the lines that must exist for the operation to be valid.
    pub fn anchors(&self) -> Option<(usize, usize)> {
        match self {
            HashlineOpKind::Insert { at: Anchor::Before(line) | Anchor::After(line), .. } => Some((*line, *line)),
            HashlineOpKind::Insert { .. } => None,
            _ => self.removed(),
        }
    }

    pub(super) fn payload_mut(&mut self) -> Option<&mut Vec<String>> {
        match self {
            HashlineOpKind::Insert { payload, .. } | HashlineOpKind::Replace { payload, .. } => Some(payload),
            HashlineOpKind::Delete { .. } => None,
        }
    }
}

const SIGNS: [char; 4] = ['↑', '↓', ':', '!'];

/// Parses an operation. Returns `Ok(None)` if the line does not look like one.
pub(super) fn parse_op(text: &str, line: usize) -> Result<Option<HashlineOp>, HashlineError> {
    let Some((at, sign)) = text.char_indices().find(|(_, char)| SIGNS.contains(char)) else { return Ok(None) };
    let target = text[..at].trim();
    // Error reports and search results mark lines with a star; a copied star is ignored.
    let target = target.strip_prefix('*').unwrap_or(target);
    let inline = text[at + sign.len_utf8()..].trim_end();
    let payload = || if inline.is_empty() { Vec::new() } else { vec![inline.to_owned()] };
    if let Some(anchor) = boundary(target) {
        return match sign {
            '↑' | '↓' => {
                Ok(Some(HashlineOp { line, kind: HashlineOpKind::Insert { at: anchor, payload: payload() } }))
            }
            _ => {
                Err(HashlineError::at(line, format!("{target} takes inserts only ({target}↓text); it is not a line.")))
            }
        };
    }
    if !target.starts_with(|char: char| char.is_ascii_digit()) {
        return Ok(None);
    }
    let kind = match sign {
        '↑' => HashlineOpKind::Insert { at: Anchor::Before(single(target, line)?), payload: payload() },
        '↓' => HashlineOpKind::Insert { at: Anchor::After(single(target, line)?), payload: payload() },
        ':' => {
            let (first, last) = range(target, line)?;
            HashlineOpKind::Replace { first, last, payload: payload() }
        }
        _ if !inline.is_empty() => return Err(payload_after_delete(line)),
        _ => {
            let (first, last) = range(target, line)?;
            HashlineOpKind::Delete { first, last }
        }
    };
    Ok(Some(HashlineOp { line, kind }))
}

pub(super) fn payload_after_delete(line: usize) -> HashlineError {
    HashlineError::at(line, "! deletes only. Payload is forbidden after !; use : to replace.")
}

/// Returns the error for a line without a valid line number.
pub(super) fn bad_target(text: &str, line: usize) -> HashlineError {
    match text.split_once(SIGNS) {
        Some((target, _)) if !target.trim().is_empty() && !target.trim().contains(char::is_whitespace) => {
            not_a_number(target.trim(), line)
        }
        _ => HashlineError::at(
            line,
            "unrecognized op. Use LINE↑ (insert before), LINE↓ (insert after), LINE: / A-B: (replace), or LINE! / A-B! (delete).",
        ),
    }
}

fn boundary(target: &str) -> Option<Anchor> {
    match target {
        "BOF" => Some(Anchor::Start),
        "EOF" => Some(Anchor::End),
        _ => None,
    }
}

fn range(target: &str, line: usize) -> Result<(usize, usize), HashlineError> {
    let Some((first, last)) = target.split_once('-') else {
        return single(target, line).map(|at| (at, at));
    };
    if [first, last].iter().any(|end| is_line_hash(end)) {
        return Err(line_hash(line));
    }
    if ![first, last].iter().all(|end| is_number(end)) {
        return Err(bad_range(target, line));
    }
    let (first, last) = (number(first, line)?, number(last, line)?);
    if last < first {
        return Err(HashlineError::at(line, format!("range {first}-{last} ends before it starts.")));
    }
    Ok((first, last))
}

fn single(target: &str, line: usize) -> Result<usize, HashlineError> {
    match () {
        () if is_number(target) => number(target, line),
        () if is_line_hash(target) => Err(line_hash(line)),
        () if target.contains(['-', '.', ',', ' ', '\t', '–', '—']) && !is_range(target) => {
            Err(bad_range(target, line))
        }
        () => Err(not_a_number(target, line)),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_range(text: &str) -> bool {
    text.split_once('-').is_some_and(|(first, last)| is_number(first) && is_number(last))
}

/// Detects `42ab` or `42#ab`, with which other dialects bind a single line to its content.
fn is_line_hash(text: &str) -> bool {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let hash = rest.strip_prefix('#').unwrap_or(rest);
    let digits = text.len() - rest.len();
    digits > 0 && (1..=6).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn number(text: &str, line: usize) -> Result<usize, HashlineError> {
    text.parse().ok().filter(|at| *at > 0).ok_or_else(|| not_a_number(text, line))
}

fn not_a_number(got: &str, line: usize) -> HashlineError {
    HashlineError::at(line, format!("expected a line number such as \"119\"; got \"{got}\"."))
}

fn bad_range(got: &str, line: usize) -> HashlineError {
    HashlineError::at(line, format!("range must be LINE or LINE-LINE (one dash, no spaces); got \"{got}\"."))
}

fn line_hash(line: usize) -> HashlineError {
    HashlineError::at(
        line,
        "edit ops use bare line numbers. Copy the [PATH#TAG] header, then use anchors like 42, 42-45, BOF, or EOF.",
    )
}
