//! Tests of templates and arguments, including hostile ones.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn splits(line: &str, expect: &[&str]) {
    assert_eq!(Arguments::split(line).words(), expect, "{line:?}");
}

#[test]
fn arguments_are_split_as_a_shell_does_it() {
    splits("", &[]);
    splits("  a\tb  c ", &["a", "b", "c"]);
    splits(r#"one "two three" 'four five'"#, &["one", "two three", "four five"]);
    splits(r#"a"b c"d"#, &["ab cd"]);
    splits(r#""" ''"#, &["", ""]);
    splits(r#""say \"hi\" \\ \n""#, &[r#"say "hi" \ \n"#]);
    splits(r"'a\'b", &[r"a\b"]);
    splits(r"one\ two \'x \\", &["one two", "'x", r"\"]);
    splits(r"C:\Users\me \", &[r"C:\Users\me", r"\"]);
    splits("don't stop", &["don't", "stop"]);
    splits(r#"a "b 'c d' e"#, &["a", "\"b", "c d", "e"]);
    splits("ä\u{a0}ö 'ü ß'", &["ä", "ö", "ü ß"]);
}

/// Joins the pieces into one text: `‹run›` for command lines, the files after a `|`.
fn shown(expanded: &Expanded) -> String {
    let pieces = expanded.pieces.iter().map(|piece| match piece {
        TemplatePiece::Text(text) => text.clone(),
        TemplatePiece::Run(line) => format!("‹{line}›"),
    });
    let files: Vec<String> = expanded.files.iter().map(|file| format!(" |{file}")).collect();
    pieces.chain(files).collect()
}

#[track_caller]
fn check(template: &str, arguments: &str, expect: &str) {
    let expanded = expand(template, &Arguments::split(arguments));
    assert_eq!(shown(&expanded), expect, "{template:?} with {arguments:?}");
    assert!(expanded.notes.is_empty(), "{expanded:?}");
}

#[test]
fn placeholders_take_arguments() {
    check("Fix $1 in $2.", "'the bug' src", "Fix the bug in src.");
    check("$ARGUMENTS|$@", "a 'b c'  d", "a 'b c'  d|a b c d");
    check("$@[2] / $@[2:1] / $@[2:] / $@[9] / $@[0] / $@[1:0]", "a b c", "b c / b / b c /  /  / ");
    check("{{args}} {{ arguments }} {{ARGUMENTS}} {{other}}", "x y", "x y x y x y {{other}}");
    check("$1", "", "");
    check("$1$2$3", "a", "a");
}

#[test]
fn ten_is_the_tenth_and_nothing_overflows() {
    check("$10", "1 2 3 4 5 6 7 8 9 ten", "ten");
    check("$10 $1", "one", " one");
    check("$0 $99999999999999999999999999", "one", " ");
    check("$@[99999999999999999999:99999999999999999999]", "one", "");
    check("$@[x] $@[1 $@[1:2", "a b", "a b[x] a b[1 a b[1:2");
}

#[test]
fn what_an_argument_holds_is_not_looked_at_again() {
    check("$1 $2", "'$2' @a.txt", "$2 @a.txt");
    check("$ARGUMENTS", "!`rm -rf .` @../../etc/passwd $1", "!`rm -rf .` @../../etc/passwd $1");
    check("do", "!`id`", "do\n\n!`id`");
}

#[test]
fn arguments_without_a_place_stand_behind_the_template() {
    check("Review the code.\n", "src only", "Review the code.\n\nsrc only");
    check("", "src", "src");
    check("Review.", "", "Review.");
    check("!`git diff \"$1\"`", "src", "‹git diff \"$1\"›");
    check("!`git diff`", "src", "‹git diff›\n\nsrc");
}

#[test]
fn dollars_that_ask_for_nothing_stay() {
    check("costs $ 5, $HOME, $$, a$", "", "costs $ 5, $HOME, $$, a$");
    check(r"\$1 \$@ \$ARGUMENTS \n \\ $1", "x", r"$1 $@ $ARGUMENTS \n \\ x");
    check("{ {{ }} {{args", "", "{ {{ }} {{args");
}

#[test]
fn files_are_named_with_an_at_sign() {
    check("See @src/a.rs, (@b.md) and @c.", "", "See @src/a.rs, (@b.md) and @c. |src/a.rs |b.md |c");
    check("@$1 and @src/$2.rs", "'my file.md' main", "@my file.md and @src/main.rs |my file.md |src/main.rs");
    check("@\"a b.md\" @a.md @a.md", "", "@a b.md @a.md @a.md |a b.md |a.md");
    check(
        "@../../etc/passwd @/etc/passwd @~/.ssh/id",
        "",
        "@../../etc/passwd @/etc/passwd @~/.ssh/id |../../etc/passwd |/etc/passwd |~/.ssh/id",
    );
    check("me@example.org `@x` @ @. @$1", "", "me@example.org `@x` @ @. @");
}

#[test]
fn command_lines_are_pieces_of_their_own() {
    check("Status: !`git status`\nGo.", "", "Status: ‹git status›\nGo.");
    check("!`a` (!`b`)", "", "‹a› (‹b›)");
    check("wow!`x` !`` !` ` ! `x`", "", "wow!`x` !`` !` ` ! `x`");
    check("!`never\nclosed`", "", "!`never\nclosed`");
    check("!`open", "", "!`open");
}

#[test]
fn in_fenced_code_only_placeholders_count() {
    check("```sh\n!`x` @a.txt $1\n```\n@b.txt", "y", "```sh\n!`x` @a.txt y\n```\n@b.txt |b.txt");
    check("a\n~~~\n@a.txt\n~~~\n!`x`", "", "a\n~~~\n@a.txt\n~~~\n‹x›");
}

#[test]
fn everything_has_a_limit_and_says_so() {
    let big = "x".repeat(600 << 10);
    let expanded = expand("$1 $1 $1 $1", &Arguments::split(&big));
    assert_eq!(shown(&expanded).len(), MAX_EXPANDED);
    assert_eq!(expanded.notes, ["the text was cut after 1024 KiB"]);
    let files: String = (0..100).map(|n| format!("@f{n} ")).collect();
    let expanded = expand(&files, &Arguments::default());
    assert_eq!((expanded.files.len(), expanded.notes.len()), (MAX_FILES, 2));
    let expanded = expand(&"!`x` ".repeat(100), &Arguments::default());
    assert_eq!(expanded.pieces.iter().filter(|piece| matches!(piece, TemplatePiece::Run(_))).count(), MAX_RUNS);
    assert!(expanded.notes[0].contains("a template can contain at most 16 commands"), "{:?}", expanded.notes);
}

/// A quadratic expansion of half a megabyte of these patterns would take minutes.
#[test]
fn hostile_templates_are_expanded_in_one_pass() {
    let shapes =
        ["@(", "@'", "@\"", "!`", "\\$@", "$@[1", "{{ ", "@$1 ", "`!", "```\n", "@{{args", "$1111111111", "'\"", "\n "];
    let arguments = Arguments::split(&"a' \"b\\ ".repeat(64 << 10));
    for shape in shapes {
        let expanded = expand(&shape.repeat((512 << 10) / shape.len()), &arguments);
        assert!(shown(&expanded).len() <= MAX_EXPANDED + 4 * (512 << 10), "{shape:?}");
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let words = [
        "$",
        "1",
        "10",
        "@",
        "[",
        "]",
        ":",
        "ARGUMENTS",
        "{{",
        "}}",
        "args",
        "!",
        "`",
        "\\",
        "\"",
        "'",
        "\n",
        " ",
        "```",
        "ä",
        "x",
        "..",
        "/",
    ];
    proptest::collection::vec(
        prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_owned), ".{0,3}"],
        0..60,
    )
    .prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn expansion_never_panics_and_grows_with_its_input_alone(template in fragments(), line in fragments()) {
        let arguments = Arguments::split(&line);
        let split: usize = arguments.words().iter().map(String::len).sum();
        prop_assert!(split <= line.len());
        let expanded = expand(&template, &arguments);
        // Every placeholder takes at least two bytes.
        prop_assert!(shown(&expanded).len() <= 4 * (template.len() + 2) * (line.len() + 8));
        for piece in &expanded.pieces {
            if let TemplatePiece::Run(run) = piece {
                prop_assert!(template.contains(run.as_str()), "only the template says what is run");
            }
        }
    }

    #[test]
    fn a_template_without_signs_is_itself(template in "[a-z .,\n]{0,80}") {
        prop_assert_eq!(shown(&expand(&template, &Arguments::default())), template);
    }

    #[test]
    fn quoted_words_come_back(words in proptest::collection::vec("[^']{0,12}", 0..6)) {
        let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let arguments = Arguments::split(&line.join(" "));
        prop_assert_eq!(arguments.words(), &words[..]);
    }
}
