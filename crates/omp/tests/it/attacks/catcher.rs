//! The attacker's server: accepts and records all data, over TCP and UDP of one port and over a Unix socket.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

/// Sent by the test itself. Each channel reads in order, so all data before this has been recorded.
const SENTINEL: &[u8] = b"that is all";
const WAYS: usize = 3;
/// Timeout for a client that connects and sends nothing.
const PATIENCE: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_secs(60);

pub struct Catcher {
    pub port: u16,
    socket: PathBuf,
    heard: Arc<Mutex<Vec<u8>>>,
    done: Receiver<()>,
}

impl Catcher {
    pub fn start(socket: &Path) -> Self {
        let (tcp, udp) = of_one_port();
        let port = tcp.local_addr().unwrap().port();
        let unix = UnixListener::bind(socket).unwrap();
        let (said, done) = channel();
        let ear = Ear { heard: Arc::default(), said };
        let heard = ear.heard.clone();
        let [one, two, three] = [ear.clone(), ear.clone(), ear];
        spawn(move || tcp.incoming().flatten().all(|stream| one.take(stream, |it, time| it.set_read_timeout(time))));
        spawn(move || unix.incoming().flatten().all(|stream| two.take(stream, |it, time| it.set_read_timeout(time))));
        spawn(move || {
            let mut bytes = [0; 4096];
            while udp.recv(&mut bytes).is_ok_and(|count| three.note(&bytes[..count])) {}
        });
        Self { port, socket: socket.to_owned(), heard, done }
    }

    /// Returns all recorded data once no client sends any more.
    pub fn heard(self) -> String {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap().write_all(SENTINEL).unwrap();
        UnixStream::connect(&self.socket).unwrap().write_all(SENTINEL).unwrap();
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(SENTINEL, ("127.0.0.1", self.port)).unwrap();
        for _ in 0..WAYS {
            self.done.recv_timeout(LIMIT).unwrap();
        }
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}

/// Another process may hold the other half of a port.
fn of_one_port() -> (TcpListener, UdpSocket) {
    loop {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()) {
            return (tcp, udp);
        }
    }
}

#[derive(Clone)]
struct Ear {
    heard: Arc<Mutex<Vec<u8>>>,
    said: Sender<()>,
}

impl Ear {
    /// Returns `false` for the last connection.
    fn take<S: Read + Write>(
        &self,
        mut stream: S,
        limit: impl Fn(&S, Option<Duration>) -> std::io::Result<()>,
    ) -> bool {
        limit(&stream, Some(PATIENCE)).unwrap();
        let mut bytes = [0; 64 * 1024];
        let count = stream.read(&mut bytes).unwrap_or_default();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        self.note(&bytes[..count])
    }

    fn note(&self, bytes: &[u8]) -> bool {
        if bytes == SENTINEL {
            let _ = self.said.send(());
            return false;
        }
        self.heard.lock().unwrap().extend_from_slice(bytes);
        true
    }
}
