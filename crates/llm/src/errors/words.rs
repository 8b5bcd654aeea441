//! Extracts the server's error message from bodies of any shape and prepares it for display.

use omp_types::ErrorKind;
use serde_json::Value;

/// Maximum number of characters quoted from a server.
const QUOTE_LIMIT: usize = 400;

/// Prefixes of keys and tokens that servers tend to repeat in error messages.
const KEY_PREFIXES: [&str; 10] = ["sk-", "sk_", "gsk_", "xai-", "AIza", "ya29.", "ghu_", "gho_", "hf_", "eyJ"];

#[derive(Default)]
pub(crate) struct Words {
    pub message: String,
    /// The provider's names for the error (type, code, status, reason), in lower case, separated by blanks.
    codes: String,
    /// Retry delay from the body, in the provider's notation.
    pub retry_delay: Option<String>,
    /// Whether the body is an error object.
    pub is_error: bool,
    lower: String,
}

impl Words {
    pub fn new(code: &str, message: &str) -> Self {
        let words = Self { message: message.to_owned(), codes: code.to_ascii_lowercase(), ..Self::default() };
        words.with_lower()
    }

    pub fn of_body(body: &[u8]) -> Self {
        let words = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of_json(&value),
            Err(_) => Self { message: plain_text(&String::from_utf8_lossy(body)), ..Self::default() },
        };
        words.with_lower()
    }

    fn of_json(value: &Value) -> Self {
        // Gemini wraps stream errors in an array.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").or_else(|| value.pointer("/errors/0"));
        let is_error = error.is_some_and(|error| !error.is_null()) || value["type"] == "error";
        let inner = error.unwrap_or(value);
        let text = |path: &str| inner.pointer(path).and_then(Value::as_str);
        let message = [inner.as_str(), text("/message"), value["message"].as_str(), value["detail"].as_str()];
        let message = message.into_iter().chain([text("/detail/0/msg")]).flatten().next().unwrap_or_default();
        let raw = text("/metadata/raw").map(|raw| format!(" ({raw})")).unwrap_or_default();
        let details: &[Value] = inner["details"].as_array().map_or(&[], Vec::as_slice);
        let names = ["type", "code", "status"].iter().map(|name| &inner[*name]);
        let names = names.chain(details.iter().map(|detail| &detail["reason"]));
        let codes: Vec<_> = names.filter_map(name_of).collect();
        Self {
            message: format!("{message}{raw}"),
            codes: codes.join(" ").to_ascii_lowercase(),
            retry_delay: details.iter().find_map(|detail| detail["retryDelay"].as_str()).map(str::to_owned),
            is_error,
            lower: String::new(),
        }
    }

    fn with_lower(mut self) -> Self {
        self.lower = self.message.to_ascii_lowercase();
        self
    }

    /// Returns a status that is only in the body.
    pub fn status(&self) -> Option<u16> {
        self.codes.split(' ').filter_map(|code| code.parse().ok()).find(|status| (400..600).contains(status))
    }

    /// Classifies the provider's error code. An unknown one counts as a server failure.
    pub fn kind(&self) -> ErrorKind {
        let named = |names: &[&str]| names.iter().any(|name| self.codes.contains(name));
        if named(&["rate_limit", "resource_exhausted", "too_many_requests"]) {
            ErrorKind::RateLimit
        } else if named(&["authentication", "permission", "unauthenticated"]) || self.speak_of_key() {
            ErrorKind::Auth
        } else if named(&["invalid_request", "invalid_argument", "invalid_prompt", "not_found", "failed_precondition"])
        {
            ErrorKind::BadRequest
        } else if named(&["content_filter", "content_policy", "safety", "cyber_policy"]) {
            ErrorKind::Refused
        } else {
            ErrorKind::Overloaded
        }
    }

    /// Returns whether the account is out of credit: waiting does not help, even if the status suggests it.
    pub fn speak_of_money(&self) -> bool {
        const SIGNS: [&str; 5] = [
            "insufficient_quota",
            "credit balance is too low",
            "insufficient balance",
            "insufficient credits",
            "billing_not_active",
        ];
        self.contain(&SIGNS) || self.codes.contains("billing_error")
    }

    pub fn speak_of_key(&self) -> bool {
        self.contain(&[
            "api_key_invalid",
            "api key not valid",
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
        ])
    }

    pub fn speak_of_length(&self) -> bool {
        const SIGNS: [&str; 24] = [
            "prompt is too long",
            "input is too long",
            "exceed context limit",
            "request_too_large",
            "context_length_exceeded",
            "model_context_window_exceeded",
            "maximum context length",
            "maximum prompt length",
            "exceeds the context window",
            "context window exceeds",
            "exceeds the maximum number of tokens",
            "exceed the maximum number of tokens",
            "exceeds the available context size",
            "exceed_context_size",
            "exceed context",
            "exceeded context",
            "greater than the context length",
            "reduce the length of the messages",
            "exceeded model token limit",
            "prompt token count",
            "input tokens exceed",
            "too large for model with",
            "context length exceeded",
            "prompt too long",
        ];
        let says = |words: &[&str]| words.iter().any(|word| self.lower.contains(word));
        let in_general = says(&["context length", "context window", "context size", "input token count"])
            && says(&["exceed", "too long", "too large", "larger than", "limit"]);
        in_general || self.contain(&SIGNS)
    }

    fn contain(&self, signs: &[&str]) -> bool {
        signs.iter().any(|sign| self.lower.contains(sign) || self.codes.contains(sign))
    }
}

fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Of an HTML page, only the title is worth quoting.
fn plain_text(text: &str) -> String {
    let start: String = text.trim_start().chars().take(15).collect();
    if !start.to_ascii_lowercase().starts_with("<!doctype html") && !start.to_ascii_lowercase().starts_with("<html") {
        return text.to_owned();
    }
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("an HTML page titled \"{}\"", title.trim()),
        None => "an HTML page".to_owned(),
    }
}

/// Formats a server's text on one line, truncated, without control characters and keys.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for word in text.split_whitespace() {
        if !quoted.is_empty() {
            quoted.push(' ');
        }
        push_word(&mut quoted, word);
        if quoted.len() > QUOTE_LIMIT {
            let end = quoted.floor_char_boundary(QUOTE_LIMIT);
            quoted.truncate(end);
            quoted.push('…');
            break;
        }
    }
    quoted
}

fn push_word(quoted: &mut String, word: &str) {
    let limited = &word[..word.floor_char_boundary(QUOTE_LIMIT + 4)];
    let key = KEY_PREFIXES.iter().filter_map(|prefix| limited.find(prefix)).min();
    let shown = match key {
        Some(at) if limited.len() - at >= 12 => &limited[..at],
        _ => limited,
    };
    quoted.extend(shown.chars().filter(|character| !character.is_control()));
    if shown.len() < limited.len() {
        quoted.push_str("[key]");
    }
}
