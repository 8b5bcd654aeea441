//! Texts and comments use the ordinary words of the field: lists of phrases that have a plainer form.
//!
//! Pages, README, changelog and string literals outside tests must not contain the phrases of [`PHRASES`], comments not
//! those of [`RIDDLES`]. Prompts are Markdown files next to the code and are not checked: they are changed only with
//! measurements.

use super::Violation;
use super::rust::Rust;
use super::workspace::Workspace;

const RULE: &str = "plain-words";
/// Its own list must not break the rule.
const THIS: &str = "xtask/src/tidy/plain_words.rs";
const PAGES: &[&str] = &["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "AGENTS.md"];

/// Phrases in lower case, with what to write instead. A phrase matches whole words.
const PHRASES: &[(&str, &str)] = &[
    ("whose key do you have", "ask which provider the key is for"),
    ("go on with", "continue with"),
    ("goes on with", "continues with"),
    ("mend the file", "fix the file"),
    ("mend it", "fix it"),
    ("counts from the next session on", "takes effect in the next session"),
    ("from the next session on", "in the next session"),
    ("what the caches lost", "prompt cache misses"),
    ("rung", "sandbox level"),
    ("rungs", "sandbox levels"),
    ("the house", "this repository"),
    ("for ever", "forever, or without a limit"),
    ("in spite of", "despite, or even with"),
    ("anew", "again"),
    ("nobody is kept", "say what happens"),
    ("taken up again", "resumed"),
    ("take up again", "resume"),
    ("is no session", "is not a session"),
    ("is no file", "is not a file"),
    ("is no folder", "is not a folder"),
    ("is no number", "is not a number"),
    ("whatever it be", "any"),
    ("to the letter", "exactly"),
    ("behind a colon", "after a colon"),
    ("all the same", "anyway"),
    ("reckons with", "assumes"),
    ("is told of", "is reported"),
    ("are told of", "are reported"),
    ("that is none", "that is invalid"),
    ("that are none", "that are invalid"),
    ("is no yaml", "is not YAML"),
    ("is no json", "is not JSON"),
    ("outside of the cage", "outside the sandbox"),
    ("in the cage", "in the sandbox"),
    ("in vain", "without a result"),
    ("cannot be had", "is not available"),
    ("amid", "in the middle of"),
    ("rather twice than never", "say what is preferred"),
    ("for good or ill", "whether it succeeded or not"),
    ("with all below", "recursively"),
    ("mend", "fix"),
    ("canceled", "cancelled, the spelling of this repository"),
    ("favorite models", "favourite models, the spelling of this repository"),
    ("the color", "the colour, the spelling of this repository"),
    ("a color", "a colour, the spelling of this repository"),
];

/// Phrases of comments that make the reader guess, in the form of [`PHRASES`].
const RIDDLES: &[(&str, &str)] = &[
    ("mend", "fix"),
    ("mends", "fixes"),
    ("anew", "again, or start over"),
    ("in vain", "without a result"),
    ("the house", "this repository"),
    ("the one door", "the only place that does it"),
    ("for ever", "forever, or without a limit"),
    ("in spite of", "despite, or even with"),
    ("all the same", "anyway"),
    ("to the letter", "exactly"),
    ("amid", "in the middle of"),
    ("whatever it be", "any"),
    ("reckons with", "assumes"),
    ("is told of", "is reported"),
    ("are told of", "are reported"),
    ("that is none", "that is invalid"),
    ("cannot be had", "is not available"),
    ("go on with", "continue with"),
    ("goes on with", "continues with"),
    ("taken up again", "resumed"),
    ("at whose", "name the thing"),
    ("nobody but", "only"),
    ("rather twice than never", "say what is preferred"),
    ("for good or ill", "whether it succeeded or not"),
    ("of its own accord", "by itself, or automatically"),
    ("what became of", "the result of"),
];

/// Comments that begin so are not clear without the one before.
const BACK_REFERENCES: &[&str] = &["the same,", "the same;", "the same for", "the same as"];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, file) in &workspace.files {
        let is_page = PAGES.contains(&path.as_str()) || (path.starts_with("docs/") && path.ends_with(".md"));
        let is_source = path != THIS && (path.starts_with("xtask/") || path.contains("/src/"));
        let text = file.text.to_ascii_lowercase();
        let mut report = |at: usize, phrase: &str, instead: &str| {
            found.push(Violation {
                path: path.clone(),
                line: text[..at].matches('\n').count() + 1,
                rule: RULE,
                what: format!("`{phrase}` is not plain English: {instead}"),
                hint: "write it as git, cargo or ripgrep would",
            });
        };
        let rust = file.rust.as_ref().filter(|_| is_source);
        let is_literal = |at: usize| rust.is_some_and(|rust| !rust.is_test_at(at) && is_quoted(rust, &text, at));
        for (phrase, instead) in PHRASES.iter().filter(|_| is_page || rust.is_some()) {
            for at in places(&text, phrase).filter(|at| is_page || is_literal(*at)) {
                report(at, phrase, instead);
            }
        }
        for (phrase, instead) in RIDDLES.iter().filter(|_| rust.is_some()) {
            for at in places(&text, phrase).filter(|at| is_comment(&text, *at)) {
                report(at, phrase, instead);
            }
        }
        for phrase in BACK_REFERENCES.iter().filter(|_| rust.is_some()) {
            for at in places(&text, phrase).filter(|at| begins_comment(&text, *at)) {
                report(at, phrase, "say what it is like: Like `name`, but …");
            }
        }
    }
    found
}

/// Whether this place is in a string literal.
fn is_quoted(rust: &Rust, text: &str, at: usize) -> bool {
    rust.code[at..].starts_with(' ') && !is_comment(text, at)
}

/// The offsets at which a phrase occurs as whole words.
fn places(text: &str, phrase: &str) -> impl Iterator<Item = usize> {
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | ':');
    text.match_indices(phrase).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + phrase.len()..];
        let is_file = rest.starts_with(".rs");
        // A JSON key is part of a format.
        let is_key = before == Some('"') && rest.starts_with('"');
        let is_cut =
            before.is_some_and(is_word) || rest.chars().next().is_some_and(|char| is_word(char) && char != ':');
        (!is_cut && !is_file && !is_key).then_some(at)
    })
}

/// Only called for places that are a comment or a literal.
fn is_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    // After an odd number of quotes, the slashes are part of a literal.
    let is_open = |before: &str| (before.matches('"').count() - before.matches("\\\"").count()) % 2 == 1;
    line.match_indices("//").map(|(at, _)| &line[..at]).any(|before| !before.ends_with(':') && !is_open(before))
}

fn begins_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default().trim();
    matches!(line, "//" | "///" | "//!")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: impl IntoIterator<Item = (&'static str, &'static str)>) -> Vec<String> {
        let found = check(&Workspace::of(files));
        let mut told: Vec<String> = found.iter().map(|it| format!("{}:{} {}", it.path, it.line, it.what)).collect();
        told.sort();
        told
    }

    #[test]
    fn phrases_of_texts_for_people_are_caught() {
        let told = found([
            ("docs/a.md", "# A\n\nReckons with it, then go on with it.\n"),
            ("README.md", "The wrung cloth, the warehouse, the household, `rung.rs`.\n"),
            ("crates/a/src/lib.rs", "// counts from one\nfn a() -> &'static str {\n    \"hint: go on with it\"\n}\n"),
            (
                "crates/a/src/b.rs",
                "/// Rung\nfn rung() { b(\"x\") } // rung\n#[cfg(test)]\nmod tests { fn c() { d(\"rung\") } }",
            ),
            ("crates/a/src/prompt.md", "Go on with the task.\n"),
            ("crates/a/tests/it/main.rs", "fn a() { b(\"rung\") }"),
        ]);
        assert_eq!(
            told,
            [
                "crates/a/src/lib.rs:3 `go on with` is not plain English: continue with",
                "docs/a.md:3 `go on with` is not plain English: continue with",
                "docs/a.md:3 `reckons with` is not plain English: assumes",
            ]
        );
    }

    #[test]
    fn riddles_in_comments_are_caught() {
        let told = found([
            (
                "crates/a/src/lib.rs",
                "//! Starts anew.\n\n/// The same, for files.\nfn a() {} // mends it\n\n/// The same for folders.\nfn b() {}\n",
            ),
            (
                "crates/a/src/b.rs",
                "/// Whether both are the same, byte by byte.\nfn mend() { mend::a(\"// in vain\") }\n/// See `mend.rs`.\nfn c() {}",
            ),
            ("docs/a.md", "Writes it anew. The same, for files.\n"),
        ]);
        let same = "is not plain English: say what it is like: Like `name`, but …";
        assert_eq!(
            told,
            [
                "crates/a/src/b.rs:2 `in vain` is not plain English: without a result".to_owned(),
                "crates/a/src/lib.rs:1 `anew` is not plain English: again, or start over".to_owned(),
                format!("crates/a/src/lib.rs:3 `the same,` {same}"),
                "crates/a/src/lib.rs:4 `mends` is not plain English: fixes".to_owned(),
                format!("crates/a/src/lib.rs:6 `the same for` {same}"),
                "docs/a.md:1 `anew` is not plain English: again".to_owned(),
            ]
        );
    }
}
