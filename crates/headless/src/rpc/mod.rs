//! `--mode rpc`: JSON lines in both directions, for programs that embed omp. See `docs/rpc.md`.
//!
//! One file a noun. `input` reads requests and `server` has them obeyed, one after the other, by `prompting`, `state`,
//! `models`, `queues`, `messages`, `sessions`; `shell`, answers to `dialogs` and results of `host_tools` and `host_uris` overtake them.
//! `events` tells what the `current` session does. All of it goes through `output`, which never waits for the client.

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

use omp_session::{OpenSession, SessionHost};
use omp_wire::ReadyFrame;
use tokio::sync::mpsc;

use crate::exit::Exit;
pub use host_uris::HostUris;
use input::Request;
use output::Output;
use server::Server;

/// Commands that wait for the one before them; then the client's pipe fills up.
const MAX_WAITING: usize = 256;
/// How long what was accepted may go on when the client has gone.
const WIND_DOWN: Duration = Duration::from_secs(2);
/// How long the client may read nothing of what is left to be said.
const FLUSH: Duration = Duration::from_secs(2);

/// How long the session may take to end.
const LAST_WORD: Duration = Duration::from_secs(10);

/// Where the client is.
pub struct Client<I, O> {
    pub input: I,
    pub output: O,
    /// Resolves to the exit that a signal asks for.
    pub signals: mpsc::Receiver<Exit>,
    /// What the first session was opened with.
    pub uris: Arc<HostUris>,
}

/// Serves one client until its input ends. Everything is saved then and nothing is left behind.
pub async fn serve<I, O>(host: Arc<dyn SessionHost>, first: OpenSession, client: Client<I, O>) -> io::Result<Exit>
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
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
    // The worker outlives the loop that sends to it.
    let _ = commands.send(request).await;
}

async fn work(server: Arc<Server>, mut waiting: mpsc::Receiver<Request>) {
    while let Some(request) = waiting.recv().await {
        server.obey(request).await;
    }
}

/// What was accepted is finished, as far as that needs nobody; what the model does is ended.
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
        // A tool that cannot be stopped must not keep the process; what was said is on the disk.
        let _ = tokio::time::timeout(LAST_WORD, current.retire()).await;
    }
}
