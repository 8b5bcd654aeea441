//! Addresses of this machine, of its network or of no network: a name must not resolve to them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the kind of an address that is not on the public internet.
pub(super) fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => Some("an address of this host"),
        (127, ..) => Some("a loopback address"),
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => Some("a private address"),
        (169, 254, _) => Some("a link-local address, where clouds keep credentials"),
        (100, 64..=127, _) => Some("an address of a carrier's network"),
        (192, 0, 0) | (198, 18..=19, _) => Some("an address for special use"),
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => Some("an address for documentation"),
        (192, 88, 99) => Some("an address of a relay"),
        (224..=239, ..) => Some("a multicast address"),
        (240.., ..) => Some("a reserved or broadcast address"),
        _ => None,
    }
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let inner = |at: usize| {
        let octets = address.octets();
        Ipv4Addr::new(octets[at], octets[at + 1], octets[at + 2], octets[at + 3])
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        [0, 0, 0, 0, 0, 0xFFFF, ..] => Some("an IPv4 address written as IPv6"),
        [0, ..] => Some("a reserved address"),
        // The gateway would connect to the embedded address.
        [0x64, 0xFF9B, 0, 0, 0, 0, ..] => special_v4(inner(12)),
        [0xFC00..=0xFDFF, ..] => Some("a private address"),
        [0xFE80..=0xFEBF, ..] => Some("a link-local address"),
        [0xFF00..=0xFFFF, ..] => Some("a multicast address"),
        [0x2001, 0..=0x1FF, ..] => Some("an address for special use"),
        [0x2001, 0xDB8, ..] | [0x3FFF, 0..=0xFFF, ..] => Some("an address for documentation"),
        [0x2002, ..] => Some("an address of a relay"),
        [0x2000..=0x3FFF, ..] => None,
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_ordinary() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "127.0.0.1",
            "127.255.255.254",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "198.18.0.1",
            "192.0.2.1",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:1.1.1.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "100::1",
            "5f00::1",
            "3fff::1",
            "4000::1",
        ] {
            assert!(special(address.parse().unwrap()).is_some(), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "2606:4700::1111",
            "2001:4860::8888",
            "64:ff9b::101:101",
        ] {
            assert_eq!(special(address.parse().unwrap()), None, "{address}");
        }
    }
}
