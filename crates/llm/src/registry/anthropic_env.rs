//! Environment variables that route the `anthropic` provider through a gateway.

use omp_types::{Env, Model, vars};

use crate::models_file::set_header;

/// Foundry's URL overrides `ANTHROPIC_BASE_URL`; both override the catalogue and `models.yml`.
pub(super) fn apply(env: &Env, model: &mut Model) {
    if model.provider != "anthropic" {
        return;
    }
    let foundry = env.flag(vars::CLAUDE_CODE_USE_FOUNDRY);
    let foundry_url = if foundry { env.get(vars::FOUNDRY_BASE_URL) } else { None };
    let other_url = env.get(vars::ANTHROPIC_BASE_URL);
    if let Some(url) = foundry_url.or(other_url) {
        model.base_url = url.trim().to_owned();
    }
    let through_gateway = other_url.is_some_and(|url| !is_anthropic_host(url));
    if let Some(headers) = env.get(vars::ANTHROPIC_CUSTOM_HEADERS)
        && (foundry || through_gateway)
    {
        for (name, value) in parse_headers(headers) {
            set_header(&mut model.headers, name, value);
        }
    }
}

/// Parses `name: value` pairs separated by commas or newlines; other parts are ignored.
fn parse_headers(text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    for part in text.split([',', '\n']) {
        if let Some((name, value)) = part.split_once(':')
            && is_header_name(name.trim())
        {
            pairs.push((name.trim(), value.trim()));
        }
    }
    pairs
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_anthropic_host(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let host = host.to_ascii_lowercase();
    host == "anthropic.com" || host.ends_with(".anthropic.com")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lists_are_read() {
        assert_eq!(parse_headers("a: 1, x-b: two words\nC:3"), [("a", "1"), ("x-b", "two words"), ("C", "3")]);
        assert_eq!(parse_headers("url: http://x:80/y"), [("url", "http://x:80/y")]);
        assert_eq!(parse_headers("nothing, : none, bad name: x, ,"), []);
    }

    #[test]
    fn hosts_are_told_apart() {
        for url in ["https://api.anthropic.com", "https://API.anthropic.com:443/v1", "http://u@api.anthropic.com/"] {
            assert!(is_anthropic_host(url), "{url}");
        }
        for url in ["https://proxy.example/api.anthropic.com", "https://notanthropic.com", "http://127.0.0.1:1", ""] {
            assert!(!is_anthropic_host(url), "{url}");
        }
    }
}
