//! The Agent Client Protocol: omp as the agent of an editor, over lines of JSON.
//!
//! `protocol` has the messages, `omp-jsonrpc` carries them, `client` sends them.
//! One connection holds many sessions. `server` answers requests, `opening` begins and ends sessions, `live` is one, `pump`
//! converts the events of a session to updates, `calls`, `card`, `plan` and `options` define how they are shown, `replay`
//! sends an earlier conversation, `asking` and `form` ask the user, `editor_files` and `editor_terminals` use what the
//! client offers. A client that makes an error receives an error response; only the end of its input ends the connection.

mod asking;
mod calls;
mod card;
mod client;
mod editor_files;
mod editor_terminals;
mod form;
mod live;
mod opening;
mod options;
mod plan;
mod prompt;
mod protocol;
mod pump;
mod replay;
mod server;
mod updates;

use std::sync::Arc;
use std::time::Duration;

use omp_jsonrpc::Connection;
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
    let server = Arc::new(server::AcpServer::new(host));
    let handler = Arc::new(server::AcpHandler(server.clone()));
    let connection = Connection::open(input, output, protocol::protocol(), handler);
    tokio::select! {
        () = connection.peer().input_ended() => {}
        () = stop => {}
    }
    server.end().await;
    connection.finish(LAST_WORDS).await;
}
