//! A crate has few dependencies on other crates of the workspace, and no dependency is unused.

use std::collections::BTreeSet;

use super::Violation;
use super::manifest::{Manifest, keys, line_of};
use super::scan::words;
use super::workspace::Workspace;

const MOST: usize = 12;
/// The composition root may depend on all crates.
const ROOT: &str = "omp";

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = unused_workspace_entries(workspace);
    for (folder, manifest) in &workspace.members {
        let path = format!("{folder}/Cargo.toml");
        let text = workspace.text(&path).unwrap_or_default();
        let inner = manifest.dependencies.iter().filter(|name| name.starts_with("omp-")).count();
        if inner > MOST && manifest.name != ROOT {
            let what = format!("{inner} crates of the workspace, at most {MOST} are allowed");
            found.push(violation(&path, 0, what, "split the crate, or pass in what it needs"));
        }
        if manifest.has_features {
            let what = "features inside the workspace".to_owned();
            found.push(violation(&path, line_of(text, "[features]"), what, "keep one build graph"));
        }
        for name in unused(workspace, folder, manifest) {
            let what = format!("`{name}` is not used");
            found.push(violation(&path, line_of(text, &name), what, "remove the line"));
        }
    }
    found
}

fn unused_workspace_entries(workspace: &Workspace) -> Vec<Violation> {
    let text = workspace.text("Cargo.toml").unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let Some(entries) = table.get("workspace").and_then(toml::Value::as_table) else { return Vec::new() };
    let used = |name: &String| {
        workspace.members.values().any(|one| one.dependencies.contains(name) || one.dev_dependencies.contains(name))
    };
    let idle = keys(entries, "dependencies").filter(|name| !used(name));
    idle.map(|name| {
        violation("Cargo.toml", line_of(text, &name), format!("no crate uses `{name}`"), "remove the entry")
    })
    .collect()
}

/// Dependencies whose name does not occur in the crate's code; test code does not count for ordinary ones.
fn unused(workspace: &Workspace, folder: &str, manifest: &Manifest) -> Vec<String> {
    let mut named = BTreeSet::new();
    let mut named_in_tests = BTreeSet::new();
    for (_, _, rust) in workspace.rust_files_of(folder) {
        for (at, word) in words(&rust.code) {
            if rust.is_test_at(at) {
                named_in_tests.insert(word)
            } else {
                named.insert(word)
            };
        }
    }
    let in_code = |name: &&String| named.contains(name.replace('-', "_").as_str());
    let in_tests = |name: &&String| named_in_tests.contains(name.replace('-', "_").as_str());
    let idle = manifest.dependencies.iter().filter(|name| !in_code(name));
    let idle_in_tests = manifest.dev_dependencies.iter().filter(|name| !in_code(name) && !in_tests(name));
    idle.chain(idle_in_tests).cloned().collect()
}

fn violation(path: &str, line: usize, what: String, hint: &'static str) -> Violation {
    Violation { path: path.to_owned(), line, rule: "dependency", what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let found = check(&Workspace::of(files.iter().copied()));
        found.into_iter().map(|v| format!("{}:{} {}", v.path, v.line, v.what)).collect()
    }

    #[test]
    fn leftovers_are_caught() {
        let found = found(&[
            ("Cargo.toml", "[workspace.dependencies]\nserde = \"1\"\nbytes = \"1\"\n"),
            (
                "crates/a/Cargo.toml",
                "[dependencies]\nserde.workspace = true\nidle-one.workspace = true\n[features]\nx=[]\n",
            ),
            ("crates/a/src/lib.rs", "use serde::Serialize;\n// idle_one\n#[cfg(test)]\nmod tests { use idle_one::X; }"),
        ]);
        assert_eq!(
            found,
            [
                "Cargo.toml:3 no crate uses `bytes`",
                "crates/a/Cargo.toml:1 features inside the workspace",
                "crates/a/Cargo.toml:3 `idle-one` is not used",
            ]
        );
    }

    #[test]
    fn too_many_are_caught() {
        let names: Vec<String> = (0..13).map(|number| format!("omp-x{number}")).collect();
        let entries: String = names.iter().map(|name| format!("{name} = \"1\"\n")).collect();
        let code: String = names.iter().map(|name| format!("use {};\n", name.replace('-', "_"))).collect();
        let manifest = format!("[package]\nname = \"omp-a\"\n[dependencies]\n{entries}");
        let files = [("crates/a/Cargo.toml", manifest.as_str()), ("crates/a/src/lib.rs", code.as_str())];
        assert_eq!(found(&files), ["crates/a/Cargo.toml:0 13 crates of the workspace, at most 12 are allowed"]);
        let root = manifest.replace("omp-a", ROOT);
        assert_eq!(found(&[("crates/a/Cargo.toml", &root), files[1]]), [""; 0]);
    }
}
