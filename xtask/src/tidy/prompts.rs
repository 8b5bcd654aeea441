//! Every prompt (`crates/*/src/**/*.md`) is included exactly once, so that none is unused or shared.

use std::collections::BTreeMap;

use super::Violation;
use super::workspace::Workspace;

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let included = inclusions(workspace);
    let prompts = workspace.files.keys().filter(|path| is_prompt(path));
    let wrong = prompts.filter_map(|path| {
        let count = included.get(path).copied().unwrap_or(0);
        (count != 1).then(|| Violation {
            path: path.clone(),
            line: 0,
            rule: "prompt",
            what: format!("the prompt is included {count} times"),
            hint: "include_str! it in the one place that uses it, or remove the file",
        })
    });
    wrong.collect()
}

fn is_prompt(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".md")
}

/// How often each file is included outside of tests.
fn inclusions(workspace: &Workspace) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (path, text, rust) in workspace.rust_files() {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (at, _) in rust.code.match_indices("include_str!").filter(|(at, _)| !rust.is_test_at(*at)) {
            if let Some(target) = text[at..].split('"').nth(1) {
                *counts.entry(resolve(folder, target)).or_default() += 1;
            }
        }
    }
    counts
}

pub fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_and_doubled_prompts_are_caught() {
        let workspace = Workspace::of([
            ("crates/a/src/x/mod.rs", "const A: &str = include_str!(\"prompt.md\");\n// include_str!(\"lost.md\")"),
            ("crates/a/src/y.rs", "const B: &str = include_str!(\n    \"x/twice.md\"\n);"),
            ("crates/a/src/z/mod.rs", "const B: &str = include_str!(\"../x/twice.md\");"),
            ("crates/a/src/x/prompt.md", ""),
            ("crates/a/src/x/twice.md", ""),
            ("crates/a/src/x/lost.md", ""),
        ]);
        let found: Vec<_> = check(&workspace).into_iter().map(|v| format!("{} {}", v.path, v.what)).collect();
        assert_eq!(
            found,
            [
                "crates/a/src/x/lost.md the prompt is included 0 times",
                "crates/a/src/x/twice.md the prompt is included 2 times",
            ]
        );
    }
}
