//! A provider on loopback that plays a script, over hand-written HTTP/1.1.
//!
//! A ready-made HTTP server would repair or refuse most faults of a script; here every byte is under control.

mod capture;
mod connection;
mod http1;
mod listing;
mod plan;
mod progress;
mod record;
mod sender;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::script::Script;
use capture::CaptureFile;
use progress::ScriptProgress;
use record::Journal;
pub use record::{Counts, RecordedRequest, RequestLog};

/// A running server. Dropping it closes the port and every connection.
pub struct Server {
    address: SocketAddr,
    shared: Arc<SharedServer>,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Clone, Default)]
pub struct ServerOptions {
    /// 0 selects a free port.
    pub port: u16,
    /// Called for each request once its answer is chosen.
    pub log: Option<RequestHook>,
}

pub type RequestHook = Arc<dyn Fn(&RequestLog) + Send + Sync>;

impl Server {
    pub async fn start(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_with(script, ServerOptions::default()).await
    }

    pub async fn start_with(script: impl Into<Script>, options: ServerOptions) -> io::Result<Self> {
        let script = script.into().checked("in Rust").map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(SharedServer {
            script,
            progress: Mutex::default(),
            journal: Mutex::default(),
            counts: watch::Sender::default(),
            log: options.log,
            refused: Mutex::default(),
            capture: Mutex::new(CaptureFile::new(address.port())),
        });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared, _accepting: AbortOnDropHandle::new(accepting) })
    }

    /// Returns `http://127.0.0.1:<port>`. The four wire APIs and the model listings work under it, with or without `/v1` or
    /// `/v1beta`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns every request so far, oldest first, including model listings.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.journal().all()
    }

    /// Returns only the model requests.
    pub fn model_requests(&self) -> Vec<RecordedRequest> {
        self.requests().into_iter().filter(|request| request.wire().is_some()).collect()
    }

    /// Returns the reasons for refused requests that no real service would accept, for tests that send them on purpose. If
    /// they are not taken, dropping the server fails the test.
    pub fn take_refused(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.refused())
    }

    pub fn counts(&self) -> Counts {
        *self.shared.counts.borrow()
    }

    /// Waits until `reached` accepts the counts, so that tests need no sleeps.
    pub async fn until(&self, reached: impl FnMut(&Counts) -> bool) -> Counts {
        let mut counts = self.shared.counts.subscribe();
        // `self` holds the sender, so waiting cannot fail; the fallback is the current state.
        counts.wait_for(reached).await.map_or_else(|_| self.counts(), |counts| *counts)
    }
}

impl Drop for Server {
    /// A request that a real service refuses fails the test, whatever the test checks.
    #[expect(clippy::panic, reason = "a test that has let such a request out has failed")]
    fn drop(&mut self) {
        let refused = self.take_refused();
        if !refused.is_empty() && !std::thread::panicking() {
            panic!("requests that no real service takes:\n{}", refused.join("\n"));
        }
    }
}

/// State shared by all connections.
struct SharedServer {
    script: Script,
    progress: Mutex<ScriptProgress>,
    journal: Mutex<Journal>,
    counts: watch::Sender<Counts>,
    log: Option<RequestHook>,
    /// Requests that no real service would accept.
    refused: Mutex<Vec<String>>,
    capture: Mutex<CaptureFile>,
}

impl SharedServer {
    fn refused(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal(&self) -> std::sync::MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, ScriptProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MAX_CONNECTIONS: usize = 512;

async fn accept(listener: TcpListener, shared: Arc<SharedServer>) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        while connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((socket, _)) => {
                connections.spawn(connection::serve(socket, shared.clone(), number));
            }
            // Out of file descriptors, or the client disconnected at once: neither ends the server.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}
