//! Tests of hunks: where they are located and what they change.

use super::*;

#[test]
fn plain_hunks() {
    check("a\nb\nc\n", "@@\n a\n-b\n+x\n c", "a\nx\nc\n");
    check("a\nb\nc\n", "@@\n-b\n+x", "a\nx\nc\n");
    check("a\nb\nc\n", "-b\n+x\n", "a\nx\nc\n");
    check("a\nb\nc\n", "@@\n-b", "a\nc\n");
    check("a\nb\nc\n", "@@\n b\n+x", "a\nb\nx\nc\n");
    check("a\nb\nc\n", "@@\n+x\n a", "x\na\nb\nc\n");
    check("a\nb\nc\n", "@@\n-a\n-b\n-c", "");
    check("a\nb\nc\n", "@@\n-b\n+x\n+y\n c", "a\nx\ny\nc\n");
    check("a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n");
    check("a\n-b\n", "@@\n a\n--b\n++b", "a\n+b\n");
    check("a\nb\nc\nd\n", "@@\n a\n-b\n+x\n@@\n c\n-d\n+y", "a\nx\nc\ny\n");
    check("a\nb\nc\n", "@@\n-a\n+b\n b\n-c\n+b", "b\nb\nb\n");
    check("a\nb\n", "@@\r\n-a\r\n+x\r\n b\r\n", "x\nb\n");
}

#[test]
fn headers_of_diff_programs() {
    check("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n", "x\nb\n");
    check("a\nb\n", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+x\n", "a\nx\n");
    check("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file", "a\nc");
    check("x\ny\nx\ny\n", "@@ -3,2 +3,2 @@\n x\n-y\n+z\n", "x\ny\nx\nz\n");
    check("x\ny\nx\ny\n", "@@ -1,2 +1,2 @@\n x\n-y\n+z\n", "x\nz\nx\ny\n");
    check("a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n");
    check("a\nb\n", "@@ -0,0 +1,1 @@\n+x\n", "x\na\nb\n");
    check(
        "fn a() {\n  x\n}\nfn b() {\n  x\n}\n",
        "@@ -99,1 +99,1 @@ fn b() {\n-  x\n+  y\n",
        "fn a() {\n  x\n}\nfn b() {\n  y\n}\n",
    );
}

#[test]
fn anchors() {
    let two = "class A\n  def f\n    x\nclass B\n  def f\n    x\n";
    check(two, "@@ class B\n-    x\n+    y", "class A\n  def f\n    x\nclass B\n  def f\n    y\n");
    check(two, "@@ class A\n-    x\n+    y", "class A\n  def f\n    y\nclass B\n  def f\n    x\n");
    check(two, "@@ class B\n@@ def f\n-    x\n+    y", "class A\n  def f\n    x\nclass B\n  def f\n    y\n");
    check(two, "@@ class B @@\n-    x\n+    y", "class A\n  def f\n    x\nclass B\n  def f\n    y\n");
    check(two, "@@ class B\n+  new", "class A\n  def f\n    x\nclass B\n  new\n  def f\n    x\n");
    check("a long line here\nb\n", "@@ a long\n-b\n+c", "a long line here\nc\n");
    check_refused(two, "@@ def f\n-    x\n+    y", &["occur in 2 places", "3:    x\n6:    x"]);
    check_refused(two, "@@ class C\n-    x\n+    y", &["no line of f is \"class C\""]);
    check_refused(two, "@@ def f\n+new", &["@@ line occurs in 2 places"]);
    check_refused("a\nb\n", "@@ b\n-a\n+x", &["but not below \"b\"", "1:a"]);
}

#[test]
fn order_decides_between_equal_places() {
    check("x\n1\nx\n2\n", "@@\n-1\n+one\n@@\n-x\n+y", "x\none\ny\n2\n");
    check("x\n1\nx\n2\n", "@@\n-2\n+two\n@@\n-1\n+one", "x\none\nx\ntwo\n");
    check_refused("x\nx\n1\n", "@@\n-1\n+one\n@@\n-x\n+y", &["Hunk 2", "2 places"]);
    check_refused("a\nb\n", "@@\n-a\n+x\n@@\n-a\n+y", &["Hunk 2", "not found"]);
}

#[test]
fn the_end_of_the_file() {
    check("x\na\nx\n", "@@\n-x\n+y\n*** End of File", "x\na\ny\n");
    check("a\n", "@@\n+b\n*** End of File", "a\nb\n");
    check("a\n", "@@\n+b", "a\nb\n");
    check("a", "@@\n+b", "a\nb");
    check("a", "@@\n-a\n+b\n+c", "b\nc");
    check("a\nb", "@@\n a\n-b", "a");
    check("", "@@\n+a\n+b", "a\nb\n");
    check_refused("x\na\n", "@@\n-x\n+y\n*** End of File", &["not found at the end of f"]);
}

#[test]
fn endings_marks_and_blanks_stay() {
    check("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n c", "a\r\nx\r\ny\r\nc\r\n");
    check("\u{feff}a\nb\n", "@@\n-a\n+x", "\u{feff}x\nb\n");
    check("\ta\n\tb\n", "@@\n \ta\n-\tb\n+\tc", "\ta\n\tc\n");
    check("a\nb\r\nc\n", "@@\n a\n-b\n+x\n c", "a\nx\r\nc\n");
    let bench = Bench::new(&[("f", b"\xff\nb\n\x80\n")]);
    let edits = bench.plan(&[update("@@\n-b\n+c").unwrap()]).unwrap();
    assert_eq!(edits[0].after.as_ref().unwrap().bytes()[..], b"\xff\nc\n\x80\n"[..]);
}

#[test]
fn tolerances_are_told() {
    check_warned("a  \nb\n", "@@\n a\n-b\n+c", "a  \nc\n", "ignoring trailing whitespace, at line 1");
    check_warned("    a\n    b\n", "@@\n a\n-b\n+c\n+  d", "    a\n    c\n      d\n", "ignoring indentation");
    check_warned("\ta\n\tb\n", "@@\n     a\n-    b\n+    c", "\ta\n\tc\n", "ignoring indentation");
    check_warned("“a”\nb\n", "@@\n \"a\"\n-b\n+c", "“a”\nc\n", "quotes, dashes");
    let long = "let the_name_of_it = compute_the_value(first, second, third);";
    check_warned(
        &format!("{long}\nb\n"),
        &format!("@@\n {}\n-b\n+c", long.replace("third", "thirt")),
        &format!("{long}\nc\n"),
        "% similar",
    );
    check_refused("    a\n  b\n", "@@\n a\n-b\n+c", &["another indentation"]);
}

#[test]
fn what_cannot_be_read() {
    check_refused("a\n", "", &["no hunks"]);
    check_refused("a\n", "@@\n a", &["Hunk 1 adds and removes nothing"]);
    check_refused("a\n", "@@\n-a\nstray", &["line 3 of the diff", "\"stray\""]);
    check_refused("a\n", "*** End of File", &["line 1 of the diff"]);
    check_refused("a\n", "@@\n-b\n+c", &["not found in f", "hint:"]);
    check_refused("a\nb\nc\n", "@@\n a\n-x\n+c", &["Similar lines are here:\n1:a\n2:b\n3:c"]);
    check_refused("a\na\n", "@@\n-a\n+c", &["2 places of f", "1:a\n2:a"]);
    check_refused("a\n", "@@\n-a\n+a", &["no changes being made"]);
}

#[test]
fn contents_of_new_files() {
    for (diff, want) in [
        ("+a\n+b", "a\nb\n"),
        ("a\nb", "a\nb\n"),
        ("a\n+b\n", "a\n+b\n"),
        ("+a\r\n+b\r\n", "a\nb\n"),
        ("++x", "+x\n"),
        ("", ""),
        ("+", ""),
    ] {
        assert_eq!(new_file_content(diff), want, "{diff:?}");
    }
}

#[test]
fn a_file_that_changed_since_it_was_read() {
    let seen = Some(TextFile::parse(&b"a\nb\n"[..]).tag());
    let bench = Bench::new(&[("f", b"new\na \nb\n")]);
    let merged = bench.plan_seen(&[update("@@\n-b\n+c").unwrap()], seen).unwrap();
    assert_eq!(merged[0].after.as_ref().unwrap().bytes()[..], b"new\na \nc\n"[..]);
    assert!(merged[0].warnings[0].contains("changed after it was read"));
    let error = bench.plan_seen(&[update("@@\n a\n-b\n+c").unwrap()], seen).unwrap_err();
    assert!(error.contains("changed after it was read") && error.contains("2:a \n3:b"), "{error}");
    let error = bench.plan_seen(&[FileOp { path: "f".into(), op: PatchOp::Delete }], seen).unwrap_err();
    assert!(error.contains("is not deleted"), "{error}");
}
