//! A host in normalized form: ASCII, lower case, without a trailing dot; or an address.

use std::fmt;
use std::net::IpAddr;

use idna::AsciiDenyList;

const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EgressHost {
    Name(String),
    /// An IPv4 address written as IPv6 is stored as IPv4.
    Address(IpAddr),
}

impl EgressHost {
    /// Returns `None` for an invalid host, and for forms that only some programs read as an address (`127.1`, `0x7f000001`).
    pub fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
            let written_as_v6 = bare.is_some();
            return (!written_as_v6 || address.is_ipv6()).then(|| Self::Address(address.to_canonical()));
        }
        if bare.is_some() {
            return None;
        }
        let text = text.strip_suffix('.').unwrap_or(text);
        let name = idna::domain_to_ascii_cow(text.as_bytes(), AsciiDenyList::URL).ok()?;
        is_name(&name).then(|| Self::Name(name.into_owned()))
    }

    pub fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost")
    }

    /// Parses a host with an optional port, as in `Host` headers and the targets of CONNECT.
    pub fn with_port(text: &str) -> Option<(Self, Option<u16>)> {
        let (host, port) = split_port(text)?;
        let port = port.map(digits).transpose().ok()?;
        Some((Self::parse(host)?, port))
    }
}

impl fmt::Display for EgressHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address @ IpAddr::V6(_)) => write!(f, "[{address}]"),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

/// Splits at the last colon outside an IPv6 address.
pub(super) fn split_port(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(end) = text.find(']') {
        let (host, rest) = text.split_at(end + 1);
        return match rest {
            "" => Some((host, None)),
            rest => Some((host, Some(rest.strip_prefix(':')?))),
        };
    }
    match text.matches(':').count() {
        0 => Some((text, None)),
        1 => text.split_once(':').map(|(host, port)| (host, Some(port))),
        _ => Some((text, None)),
    }
}

/// Parses a port: no sign, no spaces, not zero.
pub(super) fn digits(text: &str) -> Result<u16, ()> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| plain && *port != 0).ok_or(())
}

fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
        !label.is_empty() && label.len() <= LONGEST_LABEL && label.bytes().all(known)
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let ends_in_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= LONGEST_NAME && name.split('.').all(is_label) && !ends_in_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let host = EgressHost::parse(text).map(|host| host.to_string());
        assert_eq!(host.as_deref(), expect, "{text}");
    }

    #[test]
    fn one_host_has_one_form() {
        check("example.com", Some("example.com"));
        check("EXAMPLE.Com.", Some("example.com"));
        check("Bücher.example", Some("xn--bcher-kva.example"));
        check("xn--bcher-kva.example", Some("xn--bcher-kva.example"));
        check("example。com", Some("example.com"));
        check("my_bucket.s3.example", Some("my_bucket.s3.example"));
        check("127.0.0.1", Some("127.0.0.1"));
        check("[::1]", Some("[::1]"));
        check("::1", Some("[::1]"));
        check("::ffff:10.0.0.1", Some("10.0.0.1"));
        check("[::ffff:a00:1]", Some("10.0.0.1"));
    }

    #[test]
    fn what_is_no_host_is_none() {
        for text in [
            "",
            ".",
            "..",
            "a..b",
            "example.com..",
            ".example.com",
            "a b",
            "a/b",
            "a@b",
            "a%2eb",
            "a\0b",
            "a\r\nb",
            "*",
            "*.example.com",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "127.0.0.1.",
            "[127.0.0.1]",
            "[example.com]",
            "fe80::1%eth0",
            "[::1",
            "a:80",
        ] {
            check(text, None);
        }
        check(&"a".repeat(64), None);
        check(&["abcdefg"; 40].join("."), None);
    }

    #[test]
    fn a_port_stands_behind_the_last_colon() {
        let check = |text: &str, expect: Option<(&str, Option<u16>)>| {
            let parsed = EgressHost::with_port(text).map(|(host, port)| (host.to_string(), port));
            assert_eq!(parsed, expect.map(|(host, port)| (host.to_owned(), port)), "{text}");
        };
        check("example.com:443", Some(("example.com", Some(443))));
        check("example.com", Some(("example.com", None)));
        check("[::1]:80", Some(("[::1]", Some(80))));
        check("::1", Some(("[::1]", None)));
        for bad in ["example.com:", "example.com:0", "example.com:65536", "example.com:+80", "[::1]80", "a:b:80", ":80"]
        {
            check(bad, None);
        }
    }
}
