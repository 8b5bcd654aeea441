//! Canonical IDs: one official name for the same model at several providers.
//!
//! A name is official if the vendor of the model lists it. Other spellings are merged only if they lead to an official name;
//! a doubtful one is its own canonical ID.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::{ModelCandidate, Registry};
use crate::catalog;

/// The vendors whose names are official.
const OFFICIAL: &[&str] =
    &["anthropic", "openai", "google", "xai", "mistral", "deepseek", "moonshot", "minimax", "zai", "xiaomi", "meta"];

/// Vendor prefixes that gateways put in front of the ID.
const PREFIXES: &[&str] = &[
    "anthropic",
    "openai",
    "google",
    "x-ai",
    "xai",
    "mistral",
    "mistralai",
    "deepseek",
    "deepseek-ai",
    "moonshot",
    "moonshotai",
    "minimax",
    "MiniMaxAI",
    "minimaxai",
    "z-ai",
    "zai",
    "zai-org",
    "xiaomi",
    "XiaomiMiMo",
    "meta",
];

impl Registry {
    /// Returns `None` for a model in `equivalence.exclude`.
    pub fn canonical_id<'a>(&'a self, provider: &str, id: &'a str) -> Option<Cow<'a, str>> {
        let selector = format!("{provider}/{id}");
        if let Some(canonical) = self.file.same_as.get(&selector) {
            return Some(canonical.into());
        }
        (!self.file.excluded.contains(&selector)).then(|| official_spelling(id).unwrap_or(id.into()))
    }

    /// Returns the models with this canonical ID.
    pub(crate) fn variants(&self, canonical: &str) -> Vec<ModelCandidate<'_>> {
        let mapped = |candidate: &ModelCandidate<'_>| {
            !self.file.same_as.is_empty() && self.file.same_as.contains_key(candidate.selector().as_ref())
        };
        self.candidates()
            .filter(|candidate| {
                same_but_for_dots(without_prefix(candidate.id()), canonical)
                    || same_but_for_dots(candidate.id(), canonical)
                    || mapped(candidate)
            })
            .filter(|candidate| {
                let id = self.canonical_id(candidate.provider(), candidate.id());
                id.is_some_and(|id| id.eq_ignore_ascii_case(canonical))
            })
            .collect()
    }
}

fn is_official(id: &str) -> bool {
    static IDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        OFFICIAL.iter().flat_map(|provider| catalog::entries_of(provider)).map(catalog::CatalogLine::id).collect()
    });
    IDS.contains(id)
}

fn official_spelling(id: &str) -> Option<Cow<'_, str>> {
    let bare = without_prefix(id);
    let spellings = [Cow::from(id), bare.into(), respelled(bare, '.', '-').into(), respelled(bare, '-', '.').into()];
    spellings.into_iter().find(|spelling| is_official(spelling))
}

pub(crate) fn without_prefix(id: &str) -> &str {
    match id.split_once('/') {
        Some((prefix, rest)) if PREFIXES.contains(&prefix) => rest,
        _ => id,
    }
}

/// Replaces the separator between two digits: `4.6` and `4-6` are the same version.
fn respelled(id: &str, from: char, to: char) -> String {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = id.as_bytes();
    id.char_indices()
        .map(|(at, sign)| {
            let between = at > 0 && digit(bytes.get(at - 1)) && digit(bytes.get(at + 1));
            if sign == from && between { to } else { sign }
        })
        .collect()
}

fn same_but_for_dots(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'.' { b'-' } else { byte.to_ascii_lowercase() };
    one.len() == other.len() && one.bytes().zip(other.bytes()).all(|(a, b)| plain(a) == plain(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, expect: Option<&str>) {
        assert_eq!(official_spelling(id).as_deref(), expect);
    }

    #[test]
    fn only_official_names_are_merged_into() {
        check("claude-opus-4-6", Some("claude-opus-4-6"));
        check("claude-opus-4.6", Some("claude-opus-4-6"));
        check("anthropic/claude-opus-4.6", Some("claude-opus-4-6"));
        check("openai/gpt-5.4", Some("gpt-5.4"));
        check("gpt-5-4", Some("gpt-5.4"));
        check("x-ai/grok-4.5", Some("grok-4.5"));
        check("anthropic/claude-opus-4.6:batch", None);
        check("somebody/claude-opus-4-6", None);
        check("claude-opus-99.9", None);
        check("qwen/qwen3-coder", None);
        check("", None);
    }
}
