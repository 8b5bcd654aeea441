//! Tests that a rewrite changes its matches, and nothing else.

use proptest::prelude::*;

use super::*;

fn apply(language: &str, ops: &[(&str, &str)], source: &str) -> Rewritten {
    let language = Language::from_name(language).unwrap();
    let rewrites: Vec<_> = ops.iter().map(|(from, to)| Rewrite::new(from, to, language).unwrap()).collect();
    rewrite(source, language, &rewrites.iter().collect::<Vec<_>>()).unwrap()
}

#[track_caller]
fn check(language: &str, ops: &[(&str, &str)], source: &str, expect: &str) {
    assert_eq!(apply(language, ops, source).text, expect);
}

#[test]
fn rewrites() {
    check("javascript", &[("var $A = $B", "let $A = $B")], "var a = 1\nlet b = 2\n", "let a = 1\nlet b = 2\n");
    check("typescript", &[("var $A = $B", "let $A = $B")], "var a = 1;\nb();\n", "let a = 1;\nb();\n");
    check("rust", &[("$A.unwrap()", "$A?")], "fn f() { a().unwrap(); }\n", "fn f() { a()?; }\n");
    check("python", &[("print($$$A)", "log($$$A)")], "print(1, 2)\nprint()\n", "log(1, 2)\nlog()\n");
    check(
        "go",
        &[("foo($A, $B)", "foo($B, $A)")],
        "package a\nfunc f() { foo(1, 2) }\n",
        "package a\nfunc f() { foo(2, 1) }\n",
    );
    check("javascript", &[("debug($$$)", "")], "a();debug(1);b()", "a();;b()");
    check("javascript", &[("a", "b"), ("b", "a")], "f(a, b)", "f(b, a)");
    check("javascript", &[("f($A)", "g($A)"), ("f(1)", "h()")], "f(1)", "g(1)");
    check("javascript", &[("f($A)", "f($A)")], "f(1)", "f(1)");
}

#[test]
fn indentation_and_line_endings_are_kept() {
    let source = "function a() {\n    if (x) {\n        y()\n    }\n}\n";
    let expect = "function a() {\n    when(x, () => {\n      y()\n    })\n}\n";
    check("javascript", &[("if ($C) { $$$B }", "when($C, () => {\n  $$$B\n})")], source, expect);
    check("javascript", &[("f($A)", "g(\n  $A\n)")], "f(1)\r\nh()\r\n", "g(\r\n  1\r\n)\r\nh()\r\n");
}

#[test]
fn nested_matches_wait() {
    let result = apply("javascript", &[("f($A)", "g($A)")], "f(f(1)); f(2)");
    assert_eq!((result.text.as_str(), result.edits.len(), result.nested), ("g(f(1)); g(2)", 2, 1));
}

#[test]
fn what_breaks_the_file_is_told() {
    let result = apply("javascript", &[("f($A)", "g(")], "f(1)\n");
    assert!(result.before.is_none() && result.after.is_some(), "{result:?}");
}

#[test]
fn bad_rewrites_say_why() {
    let error = |pattern: &str, to: &str| {
        Rewrite::new(pattern, to, Language::from_name("javascript").unwrap()).err().map(|error| error.to_string())
    };
    let unknown = error("f($A)", "g($B, $$$C, $A)");
    assert_eq!(unknown.as_deref(), Some("the replacement uses $B, $C, which the pattern `f($A)` does not have"));
    assert!(error("a(); b()", "c").is_some_and(|text| text.contains("more than one piece")));
    assert!(error("function f() { let = }", "c").is_some_and(|text| text.contains("hint: correct the pattern")));
}

proptest! {
    /// Lines without a match are unchanged, the others follow the template.
    #[test]
    fn nothing_outside_matches_is_touched(lines in proptest::collection::vec((0..6u8, "[a-z]{1,6}", 0..1000u32), 0..40), crlf: bool) {
        let line = |kind: u8, name: &str, number: u32, called: &str| match kind {
            0 => format!("  {called}({name}x, {number}) ;"),
            1 => format!("let {name}x = \"old({number}, 1) é\"   ;"),
            2 => format!("// old({name}, {number})"),
            3 => format!("\tif ({name}x) {{ {called}({name}x, [{number}]) }} else {{ other({number}) }}"),
            4 => String::new(),
            _ => format!("{name}x.old({number});"),
        };
        let eol = if crlf { "\r\n" } else { "\n" };
        let text = |called: &str| {
            lines.iter().map(|(kind, name, number)| line(*kind, name, *number, called) + eol).collect::<String>()
        };
        let result = apply("javascript", &[("old($A, $B)", "fresh($A, $B)")], &text("old"));
        prop_assert_eq!(result.text, text("fresh"));
        prop_assert_eq!(result.edits.len(), lines.iter().filter(|(kind, ..)| matches!(kind, 0 | 3)).count());
    }
}
