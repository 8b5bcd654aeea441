//! Measures what the proxy for named hosts adds to a request: at most 2 ms at the median.
//!
//! Run it with `cargo bench -p omp-exec --bench egress`. Requests with and without the proxy alternate, so that system load
//! affects both.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_egress::Egress;
use omp_types::{Access, AccessMap};

const RUNS: usize = 2000;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let server = greeter();
    let hosts = vec!["localhost".to_owned()];
    let egress = Arc::new(Egress::new(Access::new(AccessMap { hosts, ..AccessMap::default() })));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    let proxy = listener.local_addr().expect("an address");
    runtime.spawn(egress.serve(listener));
    let port = server.port();
    let direct = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned();
    let plain = format!("GET http://localhost:{port}/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    let connect = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        times[0].push(request(server, &[&direct]));
        times[1].push(request(proxy, &[&plain]));
        times[2].push(request(proxy, &[&connect, &direct]));
    }
    let [direct, plain, tunnel] = times.map(median);
    for (name, time) in [("http", plain), ("connect", tunnel)] {
        let added = time.saturating_sub(direct);
        println!("{name}: direct {direct:?}, through the proxy {time:?}: {added:?} more (limit 2 ms)");
    }
}

fn greeter() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
        }
    });
    address
}

/// Sends each piece after the answer to the previous one, and reads to the end.
fn request(to: SocketAddr, pieces: &[&str]) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(to).expect("a connection");
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    for (at, piece) in pieces.iter().enumerate() {
        stream.write_all(piece.as_bytes()).expect("written");
        if at + 1 < pieces.len() {
            assert_ne!(stream.read(&mut buffer).expect("an answer"), 0);
        }
    }
    stream.read_to_end(&mut answer).expect("an answer");
    assert!(answer.ends_with(b"hi"));
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
