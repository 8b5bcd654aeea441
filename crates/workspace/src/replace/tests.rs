//! Golden tests and property tests of text replacement.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::path::PathResolver;

fn edit(old_text: &str, new_text: &str) -> TextEdit {
    TextEdit { old_text: old_text.into(), new_text: new_text.into(), all: false }
}

/// Returns the new content of a file `f` and the warnings.
fn run(content: &[u8], edits: &[TextEdit], rules: EditRules) -> Result<(Vec<u8>, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), content).unwrap();
    let paths = PathResolver::new(folder.path(), None);
    let planner = ReplacePlanner { files: &paths, last_seen: &|_: &Path| None, rules };
    let planned = planner.plan("f", edits).map_err(|error| error.to_string())?;
    assert_eq!(planned.len(), 1);
    Ok((planned[0].after.as_ref().unwrap().bytes().to_vec(), planned[0].warnings.clone()))
}

#[track_caller]
fn check(content: &str, old: &str, new: &str, want: &str) {
    let (after, warnings) = run(content.as_bytes(), &[edit(old, new)], EditRules::default()).unwrap();
    assert_eq!(String::from_utf8(after).unwrap(), want, "{old:?}");
    assert_eq!(warnings, Vec::<String>::new(), "{old:?}");
}

#[track_caller]
fn check_warned(content: &str, old: &str, new: &str, want: &str, warning: &str) {
    let (after, warnings) = run(content.as_bytes(), &[edit(old, new)], EditRules::default()).unwrap();
    assert_eq!(String::from_utf8(after).unwrap(), want, "{old:?}");
    assert!(warnings.len() == 1 && warnings[0].contains(warning), "{old:?}: {warnings:?}");
}

#[track_caller]
fn check_refused(content: &str, old: &str, new: &str, why: &[&str]) {
    let error = run(content.as_bytes(), &[edit(old, new)], EditRules::default()).unwrap_err();
    for part in why {
        assert!(error.contains(part), "{old:?}: {error}");
    }
}

#[test]
fn to_the_letter() {
    check("a b c\n", "b", "x", "a x c\n");
    check("a\nb\nc\n", "b", "x", "a\nx\nc\n");
    check("a\nb\nc\n", "b\n", "x\n", "a\nx\nc\n");
    check("a\nb\nc\n", "b\n", "", "a\nc\n");
    check("a\nb\nc\n", "a\nb", "x", "x\nc\n");
    check("a\nb\nc\n", "a\nb\nc\n", "", "");
    check("a\nb\nc\n", "\nb", "", "a\nc\n");
    check("a\nb\n", "b\n", "b\nc\n", "a\nb\nc\n");
    check("a\nb", "b", "c", "a\nc");
    check("a\nb", "b", "b\n", "a\nb\n");
    check("a\nb\n", "b\n", "b", "a\nb");
    check("one two\n", "one two", "one\ntwo", "one\ntwo\n");
    check("über “x”\n", "“x”", "\"y\"", "über \"y\"\n");
    check("tab\there\n", "\there", "\tthere", "tab\tthere\n");
    check("a  \nb\n", "a  \nb", "a\nb", "a\nb\n");
    check("$1 .* \\n\n", "$1 .* \\n", "$2", "$2\n");
    check("x\n\n\ny\n", "x\n\n\ny", "x\ny", "x\ny\n");
    check("only", "only", "", "");
}

#[test]
fn line_endings_marks_and_odd_bytes_stay() {
    check("a\r\nb\r\nc\r\n", "b", "x", "a\r\nx\r\nc\r\n");
    check("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n");
    check("a\r\nb\r\nc\r\n", "a\r\nb", "x", "x\r\nc\r\n");
    check("a\nb\r\nc\n", "b\nc", "x\ny", "a\nx\r\ny\n");
    check("a\nb\r\nc\nd\n", "a\nb\nc", "1\n2\n3", "1\n2\r\n3\nd\n");
    check("a\nb\r\nc\n", "a\nb\n", "1\n2\nb\n", "1\n2\nb\r\nc\n");
    check("a\rb\rc\r", "b\nc", "x\ny", "a\rx\ry\r");
    check("\u{feff}a\nb\n", "a", "x", "\u{feff}x\nb\n");
    check("\u{feff}a\r\nb", "a\nb", "x\ny", "\u{feff}x\r\ny");
    let (after, _) = run(b"\xff\xfe\nx\n\x80\n"[1..].as_ref(), &[edit("x", "y")], EditRules::default()).unwrap();
    assert_eq!(after, b"\xfe\ny\n\x80\n");
    let (after, _) = run(b"\xe9 x = 1\n", &[edit("x = 1", "x = 2")], EditRules::default()).unwrap();
    assert_eq!(after, b"\xe9 x = 2\n");
}

#[test]
fn blanks_at_line_ends() {
    let note = "ignoring trailing whitespace, at line 1";
    check_warned("a  \nb\t\nc\n", "a\nb", "a\nx", "a  \nx\nc\n", note);
    check_warned("a\nb\n", "a \nb ", "x\nb ", "x\nb\n", note);
    check_warned("a \nb", "a\nb\n", "a\nc\n", "a \nc", note);
    check_warned("a \r\nb\r\n", "a\nb", "a\nx\ny", "a \r\nx\r\ny\r\n", note);
    check("a\nb", "a\nb\n", "a\nx\n", "a\nx");
    check_warned("a \nb\n", "a\n", "", "b\n", note);
    check_warned("a \nb \n", "a\nb", "", "\n", note);
}

#[test]
fn indentation() {
    let note = "ignoring indentation, at line";
    check_warned("    a\n      b\n", "a\n  b", "a\n  c", "    a\n      c\n", note);
    check_warned("    a\n      b\n", "a\n  b", "a\nif x\n  b", "    a\n    if x\n      b\n", note);
    check_warned("\ta\n\t\tb\n", "    a\n        b", "    a\n        c", "\ta\n\t\tc\n", note);
    check_warned("a\n  b\n", "    a\n      b", "    a\n      c\n    d", "a\n  c\nd\n", note);
    check_warned("x\n  a\n\n  b\n", "a\n\nb", "a\n\nc", "x\n  a\n\n  c\n", note);
    check_refused("    a\n    b\n", "a\n  b", "a\n  c", &["another indentation", "line 1", "1:    a"]);
    check_refused("  a\n", "    a", "b", &["another indentation"]);
}

#[test]
fn punctuation() {
    let note = "quotes, dashes";
    check_warned("say(“hi”);\nend\n", "say(\"hi\");\nend", "say(\"hi\");\nstop", "say(“hi”);\nstop\n", note);
    check_warned("it’s – so\nb\n", "it's - so\nb", "it's - so\nc", "it’s – so\nc\n", note);
    check_warned("a\u{a0}b\nc\n", "a b\nc", "a b\nd", "a\u{a0}b\nd\n", note);
    check_warned("  “a”\n", "\"a\"", "\"b\"", "  \"b\"\n", note);
    check_warned("x − y\n", "x - y", "x + y", "x + y\n", note);
}

#[test]
fn similar_text() {
    let body = "fn total(items: &[Item]) -> u64 {\n    items.iter().map(|item| item.price).sum()\n}\n";
    let old = "fn total(items: &[Item]) -> u64 {\n    items.iter().map(|item| item.prize).sum()\n}";
    let new = "fn total(items: &[Item]) -> u64 {\n    0\n}";
    check_warned(body, old, new, "fn total(items: &[Item]) -> u64 {\n    0\n}\n", "only similar text (98 % similar)");
    let strict = EditRules { fuzzy: false, ..EditRules::default() };
    assert!(run(body.as_bytes(), &[edit(old, new)], strict).unwrap_err().contains("not found"));
    let exacting = EditRules { threshold: 0.99, ..EditRules::default() };
    assert!(run(body.as_bytes(), &[edit(old, new)], exacting).unwrap_err().contains("not found"));
    check_refused(&format!("{body}{body}"), old, new, &["2 places", "1:fn total", "4:fn total", "more lines around"]);
}

#[test]
fn without_tolerance_only_the_letter_counts() {
    let strict = EditRules { fuzzy: false, ..EditRules::default() };
    assert!(run(b"a \nb\n", &[edit("a\nb", "x")], strict).unwrap_err().contains("not found"));
    assert_eq!(run(b"a\nb\n", &[edit("a", "x")], strict).unwrap().0, b"x\nb\n");
}

#[test]
fn one_place_only() {
    check_refused("a\nb\na\n", "a", "x", &["2 places of f", "1:a\n3:a", "or set all"]);
    check_refused("aaa\n", "aa", "x", &["2 places"]);
    check_refused(&"x\n".repeat(20), "x", "y", &["20 places", "… and 12 more places"]);
    check_refused("  a\n    a\n", "a\n", "x\n", &["2 places"]);
    check_refused(" a\nb\n a\nb\n", "\ta\nb", "x", &["2 places", "ignoring indentation"]);
    check("a\nb\na\nc\n", "a\nc", "x\nc", "a\nb\nx\nc\n");
}

#[test]
fn all_places() {
    let all = |old: &str, new: &str| [TextEdit { all: true, ..edit(old, new) }];
    let rules = EditRules::default();
    let after =
        |content: &str, old, new| String::from_utf8(run(content.as_bytes(), &all(old, new), rules).unwrap().0).unwrap();
    assert_eq!(after("a b a\na\n", "a", "x"), "x b x\nx\n");
    assert_eq!(after("aaa\n", "aa", "x"), "xa\n");
    assert_eq!(after("a\r\na\r\n", "a\n", "b\n"), "b\r\nb\r\n");
    assert_eq!(after("a \nb\na\t\nb\n", "a\nb", "a\nc"), "a \nc\na\t\nc\n");
    assert_eq!(after("a\n", "a", "x"), "x\n");
    let error = run(b"  a\nb\n", &all("a\n b", "x"), rules).unwrap_err();
    assert!(error.contains("only exact matches"), "{error}");
}

#[test]
fn several_edits_follow_each_other() {
    let rules = EditRules::default();
    let both = [edit("a", "b1"), edit("c", "d")];
    assert_eq!(run(b"a\nc\n", &both, rules).unwrap().0, b"b1\nd\n");
    let all_but_one = [edit("a\n", ""), edit("c", "c\nd")];
    assert_eq!(run(b"a\r\nc", &all_but_one, rules).unwrap().0, b"c\r\nd", "the endings are those of the file");
    let chained = [edit("a", "x"), edit("x", "y")];
    assert_eq!(run(b"a\n", &chained, rules).unwrap().0, b"y\n");
    let error = run(b"a\n", &[edit("a", "x"), edit("a", "y")], rules).unwrap_err();
    assert!(error.starts_with("old_text of edit 2 was not found"), "{error}");
    let error = run(b"a\n", &[edit("a", "x"), edit("x", "a")], rules).unwrap_err();
    assert!(error.contains("no changes being made"), "{error}");
}

#[test]
fn refusals() {
    check_refused("a\n", "b", "c", &["not found in f", "read the file again"]);
    check_refused("a\nb\nc\n", "b\nx", "c", &["Similar lines are here:\n2:b\n3:c"]);
    check_refused("a\n", "a", "a", &["are the same"]);
    check_refused("a\n", "", "x", &["old_text is empty, but f is not"]);
    check_refused("a\0b\n", "a", "x", &["binary data"]);
    assert!(run(b"a\n", &[], EditRules::default()).unwrap_err().contains("edits is empty"));
    check("", "", "new\n", "new\n");
    check("\u{feff}", "", "new\n", "\u{feff}new\n");
}

#[test]
fn missing_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Readme.md"), "x").unwrap();
    let paths = PathResolver::new(folder.path(), None);
    let planner = ReplacePlanner { files: &paths, last_seen: &|_: &Path| None, rules: EditRules::default() };
    let made = planner.plan("new/file", &[edit("", "text\n")]).unwrap();
    assert!(made[0].before.is_none() && made[0].after.as_ref().unwrap().bytes()[..] == b"text\n"[..]);
    let error = planner.plan("README.md", &[edit("x", "y")]).unwrap_err().to_string();
    assert_eq!(
        error,
        "File not found: README.md\nhint: there is Readme.md, whose name differs only in case or Unicode form"
    );
    let made = planner.plan("README.md", &[edit("", "y")]).unwrap();
    assert!(made[0].warnings[0].contains("next to Readme.md"));
}

#[test]
fn a_file_that_changed_since_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "a \nb\nnew\n").unwrap();
    let paths = PathResolver::new(folder.path(), None);
    let seen = TextFile::parse(&b"a\nb\n"[..]).tag();
    let planner = ReplacePlanner { files: &paths, last_seen: &|_: &Path| Some(seen), rules: EditRules::default() };
    let merged = planner.plan("f", &[edit("b\n", "c\n")]).unwrap();
    assert_eq!(merged[0].after.as_ref().unwrap().bytes()[..], b"a \nc\nnew\n"[..]);
    assert!(merged[0].warnings[0].contains("changed after it was read"));
    let error = planner.plan("f", &[edit("a\nb", "x")]).unwrap_err().to_string();
    assert!(error.contains("changed after it was read") && error.contains("1:a \n2:b"), "{error}");
}

/// Unique lines with varying line endings, byte-order mark and final newline.
fn files() -> impl Strategy<Value = (Vec<String>, String, bool, bool)> {
    let line = "[a-c ]{0,4}";
    (
        proptest::collection::vec(line, 2..14),
        prop_oneof![Just("\n".to_owned()), Just("\r\n".into())],
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(lines, eol, bom, finished)| {
            let lines = lines.iter().enumerate().map(|(index, line)| format!("{line}#{index};")).collect();
            (lines, eol, bom, finished)
        })
}

fn assemble(lines: &[String], eol: &str, bom: bool, finished: bool) -> String {
    let end = if finished && !lines.is_empty() { eol } else { "" };
    format!("{}{}{end}", if bom { "\u{feff}" } else { "" }, lines.join(eol))
}

/// Like `run`, without writing to disk.
fn replaced(content: &[u8], edit: &TextEdit, rules: EditRules) -> Result<Vec<u8>, String> {
    let file = TextFile::parse(content);
    find(&file, edit, rules).map(|made| made.content).map_err(|problem| problem.say("f", "old_text", &file))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, ..ProptestConfig::default() })]

    /// Replacing a block of lines keeps every byte outside it.
    #[test]
    fn nothing_outside_the_text_is_touched(
        (lines, eol, bom, finished) in files(), from: prop::sample::Index, len in 1..4usize,
        new in proptest::collection::vec("[x-z]{0,3}", 1..4), sloppy: bool,
    ) {
        let from = from.index(lines.len());
        let until = (from + len).min(lines.len());
        let tail = if sloppy { " \n" } else { "\n" };
        let old = lines[from..until].join(tail) + if sloppy { " " } else { "" };
        let content = assemble(&lines, &eol, bom, finished);
        let want = [&lines[..from], &new[..], &lines[until..]].concat();
        let after = replaced(content.as_bytes(), &edit(&old, &new.join("\n")), EditRules::default()).unwrap();
        prop_assert_eq!(String::from_utf8(after).unwrap(), assemble(&want, &eol, bom, finished));
    }

    /// Replacing a text and reverting it gives the same bytes.
    #[test]
    fn there_and_back((lines, eol, bom, finished) in files(), at: prop::sample::Index, new in "[x-z]{1,5}(\n[x-z]{0,3}){0,2}") {
        let old = &lines[at.index(lines.len())];
        let content = assemble(&lines, &eol, bom, finished);
        let there = replaced(content.as_bytes(), &edit(old, &new), EditRules::default()).unwrap();
        let back = replaced(&there, &edit(&new, old), EditRules::default()).unwrap();
        prop_assert_eq!(String::from_utf8(back).unwrap(), content);
    }

    /// Any input gives a result without a panic, and a refused edit has a reason.
    #[test]
    fn never_panics(content in "([ab\r\n\t “-]|\u{feff}){0,30}", old in "[ab\r\n\t \"-]{1,8}", new in "[ab\n]{0,5}", all: bool) {
        let edit = TextEdit { all, ..edit(&old, &new) };
        if let Err(error) = replaced(content.as_bytes(), &edit, EditRules { threshold: 0.6, ..EditRules::default() }) {
            prop_assert!(!error.is_empty());
        }
    }
}
