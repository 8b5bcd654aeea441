//! Exceptions to the rules: by rule and path, with a reason, and only as long as they are needed.

use serde::Deserialize;

use super::Violation;
use super::workspace::Workspace;

const PATH: &str = "xtask/exceptions.toml";

#[derive(Default, Deserialize)]
struct Exceptions {
    #[serde(default)]
    exception: Vec<Exception>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    rule: String,
    path: String,
    /// The function, struct or dependency, if it is not the whole file.
    #[serde(default)]
    name: String,
    reason: String,
}

impl Exception {
    fn covers(&self, violation: &Violation) -> bool {
        let named = self.name.is_empty() || violation.what.contains(&format!("`{}`", self.name));
        violation.rule == self.rule && violation.path == self.path && named
    }
}

/// Removes violations with an exception, and reports exceptions that are unused or have no reason.
pub fn apply(workspace: &Workspace, found: Vec<Violation>) -> Vec<Violation> {
    let text = workspace.text(PATH).unwrap_or_default();
    let exceptions = match toml::from_str::<Exceptions>(text) {
        Ok(exceptions) => exceptions.exception,
        Err(error) => return found.into_iter().chain([violation(error.to_string())]).collect(),
    };
    let idle = exceptions.iter().filter_map(|exception| {
        let name = format!("the exception from {} for {}", exception.rule, exception.path);
        match exception.reason.trim().is_empty() {
            true => Some(violation(format!("{name} has no reason"))),
            false if !found.iter().any(|violation| exception.covers(violation)) => {
                Some(violation(format!("{name} is no longer needed")))
            }
            false => None,
        }
    });
    let idle: Vec<Violation> = idle.collect();
    let kept = found.into_iter().filter(|violation| !exceptions.iter().any(|exception| exception.covers(violation)));
    kept.chain(idle).collect()
}

/// Whether a whole file has an exception from a rule.
pub fn covers_file(workspace: &Workspace, rule: &str, path: &str) -> bool {
    let exceptions: Exceptions = workspace.text(PATH).and_then(|text| toml::from_str(text).ok()).unwrap_or_default();
    exceptions.exception.iter().any(|exception| exception.rule == rule && exception.path == path)
}

fn violation(what: String) -> Violation {
    Violation { path: PATH.to_owned(), line: 0, rule: "exceptions", what, hint: "fix or remove the entry" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[[exception]]\nrule = \"r\"\npath = \"a.rs\"\nreason = \"table\"\n\
                        [[exception]]\nrule = \"r\"\npath = \"gone.rs\"\nreason = \"table\"\n";

    #[test]
    fn covers_and_expires() {
        let found = ["a.rs", "b.rs"].map(|path| Violation {
            path: path.to_owned(),
            line: 1,
            rule: "r",
            what: "long".to_owned(),
            hint: "",
        });
        let left = apply(&Workspace::of([(PATH, LIST)]), found.to_vec());
        let left: Vec<_> = left.iter().map(|violation| format!("{} {}", violation.path, violation.what)).collect();
        assert_eq!(left, ["b.rs long", "xtask/exceptions.toml the exception from r for gone.rs is no longer needed"]);
    }
}
