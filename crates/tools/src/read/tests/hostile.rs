//! Tests hostile files: pipes, sockets, paths that are swapped during a read, names that look alike.

use super::*;

#[cfg(unix)]
mod special {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::Write;

    #[test]
    fn pipes_and_sockets_are_refused_with_a_reason() {
        let scratch = Scratch::new(&[]);
        let (reader, _writer) = std::io::pipe().unwrap();
        let _listener = UnixListener::bind(scratch.path("socket")).unwrap();
        for name in ["pipe", "pipe.zip", "pipe.db", "pipe.ipynb", "pipe.pdf", "pipe.png"] {
            symlink(format!("/dev/fd/{}", reader.as_raw_fd()), scratch.path(name)).unwrap();
        }
        symlink("socket", scratch.path("socket.tar")).unwrap();
        let write = Write { files: scratch.files.clone(), urls: Default::default(), block_generated: true };
        for (name, kind) in [
            ("pipe", "a named pipe (FIFO)"),
            ("pipe.ipynb", "a named pipe (FIFO)"),
            ("pipe.pdf", "a named pipe (FIFO)"),
            ("pipe.png", "a named pipe (FIFO)"),
            ("pipe.zip", "a named pipe (FIFO)"),
            ("pipe.db", "a named pipe (FIFO)"),
            ("socket", "a socket"),
            ("socket.tar", "a socket"),
        ] {
            let shown = text(&scratch, name);
            assert!(shown.starts_with(&format!("error: {name} is {kind}, not a regular file")), "{name}: {shown}");
            let shown = text(&scratch, &format!("{name}:-5"));
            assert!(shown.starts_with(&format!("error: {name} is {kind}")), "{name}: {shown}");
            if !name.ends_with("zip") && !name.ends_with("tar") {
                let shown = scratch.text(&write, json!({"path": name, "content": "x"}));
                assert!(shown.contains(&format!("is {kind}")), "write {name}: {shown}");
            }
        }
        for path in ["pipe.zip:a", "socket.tar:a", "pipe.db:users"] {
            let shown = scratch.text(&write, json!({"path": path, "content": "{}"}));
            assert!(shown.starts_with("error: ") && shown.contains("not a regular file"), "{path}: {shown}");
        }
    }

    /// Another process keeps swapping the path: each read shows the content of one target or names its type, and none
    /// blocks.
    #[test]
    fn a_path_that_is_swapped_while_it_is_read() {
        let scratch = Scratch::new(&[("a.txt", "one\n"), ("dir/file", "")]);
        let (reader, _writer) = std::io::pipe().unwrap();
        let _listener = UnixListener::bind(scratch.path("socket")).unwrap();
        let pipe = format!("/dev/fd/{}", reader.as_raw_fd());
        let targets = ["a.txt", &pipe, "socket", "/dev/zero", "dir", "nowhere"];
        symlink("a.txt", scratch.path("path")).unwrap();
        let done = AtomicBool::new(false);
        let swap = |round: usize| {
            symlink(targets[round % targets.len()], scratch.path("next")).unwrap();
            std::fs::rename(scratch.path("next"), scratch.path("path")).unwrap();
        };
        let shown: Vec<String> = std::thread::scope(|scope| {
            scope.spawn(|| (0..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(swap));
            let shown = (0..300).map(|_| text(&scratch, "path")).collect();
            done.store(true, Ordering::Relaxed);
            shown
        });
        for shown in shown {
            let known = ["1:one", "is a named pipe", "is a socket", "is a character device", "dir", "not found"];
            let is_known = known.iter().any(|known| shown.to_lowercase().contains(known));
            assert!(is_known || shown.contains("path/"), "{shown}");
            assert!(!shown.contains("holds"), "a device was read: {shown}");
        }
    }
}

#[test]
fn names_that_differ_in_case_or_unicode_form() {
    let scratch = Scratch::new(&[("docs/Caf\u{e9}.md", "one\n"), ("x/Same.rs", "1\n"), ("y/same.rs", "2\n")]);
    for (path, found) in [
        ("Caf\u{e9}.md", "docs/Caf\u{e9}.md"),
        ("Cafe\u{301}.md", "docs/Caf\u{e9}.md"),
        ("caf\u{e9}.md", "docs/Caf\u{e9}.md"),
        ("DOCS/CAFE\u{301}.MD", "docs/Caf\u{e9}.md"),
        // An exact match comes first.
        ("same.rs", "y/same.rs"),
        ("Same.rs", "x/Same.rs"),
    ] {
        let shown = text(&scratch, path);
        // Some file systems treat the names as equal.
        let said = format!("[{path} not found; showing {found}]\n[{found}#");
        assert!(shown.starts_with(&said) || scratch.path(path).exists(), "{path}: {shown}");
    }
    // Both are equally close.
    let shown = text(&scratch, "SAME.RS");
    assert!(shown.ends_with("\nhint: did you mean x/Same.rs, y/same.rs?"), "{shown}");
    // Letters that only look similar are different letters.
    assert!(text(&scratch, "Cafe.md").starts_with("error: File not found: Cafe.md"));
}

#[test]
fn what_was_meant_is_counted() {
    let names: Vec<String> = (0..8).map(|n| format!("d{n}/main.rs")).collect();
    let scratch = Scratch::new(&names.iter().map(|name| (name.as_str(), "")).collect::<Vec<_>>());
    let shown = text(&scratch, "main.rs");
    assert!(shown.ends_with("d4/main.rs or one of 3 more, which find lists?"), "{shown}");
}
