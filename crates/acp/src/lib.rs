//! The Agent Client Protocol: omp as the agent of an editor, over lines of JSON.
//!
//! One connection holds many sessions. `server` answers what the client asks, `opening` begins and ends sessions, `live` is one, `pump` turns
//! the events of a session into updates, `calls`, `card`, `plan` and `options` say how things look over there, `replay`
//! tells an old conversation again, `asking` and `form` put questions to the user, `editor_files` and `editor_terminals`
//! use what the client offers. A client that errs is told so; only the end of its input ends the connection.

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

/// How long what was said last may take to be read by a client that is going away.
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
        // Nobody reads any more: there is nobody to tell either.
        server.end().await;
    }
    let _ = tokio::time::timeout(LAST_WORDS, wires.writer).await;
}
