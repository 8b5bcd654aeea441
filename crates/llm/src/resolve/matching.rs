//! Loose matching: whether a model matches given words, and how well.
//!
//! Texts are compared in lower case, with `.`, `_` and `-` treated as equal, because every provider writes versions
//! differently.

use std::cmp::Reverse;

use globset::{GlobBuilder, GlobMatcher};

use crate::registry::ModelCandidate;

/// A pattern with wildcards, such as `openai/*` or `*sonnet*`.
pub(crate) struct ModelGlob {
    matcher: GlobMatcher,
    /// A pattern without a slash is matched against IDs, one with a slash against `provider/id`.
    of_ids: bool,
}

impl ModelGlob {
    /// Returns `None` if the text has no wildcards, or has unclosed brackets.
    pub fn new(pattern: &str) -> Option<Self> {
        if !pattern.contains(['*', '?', '[', '{']) {
            return None;
        }
        let glob = GlobBuilder::new(pattern).case_insensitive(true).literal_separator(false).build().ok()?;
        Some(Self { matcher: glob.compile_matcher(), of_ids: !pattern.contains('/') })
    }

    pub fn matches(&self, candidate: ModelCandidate<'_>) -> bool {
        if !self.of_ids {
            return self.matcher.is_match(candidate.selector().as_ref());
        }
        let id = candidate.id();
        self.matcher.is_match(id) || id.rsplit('/').next().is_some_and(|last| self.matcher.is_match(last))
    }
}

/// Matches one pattern against many models without allocating for each.
pub(crate) struct Matcher {
    pattern: String,
    words: Vec<String>,
    buffer: Vec<u8>,
}

/// Quality of a match; lower is better.
pub(super) struct Rank {
    /// 0: match at the start of a word of the ID, 1: anywhere in the ID, 2: in provider, ID and name together.
    pub class: u8,
    pub order: Order,
}

/// Sort order: plain releases before previews and dated builds, newer before older, short IDs before long ones.
pub(super) type Order = (usize, Reverse<[u32; 2]>, usize);

impl Matcher {
    pub fn new(pattern: &str) -> Self {
        let mut buffer = Vec::new();
        push_plain(&mut buffer, pattern.trim());
        let pattern = as_text(&buffer).to_owned();
        let words = pattern.split_whitespace().map(str::to_owned).collect();
        Self { pattern, words, buffer }
    }

    pub fn matches(&mut self, candidate: ModelCandidate<'_>) -> bool {
        self.class(candidate).is_some()
    }

    pub(super) fn rank(&mut self, candidate: ModelCandidate<'_>) -> Option<Rank> {
        let class = self.class(candidate)?;
        Some(Rank { class, order: order(candidate.id()) })
    }

    fn class(&mut self, candidate: ModelCandidate<'_>) -> Option<u8> {
        if !self.pattern.contains(|sign: char| sign.is_alphanumeric()) {
            return None;
        }
        let buffer = &mut self.buffer;
        buffer.clear();
        push_plain(buffer, candidate.id());
        if let Some(class) = class_in_id(as_text(buffer), &self.pattern) {
            return Some(class);
        }
        buffer.clear();
        push_plain(buffer, &candidate.selector());
        buffer.push(b' ');
        push_plain(buffer, candidate.name());
        let text = as_text(buffer);
        self.words.iter().all(|word| text.contains(word.as_str())).then_some(2)
    }
}

/// Only ASCII bytes are replaced by ASCII bytes, so UTF-8 stays valid.
fn push_plain(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().map(|byte| if matches!(byte, b'.' | b'_') { b'-' } else { byte.to_ascii_lowercase() }));
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn class_in_id(id: &str, pattern: &str) -> Option<u8> {
    let mut found = None;
    for (at, _) in id.match_indices(pattern) {
        let starts_word = at == 0 || !id.as_bytes()[at - 1].is_ascii_alphanumeric();
        if starts_word {
            return Some(0);
        }
        found = Some(1);
    }
    found
}

fn order(id: &str) -> Order {
    (oddities(id), Reverse(version(id)), id.len())
}

/// Counts the parts of an ID that mark it as something other than the plain release.
fn oddities(id: &str) -> usize {
    const ODD: &[&str] = &[
        "preview",
        "beta",
        "exp",
        "experimental",
        "batch",
        "free",
        "audio",
        "image",
        "live",
        "realtime",
        "tts",
        "vision",
        "search",
        "research",
        "embedding",
        "embed",
        "fast",
        "nano",
        "lite",
        "non",
    ];
    let parts = id.split(|sign: char| !sign.is_ascii_alphanumeric());
    let is_date = |part: &str| part.len() >= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.filter(|part| is_date(part) || ODD.iter().any(|odd| part.eq_ignore_ascii_case(odd))).count()
}

/// Returns the first two numbers that can be a version.
fn version(id: &str) -> [u32; 2] {
    let runs = id.split(|sign: char| !sign.is_ascii_digit());
    let mut numbers = runs.filter(|run| run.len() < 4).filter_map(|run| run.parse().ok());
    [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_plain_release_comes_first() {
        let sorted = |ids: &[&'static str]| {
            let mut ids = ids.to_vec();
            ids.sort_by_key(|id| order(id));
            ids
        };
        let expect =
            ["claude-opus-5", "claude-opus-4-8", "claude-opus-4-1", "claude-opus-5-fast", "claude-opus-4-1-20250805"];
        assert_eq!(
            sorted(&[
                "claude-opus-4-1-20250805",
                "claude-opus-4-1",
                "claude-opus-5-fast",
                "claude-opus-4-8",
                "claude-opus-5"
            ]),
            expect
        );
        assert_eq!(
            sorted(&["gpt-4o", "gpt-5.6-sol", "gpt-5.6", "gpt-4.1"]),
            ["gpt-5.6", "gpt-5.6-sol", "gpt-4.1", "gpt-4o"]
        );
    }

    #[test]
    fn a_match_at_a_word_is_better_than_one_inside() {
        assert_eq!(class_in_id("claude-sonnet-5", "sonnet"), Some(0));
        assert_eq!(class_in_id("gpt-4o", "4o"), Some(0));
        assert_eq!(class_in_id("gpt-4o", "pt"), Some(1));
        assert_eq!(class_in_id("opt-pt", "pt"), Some(0));
        assert_eq!(class_in_id("gpt-4o", "sonnet"), None);
    }
}
