//! The Agent Client Protocol: omp as the agent of an editor, over lines of JSON.
//!
//! One connection holds many sessions. `server` answers requests, `opening` begins and ends sessions, `live` is one, `pump`
//! converts the events of a session to updates, `calls`, `card`, `plan` and `options` define how they are shown, `replay`
//! sends an earlier conversation, `asking` and `form` ask the user, `editor_files` and `editor_terminals` use what the
//! client offers. A client that makes an error receives an error response; only the end of its input ends the connection.

mod asking;
mod calls;
mod card;
mod editor_files;
mod editor_terminals;
mod form;
mod live;
mod opening;
mod options;
mod plan;
mod prompt;
mod pump;
mod replay;
mod server;
mod transport;
mod updates;

use std::sync::Arc;
use std::time::Duration;

use omp_session::SessionHost;
use tokio::io::{AsyncRead, AsyncWrite};

/// How long a client that disconnects may take to read the last messages.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Serves one client until its input ends or `stop` resolves, then ends its sessions and waits until they are saved.
pub async fn serve<I, O>(host: Arc<dyn SessionHost>, input: I, output: O, stop: impl Future<Output = ()>)
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let (channel, wires) = transport::connect(input, output);
    let server = Arc::new(server::AcpServer::new(host, wires.flow.clone()));
    let ended = server.clone();
    let served = server::connection(&server)
        .connect_with(channel, async move |connection| {
            tokio::select! {
                () = connection.incoming_closed() => {}
                () = stop => {}
            }
            ended.end().await;
            Ok(())
        })
        .await;
    if served.is_err() {
        // The client has disconnected, so nobody can be notified.
        server.end().await;
    }
    let _ = tokio::time::timeout(LAST_WORDS, wires.writer).await;
}
