//! Replaces secrets by placeholders and restores them.
//!
//! A placeholder's number is derived from the secret and a key that only the user has. So it is the same in every session
//! and after every resume without being stored, and nobody else can put the placeholder of a secret into a file to have it
//! restored.

mod calls;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use serde_json::Value;

use crate::found::{FoundSecret, SecretMode};
use crate::key::VeilKey;
use crate::patterns::{Patterns, SecretHit};

const BEGIN: &str = "<<$env:S";
const END: &str = ">>";
/// Maximum number of digits of a placeholder.
const MOST_DIGITS: usize = 12;
/// Replaces the placeholder of a secret in external text.
const FOREIGN: &str = "<<$env:S?>>";
/// Used if no placeholder can be assigned.
pub(crate) const REDACTED: &str = "[redacted]";
/// Limit on secrets that patterns find in one session.
const MOST_KNOWN: usize = 20_000;

/// Shared by everything that a session writes and sends. Without secrets it has no cost.
pub struct Veil {
    key: VeilKey,
    found: Mutex<Vec<FoundSecret>>,
    patterns: RwLock<Arc<Patterns>>,
    known: Mutex<KnownSecrets>,
    calls: calls::VeiledCalls,
}

#[derive(Default)]
struct KnownSecrets {
    by_number: HashMap<u64, VeiledSecret>,
    /// Secrets whose placeholders the model has received in this session.
    shown: HashSet<u64>,
}

#[derive(Clone)]
struct VeiledSecret {
    value: String,
    name: String,
    held: bool,
}

/// The secrets that were restored for a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Names for the user, without duplicates.
    pub names: Vec<String>,
    /// Whether a credential that omp itself uses is among them.
    pub held: bool,
}

impl Restored {
    fn add(&mut self, name: &str, held: bool) {
        self.held |= held;
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl Default for Veil {
    fn default() -> Self {
        Self::new(VeilKey::random(), Vec::new()).0
    }
}

impl Veil {
    /// Also returns errors in patterns.
    pub fn new(key: VeilKey, found: Vec<FoundSecret>) -> (Self, Vec<String>) {
        let (patterns, warnings) = Patterns::new(&found);
        let veil = Self {
            key,
            found: Mutex::new(found),
            patterns: RwLock::new(Arc::new(patterns)),
            known: Mutex::default(),
            calls: calls::VeiledCalls::default(),
        };
        veil.learn_all();
        (veil, warnings)
    }

    /// Adds a secret.
    pub fn add(&self, found: FoundSecret) {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().any(|known| known.entry.content == found.entry.content && known.entry.kind == found.entry.kind) {
            return;
        }
        all.push(found);
        let (patterns, _) = Patterns::new(&all);
        *self.patterns.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(patterns);
        drop(all);
        self.learn_all();
    }

    pub fn is_empty(&self) -> bool {
        self.patterns().is_empty()
    }

    /// Returns the number of known secrets.
    pub(crate) fn count(&self) -> usize {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Redacts a text for a model, a file or a screen. Idempotent.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.veiled(text, false)
    }

    /// Redacts external text: a secret's placeholder in it was not created by omp and is replaced, so that it is never
    /// restored.
    pub fn take_in<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.veiled(text, true)
    }

    /// Restores the secrets in every text of a call's arguments, but only those whose placeholders the model has received in
    /// this session.
    pub fn restore(&self, arguments: &mut Value) -> Restored {
        let mut restored = Restored::default();
        if !self.is_empty() {
            self.restore_in(arguments, &mut restored);
        }
        restored
    }

    /// Returns the secrets that a value contains.
    pub fn secrets_in(&self, value: &Value) -> Restored {
        let mut held = Restored::default();
        let patterns = self.patterns();
        if !patterns.is_empty() {
            note_secrets(&patterns, value, &mut held);
        }
        held
    }

    pub(crate) fn patterns(&self) -> Arc<Patterns> {
        self.patterns.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn restore_in(&self, value: &mut Value, restored: &mut Restored) {
        match value {
            Value::String(text) if text.contains(BEGIN) => {
                *text = pieces(text).map(|piece| self.original(piece, restored)).collect();
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.restore_in(item, restored)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.restore_in(field, restored)),
            _ => {}
        }
    }

    fn original(&self, piece: VeiledPiece<'_>, restored: &mut Restored) -> String {
        let (text, number) = match piece {
            VeiledPiece::Text(text) => return text.to_owned(),
            VeiledPiece::Placeholder(text, number) => (text, number),
        };
        let known = self.known();
        let Some(secret) = known.by_number.get(&number).filter(|_| known.shown.contains(&number)) else {
            return text.to_owned();
        };
        restored.add(&secret.name, secret.held);
        secret.value.clone()
    }

    fn veiled<'a>(&self, text: &'a str, from_outside: bool) -> Cow<'a, str> {
        let patterns = self.patterns();
        if patterns.is_empty() {
            return Cow::Borrowed(text);
        }
        if !text.contains(BEGIN) {
            return self.without_hits(&patterns, text);
        }
        let mut clean = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                VeiledPiece::Text(text) => clean.push_str(&self.without_hits(&patterns, text)),
                VeiledPiece::Placeholder(text, number) => clean.push_str(self.met(text, number, from_outside)),
            }
        }
        if clean == text { Cow::Borrowed(text) } else { Cow::Owned(clean) }
    }

    /// Handles a placeholder in a text.
    fn met<'a>(&self, text: &'a str, number: u64, from_outside: bool) -> &'a str {
        if from_outside && self.known().by_number.contains_key(&number) { FOREIGN } else { text }
    }

    /// Returns how many bytes at the end of a text may be the start of a placeholder.
    pub(crate) fn open_placeholder(text: &str) -> usize {
        let longest = BEGIN.len() + MOST_DIGITS + END.len();
        let may_go_on = |rest: &str| match rest.strip_prefix(BEGIN) {
            Some(after) => {
                let behind = after.trim_start_matches(|char: char| char.is_ascii_digit());
                END.starts_with(behind) && behind != END
            }
            None => BEGIN.starts_with(rest),
        };
        let first = text.ceil_char_boundary(text.len().saturating_sub(longest));
        let begin = text[first..].match_indices('<').map(|(at, _)| first + at).find(|at| may_go_on(&text[*at..]));
        begin.map_or(0, |at| text.len() - at)
    }

    /// Records that the model receives this text, and the placeholders in it.
    pub(crate) fn note_shown(&self, text: &str) {
        if !text.contains(BEGIN) {
            return;
        }
        let mut known = self.known();
        for piece in pieces(text) {
            if let VeiledPiece::Placeholder(_, number) = piece
                && known.by_number.contains_key(&number)
            {
                known.shown.insert(number);
            }
        }
    }

    fn without_hits<'a>(&self, patterns: &Patterns, text: &'a str) -> Cow<'a, str> {
        patterns.replaced(text, |hit, secret| self.stand_in(patterns, hit, secret))
    }

    fn stand_in(&self, patterns: &Patterns, hit: &SecretHit, secret: &str) -> String {
        let wanted = hit.wanted.and_then(|index| patterns.wanted(index));
        match wanted.map(|wanted| &wanted.mode) {
            Some(SecretMode::Replace(Some(text))) => text.clone(),
            Some(SecretMode::Replace(None)) => self.key.same_length(secret),
            Some(SecretMode::Obfuscate) | None => {
                let (name, held) = wanted.map_or(("several secrets", true), |wanted| (&wanted.name, wanted.held));
                let mut known = self.known();
                let Some(number) = known.learn(&self.key, secret, name, held) else { return REDACTED.to_owned() };
                known.shown.insert(number);
                format!("{BEGIN}{number}{END}")
            }
        }
    }

    /// Assigns all numbers, so that placeholders of an earlier run are recognized before their secret occurs again.
    fn learn_all(&self) {
        let patterns = self.patterns();
        let mut known = self.known();
        for wanted in (0..).map_while(|index| patterns.wanted(index)) {
            if !wanted.text.is_empty() && wanted.mode == SecretMode::Obfuscate {
                known.learn(&self.key, &wanted.text[wanted.lead..], &wanted.name, wanted.held);
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownSecrets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints only the count, so that values do not reach logs.
impl std::fmt::Debug for Veil {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Veil({} secrets)", self.known().by_number.len())
    }
}

impl KnownSecrets {
    /// Returns the number of a secret; if another secret already has it, the next free one.
    fn learn(&mut self, key: &VeilKey, value: &str, name: &str, held: bool) -> Option<u64> {
        let first = key.number(value);
        let number = (first..).find(|number| self.by_number.get(number).is_none_or(|other| other.value == value))?;
        if !self.by_number.contains_key(&number) {
            if self.by_number.len() >= MOST_KNOWN {
                return None;
            }
            self.by_number.insert(number, VeiledSecret { value: value.to_owned(), name: name.to_owned(), held });
        }
        Some(number)
    }
}

fn note_secrets(patterns: &Patterns, value: &Value, noted: &mut Restored) {
    match value {
        Value::String(text) => {
            for wanted in patterns.hits(text).iter().map(|hit| hit.wanted.and_then(|index| patterns.wanted(index))) {
                let (name, held) = wanted.map_or(("several secrets", true), |wanted| (&wanted.name, wanted.held));
                noted.add(name, held);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| note_secrets(patterns, item, noted)),
        Value::Object(fields) => fields.values().for_each(|field| note_secrets(patterns, field, noted)),
        _ => {}
    }
}

enum VeiledPiece<'a> {
    Text(&'a str),
    Placeholder(&'a str, u64),
}

/// Splits a text at everything that looks like a placeholder.
fn pieces(text: &str) -> impl Iterator<Item = VeiledPiece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((length, number)) = placeholder(rest) {
            let (found, after) = rest.split_at(length);
            rest = after;
            return Some(VeiledPiece::Placeholder(found, number));
        }
        // A text that only starts like one is ordinary, and the search continues after its first character.
        let next = rest.match_indices(BEGIN).map(|(at, _)| at).find(|at| placeholder(&rest[*at..]).is_some());
        let (found, after) = rest.split_at(next.unwrap_or(rest.len()));
        rest = after;
        Some(VeiledPiece::Text(found))
    })
}

/// Returns length and number of the placeholder at the start of a text.
fn placeholder(text: &str) -> Option<(usize, u64)> {
    let after = text.strip_prefix(BEGIN)?;
    let digits = after.bytes().take(MOST_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let number = after[..digits].parse().ok().filter(|_| (1..=MOST_DIGITS).contains(&digits))?;
    after[digits..].starts_with(END).then_some((BEGIN.len() + digits + END.len(), number))
}
