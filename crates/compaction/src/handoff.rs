//! Handoff: a document for a successor, with which a new conversation starts.
//!
//! It stays in the same file, after a boundary: front ends keep their session, and the earlier messages remain readable
//! above it.

use std::sync::Arc;

use futures_util::StreamExt;
use omp_store::ArtifactDir;
use omp_types::{Content, CustomMessage, Message, Request, Transcript, UserMessage, now_ms};

use crate::compactor::Compactor;
use crate::outcome::CompactionFailure;
use crate::prompts;
use crate::session::{CompactionEvent, CompactionSession, tell};

/// Type of the message that holds the document.
pub(crate) const HANDOFF: &str = "handoff";

impl Compactor {
    /// Lets a model write the document and restarts the conversation with it.
    pub async fn hand_off(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        focus: Option<&str>,
    ) -> Result<String, CompactionFailure> {
        if transcript.len() < 2 {
            return Err(CompactionFailure::Skipped("Nothing to hand off (no messages yet)".to_owned()));
        }
        let document = self.document(session, transcript, focus).await?;
        let message = Arc::new(Message::Custom(CustomMessage {
            custom_type: HANDOFF.to_owned(),
            content: vec![Content::text(document.clone())],
            display: true,
            details: None,
            timestamp: now_ms(),
        }));
        session.begin_anew(&message).map_err(CompactionFailure::Failed)?;
        *transcript = Transcript::new();
        transcript.push_input(message.clone());
        self.stale_until_ms = now_ms();
        session.replaced(transcript.messages());
        session.tell(CompactionEvent::HandedOff(message)).await;
        Ok(document)
    }

    /// Saves the document of an automatic handoff to a file next to the session, if configured.
    pub(super) async fn save_handoff(&self, session: &dyn CompactionSession, document: &str) {
        let file = session.file().filter(|_| self.options.settings.saves_handoffs);
        let Some(file) = file else { return };
        let name = format!("handoff-{}.md", jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S-%3fZ"));
        let saved = ArtifactDir::of_session(&file).write_named(&name, &format!("{document}\n"));
        let told = match saved {
            Ok(path) => format!("saved the handoff document as {}", path.display()),
            Err(error) => format!("the handoff document could not be saved: {error}"),
        };
        tell(session, &told).await;
    }

    /// The request starts like the session's own requests, so that the provider's cached prefix is used.
    async fn document(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &Transcript,
        focus: Option<&str>,
    ) -> Result<String, CompactionFailure> {
        let mut prompt = prompts::HANDOFF.trim_end().to_owned();
        if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
            prompt.push_str(&format!("\n\nThe user wants this kept in mind: {focus}"));
        }
        let mut messages = transcript.for_model();
        messages.push(Arc::new(Message::User(UserMessage::text(prompt))));
        let mut stream = session.llm().stream(Request { messages, ..session.request() });
        loop {
            tokio::select! {
                biased;
                () = session.cancel().cancelled() => return Err(CompactionFailure::Aborted),
                event = stream.next() => if event.is_none() { break },
            }
        }
        let answer = stream.message();
        self.spent.push(answer.clone());
        match &answer.error {
            Some(error) => Err(CompactionFailure::Failed(error.message.clone())),
            None if answer.text().trim().is_empty() => {
                Err(CompactionFailure::Failed("Handoff generation produced no content".to_owned()))
            }
            None => Ok(answer.text().trim().to_owned()),
        }
    }
}
