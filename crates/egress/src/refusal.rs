//! Why a request was refused: as text, as an HTTP answer and as a SOCKS code.

use std::net::IpAddr;

use super::host::EgressHost;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EgressRefusal {
    #[error(
        "{host}:{port} is blocked: it is not an allowed host\nhint: the user can add `{host}` to `containment.hosts` in config.yml"
    )]
    NotListed { host: EgressHost, port: u16 },
    #[error(
        "{host}:{port} is blocked: it resolves to {address}, {kind}\nhint: if that is intended, the user can also add `{address}` to `containment.hosts` in config.yml"
    )]
    Special { host: EgressHost, port: u16, address: IpAddr, kind: &'static str },
    #[error(
        "{host} is blocked: the connection asks for {named}\nhint: connect to the intended host; the user can add `{named}` to `containment.hosts` in config.yml"
    )]
    AnotherName { host: EgressHost, named: String },
    #[error("{host} cannot be resolved ({why})\nhint: check the name; omp resolves names")]
    NoAddress { host: EgressHost, why: String },
    #[error("cannot connect to {host}:{port}: {why}\nhint: check that it is running")]
    NoAnswer { host: EgressHost, port: u16, why: String },
    #[error(
        "the request was refused: {0}\nhint: this is the proxy of `containment.network: allowlist`; it speaks HTTP CONNECT, HTTP with whole addresses and SOCKS"
    )]
    Malformed(&'static str),
}

impl EgressRefusal {
    /// Whether a rule refused it, and not the network.
    pub(super) fn is_by_rule(&self) -> bool {
        matches!(self, Self::NotListed { .. } | Self::Special { .. } | Self::AnotherName { .. })
    }

    pub(super) fn as_http(&self) -> Vec<u8> {
        let status = match self {
            Self::NotListed { .. } | Self::Special { .. } | Self::AnotherName { .. } => "403 Forbidden",
            Self::NoAddress { .. } | Self::NoAnswer { .. } => "502 Bad Gateway",
            Self::Malformed(_) => "400 Bad Request",
        };
        let body = format!("{self}\n");
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .into_bytes()
    }

    pub(super) fn as_socks5(&self) -> u8 {
        match self {
            Self::NotListed { .. } | Self::Special { .. } | Self::AnotherName { .. } => 2,
            Self::NoAddress { .. } => 4,
            Self::NoAnswer { .. } => 5,
            Self::Malformed(_) => 1,
        }
    }

    /// Returns the first line, for lists.
    pub(super) fn in_short(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().to_owned()
    }
}
