//! `--mode rpc`: JSON lines in both directions, for programs that embed omp. See `docs/rpc.md`.
//!
//! `input` reads requests and `server` dispatches them, one after the other, to `prompting`, `state`, `models`, `queues`,
//! `messages` and `sessions`; `shell`, answers to `dialogs` and results of `host_tools` and `host_uris` are not queued
//! behind them. `events` sends the events of the `current` session. All output goes through `output`, which never waits for
//! the client.

mod activity;
mod current;
mod dialogs;
mod events;
mod frame;
mod host_tools;
mod host_uris;
mod input;
mod limit;
mod messages;
mod models;
mod output;
mod prompting;
mod queues;
mod server;
mod sessions;
mod shell;
mod spill;
mod state;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_session::{OpenSession, SessionHost};
use omp_wire::ReadyFrame;
use tokio::sync::mpsc;

use crate::exit::Exit;
pub use host_uris::HostUris;
use input::Request;
use output::Output;
use server::Server;

/// Caps the queued commands; beyond it the client's pipe fills up.
const MAX_WAITING: usize = 256;
/// How long accepted commands may run after the client has disconnected.
const WIND_DOWN: Duration = Duration::from_secs(2);
/// How long the client may read nothing of the remaining output.
const FLUSH: Duration = Duration::from_secs(2);

/// How long the session may take to end.
const LAST_WORD: Duration = Duration::from_secs(10);

/// The connection to the client.
pub struct Client {
    pub input: Box<dyn Read + Send>,
    pub output: Box<dyn Write + Send>,
    /// Receives the exit code for a signal.
    pub signals: mpsc::Receiver<Exit>,
    /// The addresses that the first session was opened with.
    pub uris: Arc<HostUris>,
}

/// Serves one client until its input ends. Then everything is saved and all processes have ended.
///
/// Boxed: an `async fn` would be compiled again with the binary, which is compiled last and alone.
pub fn serve(host: Arc<dyn SessionHost>, first: OpenSession, client: Client) -> BoxFuture<'static, io::Result<Exit>> {
    Box::pin(serve_client(host, first, client))
}

async fn serve_client(host: Arc<dyn SessionHost>, first: OpenSession, client: Client) -> io::Result<Exit> {
    let Client { input, output, mut signals, uris } = client;
    let output = Output::start(output)?;
    output.frame(&ReadyFrame::default());
    uris.connect(output.clone());
    let server = Arc::new(Server::new(host, output.clone(), first, uris));
    let mut requests = input::listen(input)?;
    let (commands, waiting) = mpsc::channel(MAX_WAITING);
    let worker = tokio::spawn(work(server.clone(), waiting));
    let exit = loop {
        tokio::select! {
            biased;
            Some(exit) = signals.recv() => break exit,
            () = output.closed() => break Exit::Success,
            request = requests.recv() => match request {
                None => break Exit::Success,
                Some(Err(unreadable)) => server.complain(&unreadable),
                Some(Ok(request)) => dispatch(&server, request, &commands).await,
            },
        }
    };
    drop(commands);
    wind_down(server, worker).await;
    output.flush(FLUSH).await;
    Ok(exit)
}

async fn dispatch(server: &Arc<Server>, request: Request, commands: &mpsc::Sender<Request>) {
    if server.overtakes(&request).await {
        return;
    }
    if request.kind == "bash" {
        return server.start_bash(request);
    }
    // The worker outlives this loop.
    let _ = commands.send(request).await;
}

async fn work(server: Arc<Server>, mut waiting: mpsc::Receiver<Request>) {
    while let Some(request) = waiting.recv().await {
        server.obey(request).await;
    }
}

/// Finishes accepted commands that do not need the client, and aborts the model's work.
async fn wind_down(server: Arc<Server>, mut worker: tokio::task::JoinHandle<()>) {
    server.dialogs.dismiss_all();
    server.tools.close();
    server.uris.close();
    if tokio::time::timeout(WIND_DOWN, &mut worker).await.is_err() {
        if let Ok(current) = server.current() {
            current.abort().await;
        }
        if tokio::time::timeout(WIND_DOWN, &mut worker).await.is_err() {
            worker.abort();
        }
    }
    server.shells.settle(WIND_DOWN).await;
    let current = server.current();
    drop(server);
    if let Ok(current) = current {
        // A tool that cannot be stopped must not keep the process alive; the conversation is on disk.
        let _ = tokio::time::timeout(LAST_WORD, current.retire()).await;
    }
}
