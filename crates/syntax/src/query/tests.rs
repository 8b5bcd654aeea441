//! Tests of one pattern per language, metavariables, strictness, and errors for invalid patterns.

use super::*;

fn language(name: &str) -> Language {
    Language::from_name(name).unwrap()
}

/// Returns the matched texts, joined.
fn found(name: &str, pattern: &str, source: &str) -> String {
    let query = SyntaxQuery::new(pattern, language(name), Strictness::Smart, None);
    let query = query.unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = query.search(source, SearchLimits::default()).unwrap();
    assert!(query.may_match(source) || found.matches.is_empty(), "{name}: {pattern}");
    let texts: Vec<&str> = found.matches.iter().map(|it| &source[it.range.clone()]).collect();
    let error = found.syntax_error.map(|error| format!(" [{error}]")).unwrap_or_default();
    format!("{}{error}", texts.join(" | "))
}

#[test]
fn a_pattern_in_every_language() {
    let rows = [
        ("bash", "echo $A", "x=1\necho hello\nls -l\n", "echo hello"),
        ("c", "return $A + 1;", "int f(int a) { return a + 1; }\nint g() { return 2; }\n", "return a + 1;"),
        ("cpp", "delete $A;", "void f(int* a) { delete a; a = nullptr; }\n", "delete a;"),
        (
            "csharp",
            "Console.WriteLine($A)",
            "class A { void F() { Console.WriteLine(1); G(2); } }",
            "Console.WriteLine(1)",
        ),
        ("css", "a { $$$ }", "a { color: red; }\nb { top: 0; }\n", "a { color: red; }"),
        ("dart", "print($A)", "void main() { print('a'); show('b'); }", "print('a')"),
        ("elixir", "IO.puts($A)", "IO.puts(\"a\")\nIO.inspect(1)\n", "IO.puts(\"a\")"),
        ("go", "fmt.Println($A)", "package a\nfunc f() { fmt.Println(1); g(2) }\n", "fmt.Println(1)"),
        ("haskell", "$F x = $B", "f x = x + 1\ng y = y\n", "f x = x + 1"),
        ("hcl", "a = $V", "a = 1\nb = 2\n", "a = 1"),
        ("html", "<b>$A</b>", "<p><b>x</b><i>y</i></p>", "<b>x</b>"),
        (
            "java",
            "System.out.println($A)",
            "class A { void f() { System.out.println(1); g(2); } }",
            "System.out.println(1)",
        ),
        ("javascript", "console.log($$$A)", "console.log(1, 2); alert(3);", "console.log(1, 2)"),
        ("json", "{\"a\": $A}", "[{\"a\": 1}, {\"b\": 2}]", "{\"a\": 1}"),
        ("kotlin", "println($A)", "fun main() { println(1); show(2) }\n", "println(1)"),
        ("lua", "print($A)", "print(1)\nshow(2)\n", "print(1)"),
        ("markdown", "- $A", "# A\n\n- text\n- more\n", "- text\n | - more\n"),
        ("nix", "a + $B", "{ x = a + b; y = c; }", "a + b"),
        ("php", "foo($A)", "<?php\nfoo(1);\nbar(2);\n", "foo(1)"),
        ("python", "print($A)", "print(1)\nshow(2)\n", "print(1)"),
        ("ruby", "puts $A", "puts 1\nshow 2\n", "puts 1"),
        ("rust", "$A.unwrap()", "fn f() { a().unwrap(); b.expect(\"c\"); }\n", "a().unwrap()"),
        ("scala", "println($A)", "object A { def f() = { println(1); g(2) } }\n", "println(1)"),
        ("solidity", "contract $A { $$$ }", "contract A { uint x; }\ninterface B {}\n", "contract A { uint x; }"),
        ("swift", "print($A)", "func f() { print(1); g(2) }\n", "print(1)"),
        ("tsx", "<A $$$P />", "const a = <A b={1} />; const c = <D />;", "<A b={1} />"),
        ("typescript", "let $A: $T = $V", "let a: number = 1; let b = 2;", "let a: number = 1;"),
        ("yaml", "a: $V", "a: 1\nb: 2\n", "a: 1"),
        ("zig", "foo($A)", "fn f() void { foo(1); bar(2); }\n", "foo(1)"),
    ];
    let mut wrong = Vec::new();
    for (name, pattern, source, expect) in rows {
        let found = found(name, pattern, source);
        if found != expect {
            wrong.push(format!("{name}: {found} instead of {expect}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let without_row: Vec<_> = Language::all().filter(|it| rows.iter().all(|row| row.0 != it.name())).collect();
    assert!(without_row.is_empty(), "{without_row:?}");
}

#[test]
fn expressions_that_cannot_stand_alone_in_a_file() {
    let solidity = "contract A { function f() public { require(x); g(y); } }";
    assert_eq!(found("solidity", "require($A)", solidity), "require(x)");
    assert_eq!(found("c", "foo($A)", "void f() { foo(1); bar(2); }\n"), "foo(1)");
    assert_eq!(found("c", "foo($A);", "void f() { foo(1); bar(2); }\n"), "foo(1);");
    assert_eq!(found("cpp", "a::foo($$$)", "void f() { a::foo(1, 2); b::foo(2); }\n"), "a::foo(1, 2)");
    assert_eq!(found("go", "func $F() { $$$ }", "package a\nfunc f() { g(2) }\n"), "func f() { g(2) }");
    assert_eq!(
        found("go", "if $E != nil { return $E }", "package a\nfunc f() { if e != nil { return e } }\n"),
        "if e != nil { return e }"
    );
    assert_eq!(
        found("java", "@Override public void $F() { $$$ }", "class A { @Override public void f() { g(); } }"),
        "@Override public void f() { g(); }"
    );
}

#[test]
fn metavariables() {
    let check = |pattern: &str, source: &str, expect: &str| assert_eq!(found("javascript", pattern, source), expect);
    check("$A == $A", "a == a; a == b;", "a == a");
    check("f($$$)", "f(); f(1); f(1, 2); g(3)", "f() | f(1) | f(1, 2)");
    check("f($_, $_)", "f(1, 2); f(1)", "f(1, 2)");
    check("f(1, $$$REST)", "f(1, 4); f(1, 2, 3); f(2, 1)", "f(1, 4) | f(1, 2, 3)");
    check("if ($C) { return $V }", "function a() { if (x) { return 1 } if (y) { z() } }", "if (x) { return 1 }");
    let query = SyntaxQuery::new("f($A, $$$REST)", language("javascript"), Strictness::Smart, None).unwrap();
    let found = query.search("\nf(a, b,\n  c)", SearchLimits::default()).unwrap();
    let first = &found.matches[0];
    assert_eq!((first.first_line, first.last_line), (2, 3));
    let captures: Vec<_> = first.captures.iter().map(|it| (it.name.as_str(), it.text.as_str())).collect();
    assert_eq!(captures, [("A", "a"), ("REST", "b,\n  c")]);
}

#[test]
fn strictness_and_selector() {
    let count = |pattern: &str, strictness, selector: Option<&str>, source: &str| {
        let query = SyntaxQuery::new(pattern, language("javascript"), strictness, selector).unwrap();
        query.search(source, SearchLimits::default()).unwrap().matches.len()
    };
    assert_eq!(count("f(a)", Strictness::Smart, None, "f(/* x */ a)"), 1);
    assert_eq!(count("f(a)", Strictness::Cst, None, "f(a,)"), 0);
    assert_eq!(count("f(a)", Strictness::Smart, None, "f(a,)"), 1);
    assert_eq!(count("f(a)", Strictness::Signature, None, "g(b)"), 1);
    assert_eq!(
        count("class A { $B() { $$$ } }", Strictness::Smart, Some("method_definition"), "class X { y() { 1 } }"),
        1
    );
}

#[test]
fn files_without_the_words_of_a_pattern_need_no_parsing() {
    let query =
        |pattern: &str, strictness| SyntaxQuery::new(pattern, language("javascript"), strictness, None).unwrap();
    assert!(!query("foo($A)", Strictness::Smart).may_match("bar(1)"));
    assert!(query("foo($A)", Strictness::Smart).may_match("// foo"));
    assert!(query("foo($A)", Strictness::Signature).may_match("bar(1)"));
    assert!(query("$A($B)", Strictness::Smart).may_match("bar(1)"));
}

#[test]
fn bad_patterns_say_why() {
    let check = |name: &str, pattern: &str, selector: Option<&str>, expect: &str| {
        let error =
            SyntaxQuery::new(pattern, language(name), Strictness::Smart, selector).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.starts_with(expect), "{pattern}: {error}");
    };
    check("rust", "  ", None, "the pattern is empty");
    check("javascript", "a(); b()", None, "`a(); b()` is more than one piece of javascript code\nhint: ");
    check("javascript", "$$$A", None, "`$$$A` alone would match any list");
    check("javascript", "f($$A)", None, "`$$A` is not a metavariable\nhint: $A stands for one node, $$$A");
    check("javascript", "f($A)", Some("no_such"), "javascript has no node kind `no_such`");
    check("javascript", "f($A)", Some("class_body"), "no `class_body` in the pattern `f($A)`");
    check("rust", &"a".repeat(20_000), None, "the pattern has 20000 bytes");
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    check("javascript", &deep, None, "nested deeper than 1500 levels");
    check("json", "not json", None, "`not json` is");
}

#[test]
fn half_right_patterns_are_doubted_and_broken_files_told() {
    let query = SyntaxQuery::new("function f() { let = }", language("javascript"), Strictness::Smart, None).unwrap();
    assert!(query.doubt().is_some_and(|doubt| doubt.contains("does not parse cleanly as javascript")));
    assert_eq!(found("rust", "a($X)", "fn f() { a(1); }\nfn g( { a(2); }\n").split(" [").count(), 2);
}

#[test]
fn matches_are_limited() {
    let query = SyntaxQuery::new("f($A)", language("javascript"), Strictness::Smart, None).unwrap();
    let limits = SearchLimits { matches: 3, ..SearchLimits::default() };
    let found = query.search(&"f(1);\n".repeat(10), limits).unwrap();
    assert_eq!((found.matches.len(), found.cut), (3, true));
    assert!(matches!(query.search(&"f(1);\n".repeat(1_000_000), limits), Err(ParseError::TooLarge(_))));
}
