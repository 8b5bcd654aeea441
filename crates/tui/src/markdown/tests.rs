//! Tests the rendering of Markdown, and that it does not depend on how the text arrives.

use proptest::prelude::*;

use super::*;
use crate::text::marks::{marked, plain, theme};
use crate::theme::Theme;

fn space(theme: &Theme, width: usize) -> Space<'_> {
    Space { width, height: 24, theme, focused: false, keys: &crate::DefaultKeys }
}

fn draw(text: &str, width: usize) -> Vec<Line> {
    let theme = theme();
    let mut markdown = Markdown::default();
    markdown.set(text);
    markdown.draw(&space(&theme, width)).to_vec()
}

fn shown(text: &str, width: usize) -> String {
    plain(&draw(text, width))
}

fn styled(text: &str, width: usize) -> String {
    marked(&draw(text, width))
}

#[test]
fn paragraphs_and_emphasis() {
    let text = "# Title\n\nSome *soft*, **strong**, ~~gone~~ and `code` text\nthat goes on.  \nHard break. &amp; &#27;[31m\n\n\
        Setext\n---\n\n### Third **level**\ntext below\n\n***\n";
    insta::assert_snapshot!(styled(text, 40), @"
    {bu mdHeading|Title}

    Some {i|soft}, {b|strong}, {s|gone} and {mdCode|code} text
    that goes on.
    Hard break. & [31m

    {b mdHeading|Setext}

    {b mdHeading|### Third level}

    text below

    {mdHr|────────────────────}
    ");
}

#[test]
fn links() {
    let text = "[text](https://a.example/x) <https://b.example> https://c.example/(x)_y. [ref][R] [later] ![alt](p.png)\n\n\
        [r]: https://d.example 'title'\n\nNow [ref][R] and <me@x.example>.\n\n[later]: https://e.example";
    insta::assert_snapshot!(styled(text, 200), @"
    {u mdLink @https://a.example/x|text} {u mdLink @https://b.example|https://b.example} {u mdLink @https://c.example/(x)_y|https://c.example/(x)_y}. [ref][R] [later] {u mdLink @p.png|[image: alt]}

    Now {u mdLink @https://d.example|ref} and {u mdLink @mailto:me@x.example|me@x.example}.
    ");
    let theme = theme();
    let mut markdown = Markdown::default();
    markdown.set_show_urls(true);
    markdown.set("[text](https://a.example/x) <https://b.example> https://c.example");
    insta::assert_snapshot!(plain(markdown.draw(&space(&theme, 200))), @"text (https://a.example/x) https://b.example https://c.example");
}

#[test]
fn lists_and_quotes() {
    let text = "Intro:\n- one\n- two that is long enough to wrap\n  - nested\n    1. deep\n- [x] done\n- [ ] open\n\n\
        3. three\n\n   more of three\n5. four\n   ```sh\n   ls -l\n   ```\n-\n\n> quoted text that wraps\n> > inner\n>\n> - item\n>\n> end";
    insta::assert_snapshot!(shown(text, 24), @"
    Intro:
    • one
    • two that is long
      enough to wrap
      • nested
        1. deep
    ☑ done
    ☐ open

    3. three

       more of three
    4. four
       ── sh
         ls -l
    • 

    │ quoted text that wraps
    │ │ inner
    │
    │ • item
    │
    │ end
    ");
    insta::assert_snapshot!(styled("> a **b**\n\n1. x\n", 24), @"
    {mdQuoteBorder|│ }{i mdQuote|a }{bi mdQuote|b}

    {mdListBullet|1. }x
    ");
}

#[test]
fn code_blocks() {
    let text = "Run:\n```rust title=x\nfn main() {\n\n\tlet long = \"0123456789\";\n}\n```\nafter\n\n    indented\n    code\n\n~~~\n```\n~~~";
    insta::assert_snapshot!(shown(text, 20), @r#"
    Run:

    ── rust
      fn main() {

          let long = "01
      23456789";
      }

    after

      indented
      code

      ```
    "#);
    insta::assert_snapshot!(styled("```rs\nlet x = 1;\n", 20), @"
    {mdCodeBlockBorder|── }{muted|rs}
      {syntaxKeyword|let }{syntaxVariable|x }{syntaxOperator|= }{syntaxNumber|1}{syntaxPunctuation|;}
    ");
}

#[test]
fn tables() {
    let text = "| Name | Size | Note |\n|:-----|-----:|:----:|\n| a | 1 | x |\n| longer name | 22 | some **words** to wrap here |\n| `c\\|d` | | z<br>y |\n";
    insta::assert_snapshot!(shown(text, 60), @"
    Name        │ Size │          Note
    ────────────┼──────┼────────────────────────
    a           │    1 │            x
    ────────────┼──────┼────────────────────────
    longer name │   22 │ some words to wrap here
    ────────────┼──────┼────────────────────────
    c|d         │      │            z
                │      │            y
    ");
    insta::assert_snapshot!(shown(text, 34), @"
    Name        │ Size │     Note
    ────────────┼──────┼──────────────
    a           │    1 │       x
    ────────────┼──────┼──────────────
    longer name │   22 │ some words to
                │      │   wrap here
    ────────────┼──────┼──────────────
    c|d         │      │       z
                │      │       y
    ");
    insta::assert_snapshot!(shown(text, 16), @"
    Name: a
    Size: 1
    Note: x
    ──────
    Name: longer
    name
    Size: 22
    Note: some words
    to wrap here
    ──────
    Name: c|d
    Size: 
    Note: z
    y
    ");
    insta::assert_snapshot!(shown("|a|b|\n|-|-|\n|1|2|3 \\| 3|4|\n|5|\n", 34), @r"
    a │ b │       │ 
    ──┼───┼───────┼──
    1 │ 2 │ 3 | 3 │ 4
    5 │   │       │
    ");
    insta::assert_snapshot!(styled("|a|b|\n|-|-|\n|*x*|`y`|", 34), @"
    {b|a}{mdHr| │ }{b|b}
    {mdHr|──┼──}
    {i|x}{mdHr| │ }{mdCode|y}
    ");
}

#[test]
fn math_footnotes_and_html() {
    let text = "Energy $E=mc^2$ costs $5 and $10; \\(x_1 \\leq \\alpha\\) but `\\(code\\)`.\n\n$$\n\\frac{a}{b}\n$$\n\n\
        \\[ \\sum_{i=1}^n x_i \\]\n\nSee[^1] and[^note].\n\n[^1]: The first.\n\n<div>\n<b>html</b>\n</div>\n\ntext <kbd>x</kbd>";
    insta::assert_snapshot!(shown(text, 60), @r"
    Energy E=mc² costs $5 and $10; x₁ ≤ α but \(code\).

    a/b

    ∑ᵢ₌₁ⁿ xᵢ

    See¹ and[note].

    [1] The first.

    <div>
    <b>html</b>
    </div>

    text <kbd>x</kbd>
    ");
}

#[test]
fn hostile_text_is_harmless() {
    for text in [
        ">".repeat(5000),
        "- ".repeat(5000),
        "* a\n ".repeat(500),
        "[".repeat(5000),
        "|".repeat(3000) + "\n" + &"|-".repeat(1500),
        "\u{1b}[2J\u{9b}31m\u{202e}x\r\ry".to_owned(),
        "`".repeat(4000),
        "$".repeat(999),
        "\\(".repeat(999),
        "1. ".repeat(999),
        format!("https://a{}", ")".repeat(5000)),
        "\\(".repeat(5000),
        "99999999999999999999. x\n18446744073709551615. y\n".to_owned(),
    ] {
        for width in [0, 1, 3, 80] {
            let lines = draw(&text, width);
            assert!(lines.iter().all(|line| !line.text().contains(super::source::is_unsafe)));
        }
    }
}

#[test]
fn rows_settle_as_blocks_close() {
    let theme = theme();
    for (text, want) in [
        ("para", 0),
        ("para\n", 0),
        ("para\n\n", 0),
        ("para\n\nnext", 0),
        ("para\n\nnext\n", 1),
        ("para\n# H", 0),
        ("para\n# H\n", 1),
        ("- a\n- b", 0),
        ("- a\n- b\n", 1),
        ("- a\n\n- b\n- c\n", 3),
        ("```rs\nlet a;\nlet b", 2),
        ("```rs\nlet a;\nlet b\n", 3),
        ("```\na\n```\n", 1),
        ("```\na\n``", 1),
        ("| a |\n|---|\n| b |\n", 0),
        ("| a |\n|---|\n| b |\n\nx\n", 3),
    ] {
        let mut markdown = Markdown::default();
        markdown.set(text);
        markdown.draw(&space(&theme, 40));
        assert_eq!(markdown.settled_rows(), want, "{text:?}");
        markdown.finish();
        let rows = markdown.draw(&space(&theme, 40)).len();
        assert_eq!(markdown.settled_rows(), rows);
    }
}

#[test]
fn another_text_width_or_theme_begins_anew() {
    let theme = theme();
    let mut markdown = Markdown::default();
    markdown.set("some words here\n\nnext\n");
    assert_eq!(markdown.draw(&space(&theme, 40)).len(), 3);
    assert_eq!(markdown.draw(&space(&theme, 10)).len(), 4);
    markdown.set("other\n");
    assert_eq!(plain(markdown.draw(&space(&theme, 40))), "other\n");
    assert_eq!(markdown.settled_rows(), 0);
    let plain_theme = Theme::colorless();
    markdown.set("# other\n");
    assert_ne!(markdown.draw(&space(&theme, 40)).to_vec(), markdown.draw(&space(&plain_theme, 40)).to_vec());
}

/// Feeds the text piece by piece, checks that settled rows stay, and returns the final rows.
fn streamed(text: &str, cuts: &[usize], width: usize) -> Vec<Line> {
    let theme = theme();
    let mut markdown = Markdown::default();
    let mut settled: Vec<Line> = Vec::new();
    let mut cuts: Vec<usize> =
        cuts.iter().map(|cut| cut % (text.len() + 1)).filter(|cut| text.is_char_boundary(*cut)).collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    for cut in cuts {
        markdown.set(&text[..cut]);
        let lines = markdown.draw(&space(&theme, width)).to_vec();
        let now = markdown.settled_rows();
        assert!(now >= settled.len(), "settled rows went back at {:?}", &text[..cut]);
        assert_eq!(plain(&lines[..settled.len()]), plain(&settled), "a settled row changed at {:?}", &text[..cut]);
        assert_eq!(lines[..settled.len()], settled[..], "a settled row changed its looks at {:?}", &text[..cut]);
        settled = lines[..now].to_vec();
    }
    markdown.draw(&space(&theme, width)).to_vec()
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "word", " ", "  ", "    ", "\n", "\n", "\n", "\n\n", "\n\n", "# ", "## ", "- ", "* ", "+ ", "1. ", "2) ",
    "> ", "```", "```rs", "~~~", "`", "``", "*", "**", "_", "~~", "[a]", "[b]: /u", "[a]: /v", "[", "]", "](x)",
    "(", ")", "|", "|-|-|", "| a | b |", "---", "===", "***", "<div>", "</div>", "<!--", "-->", "<br>", "$",
    "$$", "x^2", "\\(", "\\)", "\\", "[^1]", "[^1]: ", "\"", "'t'", "\t", "\r\n", "\r", "\u{1b}", "[ ] ",
    "[x] ", "https://e.x/a", "日本", "é", "&amp;", "&#10;", ":", "/*", "*/", "fn f()", "<a", ">", "!",
];

fn documents() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..PIECES.len(), 0..40)
        .prop_map(|picks| picks.into_iter().map(|pick| PIECES[pick]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn pieces_look_like_the_whole(text in documents(), cuts in proptest::collection::vec(0usize..400, 0..30), width in 1usize..40) {
        let whole = draw(&text, width);
        prop_assert_eq!(streamed(&text, &cuts, width), whole);
    }

    #[test]
    fn every_cut_at_once(text in documents()) {
        let cuts: Vec<usize> = (0..text.len()).collect();
        let whole = draw(&text, 30);
        prop_assert_eq!(streamed(&text, &cuts, 30), whole);
    }
}

#[test]
fn a_diagram_is_drawn_when_it_is_complete() {
    let theme = theme();
    let space = Space { width: 60, height: 20, theme: &theme, focused: false, keys: &crate::DefaultKeys };
    let text = "Look:\n\n```mermaid\ngraph LR\n  A[Start]-->B[End]\n```\n\nDone.";
    let mut streamed = Markdown::default();
    streamed.set_diagrams(Some(Diagrams::default()));
    let mut settled: Vec<String> = Vec::new();
    for end in (1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        streamed.set(&text[..end]);
        let rows: Vec<String> = streamed.draw(&space).iter().map(Line::text).collect();
        assert_eq!(rows[..settled.len()], settled, "settled rows stay");
        settled = rows[..streamed.settled_rows()].to_vec();
    }
    streamed.finish();
    let shown = plain(streamed.draw(&space));
    assert!(shown.contains("Start") && shown.contains('│') && !shown.contains("-->"), "{shown}");
    let mut source = Markdown::default();
    source.set(text);
    source.finish();
    assert!(plain(source.draw(&space)).contains("A[Start]-->B[End]"));
    let broken = "```mermaid\nno diagram\n```\n";
    streamed.set(broken);
    assert!(plain(streamed.draw(&space)).contains("no diagram"));
}
