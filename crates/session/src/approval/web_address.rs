//! Validates addresses before they are given to a browser, so that an address from a server or a tool cannot start anything
//! else.

use std::fmt;

/// Longer addresses are not supported by every browser.
const LONGEST: usize = 8192;
/// Characters that a valid address never contains unescaped, and that some programs interpret specially.
const NEVER: [char; 9] = ['"', '<', '>', '\\', '^', '`', '{', '|', '}'];

/// A complete web address: http or https, with a host, without a user name and without invisible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress(String);

impl WebAddress {
    /// An error is a sentence that does not repeat the address.
    pub fn parse(url: &str) -> Result<Self, String> {
        let refused =
            |why: &str| Err(format!("this link is not opened: {why}\nhint: only http and https links can be opened"));
        if url.len() > LONGEST {
            return refused("it is too long");
        }
        if url.contains(|sign: char| !sign.is_ascii_graphic() || NEVER.contains(&sign)) {
            return refused("it contains characters that are not valid in a URL");
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            return refused("it does not start with http or https");
        };
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return refused("it does not start with http or https");
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return refused("it contains a user name, which can hide the real host");
        }
        if authority.is_empty() || authority.starts_with(':') {
            return refused("it has no host");
        }
        Ok(Self(url.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_of_the_web_are_opened() {
        for good in [
            "https://example.com",
            "HTTP://127.0.0.1:8080/callback?code=a%20b&state=x@y#top",
            "http://[::1]/",
            "https://example.com/it's/(fine)?a=b;c,d=[e]",
        ] {
            assert_eq!(WebAddress::parse(good).map(|url| url.to_string()), Ok(good.to_owned()));
        }
        let long = format!("https://example.com/{}", "x".repeat(LONGEST));
        for (bad, why) in [
            ("", "does not start"),
            ("example.com", "does not start"),
            ("javascript:alert(1)", "does not start"),
            ("file:///etc/passwd", "does not start"),
            ("-x https://example.com", "characters"),
            ("https://example.com/\u{1b}[2J", "characters"),
            ("https://example.com/\nhttps://other", "characters"),
            ("https://ex\u{430}mple.com", "characters"),
            ("https://example.com/\u{202e}moc", "characters"),
            ("https://good.com\\@evil.com", "characters"),
            ("https://example.com/\"; rm", "characters"),
            ("https://good.com@evil.com/", "user name"),
            ("https://user:word@example.com/", "user name"),
            ("https://", "no host"),
            ("https:///path", "no host"),
            ("https://:80/", "no host"),
            (&long, "too long"),
        ] {
            let problem = WebAddress::parse(bad).unwrap_err();
            assert!(problem.contains(why) && problem.contains("hint:"), "{bad:?}: {problem}");
        }
    }
}
