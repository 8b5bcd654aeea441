//! Extracts the source text of an `edit` or `write` call from its arguments while they arrive.
//!
//! Text that a call removes or only quotes is excluded, and so is the syntax of the edit language. Each character is read
//! once: the length of the processed part is remembered.

use serde_json::{Map, Value};

/// Returns whether a tool's arguments are interpreted as source rather than raw.
pub fn writes_source(tool: &str) -> bool {
    matches!(tool, "edit" | "write")
}

/// A piece of the arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ArgumentPiece<'a> {
    /// The whole content goes into this file.
    Path(&'a str),
    /// The following content goes into this file.
    File(&'a str),
    Text(&'a str),
    /// The end of a line.
    Break,
}

/// How far the arguments of one call were read.
#[derive(Debug, Default)]
pub(crate) struct ArgumentCursor {
    path: Option<String>,
    /// Index in `edits`, or 0.
    part: usize,
    /// Number of bytes of that part that were read.
    taken: usize,
}

impl ArgumentCursor {
    /// Returns new pieces. `whole` means that the arguments are complete, so a last line without a newline is included.
    pub fn read<'a>(
        &mut self,
        arguments: &'a Map<String, Value>,
        whole: bool,
        mut take: impl FnMut(ArgumentPiece<'a>),
    ) {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        // A path in last position may still be growing.
        let path_is_whole = whole || arguments.keys().next_back().is_some_and(|last| last != "path");
        if self.path.is_none()
            && path_is_whole
            && let Some(path) = text("path")
        {
            self.path = Some(path.to_owned());
            take(ArgumentPiece::Path(path));
        }
        if let Some(input) = text("input") {
            self.lines(input, whole, &mut take, classified);
        } else if let Some(edits) = arguments.get("edits").and_then(Value::as_array) {
            while let Some(edit) = edits.get(self.part) {
                let is_last = self.part + 1 == edits.len();
                self.edit(edit, whole || !is_last, &mut take);
                if is_last {
                    break;
                }
                take(ArgumentPiece::Break);
                (self.part, self.taken) = (self.part + 1, 0);
            }
        } else if let Some(content) = text("content") {
            self.plain(content, &mut take);
        }
    }

    fn edit<'a>(&mut self, edit: &'a Value, whole: bool, take: &mut impl FnMut(ArgumentPiece<'a>)) {
        let text = |name: &str| edit.get(name).and_then(Value::as_str);
        match (text("new_text"), text("diff")) {
            (Some(new), _) => self.plain(new, take),
            (None, Some(diff)) if text("op") == Some("create") => self.plain(diff, take),
            (None, Some(diff)) => self.lines(diff, whole, take, |line| line.strip_prefix('+').map(ArgumentPiece::Text)),
            (None, None) => {}
        }
    }

    fn plain<'a>(&mut self, text: &'a str, take: &mut impl FnMut(ArgumentPiece<'a>)) {
        if let Some(new) = text.get(self.taken..).filter(|new| !new.is_empty()) {
            take(ArgumentPiece::Text(new));
            self.taken = text.len();
        }
    }

    fn lines<'a>(
        &mut self,
        text: &'a str,
        whole: bool,
        take: &mut impl FnMut(ArgumentPiece<'a>),
        meaning: impl Fn(&'a str) -> Option<ArgumentPiece<'a>>,
    ) {
        let Some(new) = text.get(self.taken..) else { return };
        for line in new.split_inclusive('\n') {
            if !line.ends_with('\n') && !whole {
                break;
            }
            self.taken += line.len();
            match meaning(line.trim_end_matches(['\n', '\r'])) {
                Some(ArgumentPiece::Text(text)) => {
                    take(ArgumentPiece::Text(text));
                    take(ArgumentPiece::Break);
                }
                Some(other) => take(other),
                None => {}
            }
        }
    }
}

/// Classifies a line of `apply_patch` or of the line-number language: both start added text with `+`.
fn classified(line: &str) -> Option<ArgumentPiece<'_>> {
    if let Some(text) = line.strip_prefix('+') {
        return Some(ArgumentPiece::Text(text));
    }
    for head in ["*** Add File: ", "*** Update File: ", "*** Move to: "] {
        if let Some(path) = line.strip_prefix(head) {
            return Some(ArgumentPiece::File(path.trim()));
        }
    }
    if let Some(head) = line.strip_prefix('[').and_then(|rest| rest.trim_end().strip_suffix(']')) {
        return Some(ArgumentPiece::File(head.rsplit_once('#').map_or(head, |(path, _)| path)));
    }
    operation(line).map(ArgumentPiece::Text)
}

/// Returns the text after `4:`, `7-9:`, `12↓`, `BOF↓`.
fn operation(line: &str) -> Option<&str> {
    let at = line.find([':', '↑', '↓'])?;
    let (place, text) = line.split_at(at);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (first, last) = place.split_once('-').unwrap_or((place, place));
    let is_place = matches!(place, "BOF" | "EOF") || (is_number(first) && is_number(last));
    let mut text = text.chars();
    text.next();
    is_place.then_some(text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is read from arguments that arrive in any number of steps, with files in angle brackets.
    fn read(arguments: &Value) -> String {
        let mut whole = String::new();
        let mut cursor = ArgumentCursor::default();
        let taken = |piece: ArgumentPiece<'_>, into: &mut String| match piece {
            ArgumentPiece::Path(path) | ArgumentPiece::File(path) => *into += &format!("<{path}>"),
            ArgumentPiece::Text(text) => *into += text,
            ArgumentPiece::Break => into.push('\n'),
        };
        for step in steps(arguments) {
            cursor.read(step.as_object().unwrap(), false, |piece| taken(piece, &mut whole));
        }
        cursor.read(arguments.as_object().unwrap(), true, |piece| taken(piece, &mut whole));
        whole
    }

    /// Returns the arguments with their last text cut at every character.
    fn steps(arguments: &Value) -> Vec<Value> {
        let raw = arguments.to_string();
        (1..raw.len())
            .filter_map(|end| {
                let mut partial = omp_types::PartialJson::default();
                let mut map = Map::new();
                partial.push(raw.get(..end)?, &mut map);
                Some(Value::Object(map))
            })
            .collect()
    }

    #[test]
    fn only_what_is_written_is_read() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (arguments, expect) in [
            (json(r#"{"path":"a.rs","content":"fn a() {}\nfn b() {}"}"#), "<a.rs>fn a() {}\nfn b() {}"),
            (
                json(
                    r#"{"path":"a.rs","edits":[{"old_text":"bad","new_text":"good"},{"old_text":"x","new_text":"y"}]}"#,
                ),
                "<a.rs>good\ny",
            ),
            (
                json(r#"{"path":"a.rs","edits":[{"op":"update","diff":"@@ fn\n-old\n+new\n same\n+more"}]}"#),
                "<a.rs>new\nmore\n",
            ),
            (
                json(
                    r#"{"input":"[src/a.rs#1a2b]\n4:let x;\n7-9:let y\n+    + z;\n12↓use a;\n15!\nEOF↓end\n[b.rs]\nBOF↓++x"}"#,
                ),
                "<src/a.rs>let x;\nlet y\n    + z;\nuse a;\nend\n<b.rs>++x\n",
            ),
            (
                json(
                    "{\"input\":\"*** Begin Patch\\n*** Update File: a.rs\\n@@ 4: x\\n stay\\n-go\\n+come\\n*** Add File: b.rs\\n+new\\n*** End Patch\"}",
                ),
                "<a.rs>come\n<b.rs>new\n",
            ),
            (json(r#"{"content":"x","path":"a.rs"}"#), "x<a.rs>"),
            (json(r#"{"command":"ls"}"#), ""),
        ] {
            assert_eq!(read(&arguments), expect, "{arguments}");
        }
    }
}
