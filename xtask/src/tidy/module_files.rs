//! No unused files: every Rust file is declared by a `mod`, and a crate has one integration test binary.

use std::collections::BTreeSet;

use super::Violation;
use super::prompts::resolve;
use super::workspace::{Workspace, module_paths};

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let declared = declared(workspace);
    let mut found = Vec::new();
    for (path, ..) in workspace.rust_files() {
        let Some(inner) = workspace.members.keys().find_map(|folder| path.strip_prefix(folder)?.strip_prefix('/'))
        else {
            continue;
        };
        if is_stray_binary(inner) {
            found.push(violation(
                path,
                "a second integration test binary",
                "move it to tests/it/ and declare it there",
            ));
        } else if !is_root(inner) && !declared.contains(path) {
            found.push(violation(path, "no `mod` declares this file", "declare it, or remove the file"));
        }
    }
    found
}

fn declared(workspace: &Workspace) -> BTreeSet<String> {
    let mut declared = BTreeSet::new();
    for (path, text, rust) in workspace.rust_files() {
        declared.extend(rust.modules().into_iter().flat_map(|(_, name)| module_paths(path, name)));
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let explicit = text.match_indices("#[path = \"").filter_map(|(at, _)| text[at..].split('"').nth(1));
        declared.extend(explicit.map(|target| resolve(folder, target)));
    }
    declared
}

/// Files that cargo finds by itself.
fn is_root(inner: &str) -> bool {
    let target = |folder: &str| inner.strip_prefix(folder).is_some_and(|name| !name.contains('/') || is_main(name));
    matches!(inner, "build.rs" | "src/lib.rs" | "src/main.rs" | "tests/it/main.rs")
        || target("src/bin/")
        || target("benches/")
        || target("examples/")
}

fn is_main(name: &str) -> bool {
    name.split_once('/').is_some_and(|(_, file)| file == "main.rs")
}

fn is_stray_binary(inner: &str) -> bool {
    inner.strip_prefix("tests/").is_some_and(|name| !name.contains('/') || (is_main(name) && name != "it/main.rs"))
}

fn violation(path: &str, what: &str, hint: &'static str) -> Violation {
    Violation { path: path.to_owned(), line: 0, rule: "module-file", what: what.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_files_are_caught() {
        let workspace = Workspace::of([
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/lib.rs", "mod b;\n// mod lost;\n#[path = \"odd/name.rs\"]\nmod odd;"),
            ("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;"),
            ("crates/a/src/b/tests.rs", ""),
            ("crates/a/src/odd/name.rs", ""),
            ("crates/a/src/lost.rs", ""),
            ("crates/a/src/tests.rs", ""),
            ("crates/a/tests/it/main.rs", "mod rows;"),
            ("crates/a/tests/it/rows.rs", ""),
            ("crates/a/tests/it/forgotten.rs", ""),
            ("crates/a/tests/other.rs", ""),
        ]);
        let paths: Vec<_> = check(&workspace).into_iter().map(|violation| violation.path).collect();
        assert_eq!(
            paths,
            [
                "crates/a/src/lost.rs",
                "crates/a/src/tests.rs",
                "crates/a/tests/it/forgotten.rs",
                "crates/a/tests/other.rs",
            ]
        );
    }
}
