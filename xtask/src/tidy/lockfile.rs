//! The number of packages in the lockfile is bounded, and some are never in it.

use super::Violation;
use super::workspace::Workspace;

const MOST: usize = 750;
const PATH: &str = "Cargo.lock";
/// `ring` is the only cryptography library; these would add a C library or a second TLS stack.
const BANNED: &[&str] = &["aws-lc-rs", "aws-lc-sys", "native-tls", "openssl", "openssl-sys"];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let Some(text) = workspace.text(PATH) else {
        return vec![violation(0, "there is no lockfile".to_owned(), "commit Cargo.lock")];
    };
    let count = text.lines().filter(|line| *line == "[[package]]").count();
    let mut found = Vec::new();
    if count > MOST {
        let what = format!("{count} packages, at most {MOST} are allowed");
        found.push(violation(0, what, "drop a dependency or its default features"));
    }
    for (at, line) in text.lines().enumerate() {
        let name = line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(name) = name.filter(|name| BANNED.contains(name)) {
            let hint = "find out what needs it with `cargo tree -i`, and choose other features";
            found.push(violation(at + 1, format!("`{name}` must not be in the tree"), hint));
        }
    }
    found
}

fn violation(line: usize, what: String, hint: &'static str) -> Violation {
    Violation { path: PATH.to_owned(), line, rule: "lockfile", what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: String) -> Vec<String> {
        check(&Workspace::of([(PATH, text)])).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn size_and_bans() {
        assert_eq!(found("[[package]]\n".repeat(MOST)), [""; 0]);
        assert_eq!(found("[[package]]\n".repeat(MOST + 1)), ["751 packages, at most 750 are allowed"]);
        assert_eq!(found("[[package]]\nname = \"openssl\"\n".into()), ["`openssl` must not be in the tree"]);
        assert_eq!(check(&Workspace::of([("a", "")]))[0].what, "there is no lockfile");
    }
}
