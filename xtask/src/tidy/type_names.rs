//! Type names are specific: few are declared twice, and no public one in three crates.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use super::rust::Rust;
use super::scan::words;
use super::workspace::Workspace;

const THIS: &str = "xtask/src/tidy/type_names.rs";
const KEYWORDS: &[&str] = &["enum", "struct", "trait", "type", "union"];
/// Maximum number of crates that declare the same public name.
const MOST_CRATES: usize = 2;
/// Maximum number of names, of a thousand, that are declared in more than one file.
const MOST_SHARED: usize = 60;

/// A type that is declared outside of tests.
#[derive(Debug, PartialEq, Eq)]
struct DeclaredType<'a> {
    name: &'a str,
    is_public: bool,
    offset: usize,
}

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = public_names(workspace);
    found.extend(shared_names(workspace, MOST_SHARED));
    found
}

fn public_names(workspace: &Workspace) -> Vec<Violation> {
    let mut crates: BTreeMap<&str, BTreeMap<&str, (&str, usize)>> = BTreeMap::new();
    for (path, _, rust) in sources(workspace) {
        for declared in declared(rust).into_iter().filter(|declared| declared.is_public) {
            let place = (path, rust.line_at(declared.offset));
            crates.entry(declared.name).or_default().entry(crate_of(path)).or_insert(place);
        }
    }
    let mut found = Vec::new();
    for (name, places) in crates.into_iter().filter(|(_, places)| places.len() > MOST_CRATES) {
        let all = places.keys().copied().collect::<Vec<_>>().join(", ");
        found.extend(places.values().map(|(path, line)| Violation {
            path: (*path).to_owned(),
            line: *line,
            rule: "public-type-name",
            what: format!("`{name}` is a public type of {} crates: {all}", places.len()),
            hint: "give it a name that says which thing it is about, such as `UndoReport` instead of `Report`",
        }));
    }
    found
}

fn shared_names(workspace: &Workspace, most: usize) -> Option<Violation> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, _, rust) in sources(workspace) {
        for declared in declared(rust) {
            files.entry(declared.name).or_default().insert(path);
        }
    }
    let mut shared: Vec<_> = files.iter().filter(|(_, files)| files.len() > 1).collect();
    if shared.len() * 1000 <= files.len() * most {
        return None;
    }
    shared.sort_by_key(|(name, files)| (std::cmp::Reverse(files.len()), **name));
    let worst: Vec<_> = shared.iter().take(10).map(|(name, files)| format!("{name} {}", files.len())).collect();
    Some(Violation {
        path: THIS.to_owned(),
        line: 0,
        rule: "shared-type-name",
        what: format!(
            "{} of {} type names are declared in more than one file, at most {most} of 1000 may be: {}",
            shared.len(),
            files.len(),
            worst.join(", ")
        ),
        hint: "name the new type after what it holds; `grep -rn 'struct Name'` shows the others",
    })
}

fn sources(workspace: &Workspace) -> impl Iterator<Item = (&str, &str, &Rust)> {
    workspace.rust_files().filter(|(path, ..)| path.contains("/src/"))
}

fn crate_of(path: &str) -> &str {
    path.strip_prefix("crates/").unwrap_or(path).split('/').next().unwrap_or_default()
}

/// Associated types do not count; rustfmt indents them.
fn declared(rust: &Rust) -> Vec<DeclaredType<'_>> {
    let mut found = Vec::new();
    let mut all = words(&rust.code).peekable();
    while let Some((at, word)) = all.next() {
        let Some((offset, name)) = all.peek().copied() else { break };
        if !KEYWORDS.contains(&word) || !name.starts_with(|c: char| c.is_ascii_uppercase()) || rust.is_test_at(at) {
            continue;
        }
        let line_start = rust.code[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = &rust.code[line_start..at];
        let visibility = before.trim().trim_end_matches("unsafe").trim_end();
        let is_item = visibility.is_empty() || visibility == "pub" || visibility.starts_with("pub(");
        if is_item && !(word == "type" && before.starts_with(' ')) {
            found.push(DeclaredType { name, is_public: visibility == "pub", offset });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_with_their_visibility() {
        let rust = Rust::new(
            "pub struct A;\npub(crate) enum B {}\ntrait C { type Gone; }\npub type D = u8;\n// struct E\nfn f() {\n    \
             struct F { r#type: G }\n}\nimpl X {\n    type Y = Z;\n}\npub unsafe trait H {}\n\
             #[cfg(test)]\nmod tests {\n    pub struct I;\n}\n",
            false,
        );
        let found: Vec<_> = declared(&rust).into_iter().map(|declared| (declared.name, declared.is_public)).collect();
        assert_eq!(found, [("A", true), ("B", false), ("C", false), ("D", true), ("F", false), ("H", true)]);
    }

    #[test]
    fn a_public_name_of_three_crates_is_caught_in_each() {
        let told = |third: &str| {
            let workspace = Workspace::of([
                ("crates/a/src/lib.rs", "pub struct State;"),
                ("crates/a/src/more.rs", "pub struct State;"),
                ("crates/b/src/lib.rs", "//! Head.\npub enum State {}"),
                ("crates/c/src/lib.rs", third),
                ("crates/d/tests/it/main.rs", "pub struct State;"),
            ]);
            public_names(&workspace).into_iter().map(|v| format!("{}:{}", v.path, v.line)).collect::<Vec<_>>()
        };
        assert_eq!(
            told("pub trait State {}"),
            ["crates/a/src/lib.rs:1", "crates/b/src/lib.rs:2", "crates/c/src/lib.rs:1"]
        );
        assert_eq!(told("pub(crate) trait State {}"), [""; 0]);
    }

    #[test]
    fn the_share_of_names_in_more_than_one_file_is_bounded() {
        let workspace = Workspace::of([
            ("crates/a/src/lib.rs", "struct State;\nstruct B;\nstruct B;"),
            ("crates/a/src/more.rs", "struct State;\nstruct C;"),
            ("crates/a/src/last.rs", "struct D;"),
        ]);
        assert_eq!(shared_names(&workspace, 250), None);
        let found = shared_names(&workspace, 249).unwrap();
        assert_eq!(
            found.what,
            "1 of 4 type names are declared in more than one file, at most 249 of 1000 may be: State 2"
        );
    }
}
