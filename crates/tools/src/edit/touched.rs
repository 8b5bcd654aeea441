//! Returns the files of a call in any edit language.

use omp_types::TouchedFiles;
use serde_json::{Map, Value};

const HEADERS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// Lenient: the session may have used another language, or come from another program.
pub(super) fn touched(arguments: &Map<String, Value>) -> TouchedFiles {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str);
    TouchedFiles::modified(
        argument("path").into_iter().chain(argument("input").into_iter().flat_map(str::lines).filter_map(edited)),
    )
}

/// Returns the file named at the start of a line: `[path#TAG]`, or a patch header.
fn edited(line: &str) -> Option<&str> {
    let bracketed = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let tagged = bracketed.and_then(|inside| inside.rsplit_once('#')).map(|(path, _)| path);
    tagged.or_else(|| HEADERS.iter().find_map(|header| line.strip_prefix(header)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(arguments: Value, expect: &[&str]) {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        assert_eq!(touched(&arguments), TouchedFiles::modified(expect.iter().copied()));
    }

    #[test]
    fn every_language_names_its_files() {
        check(json!({"input": "[src/a.rs#AB12]\nreplace 1..2:\n+x\n[src/b.rs#CD34]\n"}), &["src/a.rs", "src/b.rs"]);
        check(
            json!({"input": "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n*** End Patch"}),
            &["src/a.rs", "src/b.rs"],
        );
        check(json!({"path": "src/c.rs", "edits": []}), &["src/c.rs"]);
        check(json!({"path": 3}), &[]);
    }
}
