//! Tests homes and repositories made to block or flood discovery: it ends, finds the rest and names the file.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use super::*;

/// Much longer than discovery takes, much shorter than reading a gigabyte or looping.
const QUICK: Duration = Duration::from_secs(30);

#[track_caller]
fn check(tree: &Tree, told: &[&str]) -> Catalogue {
    let start = Instant::now();
    let found = tree.discover();
    assert!(start.elapsed() < QUICK, "{:?}", start.elapsed());
    let all = found.warnings.join("\n");
    for part in told {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert_eq!(found.warnings.len(), told.len(), "{all}");
    found
}

#[test]
fn what_is_no_file_is_named() {
    let tree = Tree::new(&[("cwd/.omp/rules/own.md", "own"), ("~/.claude/skills/dir/SKILL.md/x", "a folder")]);
    for name in ["cwd/AGENTS.md", "cwd/.omp/rules/pipe.md", "~/.claude.json"] {
        nix::unistd::mkfifo(&tree.path(name), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    fs::create_dir_all(tree.path("~/.omp/agent/commands")).unwrap();
    let _socket = UnixListener::bind(tree.path("~/.omp/agent/commands/s.md")).unwrap();
    let found = check(
        &tree,
        &[
            "AGENTS.md was not read: it is not a regular file",
            "pipe.md was not read: it is not a regular file",
            ".claude.json was not read: it is not a regular file",
            "commands/s.md was not read: it is not a regular file",
            "dir/SKILL.md was not read: it is not a regular file",
        ],
    );
    assert_eq!(found.rules.len(), 1);
}

#[test]
fn a_file_of_a_gigabyte_is_cut_or_left_out() {
    let tree = Tree::new(&[]);
    for name in ["cwd/AGENTS.md", "cwd/.omp/rules/big.md", "cwd/.omp/skills/s/SKILL.md", "cwd/.omp/mcp.json"] {
        tree.write(name, &format!("---\ndescription: x\n---\n{}", "line\n".repeat(20_000)));
        fs::File::options().write(true).open(tree.path(name)).unwrap().set_len(1 << 30).unwrap();
    }
    let told = [
        "AGENTS.md is too long: its last",
        "big.md was not read: it has more than 256 kB",
        "mcp.json was not read: it has more",
    ];
    let found = check(&tree, &told);
    assert_eq!((found.skills.len(), found.rules.len()), (1, 0));
    assert!(found.context_files[0].text.len() < 33 << 10);
}

#[test]
fn what_is_not_utf8_is_told_and_a_cut_letter_is_not() {
    let tree = Tree::new(&[]);
    tree.write("cwd/AGENTS.md", &format!("x{}", "ü".repeat(20_000)));
    tree.write("cwd/.omp/rules/latin.md", "");
    fs::write(tree.path("cwd/.omp/rules/latin.md"), b"Gr\xfc\xdfe").unwrap();
    fs::write(tree.path("cwd/.omp/rules").join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    let told = ["AGENTS.md is too long", "latin.md is not valid UTF-8", ".md was not read: its name is not UTF-8"];
    let found = check(&tree, &told);
    assert_eq!(found.rules[0].content, "Gr\u{fffd}\u{fffd}e");
    assert!(!found.context_files[0].text.contains('\u{fffd}'));
}

#[test]
fn circles_of_links_and_deep_folders_end() {
    let tree = Tree::new(&[
        ("cwd/.claude/commands/a/b/x.md", "x"),
        ("cwd/.claude/commands/top.md", "x"),
        ("repo/.github/instructions/one.instructions.md", "x"),
    ]);
    symlink(tree.path("cwd/.claude/commands"), tree.path("cwd/.claude/commands/a/b/up")).unwrap();
    symlink(tree.path("cwd/.claude"), tree.path("cwd/.claude/commands/out")).unwrap();
    symlink(tree.path("repo/.github/instructions"), tree.path("repo/.github/instructions/self")).unwrap();
    symlink("loop.md", tree.path("cwd/.claude/commands/loop.md")).unwrap();
    symlink("CLAUDE.md", tree.path("cwd/.claude/CLAUDE.md")).unwrap();
    let deep = format!("cwd/.claude/commands/{}x.md", "d/".repeat(200));
    tree.write(&deep, "too deep");
    let found = check(&tree, &["loop.md was not read", "CLAUDE.md was not read"]);
    let names: Vec<_> = found.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["top", "a:b:x", "x"]);
    assert_eq!((found.instructions.len(), found.shadowed.len()), (1, 0));
}

#[test]
fn a_folder_of_many_files_and_one_of_many_folders_end() {
    let tree = Tree::new(&[]);
    fs::create_dir_all(tree.path("cwd/.claude/commands")).unwrap();
    for number in 0..1_100 {
        fs::create_dir(tree.path(&format!("cwd/.claude/commands/{number}"))).unwrap();
    }
    fs::create_dir_all(tree.path("cwd/.cursor/rules")).unwrap();
    for number in 0..5_100 {
        fs::write(tree.path(&format!("cwd/.cursor/rules/{number}.txt")), "").unwrap();
    }
    check(&tree, &["more than 1000 folders", "has more than 5000 entries"]);
}
