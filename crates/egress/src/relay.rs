//! Relays and counts bytes between a command and a host, until one side ends or both are idle for long.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::body::Body;
use super::glance::{Glance, glance};
use super::log::OngoingPassage;
use super::refusal::EgressRefusal;

/// A connection without traffic for this long is considered dead.
const IDLE: Duration = Duration::from_secs(15 * 60);
const BUFFER: usize = 32 * 1024;
/// The TLS alert for a name that the server does not have.
const UNRECOGNIZED_NAME: &[u8] = &[0x15, 3, 1, 0, 2, 2, 112];

/// Relays a tunnel. `judge` checks the target of its first bytes, which are forwarded only if it agrees. The error is the
/// refusal with its answer.
pub(super) async fn tunnel(
    client: &mut TcpStream,
    server: &mut TcpStream,
    first: Vec<u8>,
    passing: &OngoingPassage,
    judge: impl Fn(&str) -> Result<(), EgressRefusal>,
) -> io::Result<Result<(), (EgressRefusal, Vec<u8>)>> {
    let first = match first_bytes(client, server, first, passing, judge).await? {
        Ok(first) => first,
        Err(refused) => return Ok(Err(refused)),
    };
    server.write_all(&first).await?;
    passing.up().fetch_add(first.len() as u64, Ordering::Relaxed);
    let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
    let (up, down) =
        (carry(from_client, to_server, passing.up(), passing), carry(from_server, to_client, passing.down(), passing));
    tokio::try_join!(up, down)?;
    Ok(Ok(()))
}

/// Waits until the client's first bytes name the target; the host may send meanwhile.
async fn first_bytes(
    client: &mut TcpStream,
    server: &mut TcpStream,
    mut held: Vec<u8>,
    passing: &OngoingPassage,
    judge: impl Fn(&str) -> Result<(), EgressRefusal>,
) -> io::Result<Result<Vec<u8>, (EgressRefusal, Vec<u8>)>> {
    let mut said = vec![0; BUFFER];
    let mut listens = true;
    loop {
        let seen = match glance(&held) {
            Glance::Silent => return Ok(Ok(held)),
            Glance::Names(name) => judge(&name).map(|()| true),
            Glance::More => Ok(false),
            Glance::Broken => Err(EgressRefusal::Malformed("its first bytes cannot be read")),
        };
        match seen {
            Ok(true) => return Ok(Ok(held)),
            Ok(false) => {}
            Err(refusal) => {
                let answer = if held.first() == Some(&0x16) { UNRECOGNIZED_NAME.to_vec() } else { refusal.as_http() };
                return Ok(Err((refusal, answer)));
            }
        }
        tokio::select! {
            read = client.read_buf(&mut held) => match read? {
                // The client sends nothing, but the host may continue.
                0 if held.is_empty() => return Ok(Ok(held)),
                0 => return Ok(Err((EgressRefusal::Malformed("it ended too early"), Vec::new()))),
                _ => {}
            },
            read = server.read(&mut said), if listens => {
                let read = read?;
                listens = read > 0;
                passing.down().fetch_add(read as u64, Ordering::Relaxed);
                client.write_all(&said[..read]).await?;
            }
            () = tokio::time::sleep(IDLE) => return Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Relays one request with its body, and the answer. Bytes of the client after the body are dropped.
pub(super) async fn exchange(
    client: &mut TcpStream,
    server: &mut TcpStream,
    head: &[u8],
    rest: &[u8],
    mut body: Body,
    passing: &OngoingPassage,
) -> io::Result<()> {
    let misframed = |_| io::Error::from(io::ErrorKind::InvalidData);
    let mine = body.take(rest).map_err(misframed)?;
    server.write_all(&[head, &rest[..mine]].concat()).await?;
    passing.up().fetch_add((head.len() + mine) as u64, Ordering::Relaxed);
    let ((mut from_client, to_client), (from_server, mut to_server)) = (client.split(), server.split());
    let up = async {
        let mut buffer = vec![0; BUFFER];
        while !body.has_ended() {
            let read = read_some(&mut from_client, &mut buffer, passing).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mine = body.take(&buffer[..read]).map_err(misframed)?;
            to_server.write_all(&buffer[..mine]).await?;
            passing.up().fetch_add(mine as u64, Ordering::Relaxed);
        }
        Ok(())
    };
    let down = carry(from_server, to_client, passing.down(), passing);
    tokio::pin!(up, down);
    // The end of the answer ends the exchange, even if the host did not read the whole body.
    tokio::select! {
        ended = &mut down => ended,
        ended = &mut up => match ended {
            Ok(()) => down.await,
            Err(error) => Err(error),
        },
    }
}

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    count: &AtomicU64,
    passing: &OngoingPassage,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match read_some(&mut from, &mut buffer, passing).await? {
            0 => return to.shutdown().await,
            read => {
                to.write_all(&buffer[..read]).await?;
                count.fetch_add(read as u64, Ordering::Relaxed);
            }
        }
    }
}

/// One side may be idle as long as the other is not.
async fn read_some(
    from: &mut (impl AsyncRead + Unpin),
    buffer: &mut [u8],
    passing: &OngoingPassage,
) -> io::Result<usize> {
    let so_far = || passing.up().load(Ordering::Relaxed) + passing.down().load(Ordering::Relaxed);
    loop {
        let before = so_far();
        match timeout(IDLE, from.read(buffer)).await {
            Ok(read) => return read,
            Err(_) if so_far() != before => {}
            Err(silence) => return Err(silence.into()),
        }
    }
}
