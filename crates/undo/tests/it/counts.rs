//! Compares the counts of changed files with what `git status` says.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use omp_undo::{GitCounter, GitCounts};

use crate::git::git;

const PATIENCE: Duration = Duration::from_secs(60);

/// Counts the lines of `git status`.
fn by_git(folder: &Path) -> GitCounts {
    let output = Command::new("git")
        .args(["--no-optional-locks", "status", "--porcelain=v1", "--no-renames"])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let count = |is: &dyn Fn(&[u8]) -> bool| Some(text.lines().filter(|line| is(line.as_bytes())).count());
    let is_conflict = |line: &[u8]| line[..2].contains(&b'U') || &line[..2] == b"AA" || &line[..2] == b"DD";
    GitCounts {
        unstaged: count(&|line| is_conflict(line) || !matches!(line[1], b' ' | b'?')),
        staged: count(&|line| !is_conflict(line) && !matches!(line[0], b' ' | b'?')),
        untracked: count(&|line| line.starts_with(b"??")),
    }
}

#[track_caller]
fn check(folder: &Path, script: &str, expect: [usize; 3]) {
    git(folder, script);
    let expect = expect.map(Some);
    let expect = GitCounts { unstaged: expect[0], staged: expect[1], untracked: expect[2] };
    assert_eq!(by_git(folder), expect, "git: {script}");
    assert_eq!(GitCounter::default().count(folder, PATIENCE), expect, "{script}");
}

#[test]
fn the_counts_are_those_of_git_status() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    check(folder, "git init -q -b main", [0, 0, 0]);
    check(folder, "mkdir -p a/b c; echo 1 > a/b/x; echo 2 > a-b; echo 3 > c/y; ln -s y c/link", [0, 0, 3]);
    check(folder, "git add -A", [0, 4, 0]);
    check(folder, "git commit -qm one", [0, 0, 0]);
    check(folder, "echo 9 > a/b/x", [1, 0, 0]);
    check(folder, "git add a; echo 10 > a/b/x", [1, 1, 0]);
    check(folder, "rm a-b; git rm -q --cached c/y", [2, 2, 1]);
    check(folder, "git reset -q --hard; touch -d '2001-01-01' a/b/x", [0, 0, 0]);
    check(folder, "chmod +x a-b; git add a-b", [0, 1, 0]);
    check(
        folder,
        "git commit -qm two; printf 'target/\\n*.log\\n' > .gitignore; mkdir target d; touch target/t d/e.log q.log",
        [0, 0, 1],
    );
    check(folder, "echo hidden > .git/info/exclude; touch hidden d/f n", [0, 0, 3]);
    check(folder, "git add -N n", [1, 0, 2]);
    check(folder, "git add -A; git commit -qm three; git repack -adfq; git pack-refs --all", [0, 0, 0]);
    check(folder, "git checkout -q --detach; git mv a/b/x a/z", [0, 2, 0]);
    check(folder, "git commit -qm four; git update-index --index-version 4; echo more >> a/z", [1, 0, 0]);
}

#[test]
fn a_conflict_counts_once() {
    let temp = tempfile::tempdir().unwrap();
    let make = "git init -q -b main; echo 1 > f; git add f; git commit -qm 1; git checkout -qb side; echo 2 > f; \
                git commit -qam 2; git checkout -q main; echo 3 > f; git commit -qam 3; git merge -q side || true";
    check(temp.path(), make, [1, 0, 0]);
}

#[test]
fn a_worktree_has_its_own_counts() {
    let temp = tempfile::tempdir().unwrap();
    let main = temp.path().join("main");
    fs::create_dir(&main).unwrap();
    git(&main, "git init -q -b main; echo 1 > f; git add f; git commit -qm 1; git worktree add -q ../side");
    check(&temp.path().join("side"), "echo 2 > f; touch new", [1, 0, 1]);
    check(&main, "true", [0, 0, 0]);
}

#[test]
fn without_time_or_repository_nothing_is_known() {
    let temp = tempfile::tempdir().unwrap();
    assert_eq!(GitCounter::default().count(temp.path(), PATIENCE), GitCounts::default());
    git(temp.path(), "git init -q; touch f; git add f");
    let counted = GitCounter::default().count(temp.path(), Duration::ZERO);
    assert_eq!((counted.unstaged, counted.untracked), (None, None));
}

#[test]
fn what_is_staged_is_counted_again_after_a_change() {
    let temp = tempfile::tempdir().unwrap();
    let counter = GitCounter::default();
    for (script, staged) in
        [("git init -q; echo 1 > f; git add f", 1), ("git commit -qm 1", 0), ("echo 2 > f; git add f", 1)]
    {
        git(temp.path(), script);
        assert_eq!(counter.count(temp.path(), PATIENCE).staged, Some(staged), "{script}");
    }
}
