//! No ignored tests, no unfinished code.

use super::Violation;
use super::workspace::Workspace;

const TEXTS: &[(&str, &str)] = &[
    ("#[ignore", "make the test pass, or remove it"),
    ("todo!", "write what is missing"),
    ("unimplemented!", "write what is missing, or return an error that says what and why"),
];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, _, rust) in workspace.rust_files() {
        for (text, hint) in TEXTS {
            found.extend(rust.code.match_indices(text).map(|(at, _)| Violation {
                path: path.to_owned(),
                line: rust.line_at(at),
                rule: "unfinished",
                what: format!("`{text}` is not allowed"),
                hint,
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_code_is_caught() {
        let text =
            "#[test]\n#[ignore]\nfn a() {\n    todo!()\n}\n// unimplemented!()\nfn b() { unimplemented!(\"x\") }";
        let lines: Vec<_> = check(&Workspace::of([("a.rs", text)])).iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [2, 4, 7]);
    }
}
