//! Where a conversation can be taken up anew: before any message of the user, on whatever branch it stands.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use omp_store::EntryId;
use serde::Deserialize;
use serde_json::Value;

/// A message of the user, and what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPoint {
    pub entry: EntryId,
    /// The entry before it, `None` for the first.
    pub parent: Option<EntryId>,
    pub text: String,
}

/// What is looked at of a line; anything else is left alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    parent_id: Option<String>,
    #[serde(default)]
    message: Option<Value>,
}

/// A file that is not there yet has none: it is written with the first message.
pub(crate) fn read(file: &Path) -> Result<Vec<BranchPoint>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", file.display());
    let lines = match File::open(file) {
        Ok(file) => BufReader::new(file).split(b'\n'),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut points = Vec::new();
    for line in lines {
        points.extend(point(&line.map_err(unreadable)?));
    }
    Ok(points)
}

fn point(line: &[u8]) -> Option<BranchPoint> {
    // Most of a long file are answers and results, which need not be parsed to be passed over.
    if !holds(line, b"\"role\":\"user\"") && !holds(line, b"\"role\": \"user\"") {
        return None;
    }
    let line: Line<'_> = serde_json::from_slice(line).ok().filter(|line: &Line<'_>| line.kind == "message")?;
    let message = line.message.filter(|message| message["role"] == "user")?;
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    };
    let entry = EntryId::from(line.id?.as_str());
    let parent = line.parent_id.as_deref().map(EntryId::from);
    (!text.is_empty()).then_some(BranchPoint { entry, parent, text })
}

fn holds(line: &[u8], needle: &[u8]) -> bool {
    line.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_said_is_a_point() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.jsonl");
        let lines = [
            r#"{"type":"session","id":"s","version":3}"#,
            r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"first"}}"#,
            r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"\"role\":\"user\""}]}}"#,
            r#"{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":[{"type":"text","text":"sec"},{"type":"image","data":""},{"type":"text","text":"ond"}]}}"#,
            r#"{"type":"message","id":"d","parentId":"b","message":{"role":"user","content":[]}}"#,
            r#"{"type":"message","id":"e","parentId":"#,
        ];
        std::fs::write(&file, lines.join("\n")).unwrap();
        let points = read(&file).unwrap();
        let shown: Vec<_> =
            points.iter().map(|it| (it.entry.as_str(), it.parent.as_ref().map(EntryId::as_str), &*it.text)).collect();
        assert_eq!(shown, [("a", None, "first"), ("c", Some("b"), "second")]);
    }

    #[test]
    fn a_file_that_is_not_written_yet_has_no_points() {
        assert_eq!(read(Path::new("/nowhere/at/all.jsonl")).unwrap(), []);
    }
}
