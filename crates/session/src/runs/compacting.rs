//! The interface of a session to compaction: its requests, its file, its features and its subscribers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use omp_agent::AgentEvent;
use omp_compaction::{
    BeforeSummary, Compacted, Compacting, CompactionEvent, CompactionPlan, CompactionSession, ConversationEntry,
    LeftBranch, TreePlan,
};
use omp_store::{Compaction, Custom, EntryId, LoadedSession};
use omp_types::{CallFactSource, Llm, Message, Model, ModelError, Request, Terms, ThinkingLevel, Transcript};
use tokio_util::sync::CancellationToken;

use crate::call_files::SessionCalls;
use crate::control::Control;
use crate::event::SessionEvent;
use crate::history;
use crate::prepared::typed_in;
use crate::recorder::{RecorderError, Source};
use crate::retry::RetryPolicy;
use crate::spending::BreakCause;

/// Messages read at a time.
const PAGE: usize = 64;

/// A session while its conversation is compacted.
pub(crate) struct CompactingSession {
    pub control: Arc<Control>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub retry: RetryPolicy,
    pub cancel: CancellationToken,
}

impl CompactionSession for CompactingSession {
    fn llm(&self) -> &dyn Llm {
        &*self.control.llm
    }

    fn model(&self) -> &Arc<Model> {
        &self.model
    }

    fn request(&self) -> Request {
        let session_id = self.control.recorder().session_id().to_owned();
        Request {
            model: self.model.clone(),
            system: self.control.told.system(),
            tools: self.control.tools().specs().clone(),
            messages: Vec::new(),
            thinking: self.thinking,
            max_tokens: None,
            session_id: Some(session_id),
            cache: self.control.cache,
            terms: Terms { tool: None, ..self.control.standing().terms() },
        }
    }

    fn retry_delay(&self, error: &ModelError, attempt: u32) -> Option<Duration> {
        self.retry.delay(error, attempt)
    }

    fn waits(&self) -> bool {
        self.retry.waits
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    fn compacts(&self) -> bool {
        self.control.compacts()
    }

    fn file(&self) -> Option<PathBuf> {
        self.control.recorder().path()
    }

    fn recorded(&self) -> Result<Option<Vec<ConversationEntry>>, String> {
        recorded(&self.control)
    }

    fn left_branch(&self, target: Option<&EntryId>) -> Result<Option<LeftBranch>, String> {
        let source = self.control.recorder().source();
        let Some(source) = source else { return Ok(None) };
        let messages = abandoned(&source, target)?;
        Ok(Some(LeftBranch { from: source.leaf, messages }))
    }

    fn call_facts(&self) -> Arc<dyn CallFactSource> {
        Arc::new(SessionCalls { tools: self.control.tools(), files: self.control.approvals().files.clone() })
    }

    fn as_sent(&self, messages: Vec<Message>) -> Transcript {
        self.control.as_sent(history::prepare(messages))
    }

    fn write_compaction(&self, compaction: &Compaction) -> Result<Option<(EntryId, Vec<Message>)>, String> {
        let mut recorder = self.control.recorder();
        let Some(id) = recorder.compaction(compaction).map_err(sentence)? else { return Ok(None) };
        match recorder.go_to(Some(id.clone())) {
            Some(Ok(Some(context))) => Ok(Some((id, context.messages))),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(None)) | None => Err("the compaction is not in the session file".to_owned()),
        }
    }

    fn write_note(&self, note: Custom) -> Result<(), String> {
        self.control.recorder().note(note).map_err(sentence)
    }

    fn begin_anew(&self, message: &Arc<Message>) -> Result<(), String> {
        self.control.recorder().begin_anew(message).map_err(sentence)
    }

    fn replaced(&self, messages: &[Arc<Message>]) {
        self.control.set_messages(messages);
    }

    fn pruned(&self) {
        self.control.spending().expect(BreakCause::Pruning);
    }

    fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary {
        self.control.before_summary(plan)
    }

    fn compacting(&self, plan: &CompactionPlan<'_>) -> Compacting {
        self.control.compacting(plan)
    }

    fn compacted(&self, compacted: &Compacted, from_extension: bool) {
        self.control.compacted(compacted, from_extension);
    }

    fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary {
        self.control.before_move(plan)
    }

    fn before<'a>(&'a self, by_hand: bool, instructions: Option<&'a str>) -> BoxFuture<'a, Option<String>> {
        Box::pin(self.control.before_compaction(by_hand, instructions))
    }

    fn after(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.control.after_compaction())
    }

    fn tell(&self, event: CompactionEvent) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for event in self.events(event) {
                self.control.outlet.send(event).await;
            }
        })
    }
}

/// Returns the conversation in the file; `None` for a session without a file.
pub(crate) fn recorded(control: &Control) -> Result<Option<Vec<ConversationEntry>>, String> {
    let source = control.recorder().source();
    let Some(source) = source else { return Ok(None) };
    let session = source.load_if_written().map_err(|error| error.to_string())?;
    let (Some(mut session), Some(leaf)) = (session, &source.leaf) else { return Ok(Some(Vec::new())) };
    let context = session.context_at(leaf).ok_or_else(|| format!("the session file has no entry `{leaf}`"))?;
    let messages = history::prepare(context.messages).map(Arc::new);
    let entries = context.entry_ids.into_iter().zip(messages).map(|(id, message)| {
        let typed = matches!(&*message, Message::User(_)).then(|| typed_before(&session, &id)).flatten();
        ConversationEntry { id, message, typed }
    });
    Ok(Some(entries.collect()))
}

impl CompactingSession {
    /// Converts a compaction event to events for the session's subscribers.
    fn events(&self, event: CompactionEvent) -> Vec<SessionEvent> {
        match event {
            CompactionEvent::Notice(text) => vec![SessionEvent::Notice { source: "compaction", text }],
            CompactionEvent::Started { reason, action } => {
                self.control.set_compacting(true);
                vec![SessionEvent::CompactionStart { reason, action }]
            }
            CompactionEvent::Ended { reason, action, result, aborted, will_retry, skipped, error } => {
                self.control.set_compacting(false);
                vec![SessionEvent::CompactionEnd { reason, action, result, aborted, will_retry, skipped, error }]
            }
            CompactionEvent::HandedOff(message) => vec![
                SessionEvent::Agent(AgentEvent::MessageStart { message: message.clone() }),
                SessionEvent::Agent(AgentEvent::MessageEnd { message }),
            ],
        }
    }
}

fn sentence(error: RecorderError) -> String {
    error.to_string()
}

/// What the user typed, if the entry before the message records it.
fn typed_before(session: &LoadedSession, message: &EntryId) -> Option<String> {
    let message = session.entry(message)?;
    let before = session.entry(&message["parentId"].as_str()?.into())?;
    typed_in(&before).map(str::to_owned)
}

/// The messages on the path to the current entry but not on the path to the target.
pub(crate) fn abandoned(source: &Source, target: Option<&EntryId>) -> Result<Vec<Arc<Message>>, String> {
    let Some(session) = source.load_if_written().map_err(|error| error.to_string())? else { return Ok(Vec::new()) };
    let path = |leaf: Option<&EntryId>| -> Vec<(EntryId, Message)> {
        let Some(transcript) = leaf.and_then(|leaf| session.transcript(Some(leaf))) else { return Vec::new() };
        let starts = (0..transcript.len()).step_by(PAGE);
        let told = starts.flat_map(|start| transcript.read(start..start + PAGE).0);
        told.map(|told| (told.id, told.message)).collect()
    };
    let (old, new) = (path(source.leaf.as_ref()), path(target));
    let shared = old.iter().zip(&new).take_while(|((old, _), (new, _))| old == new).count();
    let left = old.into_iter().skip(shared).map(|(_, message)| message).collect();
    Ok(history::prepare(left).map(Arc::new).collect())
}
