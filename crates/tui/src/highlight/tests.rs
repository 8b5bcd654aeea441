//! Tests the lexer for each language.

use proptest::prelude::*;

use super::*;
use crate::text::marks::{marked, theme};

fn shown(language: &str, code: &str) -> String {
    marked(&highlight(code, Some(language), &theme())).replace("syntax", "").replace("mdCodeBlock|", "|")
}

#[test]
fn rust() {
    let code = "/// Doc\nfn main<'a>(x: &'a str) -> u32 {\n    let c = 'x'; /* a /* nested */\n still */ let r = r#\"raw \"\n\"#;\n    println!(\"{x}\\\" {}\", 0xff_u8 + 1.5e-3);\n}";
    insta::assert_snapshot!(shown("rust", code), @r##"
    {Comment|/// Doc}
    {Keyword|fn }{Variable|main}{Operator|<}{Type|'a}{Operator|>}{Punctuation|(}{Variable|x}{Punctuation|: }{Operator|&}{Type|'a str}{Punctuation|) }{Operator|-> }{Type|u32 }{Punctuation|{}
    {|    }{Keyword|let }{Variable|c }{Operator|= }{String|'x'}{Punctuation|; }{Comment|/* a /* nested */}
    {Comment| still */ }{Keyword|let }{Variable|r }{Operator|= }{String|r#"raw "}
    {String|"#}{Punctuation|;}
    {|    }{Function|println!}{Punctuation|(}{String|"{x}\" {}"}{Punctuation|, }{Number|0xff_u8 }{Operator|+ }{Number|1.5e-3}{Punctuation|);}
    {Punctuation|}}
    "##);
}

#[test]
fn strings_and_comments_over_lines() {
    insta::assert_snapshot!(shown("py", "@wraps(f)\ndef f(x):  # why\n    \"\"\"Doc\n    more\"\"\"\n    return x['a#b']"), @r#"
    {Variable|@wraps}{Punctuation|(}{Variable|f}{Punctuation|)}
    {Keyword|def }{Function|f}{Punctuation|(}{Variable|x}{Punctuation|):  }{Comment|# why}
    {|    }{String|"""Doc}
    {String|    more"""}
    {|    }{Keyword|return }{Variable|x}{Punctuation|[}{String|'a#b'}{Punctuation|]}
    "#);
    insta::assert_snapshot!(shown("sh", "cat <<'EOF' | grep -v x\n$not code\nEOF\nif [ \"$a\" = 1 ]; then echo ${b}#x # no\nfi"), @r#"
    {Function|cat }{Operator|<<}{String|'EOF' }{Operator|| }{Function|grep }{Variable|-v x}
    {String|$not code}
    {Operator|EOF}
    {Keyword|if }{Punctuation|[ }{String|"$a" }{Operator|= }{Number|1 }{Punctuation|]; }{Keyword|then }{Function|echo }{Variable|${b}}{Operator|#}{Variable|x }{Comment|# no}
    {Keyword|fi}
    "#);
    insta::assert_snapshot!(shown("ts", "const a: Foo = `x ${\n1}`; // c\nfoo.bar(1)"), @"
    {Keyword|const }{Variable|a}{Punctuation|: }{Type|Foo }{Operator|= }{String|`x ${}
    {String|1}`}{Punctuation|; }{Comment|// c}
    {Variable|foo}{Punctuation|.}{Function|bar}{Punctuation|(}{Number|1}{Punctuation|)}
    ");
    insta::assert_snapshot!(shown("lua", "local s = [==[ a\n]] b ]==] -- c"), @"
    {Keyword|local }{Variable|s }{Operator|= }{String|[==[ a}
    {String|]] b ]==] }{Comment|-- c}
    ");
}

#[test]
fn data_and_markup() {
    insta::assert_snapshot!(shown("json", "{\"a\": [1, -2.5, true], \"b\": \"x\"}"), @r#"{Punctuation|{}{Variable|"a"}{Punctuation|: [}{Number|1}{Punctuation|, }{Operator|-}{Number|2.5}{Punctuation|, }{Keyword|true}{Punctuation|], }{Variable|"b"}{Punctuation|: }{String|"x"}{Punctuation|}}"#);
    insta::assert_snapshot!(shown("yaml", "# c\nkey: value\nlist:\n  - name: \"x\" # d\n    n: 3"), @r#"
    {Comment|# c}
    {Variable|key}{Punctuation|: }{Variable|value}
    {Variable|list}{Punctuation|:}
    {Operator|  - }{Variable|name}{Punctuation|: }{String|"x" }{Comment|# d}
    {|    }{Variable|n}{Punctuation|: }{Number|3}
    "#);
    insta::assert_snapshot!(shown("toml", "[a.b] # c\nkey = \"x\"\nn = 1"), @r#"
    {Type|[a.b] }{Comment|# c}
    {Variable|key }{Punctuation|= }{String|"x"}
    {Variable|n }{Punctuation|= }{Number|1}
    "#);
    insta::assert_snapshot!(shown("toml", "s = \"\"\"a\nb = 1\n\"\"\"\nc = 2"), @r#"
    {Variable|s }{Punctuation|= }{String|"""a}
    {String|b = 1}
    {String|"""}
    {Variable|c }{Punctuation|= }{Number|2}
    "#);
    insta::assert_snapshot!(shown("html", "<!-- a\nb --><a href=\"x\"\n  id=y>text</a>"), @r#"
    {Comment|<!-- a}
    {Comment|b -->}{Punctuation|<}{Keyword|a }{Variable|href}{Punctuation|=}{String|"x"}
    {|  }{Variable|id}{Punctuation|=}{Variable|y}{Punctuation|>}{|text}{Punctuation|</}{Keyword|a}{Punctuation|>}
    "#);
    insta::assert_snapshot!(shown("css", ".a:hover { color: #fff; margin: 0 1.5em }\n@media (x) {}"), @"
    {Punctuation|.}{Variable|a}{Punctuation|:}{Variable|hover }{Punctuation|{ }{Variable|color}{Punctuation|: }{Operator|#}{Variable|fff}{Punctuation|; }{Variable|margin}{Punctuation|: }{Number|0 1.5em }{Punctuation|}}
    {Keyword|@media }{Punctuation|(}{Variable|x}{Punctuation|) {}}
    ");
    insta::assert_snapshot!(shown("diff", "@@ -1 +1 @@\n-old\n+new\n same"), @"
    {Keyword|@@ -1 +1 @@}
    {toolDiffRemoved|-old}
    {toolDiffAdded|+new}
    {toolDiffContext| same}
    ");
}

/// Tests one line per language family: its keyword, string, number and comment are recognized.
#[test]
fn every_language_knows_its_parts() {
    for (language, code, want) in [
        ("c", "#include <a.h>", "Keyword"),
        ("cpp", "auto s = R\"x(a)x\";", "String"),
        ("cs", "var s = @\"a\"; // c", "Comment"),
        ("java", "class A { int x; }", "Type"),
        ("kotlin", "fun main() {}", "Function"),
        ("swift", "let x = 1", "Number"),
        ("go", "func f() error", "Type"),
        ("jsx", "return <A b={1} />", "Keyword"),
        ("tsx", "let a: string", "Type"),
        ("ruby", "def a? # c", "Comment"),
        ("php", "$a = 'b';", "String"),
        ("perl", "my $a = 1;", "Variable"),
        ("powershell", "Get-Item $x <# c #>", "Comment"),
        ("sql", "SELECT * from t -- c", "Comment"),
        ("scss", "$a: 1px;", "Number"),
        ("ini", "; c", "Comment"),
        ("markdown", "# Head", "Keyword"),
        ("dockerfile", "FROM rust:1 # c", "Keyword"),
        ("makefile", "all: a.o # c", "Comment"),
        ("haskell", "main = {- c -} 1", "Comment"),
        ("elixir", "defmodule A do", "Keyword"),
        ("erlang", "f() -> 1. % c", "Comment"),
        ("scala", "object A extends B", "Type"),
        ("dart", "final x = '''a''';", "String"),
        ("zig", "const x: u8 = 1;", "Type"),
        ("nim", "proc f() = #[ c ]# 1", "Comment"),
        ("r", "x <- function(a) 1", "Keyword"),
        ("julia", "function f() #= c =# end", "Comment"),
        ("clojure", "(defn f [x] (inc x))", "Function"),
        ("lisp", "(defun f () nil) ; c", "Comment"),
        ("vim", "let g:x = 1", "Keyword"),
        ("vim", "\" c", "Comment"),
    ] {
        let shown = shown(language, code);
        assert!(shown.contains(&format!("{{{want}|")), "{language}: {shown}");
    }
}

#[test]
fn unknown_languages_and_long_lines_are_plain() {
    let plain = |lines: Vec<Line>| lines.iter().all(|line| line.spans.len() == 1);
    assert!(plain(highlight("fn main() {}", Some("brainfuck"), &theme())));
    assert!(plain(highlight("fn main() {}", None, &theme())));
    assert!(plain(highlight(&"a ( ".repeat(2000), Some("rust"), &theme())));
    assert_eq!(highlight("a\u{1b}[31m\tb\r\n", Some("c"), &theme())[0].text(), "a   b");
    assert!(!plain(highlight("fn main() {}", Some("rust,ignore"), &theme())));
    assert!(!plain(highlight("fn main() {}", Some("src/lib.rs"), &theme())));
}

proptest! {
    /// In every language no text is lost, and lexing line by line equals lexing all at once.
    #[test]
    fn nothing_is_lost(code in "([a-z0-9_ ]|[\"'`#/*<>!@$%{}()\\[\\]=:;.-]|--|/\\*|\"\"\"|<<A|\\\\|日|\n){0,80}", at in 0..super::languages::LANGUAGES.len()) {
        let names = super::languages::LANGUAGES[at].names;
        let name = names.split(' ').next().unwrap();
        let text: Vec<String> = highlight(&code, Some(name), &theme()).iter().map(Line::text).collect();
        prop_assert_eq!(text.join("\n"), code.strip_suffix('\n').unwrap_or(&code));
    }
}
