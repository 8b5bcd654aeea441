//! What a call has read and how much of it the result shows.

use omp_types::{CallFacts, ShownContent, TouchedFiles};
use serde_json::{Map, Value};

/// Addresses of texts that tell the model how to work.
const INSTRUCTIONS: &str = "skill://";

/// Lenient: arguments and details may come from another version or another program.
pub(super) fn of(arguments: &Map<String, Value>, details: Option<&Value>) -> CallFacts {
    let path = arguments.get("path").and_then(Value::as_str).map(without_selector);
    CallFacts {
        files: TouchedFiles::read(path),
        shown: shown(details),
        has_instructions: path.is_some_and(|path| path.starts_with(INSTRUCTIONS)),
    }
}

fn without_selector(path: &str) -> &str {
    let mut path = path.trim();
    while let Some((rest, part)) = path.rsplit_once(':') {
        let words = matches!(part, "raw" | "md" | "conflicts");
        let lines = part.contains(|char: char| char.is_ascii_digit())
            && part.chars().all(|char| char.is_ascii_digit() || matches!(char, '-' | '+' | ',' | 'L'));
        if !(words || lines) || rest.is_empty() {
            break;
        }
        path = rest;
    }
    path
}

fn shown(details: Option<&Value>) -> ShownContent {
    let Some(details) = details else { return ShownContent::Part };
    if details.get("summary").is_some() {
        return ShownContent::Outline;
    }
    let total = details.get("totalLines").and_then(Value::as_u64);
    let lines = details.pointer("/displayContent/lineNumbers").and_then(Value::as_array);
    match (total, lines) {
        (Some(total), Some(lines)) if total > 0 && lines.len() as u64 >= total => ShownContent::All,
        _ => ShownContent::Part,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(arguments: Value, details: Option<Value>) -> CallFacts {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        of(&arguments, details.as_ref())
    }

    #[test]
    fn lines_and_words_behind_a_path_are_not_part_of_it() {
        for (typed, expect) in [
            ("src/a.rs:10-20", "src/a.rs"),
            ("src/a.rs:raw", "src/a.rs"),
            ("./README.md:L3-L8,20+5:raw", "./README.md"),
            ("skill://rust/notes.md:1-20", "skill://rust/notes.md"),
            ("/etc/hosts", "/etc/hosts"),
            ("C:\\a.txt", "C:\\a.txt"),
        ] {
            let facts = facts(json!({"path": typed}), None);
            assert_eq!(facts.files, TouchedFiles::read(Some(expect)), "{typed}");
            assert_eq!(facts.has_instructions, typed.starts_with("skill:"), "{typed}");
        }
        assert_eq!(facts(json!({}), None).files, TouchedFiles::default());
    }

    #[test]
    fn the_details_tell_how_much_is_shown() {
        let check = |details: Option<Value>, expect: ShownContent| {
            assert_eq!(facts(json!({"path": "a.rs"}), details.clone()).shown, expect, "{details:?}");
        };
        let lines = json!({"text": "", "startLine": 1, "lineNumbers": [1, 2]});
        check(Some(json!({"totalLines": 2, "displayContent": lines})), ShownContent::All);
        check(Some(json!({"totalLines": 9, "displayContent": lines})), ShownContent::Part);
        check(Some(json!({"totalLines": 0, "displayContent": lines})), ShownContent::Part);
        check(Some(json!({"totalLines": 2, "summary": {"lines": 1}, "displayContent": lines})), ShownContent::Outline);
        check(Some(json!("odd")), ShownContent::Part);
        check(None, ShownContent::Part);
    }
}
