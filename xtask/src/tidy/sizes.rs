//! Limits the length of files and crates, without tests.

use super::Violation;
use super::exceptions;
use super::workspace::Workspace;

const LONGEST_FILE: usize = 600;
const LARGEST_CRATE: usize = 18_000;
/// Crates with a limit of their own.
const SMALL_CRATES: &[(&str, usize)] = &[("crates/agent", 2_500)];
/// Files with a limit of their own, because they show how little code it takes.
const SMALL_FILES: &[(&str, usize)] =
    &[("crates/headless/src/drive.rs", 150), ("crates/session/examples/embed.rs", 150)];
const FILE_RULE: &str = "file-length";

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = long_files(workspace);
    found.extend(large_crates(workspace));
    found
}

fn long_files(workspace: &Workspace) -> Vec<Violation> {
    let long = workspace.rust_files().filter_map(|(path, _, rust)| {
        let lines = rust.lines_without_tests();
        let limit = SMALL_FILES.iter().find(|(name, _)| *name == path).map_or(LONGEST_FILE, |(_, limit)| *limit);
        (lines > limit).then(|| Violation {
            path: path.to_owned(),
            line: 0,
            rule: FILE_RULE,
            what: format!("{lines} lines without tests, at most {limit} are allowed"),
            hint: "split it by what its parts do; a data table may be listed in xtask/exceptions.toml",
        })
    });
    long.collect()
}

fn large_crates(workspace: &Workspace) -> Vec<Violation> {
    let large = workspace.members.keys().filter_map(|folder| {
        let counted = workspace
            .rust_files_of(folder)
            .filter(|(path, ..)| !exceptions::covers_file(workspace, FILE_RULE, path))
            .map(|(_, _, rust)| rust.lines_without_tests());
        let lines: usize = counted.sum();
        let limit = SMALL_CRATES.iter().find(|(name, _)| name == folder).map_or(LARGEST_CRATE, |(_, limit)| *limit);
        (lines > limit).then(|| Violation {
            path: format!("{folder}/Cargo.toml"),
            line: 0,
            rule: "crate-size",
            what: format!("the crate has {lines} lines without tests, at most {limit} are allowed"),
            hint: "move parts that others could use to another crate",
        })
    });
    large.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        "const X: u8 = 0;\n".repeat(count)
    }

    fn found(files: Vec<(&str, String)>) -> Vec<String> {
        let files = files.into_iter().chain([("crates/agent/Cargo.toml", String::new())]);
        check(&Workspace::of(files)).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn long_files_are_caught() {
        assert_eq!(found(vec![("crates/a/src/lib.rs", lines(600)), ("crates/a/src/x/tests.rs", lines(900))]), [""; 0]);
        assert_eq!(
            found(vec![("crates/a/src/lib.rs", lines(601))]),
            ["601 lines without tests, at most 600 are allowed"]
        );
    }

    #[test]
    fn small_files_have_their_own_limit() {
        for (path, limit) in SMALL_FILES {
            assert_eq!(found(vec![(path, lines(*limit))]), [""; 0]);
            let expect = format!("{} lines without tests, at most {limit} are allowed", limit + 1);
            assert_eq!(found(vec![(path, lines(limit + 1))]), [expect]);
            assert!(crate::root().join(path).is_file(), "{path} has moved");
        }
    }

    #[test]
    fn large_crates_are_caught() {
        let names: Vec<String> = (0..5).map(|number| format!("crates/agent/src/part{number}.rs")).collect();
        let files = names.iter().map(|name| (name.as_str(), lines(501))).collect();
        assert_eq!(found(files), ["the crate has 2505 lines without tests, at most 2500 are allowed"]);
    }
}
