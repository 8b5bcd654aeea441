//! URLs of requests, and their form in messages.

use reqwest::Url;

use crate::error::{HttpError, HttpErrorKind};

pub(crate) fn parse(text: &str) -> Result<Url, HttpError> {
    let invalid = |why: &str| {
        let shown = text.split(['?', '#']).next().unwrap_or_default();
        let shown = shown.rsplit_once('@').map_or(shown, |(_, after)| after);
        let message = format!("`{shown}` is not a usable URL: {why}\nhint: it must look like https://host/path");
        HttpError::new(HttpErrorKind::InvalidRequest, message)
    };
    let url = Url::parse(text).map_err(|error| invalid(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err(invalid("it has no host")),
        other => Err(invalid(&format!("`{other}` is not http or https"))),
    }
}

/// Returns scheme, host, port and path: the other parts may contain keys.
pub(crate) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// Whether a redirect may carry the request's credentials.
pub(crate) fn same_origin(one: &Url, other: &Url) -> bool {
    one.scheme() == other.scheme()
        && one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_urls_with_a_host_are_taken() {
        for text in ["", "localhost:8080", "ftp://host/x", "http://", "file:///etc/passwd", "https://[::1", "no url"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind, HttpErrorKind::InvalidRequest, "{text}");
            assert!(error.to_string().contains("hint:"), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let url = parse("https://user:pass@host:8443/v1/models?key=sesame#frag").unwrap();
        assert_eq!(shown(&url), "https://host:8443/v1/models");
        let error = parse("ftp://user:pass@host/x?key=sesame").unwrap_err().to_string();
        assert!(!error.contains("sesame") && !error.contains("pass"), "{error}");
    }

    #[test]
    fn another_port_is_another_origin() {
        let url = |text: &str| parse(text).unwrap();
        assert!(same_origin(&url("https://a/x"), &url("https://a:443/y")));
        assert!(!same_origin(&url("https://a/x"), &url("https://b/x")));
        assert!(!same_origin(&url("https://a/x"), &url("http://a/x")));
        assert!(!same_origin(&url("http://a:1/x"), &url("http://a:2/x")));
    }
}
