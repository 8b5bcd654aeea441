//! A request of a command to the proxy, in any protocol.

use super::body::Body;
use super::host::EgressHost;
use super::refusal::EgressRefusal;
use super::socks;

pub(super) struct ProxyRequest {
    pub(super) host: EgressHost,
    pub(super) port: u16,
    /// The additional target name, from a `Host` header.
    pub(super) named: Option<String>,
    pub(super) way: Way,
    /// Bytes that have already arrived after the request.
    pub(super) rest: Vec<u8>,
}

pub(super) enum Way {
    Connect,
    Socks5,
    Socks4,
    Http {
        /// The head as forwarded to the host.
        head: Vec<u8>,
        body: Body,
    },
}

impl Way {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Socks5 => "socks5",
            Self::Socks4 => "socks4",
            Self::Http { .. } => "http",
        }
    }

    /// Returns the answer for an established connection.
    pub(super) fn opened(&self) -> Vec<u8> {
        match self {
            Self::Connect => b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec(),
            Self::Socks5 => socks::answer_five(0),
            Self::Socks4 => socks::answer_four(true),
            Self::Http { .. } => Vec::new(),
        }
    }

    pub(super) fn refused(&self, refusal: &EgressRefusal) -> Vec<u8> {
        match self {
            Self::Connect | Self::Http { .. } => refusal.as_http(),
            Self::Socks5 => socks::answer_five(refusal.as_socks5()),
            Self::Socks4 => socks::answer_four(false),
        }
    }
}
