//! Removes secrets from recordings: by the names of headers and parameters, and by their values wherever they occur.

use memchr::memmem;
use omp_types::{Env, PROVIDER_KEYS, Redact, is_secret_variable, vars};

/// Replacement for a secret.
pub(crate) const REMOVED: &str = "[removed]";

/// Shorter values are words rather than keys; removing them would damage texts.
const SHORTEST: usize = 6;
/// Longer values are documents, not keys.
const LONGEST: usize = 16 << 10;
/// Limit on the number of secrets.
const MOST: usize = 1024;

/// The values to remove, in every encoding in which they may occur.
#[derive(Clone, Default)]
pub(crate) struct SecretNeedles {
    needles: Vec<Vec<u8>>,
}

impl SecretNeedles {
    /// Collects the keys of this run and all environment variables whose name indicates a secret.
    pub fn collect<'a>(env: &Env, keys: impl IntoIterator<Item = &'a str>) -> Self {
        let mut secrets = Self::default();
        keys.into_iter().for_each(|key| secrets.learn(key));
        let named = env.iter().filter(|(name, _)| is_secret_variable(name)).map(|(_, value)| value);
        named.for_each(|value| secrets.learn(value));
        for proxy in [vars::HTTPS_PROXY, vars::HTTP_PROXY, vars::ALL_PROXY] {
            let set = env.lookup(&proxy.name.to_ascii_lowercase()).or_else(|| env.get(proxy));
            let login = set.and_then(|url| url.split_once("://")?.1.rsplit_once('@')?.0.split_once(':'));
            login.into_iter().for_each(|(_, password)| secrets.learn(password));
        }
        secrets
    }

    /// Adds a value if it is long enough to be a secret.
    pub fn learn(&mut self, value: &str) {
        let value = value.trim();
        let named_after_provider = PROVIDER_KEYS.iter().any(|(provider, _)| *provider == value);
        if !(SHORTEST..=LONGEST).contains(&value.len()) || named_after_provider || self.needles.len() >= MOST {
            return;
        }
        let json = serde_json::to_string(value).unwrap_or_default();
        for spelling in [value, json.trim_matches('"'), &percent_encoded(value)] {
            let needle = spelling.as_bytes().to_vec();
            if !self.needles.contains(&needle) {
                self.needles.push(needle);
            }
        }
    }

    pub fn clean(&self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for (start, end) in self.spans(bytes) {
            // Overlapping secrets are removed as one.
            if start >= from {
                clean.extend_from_slice(&bytes[from..start]);
                clean.extend_from_slice(REMOVED.as_bytes());
            }
            from = from.max(end);
        }
        clean.extend_from_slice(&bytes[from..]);
        clean
    }

    pub fn clean_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.clean(text.as_bytes())).into_owned()
    }

    /// Removes user, password, and parameters that hold keys from a URL.
    pub fn clean_url(&self, url: &str) -> String {
        let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
        let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let host = match authority.rsplit_once('@') {
            Some((_, host)) => format!("{REMOVED}@{host}"),
            None => authority.to_owned(),
        };
        let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
        let query =
            query.map(|query| format!("?{}", query.split('&').map(clean_parameter).collect::<Vec<_>>().join("&")));
        self.clean_text(&format!("{scheme}{host}{path}{}", query.unwrap_or_default()))
    }

    fn spans(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let found = self
            .needles
            .iter()
            .flat_map(|needle| memmem::find_iter(bytes, needle).map(|at| (at, at + needle.len())).collect::<Vec<_>>());
        let mut spans: Vec<_> = found.collect();
        spans.sort_unstable();
        spans
    }

    /// Returns how many bytes at the end may be the start of a secret.
    fn open_end(&self, bytes: &[u8]) -> usize {
        let begins = |needle: &Vec<u8>| {
            let longest = bytes.len().min(needle.len().saturating_sub(1));
            (1..=longest).rev().find(|count| bytes.ends_with(&needle[..*count])).unwrap_or(0)
        };
        self.needles.iter().map(begins).max().unwrap_or(0)
    }
}

/// Cleans a stream in which chunk boundaries may split a secret.
#[derive(Default)]
pub(crate) struct StreamRedactor {
    /// Buffered bytes that may be the start of a secret.
    held: Vec<u8>,
}

impl StreamRedactor {
    pub fn push(&mut self, secrets: &SecretNeedles, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let settled = secrets.spans(&all).into_iter().map(|(_, end)| end).max().unwrap_or(0);
        let open = secrets.open_end(&all[settled..]);
        self.held = all.split_off(all.len() - open);
        secrets.clean(&all)
    }

    /// Returns the buffered bytes at the end of the stream, which are not a secret after all.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// Removes secrets that `others` finds from the texts of whole events; redacting the raw bytes could break the JSON.
pub(crate) fn clean_events(others: &dyn Redact, bytes: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
    let clean: String = text.split_inclusive('\n').map(|line| clean_event(others, line)).collect();
    clean.into_bytes()
}

fn clean_event(others: &dyn Redact, line: &str) -> String {
    let begin = line.find('{').filter(|at| matches!(line[..*at].trim(), "" | "data:"));
    let event = begin.and_then(|at| Some((at, serde_json::from_str::<serde_json::Value>(line[at..].trim()).ok()?)));
    let Some((at, mut event)) = event else { return line.to_owned() };
    let before = event.clone();
    others.redact_value(&mut event);
    if event == before {
        return line.to_owned();
    }
    let end = &line[line.trim_end().len()..];
    format!("{}{event}{end}", &line[..at])
}

/// Returns whether a request header holds a key.
pub(crate) fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "token", "cookie", "secret"].iter().any(|word| name.contains(word))
}

/// Returns whether a response header is private. Headers that count tokens are needed and kept.
pub(crate) fn is_private_answer_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "api-key", "cookie", "secret", "organization", "project"].iter().any(|word| name.contains(word))
}

/// Returns the key in a header value.
pub(crate) fn secret_in(value: &str) -> Option<&str> {
    let value = value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("Basic ")).unwrap_or(value).trim();
    Some(value).filter(|value| value.len() >= SHORTEST)
}

fn clean_parameter(parameter: &str) -> String {
    let Some((name, _)) = parameter.split_once('=') else { return parameter.to_owned() };
    let told = name.to_ascii_lowercase();
    let secret = ["key", "token", "secret", "sig", "auth", "password", "code", "credential"];
    if secret.iter().any(|word| told.contains(word)) { format!("{name}={REMOVED}") } else { parameter.to_owned() }
}

fn percent_encoded(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    value.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets(values: &[&str]) -> SecretNeedles {
        SecretNeedles::collect(&Env::default(), values.iter().copied())
    }

    #[track_caller]
    fn check(values: &[&str], text: &str, expect: &str) {
        assert_eq!(secrets(values).clean_text(text), expect);
    }

    #[test]
    fn values_are_taken_out_in_every_spelling() {
        check(&["sesame"], "open sesame, sesame!", "open [removed], [removed]!");
        check(&["ses\"ame"], r#"{"k":"ses\"ame"} ses"ame"#, r#"{"k":"[removed]"} [removed]"#);
        check(&["ses/a+me"], "?q=ses%2Fa%2Bme", "?q=[removed]");
        check(&["sesame1", "ame123"], "sesame123", "[removed]");
        check(&["short", "ollama", ""], "short ollama", "short ollama");
    }

    #[test]
    fn what_others_know_is_taken_out_of_whole_events_only() {
        struct Pattern;
        impl Redact for Pattern {
            fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
                text.find("key=").map_or(text.into(), |at| format!("{}[redacted]", &text[..at]).into())
            }
        }
        let check = |text: &str, expect: &str| {
            assert_eq!(String::from_utf8(clean_events(&Pattern, text.into())).unwrap(), expect);
        };
        check("data: {\"t\":\"a key=1 b\"}\n\nrest", "data: {\"t\":\"a [redacted]\"}\n\nrest");
        check("{\"t\":\"key=1\"}\r\n", "{\"t\":\"[redacted]\"}\r\n");
        // An incomplete event is not JSON, and an event without secrets is kept verbatim.
        check("data: {\"t\":\"key=1", "data: {\"t\":\"key=1");
        check("data: { \"b\": 1, \"a\": 2 }\n", "data: { \"b\": 1, \"a\": 2 }\n");
        assert_eq!(clean_events(&Pattern, vec![0xff, b'{']), [0xff, b'{']);
    }

    #[test]
    fn variables_are_told_by_their_names() {
        let pairs = [
            ("OPENAI_API_KEY", "provider-key"),
            ("MY_DB_PASSWORD", "pass-word"),
            ("github_token", "gh-token"),
            ("SSH_KEY_PATH", "/tmp/me/key"),
            ("KEYBOARD", "querty-layout"),
            ("PWD", "/tmp/me"),
            ("HTTPS_PROXY", "http://me:proxy-pass@host:1"),
        ];
        let secrets = SecretNeedles::collect(&pairs.into_iter().collect(), []);
        let all = pairs.map(|(_, value)| value).join(" ");
        assert_eq!(
            secrets.clean_text(&all),
            "[removed] [removed] [removed] /tmp/me/key querty-layout /tmp/me http://me:[removed]@host:1"
        );
    }

    #[test]
    fn addresses_keep_what_tells_where_they_lead() {
        let none = SecretNeedles::default();
        for (url, expect) in [
            ("https://host/v1?alt=sse&key=abc&x=1", "https://host/v1?alt=sse&key=[removed]&x=1"),
            ("http://me:pw@host:1/a@b", "http://[removed]@host:1/a@b"),
            ("http://host", "http://host"),
            ("host/v1?access_token=x", "host/v1?access_token=[removed]"),
        ] {
            assert_eq!(none.clean_url(url), expect);
        }
    }

    proptest! {
        #[test]
        fn however_a_stream_is_cut_no_secret_gets_through(text in "[se]{0,8}(sesame|x|sesam){0,4}[se]{0,8}", cut in 1usize..6) {
            let secrets = secrets(&["sesame"]);
            let mut sieve = StreamRedactor::default();
            let mut passed: Vec<u8> = text.as_bytes().chunks(cut).flat_map(|piece| sieve.push(&secrets, piece)).collect();
            passed.extend(sieve.finish());
            prop_assert_eq!(String::from_utf8(passed).unwrap(), secrets.clean_text(&text));
        }
    }
}
