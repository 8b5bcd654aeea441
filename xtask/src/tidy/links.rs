//! Links between the documents are valid, the index of `docs/` lists every page, and pages named in code exist.

use std::collections::BTreeSet;

use super::Violation;
use super::prompts::resolve;
use super::workspace::Workspace;

const INDEX: &str = "docs/README.md";

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = dead_links(workspace);
    found.extend(unlisted_pages(workspace));
    found.extend(pages_named_in_code(workspace));
    found
}

fn dead_links(workspace: &Workspace) -> Vec<Violation> {
    let documents = workspace.files.iter().filter(|(path, _)| path.ends_with(".md") && !path.starts_with("crates/"));
    let mut found = Vec::new();
    for (path, file) in documents {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (at, line) in file.text.lines().enumerate() {
            let broken = targets(line).filter(|target| !exists(workspace, &resolve(folder, target)));
            found.extend(broken.map(|target| Violation {
                path: path.clone(),
                line: at + 1,
                rule: "link",
                what: format!("`{target}` does not exist"),
                hint: "fix the path, relative to the document",
            }));
        }
    }
    found
}

fn unlisted_pages(workspace: &Workspace) -> Vec<Violation> {
    let index = workspace.text(INDEX).unwrap_or_default();
    let listed: BTreeSet<String> = index.lines().flat_map(targets).map(|target| resolve("docs", target)).collect();
    let pages = workspace.files.keys().filter(|path| path.starts_with("docs/") && path.ends_with(".md"));
    let unlisted = pages.filter(|path| *path != INDEX && !listed.contains(*path));
    unlisted
        .map(|path| Violation {
            path: path.clone(),
            line: 0,
            rule: "link",
            what: "the page is not in the index".to_owned(),
            hint: "add a line to docs/README.md",
        })
        .collect()
}

fn pages_named_in_code(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text, rust) in workspace.rust_files().filter(|(path, ..)| path.starts_with("crates/")) {
        for (at, start) in text.match_indices("docs/").filter(|(at, _)| !rust.is_test_at(*at)) {
            let name = text[at + start.len()..].split(|char: char| !is_name(char)).next().unwrap_or_default();
            let page = format!("docs/{}", name.trim_end_matches('.'));
            if page.ends_with(".md") && !workspace.files.contains_key(&page) {
                found.push(Violation {
                    path: path.to_owned(),
                    line: rust.line_at(at),
                    rule: "link",
                    what: format!("`{page}` does not exist"),
                    hint: "write the page, or name another",
                });
            }
        }
    }
    found
}

fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.')
}

/// Relative targets of Markdown links, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(move |(at, _)| {
        let target = line[at + 2..].split(')').next()?.split('#').next()?;
        (!target.is_empty() && !target.contains(':')).then_some(target)
    })
}

fn exists(workspace: &Workspace, path: &str) -> bool {
    let folder = format!("{path}/");
    path.is_empty() || workspace.files.keys().any(|known| known == path || known.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_are_caught() {
        let workspace = Workspace::of([
            ("docs/a.md", "[b](b.md#x) [up](../README.md) [web](https://example.com)\n[dead](c.md) [src](../src)"),
            ("docs/b.md", ""),
            ("docs/README.md", "[a](a.md)\n[b](b.md)"),
            ("README.md", "[docs](docs)"),
        ]);
        let found: Vec<_> =
            check(&workspace).into_iter().map(|v| format!("{}:{} {}", v.path, v.line, v.what)).collect();
        assert_eq!(found, ["docs/a.md:2 `c.md` does not exist", "docs/a.md:2 `../src` does not exist"]);
    }

    #[test]
    fn missing_pages_are_caught() {
        let text = "//! See `docs/a.md`.\n//! See docs/gone.md.\nconst HINT: &str = \"see docs/lost.md\";\n";
        let workspace = Workspace::of([("crates/a/src/lib.rs", text), ("docs/a.md", ""), (INDEX, "[a](a.md)")]);
        let lines: Vec<_> = check(&workspace).into_iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn unlisted_pages_are_caught() {
        let workspace = Workspace::of([("docs/a.md", ""), ("docs/b.md", ""), (INDEX, "[a](a.md)")]);
        let paths: Vec<_> = check(&workspace).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["docs/b.md"]);
    }
}
