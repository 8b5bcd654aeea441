//! Every child process runs in the sandbox of its session, except in listed places.

use super::Violation;
use super::workspace::Workspace;

const NONE: [&str; 2] = ["Containment::of_user()", "Containment::switched_off()"];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, _, rust) in workspace.rust_files().filter(|(path, ..)| path.starts_with("crates/")) {
        if !path.contains("/src/") {
            continue;
        }
        let uses = NONE.iter().flat_map(|none| rust.code.match_indices(none)).filter(|(at, _)| !rust.is_test_at(*at));
        found.extend(uses.map(|(at, none)| Violation {
            path: path.to_owned(),
            line: rust.line_at(at),
            rule: "contained",
            what: format!("`{none}`: this process runs outside the sandbox"),
            hint: "pass the session's containment; list commands of the user in xtask/exceptions.toml and \
                   docs/containment.md",
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_without_containment_is_caught() {
        let text = "fn a() {\n    Spawn::new(x, &Containment::of_user());\n    Containment::switched_off();\n}\n\
            // Containment::of_user()\n#[cfg(test)]\nmod tests {\n    fn b() { Containment::of_user(); }\n}\n";
        let files =
            [("crates/a/src/lib.rs", text), ("crates/a/tests/it/main.rs", text), ("crates/a/benches/b.rs", text)];
        let found = check(&Workspace::of(files));
        let places: Vec<_> = found.iter().map(|violation| (violation.path.as_str(), violation.line)).collect();
        assert_eq!(places, [("crates/a/src/lib.rs", 2), ("crates/a/src/lib.rs", 3)]);
    }
}
