//! Known secrets, and their removal from data that leaves the machine.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::env::{Env, PROVIDER_KEYS};

/// Shorter values are words and numbers; removing them would damage the text and protect nothing.
const SHORTEST: usize = 8;
/// The replacement of a secret.
const REDACTED: &str = "[redacted]";
/// The prefix of placeholders that hide a secret from the model in sessions; omp-secrets creates them.
const PLACEHOLDER: &str = "<<$env:S";
const PLACEHOLDER_DIGITS: usize = 9;
const NAMED: &[&str] = &["ANTHROPIC_CUSTOM_HEADERS"];
/// Suffixes of variable names that indicate a secret.
const ENDINGS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"];
/// Parts of variable names that indicate a secret.
const WORDS: &[&str] = &[
    "KEY",
    "KEYS",
    "APIKEY",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "CREDENTIALS",
    "PAT",
];
/// Last parts of a name that indicate the location of a secret, not the secret itself.
const PLACES: &[&str] = &[
    "PATH",
    "FILE",
    "DIR",
    "ID",
    "URL",
    "SOCK",
    "HOST",
    "PORT",
    "NAME",
    "USER",
    "USERNAME",
    "TYPE",
    "COUNT",
    "LIMIT",
    "LENGTH",
    "TTL",
    "EXPIRY",
    "REGION",
    "ALGORITHM",
    "STORE",
    "SERVER",
    "ENABLED",
];
/// Suffixes that only look like those of a secret.
const HARMLESS: &[&str] = &[
    "PUBLIC_KEY",
    "PUBKEY",
    "MONKEY",
    "DONKEY",
    "TURKEY",
    "HOCKEY",
    "JOCKEY",
    "WHISKEY",
    "HOTKEY",
    "SORT_KEY",
    "PRIMARY_KEY",
    "CACHE_KEY",
    "MAX_TOKENS",
];

/// Provides secrets that a list of values cannot hold: patterns, and secrets learnt later.
pub trait Redact: Send + Sync {
    /// Replaces every secret in the text irreversibly.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Redacts every string of a value, including field names.
    fn redact_value(&self, value: &mut Value) {
        redact_texts(value, &|text| self.redact(text));
    }
}

/// The values of keys, tokens and passwords: those of an environment, and added ones.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first, so that a value that contains another is removed completely.
    values: Vec<String>,
    others: Option<Arc<dyn Redact>>,
}

impl Secrets {
    pub fn of_env(env: &Env) -> Self {
        let mut secrets = Self::default();
        env.iter().filter(|(name, _)| is_secret_variable(name)).for_each(|(_, value)| secrets.add(value));
        secrets
    }

    /// Adds a value if it is long enough to be a secret.
    pub fn add(&mut self, value: &str) {
        let value = value.trim();
        // Local servers accept any key, and people often use the server's name.
        let named_after_provider = PROVIDER_KEYS.iter().any(|(provider, _)| *provider == value);
        if value.len() < SHORTEST || named_after_provider || self.values.iter().any(|known| known == value) {
            return;
        }
        let place = self.values.partition_point(|known| known.len() >= value.len());
        self.values.insert(place, value.to_owned());
    }

    /// Adds the secrets of another source.
    #[must_use]
    pub fn and(mut self, others: Arc<dyn Redact>) -> Self {
        self.others = Some(others);
        self
    }

    /// Also redacts the placeholders of a session, which mean nothing to others.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = without_placeholders(text);
        if let Some(others) = &self.others
            && let Cow::Owned(cleaner) = others.redact(&clean)
        {
            clean = Cow::Owned(cleaner);
        }
        for value in &self.values {
            if clean.contains(value.as_str()) {
                clean = Cow::Owned(clean.replace(value.as_str(), REDACTED));
            }
        }
        clean
    }

    /// Redacts every string of a value, including field names.
    pub fn redact_value(&self, value: &mut Value) {
        redact_texts(value, &|text| self.redact(text));
    }
}

fn redact_texts(value: &mut Value, redact: &dyn Fn(&str) -> Cow<'_, str>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redact(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_texts(item, redact)),
        Value::Object(fields) => {
            if fields.keys().any(|name| matches!(redact(name), Cow::Owned(_))) {
                let taken = std::mem::take(fields);
                fields.extend(taken.into_iter().map(|(name, field)| (redact(&name).into_owned(), field)));
            }
            fields.values_mut().for_each(|field| redact_texts(field, redact));
        }
        _ => {}
    }
}

/// Replaces `<<$env:S123456789>>`, a session's placeholder for a secret, by the general replacement.
fn without_placeholders(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(PLACEHOLDER) {
        let (before, found) = rest.split_at(at);
        let after = &found[PLACEHOLDER.len()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let end = after[digits..].strip_prefix(">>").filter(|_| digits == PLACEHOLDER_DIGITS);
        clean.push_str(before);
        clean.push_str(if end.is_some() { REDACTED } else { PLACEHOLDER });
        rest = end.unwrap_or(after);
    }
    if clean.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(clean + rest)
}

/// Prints names only: values must not appear in logs.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({} values)", self.values.len())
    }
}

/// Whether the name of a variable indicates a secret value.
pub fn is_secret_variable(name: &str) -> bool {
    if NAMED.contains(&name) || PROVIDER_KEYS.iter().any(|(_, names)| names.contains(&name)) {
        return true;
    }
    let name = name.to_ascii_uppercase();
    let is_place = name.rsplit('_').next().is_some_and(|last| PLACES.contains(&last));
    let is_harmless = HARMLESS.iter().any(|end| name.ends_with(end));
    !is_place
        && !is_harmless
        && (ENDINGS.iter().any(|end| name.ends_with(end)) || name.split('_').any(|word| WORDS.contains(&word)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> Secrets {
        Secrets::of_env(&Env::from_iter([
            ("OPENAI_API_KEY", "sk-live-1234"),
            ("MY_TOKEN", "sk-live-1234-and-more"),
            ("db_password", "correct horse"),
            ("PI_TOKEN", "short"),
            ("AWS_SECRET_ACCESS_KEY", "/with+slashes/in=it"),
            ("EDITOR", "vim-of-the-hills"),
            ("STUDIO_KEY", "lm-studio"),
        ]))
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(secrets().redact(text), expect);
    }

    #[test]
    fn secrets_are_taken_out_of_text() {
        check("key sk-live-1234.", "key [redacted].");
        check("sk-live-1234-and-more", "[redacted]");
        check("a correct horse, twice: correct horse", "a [redacted], twice: [redacted]");
        check("short vim-of-the-hills /with+slashes/in=it", "short vim-of-the-hills [redacted]");
        check("lm-studio", "lm-studio");
        check("", "");
        check("<<$env:S123456789>> <<$env:S0>> <<$env:S", "[redacted] <<$env:S0>> <<$env:S");
    }

    #[test]
    fn secrets_are_taken_out_of_values() {
        let mut value = json!({"a": ["x sk-live-1234"], "sk-live-1234": {"b": "correct horse"}, "n": 1});
        secrets().redact_value(&mut value);
        assert_eq!(value, json!({"a": ["x [redacted]"], "[redacted]": {"b": "[redacted]"}, "n": 1}));
    }

    #[test]
    fn variables_are_told_by_their_names() {
        for name in ["OPENAI_API_KEY", "MYTOKEN", "github_token_2", "DB_PASS", "GH_PAT", "ANTHROPIC_CUSTOM_HEADERS"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in [
            "SSH_KEY_PATH",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "PWD",
            "PATH",
            "TOKEN_URL",
            "COMPASS",
            "MONKEY",
            "SSH_PUBLIC_KEY",
            "MAX_TOKENS",
            "SECRET_NAME",
            "",
        ] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?}", secrets()), "Secrets(4 values)");
    }
}
