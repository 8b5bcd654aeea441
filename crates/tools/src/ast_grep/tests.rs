//! Tests `ast_grep` as the agent loop calls it; the patterns themselves are tested in `syntax`.

use omp_agent::Tier;
use serde_json::{Value, json};

use super::*;
use crate::scratch::Scratch;

fn grep(scratch: &Scratch, arguments: Value) -> String {
    scratch.text(&AstGrep { files: scratch.files.clone() }, arguments)
}

fn tree() -> Scratch {
    Scratch::new(&[
        ("src/a.rs", "fn a() {\n    one().unwrap();\n    let x = two(\n        1,\n    ).unwrap();\n}\n"),
        ("src/b.rs", "fn b() { three().unwrap(); }\n"),
        ("web/c.ts", "console.log(1);\nother(2);\n"),
        ("web/d.tsx", "console.log(<b/>);\n"),
        ("script", "#!/usr/bin/env python3\nprint(1)\n"),
        ("notes.txt", "one().unwrap()\n"),
        (".gitignore", "skipped\n"),
        ("skipped/e.rs", "fn e() { one().unwrap(); }\n"),
    ])
}

#[test]
fn matches_come_with_headers_and_numbers() {
    let scratch = tree();
    insta::assert_snapshot!(grep(&scratch, json!({"pat": "$A.unwrap()", "paths": ["src"]})), @"
    [src/a.rs#b405]
    *2:    one().unwrap();
    *3:    let x = two(
    *4:        1,
    *5:    ).unwrap();

    [src/b.rs#d968]
    *1:fn b() { three().unwrap(); }
    ");
    insta::assert_snapshot!(grep(&scratch, json!({"pat": ["one()"], "context": 1, "lang": "rust"})), @"
    [src/a.rs#b405]
     1:fn a() {
    *2:    one().unwrap();
     3:    let x = two(
    ");
    insta::assert_snapshot!(grep(&scratch, json!({"pat": "console.log($A)"})), @"
    [web/c.ts#30c9]
    *1:console.log(1);

    [web/d.tsx#a935]
    *1:console.log(<b/>);
    ");
    insta::assert_snapshot!(grep(&scratch, json!({"pat": "print($A)", "paths": ["script"]})), @"
    [script#919d]
    *2:print(1)
    ");
    insta::assert_snapshot!(grep(&scratch, json!({"pat": ["other($A)", "console.log($A)"], "lang": "ts"})), @"
    [web/c.ts#30c9]
    *1:console.log(1);
    *2:other(2);

    [web/d.tsx#a935]
    *1:console.log(<b/>);
    ");
}

#[test]
fn the_header_is_good_for_edit() {
    let scratch = tree();
    let text = grep(&scratch, json!({"pat": "three()", "paths": ["src/b.rs"]}));
    let header = text.lines().next().unwrap();
    let tag = header.trim_end_matches(']').rsplit('#').next().unwrap();
    let file = omp_workspace::TextFile::parse(std::fs::read(scratch.path("src/b.rs")).unwrap());
    assert_eq!(tag, file.tag().to_string());
    assert!(scratch.files.snapshot(&scratch.path("src/b.rs"), file.tag()).is_some());
}

#[test]
fn pages() {
    let lines: String = (1..=7).map(|n| format!("f({n});\n")).collect();
    let scratch = Scratch::new(&[("a.js", &lines), ("b.js", &lines)]);
    let page = |skip: u32| grep(&scratch, json!({"pat": "f($A)", "limit": 5, "skip": skip}));
    let numbers = |text: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.strip_prefix('*')?.split_once(':').map(|(number, _)| number.to_owned()))
            .collect()
    };
    assert_eq!(numbers(&page(0)), ["1", "2", "3", "4", "5"]);
    assert!(page(0).ends_with("[Matches 1-5 of 14 in 2 files; next page: skip=5]"), "{}", page(0));
    assert_eq!(numbers(&page(5)), ["6", "7", "1", "2", "3"]);
    assert_eq!(numbers(&page(10)), ["4", "5", "6", "7"]);
    assert!(page(10).ends_with("[Matches 11-14 of 14 in 2 files]"));
    assert_eq!(page(14), "No more matches: there are 14, 14 were skipped");
}

#[test]
fn long_results_are_cut_and_paged() {
    let body = "  x();\n".repeat(200);
    let source = format!("function f() {{\n{body}}}\n").repeat(60);
    let scratch = Scratch::new(&[("a.js", &source), ("long.js", &format!("g('{}')\n", "y".repeat(5000)))]);
    let text = grep(&scratch, json!({"pat": "function f() { $$$ }"}));
    assert!(text.contains("… 162 more lines of this match\n") && text.len() <= 50 * 1024, "{}", text.len());
    let text = grep(&scratch, json!({"pat": "function f() { $$$ }", "limit": 500, "context": 20}));
    assert!(text.len() <= 50 * 1024 && text.contains("next page: skip="), "{}", text.len());
    let text = grep(&scratch, json!({"pat": "g($A)"}));
    assert!(text.contains("[Lines over 1024 characters were cut"), "{text}");
}

#[test]
fn problems_are_told() {
    let scratch = tree();
    scratch.put("bad/x.rs", b"fn x( { one().unwrap(); }\n");
    scratch.put("bad/y.rs", b"fn y() { one().unwrap(); } // \xff\n");
    scratch.put("bad/z.rs", format!("// one {}", "z".repeat(2_100_000)).as_bytes());
    let text = grep(&scratch, json!({"pat": "one().unwrap()", "paths": ["bad", "nowhere"]}));
    assert!(text.contains("Problems:\n"), "{text}");
    assert!(text.contains("bad/x.rs: does not parse at line 1"), "{text}");
    assert!(text.contains("bad/y.rs: is not UTF-8") && text.contains("bad/z.rs: 2MB is too large"), "{text}");
    assert!(text.contains("Skipped missing paths: nowhere"), "{text}");
    // A pattern that is valid in only one of several languages is no error, but the result mentions it.
    let text = grep(&scratch, json!({"pat": "fn $F() { $$$ }", "paths": ["src", "web"]}));
    assert!(text.contains("*1:fn b()") && text.contains("typescript files were not searched: "), "{text}");
}

#[test]
fn errors_are_answers() {
    let scratch = tree();
    let check = |arguments: Value, expect: &str| {
        let text = grep(&scratch, arguments);
        assert!(text.starts_with(&format!("error: {expect}")), "{text}");
    };
    check(json!({"pat": " "}), "`pat` must be a non-empty pattern");
    check(json!({"pat": []}), "`pat` must be a non-empty pattern");
    check(json!({"pat": "a; b", "lang": "ts"}), "`a; b` is more than one piece of tsx code\nhint: ");
    check(json!({"pat": "a", "lang": "cobol"}), "`cobol` is not a language that can be parsed\nhint: one of bash, c,");
    check(
        json!({"pat": "a", "paths": ["notes.txt"], "lang": "haskell", "skip": -1}),
        "`skip` must be a number of at least 0",
    );
    check(json!({"pat": "a", "paths": ["src"], "lang": "haskell"}), "No files of a known language in src");
    check(json!({"pat": "a", "paths": ["nowhere"]}), "Path not found: nowhere");
    check(json!({"pat": "a", "strictness": "loose"}), "Invalid arguments for `ast_grep`");
    assert!(grep(&scratch, json!({"pat": "a", "paths": ["notes.txt"]})).contains("notes.txt: its language is unknown"));
    assert_eq!(grep(&scratch, json!({"pat": "nothing()", "paths": ["src"]})), "No matches found in 2 files");
    assert!(
        grep(&scratch, json!({"pat": "one().unwrap()", "paths": ["notes.txt"], "lang": "rust"})).contains("*1:one()")
    );
}

#[test]
fn views() {
    let scratch = tree();
    let view = scratch.view(&AstGrep { files: scratch.files.clone() }, json!({"pat": "$A.unwrap()", "paths": ["src"]}));
    assert_eq!(view.title, "ast_grep $A.unwrap()");
    assert_eq!(view.notes, ["in src", "3 matches", "2 files"]);
    assert_eq!(
        crate::scratch::approval(&AstGrep { files: scratch.files.clone() }, &json!({"pat": "a"})).tier,
        Tier::Read
    );
}
