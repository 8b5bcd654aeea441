//! HTTP: `CONNECT host:port`, and requests with an absolute URL, which are forwarded as a single request to one host.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::body::Body;
use super::host::EgressHost;
use super::refusal::EgressRefusal;
use super::request::{ProxyRequest, Way};

const LONGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;

/// Headers of the connection to the proxy, which are not forwarded.
const OF_THE_CONNECTION: &[&str] =
    &["connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "upgrade", "host"];

/// Reads a head, of which `held` has already arrived.
pub(super) async fn read(client: &mut TcpStream, mut held: Vec<u8>) -> Result<ProxyRequest, EgressRefusal> {
    loop {
        if let Some(request) = parse(&held)? {
            return Ok(request);
        }
        if held.len() > LONGEST_HEAD {
            return Err(EgressRefusal::Malformed("its header is too long"));
        }
        if !matches!(client.read_buf(&mut held).await, Ok(1..)) {
            return Err(EgressRefusal::Malformed("it ended in the header"));
        }
    }
}

/// Returns `None` if more bytes are needed.
fn parse(held: &[u8]) -> Result<Option<ProxyRequest>, EgressRefusal> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(held) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(EgressRefusal::Malformed("it is not an HTTP request")),
    };
    let (Some(method), Some(target)) = (head.method, head.path) else {
        return Err(EgressRefusal::Malformed("it is not an HTTP request"));
    };
    let rest = held[length..].to_vec();
    if method == "CONNECT" {
        let (host, port) =
            EgressHost::with_port(target).ok_or(EgressRefusal::Malformed("CONNECT needs a host and a port"))?;
        let port = port.ok_or(EgressRefusal::Malformed("CONNECT needs a port"))?;
        return Ok(Some(ProxyRequest { host, port, named: None, way: Way::Connect, rest }));
    }
    plain(method, target, &head, rest).map(Some)
}

fn plain(
    method: &str,
    target: &str,
    head: &httparse::Request<'_, '_>,
    rest: Vec<u8>,
) -> Result<ProxyRequest, EgressRefusal> {
    let scheme = target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let after = scheme.map(|_| &target[7..]).ok_or(EgressRefusal::Malformed("its URL does not start with http://"))?;
    let (authority, path) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
    let (host, port) = EgressHost::with_port(authority).ok_or(EgressRefusal::Malformed("its URL has no host"))?;
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let values = |name: &'static str| {
        head.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    };
    let named: Vec<&[u8]> = values("host").collect();
    let named = match named.as_slice() {
        [] => None,
        [one] => Some(String::from_utf8_lossy(one).trim().to_owned()),
        _ => return Err(EgressRefusal::Malformed("it has several hosts")),
    };
    let body = Body::of(values("content-length"), values("transfer-encoding"))
        .ok_or(EgressRefusal::Malformed("the length of its body is unknown"))?;
    let tokens: Vec<String> = values("connection")
        .flat_map(|value| {
            String::from_utf8_lossy(value)
                .to_ascii_lowercase()
                .split(',')
                .map(|token| token.trim().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let mut text =
        format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n").into_bytes();
    for header in head.headers.iter() {
        let name = header.name.to_ascii_lowercase();
        let frames = matches!(name.as_str(), "content-length" | "transfer-encoding");
        if OF_THE_CONNECTION.contains(&name.as_str()) || (tokens.contains(&name) && !frames) {
            continue;
        }
        text.extend_from_slice(header.name.as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(header.value);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    Ok(ProxyRequest { host, port: port.unwrap_or(80), named, way: Way::Http { head: text, body }, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expect: Result<&str, &str>) {
        let told = match parse(head.as_bytes()) {
            Ok(None) => Ok("more".to_owned()),
            Ok(Some(request)) => {
                let way = match &request.way {
                    Way::Http { head, .. } => String::from_utf8_lossy(head).replace("\r\n", "|"),
                    way => way.name().to_owned(),
                };
                let named = request.named.map(|named| format!(" ({named})")).unwrap_or_default();
                Ok(format!("{}:{}{named} {way}", request.host, request.port))
            }
            Err(refusal) => Err(refusal.in_short()),
        };
        let expect = expect.map(str::to_owned).map_err(|why| format!("the request was refused: {why}"));
        assert_eq!(told, expect, "{head}");
    }

    #[test]
    fn a_tunnel_is_asked_for_with_host_and_port() {
        check("CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", Ok("example.com:443 connect"));
        check("CONNECT [2606::1]:443 HTTP/1.1\r\n\r\n", Ok("[2606::1]:443 connect"));
        check("CONNECT EXAMPLE.com.:443 HTTP/1.0\r\n\r\n", Ok("example.com:443 connect"));
        check("CONNECT example.com HTTP/1.1\r\n\r\n", Err("CONNECT needs a port"));
        check("CONNECT example.com:0 HTTP/1.1\r\n\r\n", Err("CONNECT needs a host and a port"));
        check("CONNECT a@example.com:443 HTTP/1.1\r\n\r\n", Err("CONNECT needs a host and a port"));
        check("CONNECT example.com:443 HTTP/1.1\r\n", Ok("more"));
    }

    #[test]
    fn a_request_goes_on_without_what_meant_the_proxy() {
        check(
            "GET http://example.com/a?b#c HTTP/1.1\r\nHost: example.com\r\nProxy-Connection: keep-alive\r\nConnection: X-Hop, Content-Length\r\nX-Hop: 1\r\nContent-Length: 0\r\nAccept: */*\r\n\r\n",
            Ok(
                "example.com:80 (example.com) GET /a?b HTTP/1.1|Host: example.com|Connection: close|Content-Length: 0|Accept: */*||",
            ),
        );
        check(
            "GET HTTP://example.com:8080 HTTP/1.0\r\n\r\n",
            Ok("example.com:8080 GET / HTTP/1.1|Host: example.com:8080|Connection: close||"),
        );
        check(
            "GET http://example.com?q HTTP/1.1\r\n\r\n",
            Ok("example.com:80 GET /?q HTTP/1.1|Host: example.com|Connection: close||"),
        );
        check(
            "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            Ok("a.example:80 (b.example) GET / HTTP/1.1|Host: a.example|Connection: close||"),
        );
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let address = Err("its URL has no host");
        check("GET http://user@example.com/ HTTP/1.1\r\n\r\n", address);
        check("GET http:///x HTTP/1.1\r\n\r\n", address);
        check("GET http://example.com:99999/ HTTP/1.1\r\n\r\n", address);
        check("GET http://exa\\mple.com/ HTTP/1.1\r\n\r\n", address);
        let scheme = Err("its URL does not start with http://");
        check("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", scheme);
        check("GET https://example.com/ HTTP/1.1\r\n\r\n", scheme);
        check("GET file:///etc/passwd HTTP/1.1\r\n\r\n", scheme);
        check("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Err("it has several hosts"));
        let body = Err("the length of its body is unknown");
        check("POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", body);
        check("POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", body);
        check("POST http://a/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n", body);
        check("POST http://a/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", body);
        check("\0\0\0", Err("it is not an HTTP request"));
    }
}
