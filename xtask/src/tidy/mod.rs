//! The rules of this repository, run as a test: a rule exists only if `cargo test` fails on it.
//!
//! Each rule is one file with one `check` and a test that shows a violation being caught. Exceptions are listed
//! by name in `xtask/exceptions.toml`.

mod changelog;
mod contained;
mod dependencies;
mod dispatch;
mod doc_examples;
mod environment;
mod exceptions;
mod forbidden;
mod functions;
mod headers;
mod layers;
mod leaks;
mod links;
mod lockfile;
mod manifest;
mod module_files;
mod names;
mod plain_words;
mod prompts;
mod rust;
mod scan;
mod sizes;
mod structs;
mod tool_names;
mod type_names;
mod workspace;

use std::fmt;
use std::path::Path;

use workspace::Workspace;

/// A violation of a rule in one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub path: String,
    /// Counted from 1; 0 is the whole file.
    pub line: usize,
    pub rule: &'static str,
    pub what: String,
    pub hint: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} [{}]\n  hint: {}", self.path, self.line.max(1), self.what, self.rule, self.hint)
    }
}

type Check = fn(&Workspace) -> Vec<Violation>;

const RULES: &[Check] = &[
    changelog::check,
    contained::check,
    dependencies::check,
    doc_examples::check,
    environment::check,
    forbidden::check,
    functions::check,
    headers::check,
    layers::check,
    leaks::check,
    links::check,
    lockfile::check,
    module_files::check,
    names::check,
    plain_words::check,
    prompts::check,
    sizes::check,
    structs::check,
    tool_names::check,
    type_names::check,
];

pub fn run(root: &Path, _args: &[String]) -> Result<String, String> {
    let workspace = Workspace::load(root).map_err(|error| format!("error: cannot read the workspace: {error}\n"))?;
    let violations = violations(&workspace);
    match violations.len() {
        0 => Ok(format!("tidy: {} files, no violations\n", workspace.files.len())),
        count => Err(format!("{}\n\ntidy: {count} violations\n", listed(&violations))),
    }
}

fn violations(workspace: &Workspace) -> Vec<Violation> {
    let found = RULES.iter().flat_map(|check| check(workspace)).collect();
    let mut left = exceptions::apply(workspace, found);
    left.sort();
    left
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let workspace = Workspace::load(&crate::root()).unwrap();
        let violations = violations(&workspace);
        assert!(violations.is_empty(), "{} violations\n{}", violations.len(), listed(&violations));
    }

    #[test]
    fn a_violation_says_where_what_and_hint() {
        let violation = Violation { path: "a.rs".into(), line: 0, rule: "r", what: "is bad".into(), hint: "fix it" };
        assert_eq!(violation.to_string(), "a.rs:1: is bad [r]\n  hint: fix it");
    }
}
