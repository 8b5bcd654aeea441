//! Tests `read` as the agent loop calls it.

use omp_types::Content;
use omp_view::Block;
use serde_json::json;

use super::*;

mod code;
mod containers;
mod hostile;
mod media;
use crate::artifacts::{Artifacts, NoArtifacts};
use crate::scratch::Scratch;

fn tool(scratch: &Scratch) -> Read {
    Read::new(scratch.files.clone(), Arc::new(Router::new(Arc::new(NoArtifacts))))
}

fn text(scratch: &Scratch, path: &str) -> String {
    scratch.text(&tool(scratch), json!({"path": path}))
}

#[test]
fn a_file_as_the_reference_program_shows_it() {
    let scratch = Scratch::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let output = scratch.call(&tool(&scratch), json!({"path": "a.txt"})).unwrap();
    assert_eq!(output.content, [Content::text("[a.txt#2543]\n1:one\n2:two\n3:three")]);
    let path = scratch.path("a.txt");
    assert_eq!(
        output.details.unwrap().to_string(),
        json!({
            "totalLines": 3,
            "displayContent": {"text": "one\ntwo\nthree", "startLine": 1, "lineNumbers": [1, 2, 3]},
            "fileSize": 14,
            "meta": {"source": {"type": "path", "value": path}}
        })
        .to_string()
    );
}

#[test]
fn ranges() {
    let scratch = Scratch::new(&[("a", "1\n2\n3\n4\n5\n"), ("b:2", "colon\n"), ("empty", "")]);
    for (path, want) in [
        ("a:2-3", "[a#7ffe]\n2:2\n3:3\n(2 lines follow, up to line 5; continue with a:4)"),
        ("a:4", "[a#7ffe]\n4:4\n5:5"),
        ("a:2+1", "[a#7ffe]\n2:2\n(3 lines follow, up to line 5; continue with a:3)"),
        ("a:4-99", "[a#7ffe]\n4:4\n5:5"),
        ("a:1-2,4-9", "[a#7ffe]\n1:1\n2:2\n…\n4:4\n5:5"),
        ("a:4,1", "[a#7ffe]\n1:1\n2:2\n3:3\n4:4\n5:5"),
        ("a:1+1,3+1,9:raw", "1\n…\n3\n(2 lines follow, up to line 5; continue with a:4)"),
        ("a:raw", "1\n2\n3\n4\n5"),
        ("a:2-3:raw", "2\n3\n(2 lines follow, up to line 5; continue with a:4)"),
        ("a:6", "error: Line 6 is past the end of a, which has 5 lines"),
        (
            "a:3-2",
            "error: \":3-2\" is not a line range\nhint: use :40 (from line 40), :40-80 or :40+20, counted from 1",
        ),
        ("b:2", "[b:2#81dc]\n1:colon"),
        ("b:2:1", "[b:2#81dc]\n1:colon"),
        ("empty", "[empty#5d05]\n(the file is empty)"),
        ("empty:1", "[empty#5d05]\n(the file is empty)"),
        ("empty:2", "error: Line 2 is past the end of empty, which has 0 lines"),
    ] {
        assert_eq!(text(&scratch, path), want, "{path}");
    }
}

#[test]
fn long_files_and_lines_are_cut_and_say_so() {
    let scratch = Scratch::new(&[]);
    scratch.put("lines", (1..=7000).map(|n| format!("{n}\n")).collect::<String>().as_bytes());
    scratch.put("wide", format!("short\n{}\n", "x".repeat(3_000_000)).as_bytes());
    scratch.put(
        "big",
        "y".repeat(1000)
            .repeat(2)
            .lines()
            .cycle()
            .take(100)
            .fold(String::new(), |all, line| all + line + "\n")
            .as_bytes(),
    );
    let shown = text(&scratch, "lines");
    assert!(
        shown.ends_with("\n500:500\n(shown up to line 500 of 7,000, 6,500 lines not shown; continue with lines:501)")
    );
    let shown = text(&scratch, "lines:501");
    assert!(shown.ends_with("(shown up to line 1000 of 7,000, 6,000 lines not shown; continue with lines:1001)"));
    let shown = text(&scratch, "lines:1-7000");
    assert!(shown.ends_with("(shown up to line 3000 of 7,000, 4,000 lines not shown; continue with lines:3001)"));
    assert!(text(&scratch, "lines:-2000").contains("]\n5001:5001\n"));
    let shown = text(&scratch, "lines:2000-6000");
    assert!(
        shown.ends_with("(shown up to line 4999 of 7,000, 1,001 lines not shown; continue with lines:5000)"),
        "{}",
        &shown[shown.len() - 200..]
    );
    let shown = text(&scratch, "lines:1-2900,4000-4999");
    assert!(
        shown
            .ends_with("\n4099:4099\n(shown up to line 4099 of 7,000, more lines not shown; continue with lines:4100)")
    );
    let shown = text(&scratch, "wide");
    assert!(
        shown.len() < 3000
            && shown.ends_with("(line 2 cut: 3,000,000 bytes long, at most 2,000 are shown; wide:2-2:raw shows more)")
    );
    let shown = text(&scratch, "wide:2-2:raw");
    assert!(shown.len() > 50_000 && shown.len() < 52_000 && shown.contains("(line 2 cut: 3,000,000 bytes long"));
    let shown = text(&scratch, "big");
    assert!(
        shown.len() < 52 * 1024 && shown.contains("75 lines not shown; continue with big:26"),
        "{}",
        &shown[shown.len() - 200..]
    );
}

#[test]
fn the_number_of_lines_is_set() {
    let scratch = Scratch::new(&[]);
    scratch.put("a", (1..=50).map(|n| format!("{n}\n")).collect::<String>().as_bytes());
    let with =
        |lines: f64| tool(&scratch).with_options(&ReadOptions { default_lines: lines, ..ReadOptions::default() });
    for (lines, path, want) in [
        (10.0, "a", "\n10:10\n(shown up to line 10 of 50, 40 lines not shown; continue with a:11)"),
        (10.0, "a:11", "\n20:20\n(shown up to line 20 of 50, 30 lines not shown; continue with a:21)"),
        (10.0, "a:1-2,5", "\n14:14\n(shown up to line 14 of 50, more lines not shown; continue with a:15)"),
        (10.0, "a:raw", "\n10\n(shown up to line 10 of 50, 40 lines not shown; continue with a:11)"),
        (10.0, "a:1-30", "\n30:30\n(20 lines follow, up to line 50; continue with a:31)"),
        (10.0, "a:-30", "\n50:50"),
        (0.0, "a", "]\n1:1\n(shown up to line 1 of 50, 49 lines not shown; continue with a:2)"),
        (-3.0, "a", "]\n1:1\n(shown up to line 1 of 50, 49 lines not shown; continue with a:2)"),
        (1e99, "a", "\n50:50"),
    ] {
        let shown = scratch.text(&with(lines), json!({"path": path}));
        assert!(shown.ends_with(want), "{lines} {path}: {shown}");
    }
}

#[test]
fn huge_files_are_streamed_and_have_no_tag() {
    let scratch = Scratch::new(&[]);
    scratch.put("huge", "0123456789abcde\n".repeat(1_100_000).as_bytes());
    let shown = text(&scratch, "huge:1000000-1000001");
    assert_eq!(
        shown,
        "[huge]\n1000000:0123456789abcde\n1000001:0123456789abcde\n(the file has 16MB, too much to edit by lines, so it has no tag)"
    );
    assert!(
        text(&scratch, "huge:9000000")
            .starts_with("error: Line 9000000 is past the end of huge, which has 1100000 lines")
    );
    assert!(text(&scratch, "huge").contains("more lines not shown; continue with huge:501)"));
}

#[test]
fn what_cannot_be_seen_is_shown() {
    let scratch = Scratch::new(&[("a", "ok\u{202e}txt\u{200b}\n")]);
    let shown = text(&scratch, "a");
    assert!(shown.contains("1:ok<U+202E>txt<U+200B>\n(characters that cannot be seen"), "{shown}");
    scratch.put("latin", b"caf\xe9\n");
    assert!(text(&scratch, "latin").contains("1:caf\u{fffd}\n(bytes that are not UTF-8"));
}

#[test]
fn other_data() {
    let scratch = Scratch::new(&[]);
    scratch.put("bin", b"\x7fELF\0\0");
    scratch.put("wide", b"\xff\xfea\0");
    assert!(text(&scratch, "bin").starts_with("error: bin contains binary data (6B)"));
    assert!(text(&scratch, "wide").starts_with("error: wide contains UTF-16 text"));
}

#[test]
fn folders() {
    let scratch = Scratch::new(&[("src/main.rs", "x"), ("src/deep/er/a", ""), ("b.txt", "12")]);
    insta::assert_snapshot!(text(&scratch, "."), @"
    ./
    src/  just now
      deep/  just now
      main.rs  1B  just now
    b.txt  2B  just now
    ");
    std::fs::create_dir(scratch.path("none")).unwrap();
    assert_eq!(text(&scratch, "none"), "none/\n(the folder is empty)");
}

#[test]
fn missing_paths_get_a_hint() {
    let scratch = Scratch::new(&[("src/main.rs", ""), ("lib/main.rs", ""), ("docs/guide.md", "")]);
    for (path, want) in [
        ("main.rs", "error: File not found: main.rs\nhint: did you mean lib/main.rs, src/main.rs?"),
        ("other/src/main.rs", "error: File not found: other/src/main.rs\nhint: did you mean src/main.rs, lib/main.rs?"),
        ("docs/giude.md", "error: File not found: docs/giude.md\nhint: did you mean docs/guide.md?"),
        ("dosc/zzz", "error: File not found: dosc/zzz\nhint: did you mean docs?"),
        ("zzzzzz:5", "error: File not found: zzzzzz\nhint: list the folder, or search for the file with find"),
        ("", "error: the path is empty\nhint: give a file or folder, such as \"src/main.rs\""),
    ] {
        assert_eq!(text(&scratch, path), want, "{path}");
    }
}

#[test]
fn the_only_file_that_can_be_meant_is_opened() {
    let scratch = Scratch::new(&[
        ("crates/x/src/a.rs", "one\ntwo\n"),
        ("crates/y/src/b.rs", "1\n"),
        ("crates/z/src/b.rs", "2\n"),
        ("crates/z/target/src/c.rs", "made\n"),
    ]);
    let shown = text(&scratch, "src/a.rs:2");
    assert!(shown.starts_with("[src/a.rs not found; showing crates/x/src/a.rs]\n[crates/x/src/a.rs#"), "{shown}");
    assert!(shown.ends_with("]\n2:two"), "{shown}");
    assert!(text(&scratch, "./a.rs:raw").ends_with("]\none\ntwo"));
    let mut refused = vec![
        ("src/b.rs".to_owned(), "hint: did you mean crates/y/src/b.rs, crates/z/src/b.rs?"),
        ("y/a.rs".to_owned(), "hint: did you mean crates/x/src/a.rs?"),
        ("src/c.rs".to_owned(), "hint: list the folder"),
        ("x/src".to_owned(), "hint: did you mean "),
    ];
    refused.push((scratch.path("a.rs").display().to_string(), "hint: did you mean crates/x/src/a.rs?"));
    for (path, hint) in refused {
        let shown = text(&scratch, &path);
        assert!(shown.starts_with("error: File not found: ") && shown.contains(hint), "{path}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn devices_and_locked_files_are_refused() {
    let scratch = Scratch::new(&[]);
    assert!(text(&scratch, "/dev/null").starts_with("error: /dev/null is a character device"));
    assert!(text(&scratch, "/dev/zero:1-5").starts_with("error: /dev/zero is a character device"));
    std::os::unix::fs::symlink("loop", scratch.path("loop")).unwrap();
    assert!(text(&scratch, "loop").starts_with("error: loop"), "{}", text(&scratch, "loop"));
}

#[test]
fn views() {
    let scratch = Scratch::new(&[("a.rs", "one\ntwo\n")]);
    let view = scratch.view(&tool(&scratch), json!({"path": "a.rs:2"}));
    assert_eq!((view.title.as_str(), &view.notes[..]), ("read a.rs:2", &["lines 2-2 of 2".to_owned()][..]));
    assert_eq!(view.blocks, [Block::Code { language: Some("rs".into()), text: "two".into(), first_line: Some(2) }]);
}

/// Provides one artifact with the id 3.
struct OneArtifact(std::path::PathBuf);

impl Artifacts for OneArtifact {
    fn create(&self, _tool: &str) -> std::io::Result<crate::ArtifactFile> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn list(&self) -> std::io::Result<Vec<(u64, std::path::PathBuf)>> {
        Ok(vec![(3, self.0.clone())])
    }
}

#[test]
fn an_artifact_is_shown_as_it_is() {
    let scratch = Scratch::new(&[("3.bash.log", "one\ntwo\nthree\n")]);
    let artifacts = Arc::new(OneArtifact(scratch.files.cwd().join("3.bash.log")));
    let tool = Read::new(scratch.files.clone(), Arc::new(Router::new(artifacts)));
    let read = |path: &str| scratch.text(&tool, json!({"path": path}));
    assert_eq!(read("artifact://3"), "one\ntwo\nthree");
    assert_eq!(read("artifact://3:2-2"), "two\n(1 lines follow, up to line 3; continue with artifact://3:3)");
    assert_eq!(read("artifact://4"), "error: artifact://4 does not exist; there are: 3");
    assert_eq!(read("artifact://x"), "error: artifact:// ID must be numeric, got: x");
}
