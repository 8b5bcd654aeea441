//! Sends the updates of one session to the client.

use std::sync::Arc;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, ContentBlock, ContentChunk, Notice, NoticeSeverity, SessionId, SessionNotification,
    SessionUpdate, TextContent,
};

use crate::transport::Flow;

/// The connection to the client for one session. Cheap to clone.
#[derive(Clone)]
pub struct Updates {
    pub id: SessionId,
    pub connection: ConnectionTo<Client>,
    pub capabilities: Arc<ClientCapabilities>,
    pub flow: Flow,
}

impl Updates {
    /// Waits while the client has too much unread. A disconnected client is not an error of the session.
    pub async fn send(&self, update: SessionUpdate) {
        if self.flow.room().await {
            let _ = self.connection.send_notification(SessionNotification::new(self.id.clone(), update));
        }
    }

    pub async fn message(&self, text: impl Into<String>) {
        self.send(SessionUpdate::AgentMessageChunk(chunk(text))).await;
    }

    pub async fn thought(&self, text: impl Into<String>) {
        self.send(SessionUpdate::AgentThoughtChunk(chunk(text))).await;
    }

    /// Sends a message of omp to the user: a notice if the client supports them, else a thought.
    pub async fn notice(&self, severity: NoticeSeverity, text: &str) {
        let notices = self.capabilities.session.as_ref().is_some_and(|session| session.notices.is_some());
        if !notices {
            return self.thought(format!("{text}\n")).await;
        }
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let description = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        self.send(SessionUpdate::Notice(Notice::new(severity, title).description(description))).await;
    }
}

pub fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(text_block(text))
}

pub fn text_block(text: impl Into<String>) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}
