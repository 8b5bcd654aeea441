//! The search: one automaton for all values, and the patterns of `secrets.yml`.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder};

use crate::found::{FoundSecret, SecretEntry, SecretKind, SecretMode, SecretOrigin};

/// Memory limit of a pattern.
const REGEX_BYTES: usize = 1 << 20;
const MOST_REGEXES: usize = 128;
/// Limit on values, with all their encodings.
const MOST_VALUES: usize = 8_192;

/// A text that is hidden.
pub(crate) struct HiddenText {
    /// The value as it occurs, with its required prefix; empty for a pattern.
    pub text: String,
    /// Length of the prefix, which is not part of the value.
    pub lead: usize,
    pub name: String,
    pub held: bool,
    pub mode: SecretMode,
}

/// A match in a text that must be hidden.
#[derive(Debug, PartialEq)]
pub(crate) struct SecretHit {
    pub range: Range<usize>,
    /// Start including the required prefix: a text must not be split after this.
    pub from: usize,
    /// Index in [`Patterns::wanted`]; `None` if several overlap and none of them covers the whole range.
    pub wanted: Option<usize>,
}

#[derive(Default)]
pub(crate) struct Patterns {
    wanted: Vec<HiddenText>,
    automaton: Option<AhoCorasick>,
    /// Each with its index in `wanted`.
    regexes: Vec<(Regex, usize)>,
    /// The values, sorted, to check whether one may start at the end of a text.
    sorted: Vec<String>,
    longest: usize,
    begins: Vec<bool>,
}

impl Patterns {
    /// Also returns messages about unusable entries.
    pub fn new(found: &[FoundSecret]) -> (Self, Vec<String>) {
        let (mut patterns, mut warnings) = (Self::default(), Vec::new());
        for found in found {
            let FoundSecret { name, entry, origin } = found;
            let held = *origin == SecretOrigin::Held;
            match &entry.kind {
                SecretKind::Plain => patterns.add_value(name, held, entry),
                SecretKind::Named(variable) => patterns.add_named(name, held, entry, variable),
                SecretKind::Regex(flags) => {
                    if let Err(why) = patterns.add_regex(name, flags, entry) {
                        warnings.push(format!("{name} is not used: {why}\nhint: fix the pattern in secrets.yml"));
                    }
                }
            }
        }
        let values: Vec<&str> = patterns.wanted.iter().map(|wanted| wanted.text.as_str()).collect();
        // The automaton's pattern indexes are those in `wanted`; regexes are represented there by texts that never match.
        let values: Vec<&[u8]> =
            values.iter().map(|text| if text.is_empty() { &[0xff][..] } else { text.as_bytes() }).collect();
        if values.iter().any(|value| *value != [0xff]) {
            match AhoCorasick::new(values) {
                Ok(automaton) => patterns.automaton = Some(automaton),
                Err(error) => warnings.push(format!("secrets cannot be hidden: {error}\nhint: this is a bug in omp")),
            }
        }
        patterns.index();
        (patterns, warnings)
    }

    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    pub fn wanted(&self, index: usize) -> Option<&HiddenText> {
        self.wanted.get(index)
    }

    /// Returns matches from left to right without overlap: overlapping secrets are one match.
    pub fn hits(&self, text: &str) -> Vec<SecretHit> {
        let values = self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(text));
        let values = values.map(|found| {
            let index = found.pattern().as_usize();
            let lead = self.wanted.get(index).map_or(0, |wanted| wanted.lead);
            SecretHit { range: found.start() + lead..found.end(), from: found.start(), wanted: Some(index) }
        });
        let regexes = self.regexes.iter().flat_map(|(regex, index)| {
            let found = regex.find_iter(text).filter(|found| !found.is_empty());
            found.map(|found| SecretHit { range: found.range(), from: found.start(), wanted: Some(*index) })
        });
        let mut hits: Vec<SecretHit> = values.chain(regexes).collect();
        // The longest match at a position first; of equal ones the value, which precedes the patterns.
        hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));
        let mut apart: Vec<SecretHit> = Vec::new();
        for hit in hits {
            match apart.last_mut() {
                Some(last) if hit.range.start < last.range.end => {
                    last.from = last.from.min(hit.from);
                    if hit.range.end > last.range.end {
                        last.range.end = hit.range.end;
                        last.wanted = None;
                    }
                }
                _ => apart.push(hit),
            }
        }
        apart
    }

    /// Replaces each match.
    pub fn replaced<'a>(&self, text: &'a str, stand_in: impl Fn(&SecretHit, &str) -> String) -> Cow<'a, str> {
        let hits = self.hits(text);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut end = 0;
        for hit in &hits {
            clean.push_str(&text[end..hit.range.start]);
            clean.push_str(&stand_in(hit, &text[hit.range.clone()]));
            end = hit.range.end;
        }
        clean.push_str(&text[end..]);
        Cow::Owned(clean)
    }

    pub fn has_regexes(&self) -> bool {
        !self.regexes.is_empty()
    }

    /// Returns how many bytes at the end of a text may be the start of a value.
    pub fn open_end(&self, text: &str) -> usize {
        let first = text.len().saturating_sub(self.longest.saturating_sub(1));
        let bytes = text.as_bytes();
        let begins_there = |start: &usize| {
            let may_begin = self.begins.get(usize::from(bytes[*start])).copied().unwrap_or_default();
            may_begin && text.is_char_boundary(*start) && self.begins_with(&text[*start..])
        };
        (first..text.len()).find(begins_there).map_or(0, |start| text.len() - start)
    }

    fn begins_with(&self, beginning: &str) -> bool {
        let place = self.sorted.partition_point(|value| value.as_str() < beginning);
        self.sorted.get(place).is_some_and(|value| value.starts_with(beginning))
    }

    fn add_value(&mut self, name: &str, held: bool, entry: &SecretEntry) {
        spellings(&entry.content).into_iter().for_each(|text| self.add(text, 0, name, held, entry));
    }

    /// Adds the forms in which `env`, `export -p`, shell assignments, JSON, YAML and literals show a variable.
    fn add_named(&mut self, name: &str, held: bool, entry: &SecretEntry, variable: &str) {
        let leads = ["N=", "N=\"", "N='", "N=\\\"", "\"N\":\"", "\"N\": \"", "\\\"N\\\": \\\"", "'N': '", "N: "];
        for lead in leads.map(|lead| lead.replacen('N', variable, 1)) {
            self.add(format!("{lead}{}", entry.content), lead.len(), name, held, entry);
        }
    }

    fn add(&mut self, text: String, lead: usize, name: &str, held: bool, entry: &SecretEntry) {
        if self.wanted.len() < MOST_VALUES && self.wanted.iter().all(|known| known.text != text) {
            self.wanted.push(HiddenText { text, lead, name: name.to_owned(), held, mode: entry.mode.clone() });
        }
    }

    fn add_regex(&mut self, name: &str, flags: &str, entry: &SecretEntry) -> Result<(), String> {
        if self.regexes.len() >= MOST_REGEXES {
            return Err(format!("there are more than {MOST_REGEXES} patterns"));
        }
        let mut builder = RegexBuilder::new(&entry.content);
        builder.size_limit(REGEX_BYTES).dfa_size_limit(2 * REGEX_BYTES);
        for flag in flags.chars() {
            match flag {
                'i' => builder.case_insensitive(true),
                'm' => builder.multi_line(true),
                's' => builder.dot_matches_new_line(true),
                // Patterns always match globally and support Unicode.
                'g' | 'u' => &mut builder,
                other => return Err(format!("unknown flag `{other}`; the flags are g, i, m, s and u")),
            };
        }
        let regex = builder.build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
            _ => "the pattern is not a supported regular expression (no look-around, no back-references)".to_owned(),
        })?;
        let wanted =
            HiddenText { text: String::new(), lead: 0, name: name.to_owned(), held: false, mode: entry.mode.clone() };
        self.regexes.push((regex, self.wanted.len()));
        self.wanted.push(wanted);
        Ok(())
    }

    fn index(&mut self) {
        self.sorted = self.wanted.iter().map(|wanted| wanted.text.clone()).filter(|text| !text.is_empty()).collect();
        self.sorted.sort();
        self.longest = self.sorted.iter().map(String::len).max().unwrap_or(0);
        self.begins = vec![false; 256];
        for first in self.sorted.iter().filter_map(|value| value.bytes().next()) {
            self.begins[usize::from(first)] = true;
        }
    }
}

/// Returns the encodings of a value: plain, in JSON, and in a URL.
fn spellings(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default().to_owned();
    let mut spellings = vec![value.to_owned(), json, percent_encoded(value)];
    spellings.retain(|spelling| !spelling.is_empty());
    spellings.dedup();
    spellings
}

fn percent_encoded(value: &str) -> String {
    let encoded = value.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    });
    encoded.collect()
}
