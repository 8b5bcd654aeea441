//! Tests code outlines and the ends of files.

use super::*;

/// A Rust file with `count` functions of ten lines each.
fn code(count: usize) -> String {
    let body = "    let x = 1;\n".repeat(8);
    (0..count).map(|n| format!("pub fn f{n}() {{\n{body}}}\n")).collect()
}

#[test]
fn code_comes_in_outline() {
    let scratch = Scratch::new(&[("a.rs", &code(60)), ("short.rs", &code(5))]);
    let output = scratch.call(&tool(&scratch), json!({"path": "a.rs"})).unwrap();
    let shown = output.content[0].as_text().unwrap();
    assert!(shown.contains("\n1:pub fn f0() {\n… 2-9\n10:}\n11:pub fn f1() {\n… 12-19\n20:}\n"), "{shown}");
    assert!(
        shown.ends_with(
            "\n600:}\n(outline: 480 lines in 60 places are left out, marked …; read those you need with \
             a.rs:2-9,12-19,22-29, or all with a.rs:1-600)"
        ),
        "{shown}"
    );
    let details = output.details.unwrap();
    assert_eq!(details["summary"], json!({"lines": 120, "elidedSpans": 60, "elidedLines": 480}));
    assert_eq!(details["totalLines"], 600);
    // The header does not depend on how the file is read.
    let header = shown.lines().next().unwrap();
    assert!(header.starts_with("[a.rs#"));
    let whole = text(&scratch, "a.rs:1");
    assert!(whole.starts_with(header) && whole.contains("\n2:    let x = 1;\n") && !whole.contains('…'));
    assert!(text(&scratch, "a.rs:2-9").contains("2:    let x = 1;"));
    assert!(!text(&scratch, "a.rs:raw").contains('…'));
    assert!(!text(&scratch, "short.rs").contains('…'));
}

#[test]
fn outlines_are_set() {
    let scratch = Scratch::new(&[("a.rs", &code(60)), ("a.md", &format!("# A\n{}", "text\n".repeat(200)))]);
    let with = |options: ReadOptions| tool(&scratch).with_options(&options);
    let never = with(ReadOptions { summarize: false, ..ReadOptions::default() });
    assert!(!scratch.text(&never, json!({"path": "a.rs"})).contains('…'));
    let mut options = ReadOptions::default();
    options.outline.min_body_lines = 9;
    assert!(!scratch.text(&with(options.clone()), json!({"path": "a.rs"})).contains('…'));
    options = ReadOptions::default();
    options.outline.min_total_lines = 601;
    assert!(!scratch.text(&with(options), json!({"path": "a.rs"})).contains('…'));
    assert!(!text(&scratch, "a.md").contains('…'));
}

#[test]
fn long_outlines_are_cut_like_everything_else() {
    let scratch = Scratch::new(&[("a.rs", &code(2000))]);
    let shown = text(&scratch, "a.rs");
    assert!(
        shown.contains("\n(shown up to line 15000 of 20,000, more lines not shown; continue with a.rs:15001)"),
        "{}",
        &shown[shown.len() - 400..]
    );
}

#[test]
fn ends_of_files() {
    let scratch = Scratch::new(&[("a", "1\n2\n3\n4\n5\n"), ("empty", "")]);
    for (path, want) in [
        ("a:-2", "[a#7ffe]\n4:4\n5:5"),
        ("a:-9", "[a#7ffe]\n1:1\n2:2\n3:3\n4:4\n5:5"),
        ("a:-1:raw", "5"),
        ("empty:-3", "[empty#5d05]\n(the file is empty)"),
        ("a:-0", "error: \":-0\" is not a number of lines\nhint: :-50 shows the last 50 lines"),
    ] {
        assert_eq!(text(&scratch, path), want, "{path}");
    }
}

#[test]
fn the_end_of_a_huge_file() {
    let scratch = Scratch::new(&[]);
    let mut lines = "0123456789abcde\n".repeat(1_100_000);
    lines.push_str("the last\n");
    scratch.put("huge", lines.as_bytes());
    assert_eq!(
        text(&scratch, "huge:-2"),
        "[huge]\n0123456789abcde\nthe last\n(the last 2 lines of 16MB; line numbers are unknown because the file is read from its end)"
    );
    let many = text(&scratch, "huge:-5000");
    assert!(
        many.ends_with(
            "\n(5000 lines were requested, but no more fit; huge:LINE-LINE shows earlier ones, counted from the start)"
        ),
        "{}",
        &many[many.len() - 300..]
    );
}
