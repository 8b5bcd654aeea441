//! Parses `@@` hunks.

use crate::file_edit::EditRefused;

/// Adjacent lines of a file and their replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Lines above the target, outermost first, as written after `@@`.
    pub anchors: Vec<String>,
    /// Line number from `@@ -12,3 +12,4 @@`, counted from 1.
    pub line: Option<usize>,
    pub lines: Vec<HunkLine>,
    /// The last old line must be the last line of the file.
    pub at_end: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    Kept(String),
    Removed(String),
    Added(String),
}

impl Hunk {
    /// Returns the lines that the hunk expects to find.
    pub fn old(&self) -> Vec<&str> {
        let old = |line: &'_ HunkLine| !matches!(line, HunkLine::Added(_));
        self.lines.iter().filter(|line| old(line)).map(HunkLine::text).collect()
    }

    fn changes_something(&self) -> bool {
        self.lines.iter().any(|line| !matches!(line, HunkLine::Kept(_)))
    }
}

impl HunkLine {
    pub fn text(&self) -> &str {
        match self {
            HunkLine::Kept(text) | HunkLine::Removed(text) | HunkLine::Added(text) => text,
        }
    }
}

const END_OF_FILE: &str = "*** End of File";
/// Lines that diff programs write above the first hunk.
const FILE_HEADERS: [&str; 6] = ["--- ", "+++ ", "diff ", "index ", "new file mode", "deleted file mode"];

/// Parses hunks. Lines before the first `@@` form a hunk of their own.
pub fn parse_hunks(diff: &str) -> Result<Vec<Hunk>, EditRefused> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let body = diff.trim_end_matches(['\n', '\r']);
    for (index, line) in body.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if hunks.is_empty() && (line.trim().is_empty() || FILE_HEADERS.iter().any(|header| line.starts_with(header))) {
            continue;
        }
        if let Some(head) = line.strip_prefix("@@") {
            open_hunk(&mut hunks, head);
        } else if line.trim_end() == END_OF_FILE {
            hunks.last_mut().ok_or_else(|| unexpected(index, line))?.at_end = true;
        } else if !line.starts_with("\\ ") {
            let parsed = hunk_line(line).ok_or_else(|| unexpected(index, line))?;
            if hunks.last().is_none_or(|hunk| hunk.at_end) {
                hunks.push(Hunk::default());
            }
            hunks.last_mut().into_iter().for_each(|hunk| hunk.lines.push(parsed.clone()));
        }
    }
    match hunks.iter().position(|hunk| !hunk.changes_something()) {
        Some(idle) => Err(EditRefused::edit(format!("Hunk {} adds and removes nothing.", idle + 1))),
        None if hunks.is_empty() => Err(EditRefused::edit("The diff has no hunks.\nhint: start one with @@")),
        None => Ok(hunks),
    }
}

/// Consecutive headers narrow down one position.
fn open_hunk(hunks: &mut Vec<Hunk>, head: &str) {
    let (line, anchor) = head_parts(head);
    let stacked = hunks.last().is_some_and(|hunk| hunk.lines.is_empty() && !hunk.anchors.is_empty());
    if !stacked {
        hunks.push(Hunk::default());
    }
    if let Some(hunk) = hunks.last_mut() {
        hunk.line = line.or(hunk.line);
        hunk.anchors.extend(anchor);
    }
}

/// Parses ` -12,3 +12,4 @@ fn name()`, ` fn name()` or nothing.
fn head_parts(head: &str) -> (Option<usize>, Option<String>) {
    let head = head.trim();
    let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(ranges) = head.strip_prefix('-')
        && let Some((old, rest)) = ranges.split_once(' ')
        && let Ok(line) = old.split(',').next().unwrap_or(old).parse()
        && rest.trim_start().starts_with('+')
    {
        let anchor = rest.split_once("@@").and_then(|(_, anchor)| named(anchor));
        return (Some(line), anchor);
    }
    (None, named(head.strip_suffix("@@").unwrap_or(head)))
}

fn hunk_line(line: &str) -> Option<HunkLine> {
    let Some(sign) = line.chars().next() else { return Some(HunkLine::Kept(String::new())) };
    let text = line[sign.len_utf8()..].to_owned();
    match sign {
        ' ' => Some(HunkLine::Kept(text)),
        '-' => Some(HunkLine::Removed(text)),
        '+' => Some(HunkLine::Added(text)),
        _ => None,
    }
}

fn unexpected(index: usize, line: &str) -> EditRefused {
    let shown: String = line.chars().take(80).collect();
    EditRefused::edit(format!(
        "line {} of the diff starts with none of space, -, +, @@: \"{shown}\"\nhint: put a space in front of lines that stay",
        index + 1
    ))
}
