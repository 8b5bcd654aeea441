//! Handoff: a document for whoever takes over, with which the conversation begins anew.
//!
//! It stays in the same file, behind a boundary: no front end has to change its session, and what was said before can
//! still be read above it.

use std::sync::Arc;

use futures_util::StreamExt;
use omp_store::ArtifactDir;
use omp_types::{Content, CustomMessage, Message, Request, Terms, Transcript, UserMessage, now_ms};

use super::outcome::Failure;
use super::prompts;
use super::upkeep::{Scene, Upkeep, tell};
use crate::event::SessionEvent;

/// The type of the message that holds the document.
pub(crate) const HANDOFF: &str = "handoff";

impl Upkeep {
    /// Has the document written and begins anew with it.
    pub async fn hand_off(
        &mut self,
        scene: &Scene<'_>,
        transcript: &mut Transcript,
        focus: Option<&str>,
    ) -> Result<String, Failure> {
        if transcript.len() < 2 {
            return Err(Failure::Skipped("Nothing to hand off (no messages yet)".to_owned()));
        }
        let document = self.document(scene, transcript, focus).await?;
        let message = Arc::new(Message::Custom(CustomMessage {
            custom_type: HANDOFF.to_owned(),
            content: vec![Content::text(document.clone())],
            display: true,
            details: None,
            timestamp: now_ms(),
        }));
        let written = scene.control.recorder().begin_anew(&message);
        written.map_err(|error| Failure::Failed(error.to_string()))?;
        *transcript = Transcript::new();
        transcript.push_input(message.clone());
        self.stale_until_ms = now_ms();
        scene.control.set_messages(transcript.messages());
        let started = omp_agent::AgentEvent::MessageStart { message: message.clone() };
        scene.control.outlet.send(SessionEvent::Agent(started)).await;
        scene.control.outlet.send(SessionEvent::Agent(omp_agent::AgentEvent::MessageEnd { message })).await;
        Ok(document)
    }

    /// The document of a handoff that nobody asked for, in a file beside the session, where that is wished.
    pub(super) async fn save_handoff(&self, scene: &Scene<'_>, document: &str) {
        let session = scene.control.recorder().path().filter(|_| self.options.settings.saves_handoffs);
        let Some(session) = session else { return };
        let name = format!("handoff-{}.md", jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S-%3fZ"));
        let saved = ArtifactDir::of_session(&session).write_named(&name, &format!("{document}\n"));
        let told = match saved {
            Ok(path) => format!("the handoff document is saved as {}", path.display()),
            Err(error) => format!("the handoff document could not be saved: {error}"),
        };
        tell(scene.control, &told).await;
    }

    /// The request begins as the session's own do, so that the provider finds its beginning in the cache.
    async fn document(
        &mut self,
        scene: &Scene<'_>,
        transcript: &Transcript,
        focus: Option<&str>,
    ) -> Result<String, Failure> {
        let mut prompt = prompts::HANDOFF.trim_end().to_owned();
        if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
            prompt.push_str(&format!("\n\nThe user wants this kept in mind: {focus}"));
        }
        let mut messages = transcript.for_model();
        messages.push(Arc::new(Message::User(UserMessage::text(prompt))));
        let session_id = scene.control.recorder().session_id().to_owned();
        let mut stream = scene.control.llm.stream(Request {
            model: scene.model.clone(),
            system: scene.control.told.system(),
            tools: scene.control.tools().specs().clone(),
            messages,
            thinking: scene.thinking,
            max_tokens: None,
            session_id: Some(session_id),
            cache: scene.control.cache,
            terms: Terms { tool: None, ..scene.control.standing().terms() },
        });
        loop {
            tokio::select! {
                biased;
                () = scene.cancel.cancelled() => return Err(Failure::Aborted),
                event = stream.next() => if event.is_none() { break },
            }
        }
        let answer = stream.message();
        self.spent.push(answer.clone());
        match &answer.error {
            Some(error) => Err(Failure::Failed(error.message.clone())),
            None if answer.text().trim().is_empty() => {
                Err(Failure::Failed("Handoff generation produced no content".to_owned()))
            }
            None => Ok(answer.text().trim().to_owned()),
        }
    }
}
