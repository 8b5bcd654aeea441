//! Texts for people use the ordinary words of the field: a list of phrases that have a plainer form.
//!
//! Pages, README and changelog are checked, and string literals outside of tests. Prompts are Markdown files beside the
//! code and are not: what the model reads is changed only with measurements.

use super::Violation;
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
];

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, file) in &workspace.files {
        let is_page = PAGES.contains(&path.as_str()) || (path.starts_with("docs/") && path.ends_with(".md"));
        let is_source = path != THIS && (path.starts_with("xtask/") || path.contains("/src/"));
        let is_code = is_source && file.rust.is_some();
        if !is_page && !is_code {
            continue;
        }
        let text = file.text.to_ascii_lowercase();
        for (phrase, instead) in PHRASES {
            for at in places(&text, phrase) {
                let is_literal = file.rust.as_ref().is_none_or(|rust| {
                    !rust.is_test_at(at) && rust.code[at..].starts_with(' ') && !is_comment(&text, at)
                });
                if is_literal {
                    found.push(Violation {
                        path: path.clone(),
                        line: text[..at].matches('\n').count() + 1,
                        rule: RULE,
                        what: format!("`{phrase}` is not plain English: {instead}"),
                        hint: "write it as git, cargo or ripgrep would",
                    });
                }
            }
        }
    }
    found
}

/// Where a phrase stands as whole words.
fn places(text: &str, phrase: &str) -> impl Iterator<Item = usize> {
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | ':');
    text.match_indices(phrase).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + phrase.len()..];
        let is_file = rest.starts_with(".rs");
        // A key of JSON is a promise to other programs.
        let is_key = before == Some('"') && rest.starts_with('"');
        let is_cut =
            before.is_some_and(is_word) || rest.chars().next().is_some_and(|char| is_word(char) && char != ':');
        (!is_cut && !is_file && !is_key).then_some(at)
    })
}

/// Only called for places that are a comment or a literal.
fn is_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    line.match_indices("//").any(|(slashes, _)| !line[..slashes].ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_of_texts_for_people_are_caught() {
        let workspace = Workspace::of([
            ("docs/a.md", "# A\n\nMend the file, then go on with it.\n"),
            ("README.md", "The wrung cloth, the warehouse, the household, `rung.rs`.\n"),
            ("crates/a/src/lib.rs", "// mend the file\nfn a() -> &'static str {\n    \"hint: mend the file\"\n}\n"),
            (
                "crates/a/src/b.rs",
                "/// Rung\nfn rung() { b(\"x\") } // rung\n#[cfg(test)]\nmod tests { fn c() { d(\"rung\") } }",
            ),
            ("crates/a/src/prompt.md", "Go on with the task.\n"),
            ("crates/a/tests/it/main.rs", "fn a() { b(\"rung\") }"),
        ]);
        let mut told: Vec<String> =
            check(&workspace).iter().map(|it| format!("{}:{} {}", it.path, it.line, it.what)).collect();
        told.sort();
        assert_eq!(
            told,
            [
                "crates/a/src/lib.rs:3 `mend the file` is not plain English: fix the file",
                "docs/a.md:3 `go on with` is not plain English: continue with",
                "docs/a.md:3 `mend the file` is not plain English: fix the file",
            ]
        );
    }
}
