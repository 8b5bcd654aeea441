//! Finds entries by a few of their letters, best match first.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Longer queries are truncated, because the time to match grows with both lengths.
const MAX_QUERY: usize = 256;

/// A query for many texts. Letters must appear in order but need not be adjacent; words may appear in any order; case counts
/// only if the query has capitals.
pub struct Fuzzy {
    pattern: Pattern,
    /// Matches whole words in the other text of an entry, because scattered letters are found in any long text.
    whole: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
}

/// The match of a query in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuzzyHit {
    /// Higher is better.
    pub score: u32,
    /// Indexes of the matched graphemes, in order.
    pub graphemes: Vec<u32>,
}

/// An entry that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedMatch {
    /// Index in the searched list.
    pub index: usize,
    pub graphemes: Vec<u32>,
}

impl Fuzzy {
    pub fn new(query: &str) -> Self {
        let query: String = query.chars().take(MAX_QUERY).collect();
        let of_kind = |kind| Pattern::new(&query, CaseMatching::Smart, Normalization::Smart, kind);
        let (pattern, whole) = (of_kind(AtomKind::Fuzzy), of_kind(AtomKind::Substring));
        Self { pattern, whole, matcher: Matcher::new(Config::DEFAULT), chars: Vec::new() }
    }

    /// An empty query matches everything.
    pub fn is_empty(&self) -> bool {
        self.pattern.atoms.is_empty()
    }

    pub fn find(&mut self, text: &str) -> Option<FuzzyHit> {
        let mut graphemes = Vec::new();
        let haystack = Utf32Str::new(text, &mut self.chars);
        let score = self.pattern.indices(haystack, &mut self.matcher, &mut graphemes)?;
        graphemes.sort_unstable();
        graphemes.dedup();
        Some(FuzzyHit { score, graphemes })
    }

    /// Returns the matching entries, best first. Each entry is a label and other searchable text; a match of the label ranks
    /// above any other.
    pub fn filter<'a>(&mut self, entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<RankedMatch> {
        let entries = entries.into_iter().enumerate();
        if self.is_empty() {
            return entries.map(|(index, _)| RankedMatch { index, graphemes: Vec::new() }).collect();
        }
        let mut found: Vec<(bool, u32, RankedMatch)> = entries
            .filter_map(|(index, (label, more))| {
                if let Some(hit) = self.find(label) {
                    return Some((true, hit.score, RankedMatch { index, graphemes: hit.graphemes }));
                }
                let all = format!("{label} {more}");
                let score = self.whole.score(Utf32Str::new(&all, &mut self.chars), &mut self.matcher)?;
                Some((false, score, RankedMatch { index, graphemes: Vec::new() }))
            })
            .collect();
        found.sort_by_key(|(in_label, score, found)| (!in_label, std::cmp::Reverse(*score), found.index));
        found.into_iter().map(|(_, _, found)| found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_comes_first() {
        let entries = [("claude-sonnet", "anthropic"), ("gpt", "open"), ("sonar", ""), ("opus", "claude sonnet's")];
        for (query, want) in [
            ("", vec![0, 1, 2, 3]),
            ("son", vec![2, 0, 3]),
            ("sonnet cla", vec![0, 3]),
            ("OPEN", vec![]),
            ("open", vec![1]),
            ("zzz", vec![]),
        ] {
            let found = Fuzzy::new(query).filter(entries);
            assert_eq!(found.iter().map(|found| found.index).collect::<Vec<_>>(), want, "{query}");
        }
    }

    #[test]
    fn hits_are_counted_in_graphemes() {
        let hit = Fuzzy::new("bé").find("日a\u{301}bé").map(|hit| hit.graphemes);
        assert_eq!(hit, Some(vec![2, 3]));
        assert_eq!(Fuzzy::new("x").find(""), None);
    }
}
