//! Rules for reachable hosts: `example.com`, `*.example.com`, `10.1.0.0/16`, `localhost`, each with an optional port.

use std::net::IpAddr;

use super::host::{EgressHost, digits, split_port};

#[derive(Clone, Debug, PartialEq, Eq)]
struct HostRule {
    subject: HostSubject,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostSubject {
    Host(EgressHost),
    /// Every name that ends with a dot and this name.
    Below(String),
    Network(IpAddr, u8),
}

/// The rules at one moment.
#[derive(Clone, Debug, Default)]
pub struct HostRules(Vec<HostRule>);

impl HostRules {
    /// An invalid rule allows nothing; [`problem_of_rule`] explains why.
    pub fn of(hosts: &[String]) -> Self {
        Self(hosts.iter().filter_map(|text| HostRule::parse(text).ok()).collect())
    }

    pub fn allow(&self, host: &EgressHost, port: u16) -> bool {
        self.on(port).any(|rule| match (&rule.subject, host) {
            (HostSubject::Host(named), host) => named == host,
            (HostSubject::Below(parent), EgressHost::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (HostSubject::Network(network, length), EgressHost::Address(address)) => {
                contains(*network, *length, *address)
            }
            _ => false,
        })
    }

    /// Whether a rule names the address itself, and not only a host that resolves to it.
    pub fn name(&self, address: IpAddr, port: u16) -> bool {
        self.allow(&EgressHost::Address(address.to_canonical()), port)
    }

    /// Whether a rule names this machine's loopback, so that `localhost` refers to it.
    pub fn name_loopback(&self) -> bool {
        self.0.iter().any(|rule| match &rule.subject {
            HostSubject::Host(EgressHost::Address(address)) => address.is_loopback(),
            HostSubject::Host(host) => host.is_localhost(),
            HostSubject::Network(address, _) => address.is_loopback(),
            HostSubject::Below(_) => false,
        })
    }

    fn on(&self, port: u16) -> impl Iterator<Item = &HostRule> {
        self.0.iter().filter(move |rule| rule.port.is_none_or(|only| only == port))
    }
}

/// Explains to the user why `text` is not a rule.
pub fn problem_of_rule(text: &str) -> Option<String> {
    let why = HostRule::parse(text).err()?;
    Some(format!(
        "`{}` in containment.hosts is ignored: {why}\nhint: use `example.com`, `*.example.com`, `10.1.0.0/16` or `localhost`, followed by `:443` for one port only",
        text.escape_debug()
    ))
}

impl HostRule {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.contains("://") {
            return Err("write the host only, without `https://`");
        }
        let (host, port) = split_port(text).ok_or("it is not a host")?;
        let port = port.map(digits).transpose().map_err(|()| "its port is not a number from 1 to 65535")?;
        Ok(Self { subject: HostSubject::parse(host)?, port })
    }
}

impl HostSubject {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "*" {
            return Err("`*` matches every host; use `containment.network: on` instead");
        }
        if let Some(parent) = text.strip_prefix("*.") {
            return match EgressHost::parse(parent) {
                Some(EgressHost::Name(name)) => Ok(Self::Below(name)),
                _ => Err("a name must follow `*.`"),
            };
        }
        if text.contains('*') {
            return Err("`*` is only allowed at the start, as in `*.example.com`");
        }
        if let Some((address, length)) = text.trim_matches(['[', ']']).split_once('/') {
            return network(address, length).ok_or("it is not a network such as `10.1.0.0/16`");
        }
        EgressHost::parse(text).map(Self::Host).ok_or("it is not a host")
    }
}

fn network(address: &str, length: &str) -> Option<HostSubject> {
    let address: IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    (length <= bits).then_some(HostSubject::Network(address, length))
}

fn contains(network: IpAddr, length: u8, address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            network.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            network.to_bits() & mask == address.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(rule: &str, host: &str, port: u16, expect: bool) {
        let host = EgressHost::parse(host).unwrap();
        assert_eq!(HostRules::of(&[rule.to_owned()]).allow(&host, port), expect, "{rule}: {host}:{port}");
    }

    #[test]
    fn a_rule_means_exactly_what_it_says() {
        check("docs.example.com", "docs.example.com", 443, true);
        check("Docs.Example.COM.", "docs.example.com.", 443, true);
        check("docs.example.com", "docs.example.com.evil", 443, false);
        check("docs.example.com", "example.com", 443, false);
        check("docs.example.com", "x.docs.example.com", 443, false);
        check("example.com", "evilexample.com", 443, false);
        check("example.com:443", "example.com", 443, true);
        check("example.com:443", "example.com", 22, false);
        check("bücher.example", "xn--bcher-kva.example", 443, true);
    }

    #[test]
    fn a_wildcard_stands_for_whole_labels_in_front() {
        check("*.example.com", "a.example.com", 443, true);
        check("*.example.com", "a.b.example.com", 443, true);
        check("*.example.com", "example.com", 443, false);
        check("*.example.com", "evilexample.com", 443, false);
        check("*.example.com", "a.example.com.evil", 443, false);
        check("*.example.com:22", "a.example.com", 443, false);
        check("*.example.com", "10.0.0.1", 443, false);
    }

    #[test]
    fn addresses_are_reached_only_where_they_are_named() {
        check("10.0.0.1", "10.0.0.1", 80, true);
        check("10.0.0.1", "::ffff:10.0.0.1", 80, true);
        check("10.0.0.1:80", "10.0.0.1", 81, false);
        check("10.1.0.0/16", "10.1.255.255", 80, true);
        check("10.1.0.0/16", "10.2.0.0", 80, false);
        check("10.1.0.0/16:443", "10.1.2.3", 80, false);
        check("fd00::/8", "fd12::1", 80, true);
        check("[::1]:80", "::1", 80, true);
        check("0.0.0.0/0", "1.2.3.4", 80, true);
        check("0.0.0.0/0", "::1", 80, false);
        check("localhost", "127.0.0.1", 80, false);
    }

    #[test]
    fn what_is_no_rule_allows_nothing_and_is_told() {
        for rule in [
            "*",
            "",
            "https://example.com",
            "ex*mple.com",
            "*.10.0.0.1",
            "a b",
            "10.0.0.0/33",
            "example.com:0",
            "a:b:c:d",
        ] {
            check(rule, "example.com", 443, false);
            let problem = problem_of_rule(rule).unwrap();
            assert!(problem.contains("hint:"), "{problem}");
        }
        for rule in ["example.com", "*.example.com:443", "10.0.0.0/8", "localhost:3000", "::1"] {
            assert_eq!(problem_of_rule(rule), None);
        }
    }

    proptest! {
        /// Only the name itself matches, and names below it for a wildcard.
        #[test]
        fn nothing_else_matches(before in "[a-z0-9.-]{0,12}", after in "[a-z0-9.-]{0,12}") {
            let text = format!("{before}example.com{after}");
            if let Some(host) = EgressHost::parse(&text) {
                let exact = HostRules::of(&["example.com".to_owned()]).allow(&host, 443);
                prop_assert_eq!(exact, host == EgressHost::Name("example.com".to_owned()));
                let below = HostRules::of(&["*.example.com".to_owned()]).allow(&host, 443);
                prop_assert_eq!(below, host.to_string().ends_with(".example.com"));
            }
        }

        #[test]
        fn no_text_is_trouble(text in any::<String>()) {
            let _ = problem_of_rule(&text);
            let _ = EgressHost::with_port(&text);
        }
    }
}
