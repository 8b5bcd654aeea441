//! The upstream proxy by which this machine reaches the network, if any: allowed hosts are requested through it.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use omp_types::{Env, EnvVar, vars};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::host::EgressHost;
use super::rules::HostRules;

const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;

/// The proxy settings in the user's environment variables.
#[derive(Clone, Debug, Default)]
pub struct Upstream {
    plain: Option<Proxy>,
    tunnels: Option<Proxy>,
    exceptions: HostRules,
    excepts_all: bool,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    host: EgressHost,
    port: u16,
    /// The value of `Proxy-Authorization`.
    credentials: Option<String>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Upstream {
    /// A variable that names no supported proxy is reported and ignored, without its value, which may contain a password.
    pub fn from_env(env: &Env) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut named = |var: EnvVar| {
            let value = env.get_in_either_case(var)?.trim();
            let proxy = Proxy::parse(value);
            if proxy.is_none() && !value.is_empty() {
                problems.push(format!(
                    "commands do not use the proxy of {}: only `http://host:port` is supported\nhint: set such a proxy, or set `containment.network` to `on`",
                    var.name
                ));
            }
            proxy
        };
        let (plain, tunnels) = (named(vars::HTTP_PROXY), named(vars::HTTPS_PROXY));
        let all = if plain.is_none() || tunnels.is_none() { named(vars::ALL_PROXY) } else { None };
        let entries = env.get_in_either_case(vars::NO_PROXY).unwrap_or_default();
        let entries: Vec<&str> = entries
            .split(|letter: char| letter == ',' || letter.is_whitespace())
            .filter(|entry| !entry.is_empty())
            .collect();
        let upstream = Self {
            plain: plain.or_else(|| all.clone()),
            tunnels: tunnels.or(all),
            excepts_all: entries.contains(&"*"),
            exceptions: HostRules::of(&entries.into_iter().flat_map(rules_of).collect::<Vec<_>>()),
        };
        (upstream, problems)
    }

    /// Returns the proxy for plain HTTP requests to this host, if it uses one.
    pub(super) fn for_plain(&self, host: &EgressHost, port: u16) -> Option<&Proxy> {
        self.plain.as_ref().filter(|_| self.covers(host, port))
    }

    pub(super) fn for_tunnel(&self, host: &EgressHost, port: u16) -> Option<&Proxy> {
        self.tunnels.as_ref().filter(|_| self.covers(host, port))
    }

    fn covers(&self, host: &EgressHost, port: u16) -> bool {
        !self.excepts_all && !host.is_localhost() && !self.exceptions.allow(host, port)
    }
}

/// A name also matches those below it, with or without a leading dot or star.
fn rules_of(entry: &str) -> Vec<String> {
    let name = entry.trim_start_matches('*').trim_start_matches('.');
    vec![name.to_owned(), format!("*.{name}")]
}

impl Proxy {
    fn parse(value: &str) -> Option<Self> {
        let rest = match value.split_once("://") {
            Some((scheme, rest)) => scheme.eq_ignore_ascii_case("http").then_some(rest)?,
            None => value,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        let (host, port) = EgressHost::with_port(address)?;
        let credentials = user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(unescaped(user))));
        Some(Self { host, port: port.unwrap_or(80), credentials })
    }

    /// Connects to the proxy.
    pub(super) async fn connect(&self) -> Result<TcpStream, String> {
        let connected = match &self.host {
            EgressHost::Address(address) => timeout(PATIENCE, TcpStream::connect((*address, self.port))).await,
            EgressHost::Name(name) => timeout(PATIENCE, TcpStream::connect((name.as_str(), self.port))).await,
        };
        let server = connected.map_err(|_| format!("the proxy {self:?} did not answer in time"))?;
        server.map_err(|error| format!("the proxy {self:?}: {error}"))
    }

    /// Opens a tunnel through the proxy; also returns bytes that followed its answer.
    pub(super) async fn tunnel(&self, host: &EgressHost, port: u16) -> Result<(TcpStream, Vec<u8>), String> {
        let mut server = self.connect().await?;
        let asked = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{}\r\n", self.authorization());
        let talk = async {
            server.write_all(asked.as_bytes()).await.map_err(|error| error.to_string())?;
            answer(&mut server).await
        };
        let said = timeout(PATIENCE, talk).await.map_err(|_| "it did not answer in time".to_owned());
        let (status, rest) = said.and_then(|said| said).map_err(|why| format!("the proxy {self:?}: {why}"))?;
        match status {
            200..300 => Ok((server, rest)),
            407 => Err(format!("the proxy {self:?} rejected the credentials (407)")),
            status => Err(format!("the proxy {self:?} answered {status}")),
        }
    }

    /// `head` belongs to a request to `host` itself; a proxy needs the absolute URL.
    pub(super) fn addressed(&self, head: &[u8], host: &EgressHost, port: u16) -> Vec<u8> {
        let space = head.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
        let line = head.windows(2).position(|pair| pair == b"\r\n").map_or(head.len(), |at| at + 2);
        let (method, target, headers) = (&head[..space], &head[space..line], &head[line..]);
        let address = format!("http://{host}:{port}");
        [method, address.as_bytes(), target, self.authorization().as_bytes(), headers].concat()
    }

    fn authorization(&self) -> String {
        self.credentials.as_ref().map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default()
    }
}

/// Returns the status of an answer, and the bytes after its head.
async fn answer(server: &mut TcpStream) -> Result<(u16, Vec<u8>), String> {
    let mut held = Vec::new();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        match head.parse(&held) {
            Ok(httparse::Status::Complete(length)) => return Ok((head.code.unwrap_or(0), held.split_off(length))),
            Ok(httparse::Status::Partial) if held.len() <= LONGEST_HEAD => {}
            _ => return Err("its answer is not HTTP".to_owned()),
        }
        match server.read_buf(&mut held).await {
            Ok(1..) => {}
            Ok(0) => return Err("it closed the connection".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Decodes percent escapes: `%40` is an `@`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| behind.get(..2)).flatten();
        let byte = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(env: &[(&str, &str)]) -> (Upstream, Vec<String>) {
        Upstream::from_env(&env.iter().copied().collect())
    }

    fn host(text: &str) -> EgressHost {
        EgressHost::parse(text).unwrap()
    }

    #[test]
    fn the_usual_variables_say_which_proxy() {
        let by = |env: &[(&str, &str)]| {
            let (upstream, problems) = upstream(env);
            assert_eq!(problems, Vec::<String>::new());
            let told = |proxy: Option<&Proxy>| proxy.map(|proxy| format!("{proxy:?}")).unwrap_or_default();
            let example = host("example.com");
            [told(upstream.for_plain(&example, 80)), told(upstream.for_tunnel(&example, 443))]
        };
        assert_eq!(by(&[]), ["", ""]);
        assert_eq!(by(&[("HTTP_PROXY", "http://p:1")]), ["p:1", ""]);
        assert_eq!(by(&[("https_proxy", "p")]), ["", "p:80"]);
        assert_eq!(by(&[("ALL_PROXY", "http://[::1]:3/"), ("HTTPS_PROXY", "HTTP://q:2")]), ["[::1]:3", "q:2"]);
        assert_eq!(by(&[("HTTPS_PROXY", "")]), ["", ""]);
    }

    #[test]
    fn exceptions_are_reached_directly() {
        let list = "localhost, .corp.example,plain.example,10.0.0.0/8";
        let (upstream, _) = upstream(&[("ALL_PROXY", "p:1"), ("NO_PROXY", list)]);
        for (name, covered) in [
            ("example.com", true),
            ("localhost", false),
            ("a.corp.example", false),
            ("corp.example", false),
            ("www.plain.example", false),
            ("notplain.example", true),
            ("10.2.3.4", false),
            ("11.2.3.4", true),
        ] {
            assert_eq!(upstream.for_tunnel(&host(name), 443).is_some(), covered, "{name}");
        }
        let (upstream, _) = super::tests::upstream(&[("ALL_PROXY", "p:1"), ("NO_PROXY", "*")]);
        assert!(upstream.for_tunnel(&host("example.com"), 443).is_none());
    }

    #[test]
    fn what_is_not_understood_is_told_without_its_value() {
        for value in ["socks5://me:sesame@p:1", "https://p:1", "http://", "http://p:99999"] {
            let (upstream, problems) = upstream(&[("HTTPS_PROXY", value)]);
            assert!(upstream.for_tunnel(&host("example.com"), 443).is_none(), "{value}");
            assert!(problems[0].contains("HTTPS_PROXY") && problems[0].contains("hint:"), "{problems:?}");
            assert!(!problems[0].contains("sesame"));
        }
    }

    #[test]
    fn a_request_names_the_whole_address_and_who_asks() {
        let proxy = Proxy::parse("http://me:p%40ss@p:1").unwrap();
        let head = proxy.addressed(b"GET /a?b HTTP/1.1\r\nHost: x.example\r\n\r\n", &host("x.example"), 80);
        assert_eq!(
            String::from_utf8(head).unwrap(),
            "GET http://x.example:80/a?b HTTP/1.1\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\nHost: x.example\r\n\r\n"
        );
        assert_eq!(format!("{proxy:?}"), "p:1");
    }
}
