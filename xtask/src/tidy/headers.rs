//! Every Rust file opens with `//!` and a sentence.

use super::Violation;
use super::workspace::Workspace;

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let bare = workspace.rust_files().filter(|(_, text, _)| !opens_with_sentence(text));
    bare.map(|(path, ..)| Violation {
        path: path.to_owned(),
        line: 1,
        rule: "header",
        what: "no `//!` sentence at the top".to_owned(),
        hint: "say in one sentence what the file is, and why, if that is not obvious",
    })
    .collect()
}

fn opens_with_sentence(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|sentence| sentence.split_whitespace().count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_files_are_caught() {
        let workspace = Workspace::of([
            ("crates/a/src/lib.rs", "//! What it is.\n"),
            ("crates/a/src/bare.rs", "use std::fmt;\n"),
            ("crates/a/src/word.rs", "//! placeholder\n"),
        ]);
        let paths: Vec<_> = check(&workspace).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["crates/a/src/bare.rs", "crates/a/src/word.rs"]);
    }
}
