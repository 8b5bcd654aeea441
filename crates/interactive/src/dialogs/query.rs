//! A word search: all words must match, in any order. `omp_tui::Fuzzy` also reports the positions of the letters, which is
//! too slow for ten thousand prompts on each key.

/// Letters may be skipped only in the first characters of a text, because in a long text they match anywhere.
const GAPS_WITHIN: usize = 120;
/// Caps the length of a search, because every key compares all of it with every text.
const MOST_LETTERS: usize = 200;

/// A parsed search, ready to be matched against many texts.
#[derive(Debug, Default)]
pub(super) struct Query {
    words: Vec<String>,
}

impl Query {
    pub fn new(text: &str) -> Self {
        let end = text.char_indices().nth(MOST_LETTERS).map_or(text.len(), |(at, _)| at);
        Self { words: text[..end].to_lowercase().split_whitespace().map(str::to_owned).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the lower-cased text contains every word.
    pub fn is_in(&self, lowered: &str) -> bool {
        self.words.iter().all(|word| lowered.contains(word.as_str()))
    }

    /// Returns the distance of the text from the search, smaller is better; `None` if a word does not match even with
    /// skipped letters.
    pub fn distance(&self, lowered: &str) -> Option<usize> {
        self.words.iter().try_fold(0, |sum, word| Some(sum + word_distance(word, lowered)?))
    }
}

/// An exact match is better than one with gaps, the start of a word better than its middle.
fn word_distance(word: &str, text: &str) -> Option<usize> {
    if let Some(at) = text.find(word) {
        let starts = !text[..at].ends_with(char::is_alphanumeric);
        return Some(if starts { 0 } else { 10 });
    }
    let mut rest = text[..text.floor_char_boundary(GAPS_WITHIN)].char_indices();
    let mut first = None;
    let mut last = 0;
    for wanted in word.chars() {
        let (at, _) = rest.find(|(_, char)| *char == wanted)?;
        first.get_or_insert(at);
        last = at;
    }
    Some(100 + last - first.unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_texts_come_first() {
        for (query, near, far) in [
            ("son", "claude-sonnet-4", "person"),
            ("gpt5", "gpt-5", "google/palm-text-5"),
            ("opus anthropic", "anthropic/claude-opus", "an open thread of picky users"),
            ("A B", "b a", "cab c"),
        ] {
            let query = Query::new(query);
            let (near, far) = (query.distance(near), query.distance(far).unwrap_or(usize::MAX));
            assert!(near.is_some_and(|near| near < far), "{query:?}: {near:?} {far}");
        }
    }

    #[test]
    fn what_somebody_leant_on_the_keyboard_for_is_not_compared() {
        let query = Query::new(&"é".repeat(100_000));
        assert_eq!(query.words, ["é".repeat(MOST_LETTERS)]);
    }

    #[test]
    fn every_word_must_be_there() {
        let query = Query::new("  Tree SHOWS ");
        assert!(query.is_in("it shows the tree") && !query.is_in("the tree"));
        assert_eq!(query.distance("trees"), None);
        assert!(Query::new(" ").is_empty() && Query::new("").is_in("") && Query::new("").distance("x") == Some(0));
    }
}
