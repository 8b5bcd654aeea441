//! No crate, folder or module has a catch-all name.

use super::Violation;
use super::workspace::Workspace;

const ATTICS: &[&str] =
    &["common", "core", "helper", "helpers", "manager", "managers", "misc", "util", "utilities", "utils"];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, _, rust) in workspace.rust_files() {
        for part in path.split('/').map(|part| part.trim_end_matches(".rs")).filter(|part| is_attic(part)) {
            found.push(violation(path, 0, part));
        }
        for (at, name) in rust.modules().into_iter().filter(|(_, name)| is_attic(name)) {
            found.push(violation(path, rust.line_at(at), name));
        }
    }
    for (folder, manifest) in &workspace.members {
        let name = manifest.name.rsplit('-').next().unwrap_or_default();
        if is_attic(name) {
            found.push(violation(&format!("{folder}/Cargo.toml"), 0, name));
        }
    }
    found
}

fn is_attic(name: &str) -> bool {
    ATTICS.contains(&name) || name.ends_with("_utils") || name.ends_with("_helpers") || name.ends_with("_manager")
}

fn violation(path: &str, line: usize, name: &str) -> Violation {
    Violation {
        path: path.to_owned(),
        line,
        rule: "name",
        what: format!("`{name}` is a catch-all name"),
        hint: "name it after what it does",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attics_are_caught() {
        let workspace = Workspace::of([
            ("crates/core/src/lib.rs", "mod fine;"),
            ("crates/a/src/utils.rs", ""),
            ("crates/a/src/lib.rs", "mod fine;\npub mod helpers {}\nuse core::fmt;"),
            ("crates/b/Cargo.toml", "[package]\nname = \"omp-common\""),
        ]);
        let found: Vec<_> = check(&workspace).into_iter().map(|v| format!("{}:{}", v.path, v.line)).collect();
        assert_eq!(
            found,
            ["crates/a/src/lib.rs:2", "crates/a/src/utils.rs:0", "crates/core/src/lib.rs:0", "crates/b/Cargo.toml:0"]
        );
    }
}
