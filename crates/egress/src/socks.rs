//! SOCKS 5, 4 and 4a: connections by name or by address. BIND and UDP are not supported.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::host::EgressHost;
use super::refusal::EgressRefusal;
use super::request::{ProxyRequest, Way};

const CONNECT: u8 = 1;
/// Limits a text of SOCKS 4, which has no length prefix.
const LONGEST_TEXT: usize = 255;

/// The connection ended before the request was complete.
const CUT_OFF: EgressRefusal = EgressRefusal::Malformed("it ended in the greeting");

/// Reads a SOCKS 5 request after its version byte.
pub(super) async fn read_five(client: &mut TcpStream) -> Result<ProxyRequest, EgressRefusal> {
    const NO_PASSWORD: u8 = 0;
    let count = byte(client).await?;
    let mut methods = vec![0; count.into()];
    client.read_exact(&mut methods).await.map_err(|_| CUT_OFF)?;
    if !methods.contains(&NO_PASSWORD) {
        let _ = client.write_all(&[5, 0xFF]).await;
        return Err(EgressRefusal::Malformed("it requires a login"));
    }
    client.write_all(&[5, NO_PASSWORD]).await.map_err(|_| CUT_OFF)?;
    let mut head = [0; 4];
    client.read_exact(&mut head).await.map_err(|_| CUT_OFF)?;
    let [_, command, _, kind] = head;
    let host = match kind {
        1 => EgressHost::Address(IpAddr::V4(Ipv4Addr::from(array(client).await?))),
        4 => EgressHost::Address(IpAddr::V6(Ipv6Addr::from(array(client).await?)).to_canonical()),
        3 => {
            let mut name = vec![0; byte(client).await?.into()];
            client.read_exact(&mut name).await.map_err(|_| CUT_OFF)?;
            named(&name)?
        }
        _ => return Err(EgressRefusal::Malformed("it has an address of an unknown kind")),
    };
    let port = port(array(client).await?, command)?;
    Ok(ProxyRequest { host, port, named: None, way: Way::Socks5, rest: Vec::new() })
}

/// Reads a SOCKS 4 or 4a request after its version byte.
pub(super) async fn read_four(client: &mut TcpStream) -> Result<ProxyRequest, EgressRefusal> {
    let command = byte(client).await?;
    let port = port(array(client).await?, command)?;
    let address = array(client).await?;
    text(client).await?;
    let host = match address {
        [0, 0, 0, 1..=255] => named(&text(client).await?)?,
        address => EgressHost::Address(IpAddr::V4(Ipv4Addr::from(address))),
    };
    Ok(ProxyRequest { host, port, named: None, way: Way::Socks4, rest: Vec::new() })
}

/// Returns an answer with a SOCKS 5 code.
pub(super) fn answer_five(code: u8) -> Vec<u8> {
    vec![5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

pub(super) fn answer_four(granted: bool) -> Vec<u8> {
    vec![0, if granted { 0x5A } else { 0x5B }, 0, 0, 0, 0, 0, 0]
}

fn named(name: &[u8]) -> Result<EgressHost, EgressRefusal> {
    let name = std::str::from_utf8(name).ok().and_then(EgressHost::parse);
    name.ok_or(EgressRefusal::Malformed("it has no host"))
}

fn port(bytes: [u8; 2], command: u8) -> Result<u16, EgressRefusal> {
    match u16::from_be_bytes(bytes) {
        _ if command != CONNECT => Err(EgressRefusal::Malformed("only SOCKS CONNECT is supported")),
        0 => Err(EgressRefusal::Malformed("it has no port")),
        port => Ok(port),
    }
}

async fn byte(client: &mut TcpStream) -> Result<u8, EgressRefusal> {
    client.read_u8().await.map_err(|_| CUT_OFF)
}

async fn array<const N: usize>(client: &mut TcpStream) -> Result<[u8; N], EgressRefusal> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await.map_err(|_| CUT_OFF)?;
    Ok(bytes)
}

/// Reads up to a NUL.
async fn text(client: &mut TcpStream) -> Result<Vec<u8>, EgressRefusal> {
    let mut text = Vec::new();
    loop {
        match byte(client).await? {
            0 => return Ok(text),
            _ if text.len() >= LONGEST_TEXT => return Err(EgressRefusal::Malformed("a text in it is too long")),
            byte => text.push(byte),
        }
    }
}
