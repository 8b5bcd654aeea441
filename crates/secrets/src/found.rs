//! What counts as a secret: where it was found, and what is too common a word to be one.

use std::path::Path;

use omp_types::PROVIDER_KEYS;

/// Shorter values of variables are words and numbers.
const SHORTEST: usize = 8;
/// Longer values are documents.
const LONGEST: usize = 16 << 10;
/// People write these where a secret is asked for, and texts are full of them.
const COMMON: &[&str] = &[
    "password",
    "passwort",
    "changeme",
    "change-me",
    "change_me",
    "example",
    "disabled",
    "undefined",
    "required",
    "optional",
    "internal",
    "external",
    "anonymous",
    "localhost",
    "development",
    "production",
    "not-needed",
    "notneeded",
    "no-key-required",
    "your-api-key",
    "your_api_key",
    "placeholder",
    "default-key",
    "xxxxxxxx",
];

/// Where a secret comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretOrigin {
    /// A credential that omp itself works with: hidden whatever the settings say.
    Held,
    Environment,
    File,
}

/// What is done with a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SecretMode {
    /// A placeholder, which is restored in the arguments of calls.
    #[default]
    Obfuscate,
    /// Another text for good; without one, a text of the same length.
    Replace(Option<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretKind {
    Plain,
    /// A value that may be an ordinary word: only where this name stands before it, as in `NAME=value`.
    Named(String),
    /// With its flags.
    Regex(String),
}

/// Something to be hidden. Not shown by `Debug` of its owners.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretEntry {
    pub kind: SecretKind,
    /// The value, or the pattern.
    pub content: String,
    pub mode: SecretMode,
}

#[derive(Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// As the user is told of it: the variable's name, or where it stands.
    pub name: String,
    pub entry: SecretEntry,
    pub origin: SecretOrigin,
}

impl FoundSecret {
    /// A credential that omp holds, if it can be told from ordinary text.
    pub fn held(name: &str, value: &str) -> Option<Self> {
        Self::plain(name, value, SecretOrigin::Held)
    }

    fn plain(name: &str, value: &str, origin: SecretOrigin) -> Option<Self> {
        let value = value.trim();
        is_telling(value).then(|| Self {
            name: name.to_owned(),
            entry: SecretEntry { kind: SecretKind::Plain, content: value.to_owned(), mode: SecretMode::Obfuscate },
            origin,
        })
    }
}

/// Names only: values are not for logs.
impl std::fmt::Debug for FoundSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Found({}, {:?})", self.name, self.origin)
    }
}

/// Whether hiding the value protects something and spoils nothing: it is no word that texts are full of, no number, and
/// no place on this machine.
pub(crate) fn is_telling(value: &str) -> bool {
    let one_char = value.chars().next().is_some_and(|first| value.chars().all(|char| char == first));
    let is_path = value.starts_with(['/', '~', '.']) && Path::new(value).exists();
    (SHORTEST..=LONGEST).contains(&value.len()) && !is_common(value) && !one_char && !is_path
}

/// People write such words and names where a secret is asked for.
pub(crate) fn is_common(value: &str) -> bool {
    let named_after_provider = PROVIDER_KEYS.iter().any(|(provider, _)| provider.eq_ignore_ascii_case(value));
    named_after_provider || COMMON.iter().any(|word| word.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_telling_values_are_secrets() {
        for value in ["short", "Password", "********", "/usr/bin", "openai"] {
            assert_eq!(FoundSecret::held("any", value), None, "{value}");
        }
        assert!(FoundSecret::held("any", "sk-live-1234").is_some());
    }

    #[test]
    fn values_are_not_printed() {
        let found = FoundSecret::held("--api-key", "sk-live-1234").unwrap();
        assert_eq!(format!("{found:?}"), "Found(--api-key, Held)");
    }
}
