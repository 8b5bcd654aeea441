//! A tool is named in its own folder and in the list of tools; elsewhere it is found by what it does.
//!
//! A name is a text such as `"read"`, or the constant of its type, `Read::NAME`.
//!
//! The remaining places are counted, and the count may only fall: formats of other programs that name tools, rules and
//! settings of users, and words with another meaning (`read`, `find`). The shell parser is left out: it names programs.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use super::workspace::Workspace;

const RULE: &str = "tool-name";
const TOOLS: &str = "crates/tools/src/";
/// The list of tools.
const LIST: &str = "crates/tools/src/toolbox.rs";
/// Its words are programs that a shell line starts, such as `bash` and `find`.
const SHELL: &str = "crates/shell/";
const THIS: &str = "xtask/src/tidy/tool_names.rs";
const NAME: &str = "const NAME: &'static str = \"";
const IMPL: &str = "impl Tool for ";

/// Files outside of a tool's folder that name it.
const CEILINGS: &[(&str, usize)] = &[
    ("ask", 4),
    ("ast_edit", 4),
    ("ast_grep", 1),
    ("bash", 14),
    ("edit", 11),
    ("find", 6),
    ("notebook", 3),
    ("read", 9),
    ("resolve", 1),
    ("rewind", 1),
    ("search", 7),
    ("todo", 3),
    ("write", 13),
];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    compared(&counted(workspace), CEILINGS)
}

/// Counts the files that name each tool, outside its folder, the list and tests.
fn counted(workspace: &Workspace) -> BTreeMap<String, usize> {
    let tools = tools(workspace);
    let names_it = |path: &str, folder: &str| {
        let is_own = path.strip_prefix(TOOLS).is_some_and(|rest| rest.starts_with(&format!("{folder}/")));
        path.starts_with("crates/") && path.contains("/src/") && !path.starts_with(SHELL) && path != LIST && !is_own
    };
    let mut counts = BTreeMap::new();
    for ((name, folder), types) in tools {
        let forms: Vec<String> =
            types.iter().map(|name| format!("{name}::NAME")).chain([format!("\"{name}\"")]).collect();
        let naming = workspace.rust_files().filter(|(path, text, rust)| {
            let mut places = forms.iter().flat_map(|form| whole_matches(text, form));
            names_it(path, &folder) && places.any(|at| !rust.is_test_at(at) && !is_comment(text, at))
        });
        counts.insert(name, naming.count());
    }
    counts
}

/// Where the form is not the end of a longer name.
fn whole_matches<'a>(text: &'a str, form: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_whole = |at: &usize| !text[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    text.match_indices(form).map(|(at, _)| at).filter(is_whole)
}

/// The name of each tool and its folder, with the types that have this name.
fn tools(workspace: &Workspace) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (path, text, rust) in workspace.rust_files() {
        let Some((folder, _)) = path.strip_prefix(TOOLS).and_then(|rest| rest.split_once('/')) else { continue };
        for (at, _) in text.match_indices(NAME).filter(|(at, _)| !rust.is_test_at(*at)) {
            let name = text[at + NAME.len()..].split('"').next().unwrap_or_default();
            let types = found.entry((name.to_owned(), folder.to_owned())).or_default();
            types.extend(text[..at].rfind(IMPL).map(|start| type_at(&text[start + IMPL.len()..]).to_owned()));
        }
    }
    found
}

fn type_at(text: &str) -> &str {
    text.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default()
}

fn is_comment(text: &str, at: usize) -> bool {
    text[..at].lines().next_back().is_some_and(|line| line.trim_start().starts_with("//"))
}

fn compared(counts: &BTreeMap<String, usize>, ceilings: &[(&str, usize)]) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, count) in counts {
        let ceiling = ceilings.iter().find(|(known, _)| known == name).map_or(0, |(_, ceiling)| *ceiling);
        let (what, hint) = match count.cmp(&ceiling) {
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Greater => (
                format!("{count} files outside its folder name the tool `{name}`; the limit is {ceiling}"),
                "find the tool by its kind, its role or a property of its view",
            ),
            std::cmp::Ordering::Less => {
                (format!("only {count} files name the tool `{name}` now, not {ceiling}"), "lower its limit")
            }
        };
        found.push(Violation { path: THIS.to_owned(), line: 0, rule: RULE, what, hint });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_name_a_tool_are_counted() {
        let workspace = Workspace::of([
            ("crates/tools/src/look/mod.rs", "impl Tool for Look {\n    const NAME: &'static str = \"look\";\n}"),
            ("crates/tools/src/look/render.rs", "fn a() { b(\"look\") }"),
            ("crates/tools/src/toolbox.rs", "fn a() { b(\"look\") }"),
            ("crates/a/src/lib.rs", "fn a() { b(\"look\"); b(\"look\") }"),
            (
                "crates/a/src/other.rs",
                "// \"look\"\nfn a() { b(\"looks\") }\n#[cfg(test)]\nmod tests { fn a() { b(\"look\") } }",
            ),
            ("crates/a/src/constant.rs", "fn a() { b(Look::NAME) }"),
            ("crates/a/src/longer.rs", "// Look::NAME\nfn a() { b(Overlook::NAME) }"),
            ("crates/shell/src/lib.rs", "fn a() { b(\"look\") }"),
            ("crates/a/tests/it/main.rs", "fn a() { b(\"look\") }"),
        ]);
        let counts = counted(&workspace);
        assert_eq!(counts, BTreeMap::from([("look".to_owned(), 2)]));
        let told = |ceiling| {
            compared(&counts, &[("look", ceiling)]).into_iter().map(|violation| violation.hint).collect::<Vec<_>>()
        };
        assert_eq!(told(2), [""; 0]);
        assert_eq!(told(1), ["find the tool by its kind, its role or a property of its view"]);
        assert_eq!(told(3), ["lower its limit"]);
    }
}
