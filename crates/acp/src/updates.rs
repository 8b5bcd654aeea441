//! Sends the updates of one session to the client.

use std::sync::Arc;

use crate::client::EditorClient;
use crate::protocol::{
    ClientCapabilities, ContentBlock, NoticeSeverity, SessionId, SessionNotification, SessionUpdate,
};

/// The connection to the client for one session. Cheap to clone.
#[derive(Clone)]
pub struct Updates {
    pub id: SessionId,
    pub client: EditorClient,
    pub capabilities: Arc<ClientCapabilities>,
}

impl Updates {
    /// Waits while the client has too much unread. A disconnected client is not an error of the session.
    pub async fn send(&self, update: SessionUpdate) {
        let notification = SessionNotification { session_id: self.id.clone(), update };
        self.client.notify("session/update", notification).await;
    }

    pub async fn message(&self, text: impl Into<String>) {
        self.send(SessionUpdate::AgentMessageChunk { content: text_block(text) }).await;
    }

    pub async fn thought(&self, text: impl Into<String>) {
        self.send(SessionUpdate::AgentThoughtChunk { content: text_block(text) }).await;
    }

    /// Sends a message of omp to the user: a notice if the client supports them, else a thought.
    pub async fn notice(&self, severity: NoticeSeverity, text: &str) {
        if !self.capabilities.has_notices() {
            return self.thought(format!("{text}\n")).await;
        }
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let description = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        self.send(SessionUpdate::Notice { severity, title: title.to_owned(), description }).await;
    }
}

pub fn text_block(text: impl Into<String>) -> ContentBlock {
    ContentBlock::Text { text: text.into() }
}
