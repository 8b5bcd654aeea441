//! What counts as a secret: its origin, and which values are too common to be one.

use std::path::Path;

use omp_types::PROVIDER_KEYS;

/// Minimum length of variable values; shorter ones are words and numbers.
const SHORTEST: usize = 8;
/// Longer values are documents, not credentials.
const LONGEST: usize = 16 << 10;
/// Common placeholder values for secrets, which also occur in ordinary texts.
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

/// The origin of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretOrigin {
    /// A credential that omp itself uses: hidden regardless of the settings.
    Held,
    Environment,
    File,
}

/// How a secret is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SecretMode {
    /// Replaced by a placeholder, which is restored in the arguments of calls.
    #[default]
    Obfuscate,
    /// Replaced permanently by another text; by default one of the same length.
    Replace(Option<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretKind {
    Plain,
    /// A value that may be an ordinary word: hidden only after this name, as in `NAME=value`.
    Named(String),
    /// A regular expression, with its flags.
    Regex(String),
}

/// A value or pattern to hide. `Debug` of its owners does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretEntry {
    pub kind: SecretKind,
    /// The value, or the pattern.
    pub content: String,
    pub mode: SecretMode,
}

#[derive(Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// Name for the user: the variable's name, or its location.
    pub name: String,
    pub entry: SecretEntry,
    pub origin: SecretOrigin,
}

impl FoundSecret {
    /// Creates the entry for a credential of omp, if it can be distinguished from ordinary text.
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

/// Prints only names, so that values do not reach logs.
impl std::fmt::Debug for FoundSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Found({}, {:?})", self.name, self.origin)
    }
}

/// Returns whether hiding the value is useful and harmless: it is not a common word, a number, or a local path.
pub(crate) fn is_telling(value: &str) -> bool {
    let one_char = value.chars().next().is_some_and(|first| value.chars().all(|char| char == first));
    let is_path = value.starts_with(['/', '~', '.']) && Path::new(value).exists();
    (SHORTEST..=LONGEST).contains(&value.len()) && !is_common(value) && !one_char && !is_path
}

/// Matches words and names that people enter in place of a secret.
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
