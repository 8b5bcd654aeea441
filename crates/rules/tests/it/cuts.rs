//! Tests: however a text is split, it breaks the same rules as the whole text.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use omp_config::Rule;
use omp_rules::{RuleSettings, StreamListener, Watch, bucket};
use proptest::prelude::*;
use regex::Regex;

use crate::{rule, words};

/// The rule's syntax, and the equivalent for the `regex` crate.
const PATTERNS: &[(&str, &str)] = &[
    ("ab", "ab"),
    (r"^a", "^a"),
    (r"a$", "a$"),
    (r"(?m)^b+$", "(?m)^b+$"),
    (r"\bab\b", r"(?-u:\b)ab(?-u:\b)"),
    (r"a\Bb", r"a(?-u:\B)b"),
    (r"a.*b", "a.*b"),
    (r"(?s)a.*\n.*b é", "(?s)a.*\n.*b é"),
    (r"\w{3} \w", r"[0-9A-Za-z_]{3} [0-9A-Za-z_]"),
    (r"[^a]é", "[^a]é"),
    (r"(?i)BA", "(?i)BA"),
    (r"^$", "^$"),
    (r"b{2,4}\n", r"b{2,4}\n"),
    (r".*", ".*"),
];

static WATCH: LazyLock<Arc<Watch>> = LazyLock::new(watch);
static EXPECTED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().map(|(_, pattern)| Regex::new(pattern).unwrap()).collect());

fn watch() -> Arc<Watch> {
    let named = |at: usize, pattern: &str| Rule { condition: words(&[pattern]), ..rule(&at.to_string()) };
    let rules: Vec<Rule> = PATTERNS.iter().enumerate().map(|(at, (pattern, _))| named(at, pattern)).collect();
    let buckets = bucket(&rules, &RuleSettings::default());
    assert_eq!(buckets.warnings, Vec::<String>::new());
    buckets.ttsr
}

/// Returns the rules broken before the end of the text, and at its end.
fn heard(watch: &Watch, text: &str, cuts: &[prop::sample::Index]) -> BTreeSet<usize> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    let mut listener = StreamListener::new(PathBuf::new());
    let mut told = Vec::new();
    for pair in places.windows(2) {
        told.extend(listener.text(watch, 0, &text[pair[0]..pair[1]]));
    }
    told.extend(listener.ended(watch, 0));
    let rules: BTreeSet<usize> = told.iter().map(|hit| hit.rule).collect();
    assert_eq!(rules.len(), told.len(), "each once");
    rules
}

fn expected(text: &str) -> BTreeSet<usize> {
    EXPECTED.iter().enumerate().filter(|(_, pattern)| pattern.is_match(text)).map(|(at, _)| at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cuts_do_not_matter(
        text in "[abé \n]{0,40}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        prop_assert_eq!(heard(&WATCH, &text, &cuts), expected(&text));
    }
}

/// A match may be as long as the stream.
#[test]
fn no_match_is_too_long() {
    let text = format!("a{}b é", "x\n".repeat(200_000));
    let pieces: Vec<prop::sample::Index> = Vec::new();
    assert_eq!(heard(&WATCH, &text, &pieces), expected(&text));
}

/// Patterns on which backtracking engines take forever: this must finish.
#[test]
fn no_pattern_blows_up() {
    let patterns = [r"(a+)+$", r"(a|aa)+b", r"(a*)*c", r"(.*a){12}", r"(x+x+)+y", r"([a-z]+)*\d"];
    let rules: Vec<Rule> =
        patterns.iter().map(|pattern| Rule { condition: words(&[pattern]), ..rule(pattern) }).collect();
    let watch = bucket(&rules, &RuleSettings::default()).ttsr;
    assert_eq!(watch.rules().len(), patterns.len());
    let mut listener = StreamListener::new(PathBuf::new());
    for _ in 0..25_000 {
        listener.text(&watch, 0, "aaax");
    }
    listener.ended(&watch, 0);
}
