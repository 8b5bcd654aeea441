//! Returns the file of a call, without its selector.

use omp_types::TouchedFiles;
use serde_json::{Map, Value};

/// Lenient: the arguments may come from another version or another program.
pub fn touched(arguments: &Map<String, Value>) -> TouchedFiles {
    TouchedFiles::read(arguments.get("path").and_then(Value::as_str).map(without_selector))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            let Value::Object(arguments) = json!({"path": typed}) else { panic!("an object") };
            assert_eq!(touched(&arguments), TouchedFiles::read(Some(expect)), "{typed}");
        }
        assert_eq!(touched(&Map::new()), TouchedFiles::default());
    }
}
