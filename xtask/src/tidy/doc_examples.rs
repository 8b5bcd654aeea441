//! No examples in doc comments that only `rustdoc` would run: the test runner does not, so they would become outdated.

use super::Violation;
use super::workspace::Workspace;

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text, _) in workspace.rust_files() {
        found.extend(examples(text).into_iter().map(|line| Violation {
            path: path.to_owned(),
            line,
            rule: "doc-example",
            what: "an example in a doc comment is not run".to_owned(),
            hint: "make it a test, or mark the block as ```text",
        }));
    }
    found
}

/// Lines that open a code block which rustdoc reads as Rust.
fn examples(text: &str) -> Vec<usize> {
    let mut open = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(info) = comment.and_then(|comment| comment.trim_start().strip_prefix("```")) else { continue };
        if !open && matches!(info.trim(), "" | "rust" | "no_run" | "should_panic") {
            lines.push(at + 1);
        }
        open = !open;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runnable_examples_are_caught() {
        let text = "//! ```text\n//! a\n//! ```\n/// ```\n/// f();\n/// ```\n    /// ```rust\n    /// ```\nfn f() {}\n";
        let lines: Vec<_> = check(&Workspace::of([("a.rs", text)])).iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [4, 7]);
    }
}
