//! Counts and describes invisible characters and sequences that were removed from a text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Limits the distinct characters and sequences that are named.
const MOST_NAMED: usize = 32;
/// Limits the shown characters of one sequence.
const LONGEST_SEQUENCE: usize = 120;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Stripped {
    /// Control characters, including those of terminal sequences.
    pub control: u64,
    pub invisible: u64,
    /// Invisible characters by code point, such as `U+200B`.
    pub kinds: BTreeMap<String, u64>,
    /// Terminal sequences and lone control characters, such as `\e[31m`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sequences: BTreeMap<String, u64>,
}

impl Stripped {
    pub fn is_empty(&self) -> bool {
        self.control == 0 && self.invisible == 0
    }

    pub fn character(&mut self, char: char) {
        self.invisible += 1;
        note(&mut self.kinds, format!("U+{:04X}", u32::from(char)), 1);
    }

    /// Adds a whole sequence or one control character; does not change `control`.
    pub fn sequence(&mut self, text: &str) {
        note(&mut self.sequences, readable(text), 1);
    }

    pub fn add(&mut self, other: Self) {
        self.control += other.control;
        self.invisible += other.invisible;
        other.kinds.into_iter().for_each(|(name, count)| note(&mut self.kinds, name, count));
        other.sequences.into_iter().for_each(|(text, count)| note(&mut self.sequences, text, count));
    }
}

fn note(counts: &mut BTreeMap<String, u64>, name: String, count: u64) {
    if counts.len() < MOST_NAMED || counts.contains_key(&name) {
        *counts.entry(name).or_default() += count;
    }
}

fn readable(text: &str) -> String {
    let mut shown = String::new();
    for char in text.chars().take(LONGEST_SEQUENCE) {
        // Writing to a string cannot fail.
        let _ = match char {
            '\u{1b}' => write!(shown, "\\e"),
            ' '..='~' => write!(shown, "{char}"),
            '\0'..='\u{ff}' => write!(shown, "\\x{:02x}", u32::from(char)),
            other => write!(shown, "\\u{{{:x}}}", u32::from(other)),
        };
    }
    if text.chars().nth(LONGEST_SEQUENCE).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_can_be_read_and_counts_have_bounds() {
        let mut stripped = Stripped::default();
        for text in ["\u{1b}[31m", "\u{7}", "\u{1b}[31m", "\u{9b}5é", "\u{1b}]0;日\u{7}"] {
            stripped.sequence(text);
        }
        let named: Vec<String> = stripped.sequences.iter().map(|(text, count)| format!("{text} {count}")).collect();
        assert_eq!(named, ["\\e[31m 2", "\\e]0;\\u{65e5}\\x07 1", "\\x07 1", "\\x9b5\\xe9 1"]);
        (0..1000).for_each(|number| stripped.sequence(&format!("\u{1b}[{number}m")));
        stripped.sequence(&"x".repeat(1000));
        assert_eq!(stripped.sequences.len(), MOST_NAMED);
        let mut other = Stripped::default();
        other.character('\u{200b}');
        other.add(other.clone());
        stripped.add(other);
        assert_eq!((stripped.invisible, stripped.kinds["U+200B"], stripped.is_empty()), (2, 2, false));
    }
}
