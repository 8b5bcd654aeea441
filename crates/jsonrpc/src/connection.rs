//! A connection over any pair of streams: one task reads, writes and runs the handler.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::error::ConnectionEnd;
use crate::handler::Handler;
use crate::inbox::RequestInbox;
use crate::peer::Peer;
use crate::protocol::Protocol;
use crate::shared::ConnectionState;

/// How long to wait for the reading side to report why writing failed: it often has a better reason.
const READ_REASON: Duration = Duration::from_secs(1);

/// An open connection. Dropping it closes it, and every pending request fails.
pub struct Connection {
    peer: Peer,
    _task: AbortOnDropHandle<()>,
}

impl Connection {
    /// Needs a running tokio runtime.
    pub fn open(
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        protocol: Protocol,
        handler: Arc<dyn Handler>,
    ) -> Self {
        Self::open_with(reader, writer, protocol, handler, |end| end)
    }

    /// `explain` may provide a better reason for the end of the stream.
    pub(crate) fn open_with(
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        protocol: Protocol,
        handler: Arc<dyn Handler>,
        explain: impl FnOnce(ConnectionEnd) -> ConnectionEnd + Send + 'static,
    ) -> Self {
        let (shared, queue) = ConnectionState::new(protocol);
        let peer = Peer { shared: Arc::new(shared) };
        let mut inbox = RequestInbox::new(peer.clone(), handler);
        let shared = peer.shared.clone();
        let run = async move {
            let end = {
                let (read, write) = (inbox.read_all(reader), queue.write_all(writer));
                tokio::pin!(read, write);
                tokio::select! {
                    end = &mut read => {
                        let end = explain(end);
                        if shared.protocol.is_half_open {
                            shared.end_input(end.clone());
                            // If it fails, the other side is gone, which the end of the input has told already.
                            let _ = write.await;
                        }
                        end
                    }
                    written = &mut write => {
                        shared.written.cancel();
                        explain(match written {
                            Ok(()) => read.await,
                            Err(error) => timeout(READ_REASON, read).await.unwrap_or(ConnectionEnd::Write(error.to_string())),
                        })
                    }
                }
            };
            shared.written.cancel();
            shared.end(end);
            inbox.finish().await;
        };
        Self { peer, _task: AbortOnDropHandle::new(tokio::spawn(run)) }
    }

    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Closes the connection after everything queued is written, or after `limit`.
    pub async fn finish(self, limit: Duration) {
        self.peer.finish_writing();
        // The connection closes in either case.
        let _ = timeout(limit, self.peer.shared.written.cancelled()).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.peer.shared.end(ConnectionEnd::OurSide);
    }
}
