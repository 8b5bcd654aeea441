//! Tests of the matches offered for typed queries.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::scan_cache::ScanPolicy;

const NEVER: StopCheck<'static> = &|| false;

fn tree(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    folder
}

fn look(scans: &ScanCache, root: &Path, query: &str, limit: usize) -> (String, usize) {
    let found = fuzzy_files(scans, root, query, limit, NEVER);
    let show = |found: &FuzzyMatch| format!("{}{}", found.path, if found.is_folder { "/" } else { "" });
    (found.matches.iter().map(show).collect::<Vec<_>>().join(" "), found.total)
}

#[track_caller]
fn check(root: &Path, query: &str, expect: &str) {
    assert_eq!(look(&ScanCache::default(), root, query, 3).0, expect, "{query}");
}

#[test]
fn the_best_come_first() {
    let tree = tree(&[
        "src/main.rs",
        "src/maintenance/run.rs",
        "docs/Été.md",
        "crates/tools/src/read/mod.rs",
        "crates/tools/src/read/selector.rs",
        "crates/tools/src/write/mod.rs",
        "README.md",
        ".github/ci.yml",
        ".git/readme",
        "target/readme.md",
    ]);
    fs::write(tree.path().join(".ignore"), "target\n").unwrap();
    let at = tree.path();
    check(at, "main", "src/main.rs src/maintenance/ src/maintenance/run.rs");
    check(at, "mainrs", "src/main.rs src/maintenance/run.rs");
    check(at, "readme", "README.md");
    check(at, "Readme", "");
    check(at, "docete", "docs/Été.md");
    check(at, "mod read", "crates/tools/src/read/mod.rs");
    check(at, "read/mod", "crates/tools/src/read/mod.rs");
    check(at, "ciyml", ".github/ci.yml");
    check(at, "selector", "crates/tools/src/read/selector.rs");
    check(at, "zzz", "");
    check(at, "", "src/ docs/ crates/");
}

#[test]
fn lists_are_bounded_and_say_how_many_there_are() {
    let names: Vec<String> = (0..40).map(|number| format!("file{number:02}")).collect();
    let tree = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let scans = ScanCache::default();
    assert_eq!(look(&scans, tree.path(), "file", 2), ("file00 file01".into(), 40));
    assert_eq!(look(&scans, tree.path(), "file", 0), (String::new(), 40));
    assert_eq!(look(&scans, tree.path(), &"x".repeat(100_000), 2), (String::new(), 0));
    assert_eq!(look(&scans, &tree.path().join("gone"), "x", 2), (String::new(), 0));
    assert_eq!(look(&scans, &tree.path().join("file00"), "x", 2), (String::new(), 0));
}

#[test]
fn nothing_is_asked_again_when_the_scan_is_old_enough() {
    let policy = |empty_recheck| ScanPolicy { ttl: Duration::from_secs(600), empty_recheck, ..ScanPolicy::default() };
    for (recheck, expect) in [(Duration::ZERO, 1), (Duration::from_secs(500), 0)] {
        let tree = tree(&["old"]);
        let scans = ScanCache::new(policy(recheck));
        assert_eq!(look(&scans, tree.path(), "new", 9).1, 0);
        fs::write(tree.path().join("new"), "").unwrap();
        assert_eq!(look(&scans, tree.path(), "new", 9).1, expect);
    }
}

#[test]
fn stops_when_told() {
    let tree = tree(&["a", "b"]);
    let asked = AtomicBool::new(false);
    let stop = || asked.swap(true, Ordering::Relaxed);
    assert!(fuzzy_files(&ScanCache::default(), tree.path(), "a", 9, &stop).report.stopped);
}
