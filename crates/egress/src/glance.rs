//! Reads the target from the first bytes of a tunnel: the name in a TLS hello, or the `Host` of a request.
//!
//! A tunnel to an allowed host that requests another one there would bypass the rules if many hosts share one address.

/// A longer hello or head is invalid.
pub(super) const LONGEST: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Glance {
    /// More bytes are needed.
    More,
    /// The bytes name no host.
    Silent,
    Names(String),
    /// Begins like a protocol that names a host, but is invalid.
    Broken,
}

pub(super) fn glance(bytes: &[u8]) -> Glance {
    let seen = match bytes {
        [] | [HANDSHAKE] => Glance::More,
        [HANDSHAKE, 3, ..] => hello(bytes).unwrap_or(Glance::Broken),
        _ => request(bytes),
    };
    if seen == Glance::More && bytes.len() > LONGEST { Glance::Broken } else { seen }
}

/// The TLS record type that carries a hello.
const HANDSHAKE: u8 = 0x16;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// Returns `None` if it is not a hello. A hello may be split into several records.
fn hello(bytes: &[u8]) -> Option<Glance> {
    let (mut hello, mut rest) = (Vec::new(), bytes);
    loop {
        let mut record = ByteReader(rest);
        let (Some(kind), Some(version), Some(_), Some(length)) =
            (record.byte(), record.byte(), record.byte(), record.number())
        else {
            return Some(Glance::More);
        };
        if kind != HANDSHAKE || version != 3 || length == 0 {
            return None;
        }
        let there = record.0.len().min(length);
        hello.extend_from_slice(&record.0[..there]);
        rest = &record.0[there..];
        if let [kind, a, b, c, body @ ..] = hello.as_slice() {
            let wanted = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            if *kind != CLIENT_HELLO || wanted > LONGEST {
                return None;
            }
            if body.len() >= wanted {
                return server_name(&body[..wanted]);
            }
        }
        if there < length {
            return Some(Glance::More);
        }
    }
}

fn server_name(hello: &[u8]) -> Option<Glance> {
    let mut hello = ByteReader(hello);
    hello.take(2 + 32)?;
    hello.short()?;
    hello.long()?;
    hello.short()?;
    if hello.0.is_empty() {
        return Some(Glance::Silent);
    }
    let mut extensions = ByteReader(hello.long()?);
    let mut name = None;
    while !extensions.0.is_empty() {
        let (kind, content) = (extensions.number()?, extensions.long()?);
        if kind != usize::from(SERVER_NAME) {
            continue;
        }
        let mut names = ByteReader(ByteReader(content).long()?);
        // The server could interpret several names, or a repeated extension, differently.
        let (kind, text) = (names.byte()?, names.long()?);
        if kind != HOST_NAME || !names.0.is_empty() || name.is_some() {
            return None;
        }
        name = Some(String::from_utf8(text.to_vec()).ok()?);
    }
    Some(name.map_or(Glance::Silent, Glance::Names))
}

/// Reads bytes from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    /// Reads a number of two bytes.
    fn number(&mut self) -> Option<usize> {
        self.take(2).map(|taken| usize::from(u16::from_be_bytes([taken[0], taken[1]])))
    }

    /// Reads data with a one-byte length prefix.
    fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.byte()?;
        self.take(length.into())
    }

    /// Reads data with a two-byte length prefix.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }
}

/// Reads plain HTTP/1. Other protocols that begin with words are allowed.
fn request(bytes: &[u8]) -> Glance {
    const LONGEST_METHOD: usize = 24;
    let method = bytes.iter().take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_')).count();
    match &bytes[method..] {
        _ if method == 0 || method > LONGEST_METHOD => return Glance::Silent,
        [] | [b' '] => return Glance::More,
        [b' ', b'/' | b'*' | b'h', ..] => {}
        _ => return Glance::Silent,
    }
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Glance::More };
    let line = &bytes[..end];
    if !line.windows(7).any(|piece| piece == b"HTTP/1.") {
        return Glance::Silent;
    }
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => return Glance::More,
        Ok(_) => {}
        Err(_) => return Glance::Broken,
    }
    // An absolute URL would take precedence over the header.
    let is_whole = request.path.is_some_and(|path| path.starts_with('h'));
    let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    match (hosts.next(), hosts.next()) {
        _ if is_whole => Glance::Broken,
        (_, Some(_)) => Glance::Broken,
        (None, _) => Glance::Silent,
        (Some(host), None) => {
            std::str::from_utf8(host.value).map_or(Glance::Broken, |host| Glance::Names(host.trim().to_owned()))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a hello that names `names`, split into records of `size` bytes.
    pub fn client_hello(names: &[&str], size: usize) -> Vec<u8> {
        let long = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
        let mut extensions = [&[0, 0x2B][..], &long(&[2, 3, 4])].concat();
        for name in names {
            let entry = [&[HOST_NAME][..], &long(name.as_bytes())].concat();
            extensions.extend([&[0, 0][..], &long(&long(&entry))].concat());
        }
        let mut body = [&[3, 3][..], &[7; 32], &[0], &long(&[0x13, 1]), &[1, 0]].concat();
        body.extend(long(&extensions));
        let length = (body.len() as u32).to_be_bytes();
        let message = [&[CLIENT_HELLO][..], &length[1..], &body].concat();
        message.chunks(size).flat_map(|piece| [&[HANDSHAKE, 3, 1][..], &long(piece)].concat()).collect()
    }

    #[track_caller]
    fn check(bytes: &[u8], expect: Glance) {
        assert_eq!(glance(bytes), expect, "{}", String::from_utf8_lossy(bytes));
    }

    fn names(name: &str) -> Glance {
        Glance::Names(name.to_owned())
    }

    #[test]
    fn a_hello_names_its_server_however_it_is_cut() {
        for size in [1, 3, 16, 4096] {
            let hello = client_hello(&["evil.example"], size);
            check(&hello, names("evil.example"));
            for cut in 0..hello.len() {
                // Records of one byte end before the message does.
                check(&hello[..cut], Glance::More);
            }
        }
        check(&client_hello(&[], 4096), Glance::Silent);
        check(&client_hello(&["a.example", "b.example"], 4096), Glance::Broken);
    }

    #[test]
    fn what_only_begins_as_a_hello_is_broken() {
        check(&[HANDSHAKE, 3, 1, 0, 0], Glance::Broken);
        check(&[HANDSHAKE, 3, 1, 0, 4, 2, 0, 0, 0], Glance::Broken);
        check(&[HANDSHAKE, 3, 1, 0, 5, 1, 0, 0, 1, 9], Glance::Broken);
        check(&[HANDSHAKE, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF], Glance::Broken);
    }

    #[test]
    fn a_request_names_its_host() {
        check(b"GET / HTTP/1.1\r\nhOST: evil.example:80 \r\n\r\n", names("evil.example:80"));
        check(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Glance::Broken);
        check(b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n", Glance::Broken);
        check(b"GET / HTTP/1.1\r\n", Glance::More);
        check(b"GET / HTTP/1.0\r\n\r\n", Glance::Silent);
        check(b"BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n", names("x"));
        check(b"GE", Glance::More);
        check(b"SSH-2.0-OpenSSH_9.9\r\n", Glance::Silent);
        check(b"EHLO host.example\r\n", Glance::Silent);
        check(b"USER", Glance::More);
        check(b"USER me\r\n", Glance::Silent);
        check(b"\0\0\0\x08", Glance::Silent);
        check(&[b"GET /".as_slice(), &[b'a'; LONGEST]].concat(), Glance::Broken);
    }

    proptest! {
        #[test]
        fn no_bytes_are_trouble(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = glance(&bytes);
            let _ = glance(&[&[HANDSHAKE, 3, 1, 0, 100][..], &bytes].concat());
        }
    }
}
