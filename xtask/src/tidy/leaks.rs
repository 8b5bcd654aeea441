//! No path of somebody's machine and no package registry's host name in any text file.

use super::Violation;
use super::workspace::Workspace;

/// Written in two parts so that this file passes its own rule.
const FOLDERS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];
const HOME: &str = concat!("/ho", "me/");
const HOSTS: &[&str] =
    &[concat!("crates", ".io"), concat!("npmjs", ".org"), concat!("pypi", ".org"), concat!("pythonhosted", ".org")];
/// The made-up user of examples and tests.
const NOBODY: &str = "user";
/// Cargo writes this line into the lockfile by itself.
const LOCK_SOURCE: &str = concat!("source = \"registry+https://github.com/rust-lang/crates", ".io-index\"");

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, file) in &workspace.files {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(leak) = leak(line).filter(|_| line != LOCK_SOURCE) {
                found.push(Violation {
                    path: path.clone(),
                    line: at + 1,
                    rule: "leak",
                    what: format!("`{leak}` is specific to a machine"),
                    hint: "use a made-up path such as /tmp/project or the home of `user`, and no registry's host name",
                });
            }
        }
    }
    found
}

fn leak(line: &str) -> Option<&'static str> {
    let folder = FOLDERS.iter().find(|folder| paths(line, folder).any(|rest| !is_nobody(rest, folder)));
    let home = paths(line, HOME).any(|rest| !is_nobody(rest, HOME)).then_some(&HOME);
    folder.or(home).or_else(|| HOSTS.iter().find(|host| line.contains(**host))).copied()
}

/// Returns the text after each occurrence of `folder` at the start of a path.
fn paths<'a>(line: &'a str, folder: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(folder).filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let starts =
            !before.is_some_and(|char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | '~' | '}' | ')'));
        starts.then(|| &line[at + folder.len()..])
    })
}

fn is_nobody(rest: &str, folder: &str) -> bool {
    let name: String = rest.chars().take_while(|char| char.is_alphanumeric() || matches!(char, '-' | '_')).collect();
    let may_be_nobody = folder == HOME || folder == FOLDERS[2];
    may_be_nobody && (name == NOBODY || name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaks_are_caught() {
        for (line, leaks) in [
            (concat!("cd /wo", "rk/main"), true),
            (concat!("\"/ro", "ot/.cargo\""), true),
            (concat!("/ho", "me/alice/x"), true),
            (concat!("/ho", "me/user/x"), false),
            (concat!("/ho", "me/<name>"), false),
            (concat!("https://host/wo", "rk/item"), false),
            (concat!("src/ro", "ot/mod.rs"), false),
            (concat!("index.crates", ".io"), true),
            ("plain text", false),
        ] {
            assert_eq!(leak(line).is_some(), leaks, "{line}");
        }
    }

    #[test]
    fn the_lockfile_may_name_its_source() {
        let workspace = Workspace::of([("Cargo.lock", LOCK_SOURCE), ("x.md", LOCK_SOURCE), ("y.md", HOSTS[0])]);
        let paths: Vec<_> = check(&workspace).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["y.md"]);
    }
}
