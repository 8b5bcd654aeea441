//! The connection to the client, for everything that sends to it. Cheap to clone.

use omp_jsonrpc::{Error, OutgoingCall, Peer, RpcError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub struct EditorClient {
    peer: Peer,
    /// Cancelled when the connection is closing: from then on nothing waits for a client that does not read.
    closing: CancellationToken,
}

impl EditorClient {
    pub fn new(peer: Peer, closing: CancellationToken) -> Self {
        Self { peer, closing }
    }

    /// Sends a request and waits for the answer, without a time limit: the user may have to decide. Dropping the future
    /// cancels the request.
    pub async fn ask<T: DeserializeOwned>(&self, method: &str, params: impl Serialize) -> Result<T, RpcError> {
        let answer = self.exchange(method, serde_json::to_value(params)).await?;
        T::deserialize(answer)
            .map_err(|error| RpcError::internal(format!("the client's answer to `{method}` cannot be read: {error}")))
    }

    /// Sends a request whose answer does not matter.
    pub fn post(&self, method: &str, params: impl Serialize) {
        // The parameters are texts and numbers, which can always be encoded.
        if let Ok(params) = serde_json::to_value(params) {
            self.peer.post(method, params);
        }
    }

    /// Waits while the client has too much unread. A client that has disconnected is not an error of the session.
    pub async fn notify(&self, method: &str, params: impl Serialize) {
        // A path that is not UTF-8 cannot be sent.
        let Ok(params) = serde_json::to_value(params) else { return };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => {}
            _ = self.peer.notify(method, params) => {}
        }
    }

    async fn exchange(&self, method: &str, params: serde_json::Result<Value>) -> Result<Value, RpcError> {
        let params = params.map_err(|error| RpcError::internal(format!("`{method}` cannot be encoded: {error}")))?;
        self.peer.call(OutgoingCall::new(method, params)).await.map_err(|error| match error {
            Error::Refused { error, .. } => error,
            other => RpcError::internal(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::FutureExt;
    use omp_jsonrpc::Connection;
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;
    use crate::protocol::protocol;

    /// Sends updates until one has to wait, and returns their number.
    async fn fill(client: &EditorClient) -> usize {
        let mut sent = 0;
        while tokio::task::unconstrained(client.notify("session/update", json!({}))).now_or_never().is_some() {
            sent += 1;
            tokio::task::yield_now().await;
        }
        sent
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_stops_updates_until_it_does() {
        let (theirs, ours) = tokio::io::duplex(16);
        // The client has closed its half already.
        let connection = Connection::open(tokio::io::empty(), ours, protocol(), Arc::new(()));
        let closing = CancellationToken::new();
        let client = EditorClient::new(connection.peer().clone(), closing.clone());
        let sent = fill(&client).await;
        assert!((512..4_096).contains(&sent), "{sent}");
        let mut lines = BufReader::new(theirs).lines();
        for _ in 0..sent {
            lines.next_line().await.unwrap().unwrap();
        }
        assert!(fill(&client).await >= 512);
        let waiting = client.notify("session/update", json!({}));
        tokio::pin!(waiting);
        assert!(waiting.as_mut().now_or_never().is_none());
        closing.cancel();
        waiting.await;
        // A closing connection makes nobody wait.
        for _ in 0..10 {
            client.notify("session/update", json!({})).await;
        }
        drop(lines);
        connection.finish(Duration::from_secs(60)).await;
    }
}
