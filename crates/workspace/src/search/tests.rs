//! Tests of searches in real folders: which matches are found, in which order, and which files are skipped.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::glob::PathTarget;
use crate::path::PathResolver;
use crate::text_file::TextFile;

const REQUEST: PageRequest = PageRequest { skip: 0, limit: 100, before: 0, after: 0, max_columns: 1024 };
const NEVER: StopCheck<'static> = &|| false;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn walk(folder: &Path, targets: &[&str]) -> Walk {
    let paths = PathResolver::new(folder, None);
    let targets = targets.iter().map(|typed| PathTarget::parse(typed, &paths).unwrap()).collect();
    Walk { targets, hidden: true, gitignore: true }
}

fn find(folder: &Path, pattern: &str, targets: &[&str], request: PageRequest) -> (MatchPage, MatchedFiles) {
    let pattern = Pattern::new(pattern, false).unwrap();
    let found = MatchedFiles::count(&pattern, &walk(folder, targets), &ScanCache::default(), NEVER);
    (found.page(&pattern, &request, NEVER), found)
}

/// Formats a page like `a.rs 1* 2 | b.rs 4*`; stars mark matches.
fn show(folder: &Path, page: &MatchPage) -> String {
    let line = |line: &HitLine| format!(" {}{}", line.number, if line.is_match { "*" } else { "" });
    let file = |file: &FileHits| {
        let name = file.path.strip_prefix(folder).unwrap().display().to_string();
        name + &file.lines.iter().map(line).collect::<String>()
    };
    page.files.iter().map(file).collect::<Vec<_>>().join(" | ")
}

#[track_caller]
fn check(folder: &Path, pattern: &str, targets: &[&str], request: PageRequest, expect: &str) {
    assert_eq!(show(folder, &find(folder, pattern, targets, request).0), expect);
}

#[test]
fn targets_choose_the_files() {
    let tree = tree(&[
        (".gitignore", "ignored\n"),
        (".hidden/h.rs", "needle\n"),
        (".git/config", "needle\n"),
        ("ignored/i.rs", "needle\n"),
        ("src/a.rs", "x\nneedle\nneedle\n"),
        ("src/deep/b.rs", "needle\n"),
        ("src/c.txt", "needle\n"),
    ]);
    let at = tree.path();
    check(at, "needle", &["."], REQUEST, ".hidden/h.rs 1* | src/a.rs 2* 3* | src/c.txt 1* | src/deep/b.rs 1*");
    check(at, "needle", &["*.rs"], REQUEST, ".hidden/h.rs 1* | src/a.rs 2* 3* | src/deep/b.rs 1*");
    check(at, "needle", &["src/*.rs"], REQUEST, "src/a.rs 2* 3*");
    check(at, "needle", &["src/a.rs", "src", "src/**"], REQUEST, "src/a.rs 2* 3* | src/c.txt 1* | src/deep/b.rs 1*");
    check(at, "needle", &["ignored/i.rs"], REQUEST, "ignored/i.rs 1*");
    check(at, "nothing", &["."], REQUEST, "");
    let everything = Walk { gitignore: false, ..walk(at, &["."]) };
    let found = MatchedFiles::count(&Pattern::new("NEEDLE", true).unwrap(), &everything, &ScanCache::default(), NEVER);
    assert_eq!((found.total_files(), found.total_matches()), (5, 6));
}

#[test]
fn context_belongs_to_shown_matches_only() {
    let text = "1\n2\nneedle 3\n4\n5\n6\n7\nneedle 8\n9\nneedle 10\n11\n";
    let tree = tree(&[("a", text)]);
    let with = |skip, limit| PageRequest { skip, limit, before: 1, after: 2, ..REQUEST };
    check(tree.path(), "needle", &["a"], with(0, 9), "a 2 3* 4 5 7 8* 9 10* 11");
    check(tree.path(), "needle", &["a"], with(0, 1), "a 2 3* 4 5");
    check(tree.path(), "needle", &["a"], with(1, 1), "a 7 8* 9");
    check(tree.path(), "needle", &["a"], with(2, 1), "a 10* 11");
}

#[test]
fn pages_are_fair_and_steady() {
    let many = "needle\n".repeat(300);
    let tree = tree(&[("a", &many), ("b", "needle\n"), ("c", "needle\nneedle\n")]);
    let (page, found) = find(tree.path(), "needle", &["."], PageRequest { limit: 6, ..REQUEST });
    assert_eq!(show(tree.path(), &page), "a 1* 2* 3* | b 1* | c 1* 2*");
    assert_eq!((page.shown, found.total_matches(), found.total_files()), (6, 303, 3));
    assert_eq!(page.files[0].matches, 300);
    check(tree.path(), "needle", &["."], PageRequest { skip: 6, limit: 2, ..REQUEST }, "a 4* 5*");
    check(tree.path(), "needle", &["."], PageRequest { skip: 303, ..REQUEST }, "");
}

#[test]
fn patterns_may_span_lines() {
    let tree = tree(&[("a", "fn x() {\n  body\n}\nfn y() {\n}\n"), ("crlf", "one;\r\ntwo\r\n")]);
    check(tree.path(), r"\{\n\s+body", &["a"], REQUEST, "a 1* 2*");
    check(tree.path(), "x\\(\\) \\{\n", &["a"], REQUEST, "a 1*");
    check(tree.path(), ";$", &["crlf"], REQUEST, "crlf 1*");
}

#[test]
fn long_and_broken_lines_are_shown_short() {
    let folder = tree(&[("long", &format!("needle{}\n", "é".repeat(5000)))]);
    fs::write(folder.path().join("latin"), b"needle \xe9\n").unwrap();
    let (page, _) = find(folder.path(), "needle", &["."], PageRequest { max_columns: 10, ..REQUEST });
    let lines: Vec<_> = page.files.iter().map(|file| (file.lines[0].text.as_str(), file.lines[0].altered)).collect();
    assert_eq!(lines, [("needle \u{fffd}", true), ("needleéééé…", true)]);
}

#[test]
fn binary_files_are_skipped_and_utf16_is_read() {
    let folder =
        tree(&[("text", "needle\n"), ("early", "\0needle\n"), ("late", &format!("needle\n{}\0", "x\n".repeat(99999)))]);
    let utf16: Vec<u8> = "\u{feff}needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.path().join("wide"), utf16).unwrap();
    check(folder.path(), "needle", &["."], REQUEST, "text 1* | wide 1*");
    let tags: Vec<_> = find(folder.path(), "needle", &["."], REQUEST).0.files.iter().map(|file| file.tag).collect();
    assert_eq!(tags, [Some(TextFile::parse(&b"needle\n"[..]).tag()), None]);
}

#[cfg(unix)]
#[test]
fn odd_files_hold_nothing_up() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use crate::ordinary_user::as_ordinary_user;
    let tree = tree(&[("dir/a", "needle\n"), ("locked/x", "needle\n")]);
    let at = tree.path();
    nix::unistd::mkfifo(&at.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink("..", at.join("dir/loop")).unwrap();
    symlink("self", at.join("self")).unwrap();
    symlink("dir", at.join("link")).unwrap();
    fs::write(at.join(std::ffi::OsStr::from_bytes(b"odd\xff")), "needle\n").unwrap();
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    let (page, found) = as_ordinary_user(|| find(at, "needle", &["."], REQUEST));
    fs::set_permissions(at.join("locked"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut names: Vec<_> =
        page.files.iter().map(|file| file.path.strip_prefix(at).unwrap().as_os_str().as_bytes()).collect();
    names.sort();
    assert_eq!(names, [b"dir/a".as_slice(), b"odd\xff"]);
    assert_eq!(found.report.unreadable, 1, "the locked folder is told");
    check(at, "needle", &["link"], REQUEST, "link/a 1*");
    check(at, "needle", &["pipe"], REQUEST, "");
}

#[test]
fn a_huge_line_costs_bounded_memory() {
    let folder = tree(&[("ok", "needle\n")]);
    fs::write(folder.path().join("huge"), vec![b'x'; HEAP_LIMIT + 1024 * 1024]).unwrap();
    let (page, found) = find(folder.path(), "needle", &["."], REQUEST);
    assert_eq!((show(folder.path(), &page).as_str(), found.report.unreadable), ("ok 1*", 1));
}

#[test]
fn stops_when_told() {
    let folder = tree(&[("a", &"needle\n".repeat(100_000)), ("b", "needle\n")]);
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 3;
    let pattern = Pattern::new("needle", false).unwrap();
    let found = MatchedFiles::count(&pattern, &walk(folder.path(), &["."]), &ScanCache::default(), &stop);
    assert!(found.report.stopped);
    assert!(found.page(&pattern, &REQUEST, &stop).files.is_empty());
}

#[test]
fn the_newest_come_first() {
    let folder = tree(&[("old", ""), ("new", ""), ("mid", ""), ("sub/x.rs", "")]);
    for (name, age) in [("old", 300), ("new", 0), ("mid", 100), ("sub/x.rs", 200)] {
        let when = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        fs::File::options().write(true).open(folder.path().join(name)).unwrap().set_modified(when).unwrap();
    }
    let names = |limit, targets: &[&str]| {
        let newest = walk(folder.path(), targets).newest(limit, &ScanCache::default(), NEVER, &|_| {});
        let shown = newest.files.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string());
        (shown.collect::<Vec<_>>().join(" "), newest.total)
    };
    assert_eq!(names(10, &["."]), ("new mid sub/x.rs old".into(), 4));
    assert_eq!(names(2, &["."]), ("new mid".into(), 4));
    assert_eq!(names(10, &["*.rs", "sub", "."]), ("new mid sub/x.rs old".into(), 4));
    assert_eq!(names(10, &["*.rs"]), ("sub/x.rs".into(), 1));
}

#[test]
fn what_is_asked_for_twice_is_counted_once() {
    let tree = tree(&[("a.rs", ""), ("src/b.rs", ""), ("src/deep/c.rs", ""), ("src/d.txt", ""), ("srcs/e.rs", "")]);
    for (targets, total) in [
        (&[".", "src"][..], 5),
        (&["src", ".", "src/deep", "src/d.txt"], 5),
        (&["*.rs", "src/*.txt"], 5),
        (&["src/**/*.rs", "src/deep/*"], 2),
        (&["a.rs", "a.rs", "*.rs"], 4),
    ] {
        let newest = walk(tree.path(), targets).newest(1, &ScanCache::default(), NEVER, &|_| {});
        assert_eq!((newest.total, newest.files.len()), (total, 1), "{targets:?}");
    }
}

#[test]
fn kept_scans_are_searched_without_a_walk() {
    let folder = tree(&[("a", "needle\n"), ("b", "needle\n"), ("c", "x\n")]);
    let (scans, pattern) = (ScanCache::default(), Pattern::new("needle", false).unwrap());
    let count = || MatchedFiles::count(&pattern, &walk(folder.path(), &["."]), &scans, NEVER);
    assert!(count().report.cached_for.is_none());
    fs::remove_file(folder.path().join("b")).unwrap();
    fs::write(folder.path().join("c"), "needle\n").unwrap();
    #[cfg(unix)]
    {
        // Opening a pipe without a writer as a file would block.
        fs::remove_file(folder.path().join("a")).unwrap();
        nix::unistd::mkfifo(&folder.path().join("a"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let found = count();
    assert!(found.report.cached_for.is_some() && found.report.unreadable == 0, "{found:?}");
    assert_eq!(found.total_files(), if cfg!(unix) { 1 } else { 2 });
}
