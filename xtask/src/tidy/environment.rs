//! Every environment variable is a documented constant, and its page is up to date.

use super::Violation;
use super::workspace::Workspace;
use crate::docs;

const HOME: &str = "crates/types/src/env.rs";

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = stray_variables(workspace);
    for (path, page) in docs::pages() {
        if workspace.text(path) != Some(page.as_str()) {
            found.push(Violation {
                path: path.to_owned(),
                line: 0,
                rule: "environment",
                what: "the generated page is not up to date".to_owned(),
                hint: "cargo run -p xtask -- docs",
            });
        }
    }
    found
}

/// Finds variables that are declared or looked up by a literal name in other files.
fn stray_variables(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text, rust) in workspace.rust_files().filter(|(path, ..)| *path != HOME && path.starts_with("crates/")) {
        let made = rust.code.match_indices("EnvVar {").map(|(at, _)| at);
        let named = rust.code.match_indices(".lookup(").filter(|(at, call)| text[at + call.len()..].starts_with('"'));
        for at in made.chain(named.map(|(at, _)| at)).filter(|at| !rust.is_test_at(*at)) {
            found.push(Violation {
                path: path.to_owned(),
                line: rust.line_at(at),
                rule: "environment",
                what: "a variable that is not in the list".to_owned(),
                hint: "add it with its description to crates/types/src/env.rs and use the constant",
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_variables_are_caught() {
        let text = "fn a(env: &Env) {\n    env.lookup(\"X\");\n    env.lookup(name);\n    EnvVar { name: \"Y\" };\n}";
        let found = stray_variables(&Workspace::of([("crates/a/src/lib.rs", text), (HOME, text)]));
        assert_eq!(found.iter().map(|violation| violation.line).collect::<Vec<_>>(), [4, 2]);
    }

    #[test]
    fn an_old_page_is_caught() {
        let old = docs::pages().into_iter().map(|(path, page)| (path, page.replace("HOME", "HOUSE")));
        assert_eq!(check(&Workspace::of(old)).len(), docs::pages().len());
        assert_eq!(check(&Workspace::of(docs::pages())), []);
    }
}
