//! Writes events to the session file, or discards them with `--no-session`.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_secrets::Veil;
use omp_store::{
    BlobStore, BranchSummary, Compaction, Context, Custom, CustomMessageEntry, EntryBody, EntryId, Label,
    LoadedSession, ModeChange, ModelChange, OpenError, SessionWriter, ThinkingLevelChange, TitleSource, TtsrInjection,
    WriteError,
};
use omp_types::{Attribution, Message, Model, ThinkingLevel};
use serde_json::{Value, json};

use crate::plan::{PLAN, PLAN_FILE};
use crate::secrets;

/// The identity of a session, for the first line of JSON mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHeader {
    pub version: u64,
    pub id: String,
    pub timestamp: String,
    pub cwd: String,
}

/// Writing to the file failed.
pub type RecorderError = WriteError;

/// Where a session is recorded. It writes nothing before the session starts and gives it the secrets to remove.
pub struct Recorder {
    header: SessionHeader,
    writer: Option<SessionWriter>,
    /// Facts to be written before the next message, such as the model that answers it.
    pending: Vec<EntryBody>,
}

/// The recorder of a session that has started.
pub struct RunningRecorder {
    base: Recorder,
    /// The latest fact of each kind written since the last [`RunningRecorder::mark`].
    since_mark: Vec<EntryBody>,
    /// Whether plan mode is on.
    plans: bool,
    /// Removes secrets from all entries.
    veil: Arc<Veil>,
}

/// What can be recorded before the start can also be recorded after it.
impl Deref for RunningRecorder {
    type Target = Recorder;

    fn deref(&self) -> &Recorder {
        &self.base
    }
}

impl DerefMut for RunningRecorder {
    fn deref_mut(&mut self) -> &mut Recorder {
        &mut self.base
    }
}

impl Recorder {
    /// Records into a file. Nothing is written before the first message.
    pub fn to_file(writer: SessionWriter) -> Self {
        let header = writer.header();
        let header = SessionHeader {
            version: header.version,
            id: header.id.clone(),
            timestamp: header.timestamp.clone(),
            cwd: header.cwd.clone(),
        };
        Self { header, writer: Some(writer), pending: Vec::new() }
    }

    /// Records nothing.
    pub fn nowhere(cwd: &Path) -> Self {
        let header = SessionHeader {
            version: 3,
            id: uuid::Uuid::now_v7().to_string(),
            timestamp: timestamp(),
            cwd: cwd.display().to_string(),
        };
        Self { header, writer: None, pending: Vec::new() }
    }

    /// Starts in the mode recorded in the file. The veil removes secrets from everything that is written.
    pub(crate) fn start(self, mode: Option<&str>, veil: Arc<Veil>) -> RunningRecorder {
        RunningRecorder { base: self, since_mark: Vec::new(), plans: mode == Some(PLAN), veil }
    }

    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    pub fn session_id(&self) -> &str {
        &self.header.id
    }

    pub fn path(&self) -> Option<PathBuf> {
        self.writer.as_ref().map(|writer| writer.path().to_owned())
    }

    /// The entry that the next one will follow.
    pub fn leaf(&self) -> Option<EntryId> {
        self.writer.as_ref()?.leaf().cloned()
    }

    pub fn title(&self) -> Option<String> {
        self.writer.as_ref()?.title().map(str::to_owned)
    }

    /// Keeps data that the model does not see, to be written before the next message.
    pub fn keep(&mut self, custom: Option<Custom>) {
        self.pending.extend(custom.map(EntryBody::Custom));
    }

    /// The file with the session's messages. `None` for a session without a file.
    pub(crate) fn source(&self) -> Option<Source> {
        let writer = self.writer.as_ref()?;
        Some(Source { file: writer.path().to_owned(), blobs: writer.blobs().clone(), leaf: writer.leaf().cloned() })
    }

    pub fn model_changed(&mut self, model: &Model) {
        self.pending.push(EntryBody::ModelChange(ModelChange {
            model: model.selector(),
            role: None,
            resolved_model_is_fallback: false,
        }));
    }

    pub fn thinking_changed(&mut self, level: ThinkingLevel) {
        let level = Some(level.as_str().to_owned());
        let configured = level.clone();
        self.pending.push(EntryBody::ThinkingLevelChange(ThinkingLevelChange { thinking_level: level, configured }));
    }
}

impl RunningRecorder {
    /// Records that the model was notified of these rules.
    pub(crate) fn rules_injected(&mut self, names: Vec<String>) -> Result<(), RecorderError> {
        self.append(EntryBody::TtsrInjection(TtsrInjection { injected_rules: names }))
    }

    /// The entry before an answer that may be taken back.
    pub(crate) fn before_draft(&mut self) -> Result<Option<EntryId>, RecorderError> {
        self.write_pending()?;
        Ok(self.leaf())
    }

    /// Continues after entry `before`; the answer stays in the file as an abandoned branch.
    pub(crate) fn leave_draft(&mut self, before: Option<EntryId>) {
        if let (Some(writer), Some(before)) = (&mut self.base.writer, before) {
            writer.set_leaf(Some(before));
        }
    }

    pub(crate) fn rename(&mut self, title: &str, source: TitleSource) -> Result<(), RecorderError> {
        match &mut self.base.writer {
            Some(writer) => writer.set_title(&self.veil.hide(title), source).map(drop),
            None => Ok(()),
        }
    }

    pub(crate) fn label(&mut self, target: &EntryId, label: Option<&str>) -> Result<(), RecorderError> {
        self.append(EntryBody::Label(Label { target_id: target.as_str().to_owned(), label: label.map(str::to_owned) }))
    }

    pub(crate) fn note(&mut self, custom: Custom) -> Result<(), RecorderError> {
        self.append(EntryBody::Custom(custom))
    }

    /// Continues from another entry, or before the first if `None`, and returns the conversation up to there. The outer
    /// `None` means that the session has no file, the inner one that the entry does not exist.
    pub(crate) fn go_to(&mut self, leaf: Option<EntryId>) -> Option<Result<Option<Context>, OpenError>> {
        let Some(target) = leaf else {
            self.base.writer.as_mut()?.set_leaf(None);
            return Some(Ok(Some(Context::default())));
        };
        let mut loaded = match self.source()?.load() {
            Ok(loaded) => loaded,
            Err(error) => return Some(Err(error)),
        };
        let writer = self.base.writer.as_mut()?;
        let context = loaded.context_at(&target);
        if let Some(context) = &context {
            self.plans = context.mode.as_deref() == Some(PLAN);
            writer.set_leaf(Some(target));
        }
        Some(Ok(context))
    }

    pub(crate) fn plans(&self) -> bool {
        self.plans
    }

    pub(crate) fn plan_mode_changed(&mut self, on: bool) {
        self.plans = on;
        let (mode, data) = match on {
            true => (PLAN, Some(json!({"planFilePath": PLAN_FILE}))),
            false => ("none", None),
        };
        self.base.pending.push(EntryBody::ModeChange(ModeChange { mode: mode.to_owned(), data }));
    }

    pub(crate) fn message(&mut self, message: &Arc<Message>) -> Result<(), RecorderError> {
        self.append(match &**message {
            Message::Custom(custom) => EntryBody::CustomMessage(CustomMessageEntry {
                custom_type: custom.custom_type.clone(),
                content: custom.content.clone(),
                display: custom.display,
                details: custom.details.clone(),
                attribution: Some(Attribution::Agent),
            }),
            _ => EntryBody::Message(message.clone()),
        })
    }

    /// Returns the id of the entry; `None` for a session without a file.
    pub(crate) fn compaction(&mut self, compaction: &Compaction) -> Result<Option<EntryId>, RecorderError> {
        self.append(EntryBody::Compaction(compaction.clone()))?;
        Ok(self.leaf())
    }

    /// Returns the id of the entry.
    pub(crate) fn branch_summary(&mut self, summary: BranchSummary) -> Result<Option<EntryId>, RecorderError> {
        self.append(EntryBody::BranchSummary(summary))?;
        Ok(self.leaf())
    }

    /// Messages from here on are sent without the ones before.
    pub(crate) fn begin_anew(&mut self, message: &Arc<Message>) -> Result<(), RecorderError> {
        self.append(EntryBody::ResetBoundary)?;
        self.message(message)
    }

    /// Continues from an entry that was on the current path before.
    pub(crate) fn set_leaf(&mut self, leaf: Option<EntryId>) {
        if let Some(writer) = &mut self.base.writer {
            writer.set_leaf(leaf);
        }
    }

    /// The entry before the last message. The outer `None` means that it is unknown.
    pub(crate) fn before_last_message(&self) -> Option<Option<EntryId>> {
        let source = self.source()?;
        let mut session = source.load().ok()?;
        let context = session.context_at(source.leaf.as_ref()?)?;
        let entry = session.entry(context.entry_ids.last()?)?;
        Some(entry.get("parentId").and_then(Value::as_str).map(EntryId::from))
    }

    /// Returns the last written entry, to go back to later.
    pub(crate) fn mark(&mut self) -> Option<EntryId> {
        self.since_mark.clear();
        self.writer.as_ref()?.leaf().cloned()
    }

    /// Continues after the marked entry. Facts written since then still hold and are written again.
    pub(crate) fn go_back_to(&mut self, mark: Option<EntryId>) {
        if let (Some(writer), Some(mark)) = (&mut self.base.writer, mark) {
            writer.set_leaf(Some(mark));
            self.base.pending.splice(..0, std::mem::take(&mut self.since_mark));
        }
    }

    /// Records that a call has started, so that after a crash it is known whether the call had begun.
    pub(crate) fn tool_started(&mut self, call_id: &str, name: &str, arguments: &Value) -> Result<(), RecorderError> {
        let data = json!({"toolCallId": call_id, "toolName": name, "startedAt": timestamp(), "args": arguments});
        self.append(EntryBody::Custom(Custom { custom_type: "tool_execution_start".to_owned(), data: Some(data) }))
    }

    /// Flushes the file to the disk, so that even a power failure loses nothing.
    pub(crate) fn sync(&mut self) -> Result<(), RecorderError> {
        match &mut self.base.writer {
            Some(writer) => writer.sync(),
            None => Ok(()),
        }
    }

    fn append(&mut self, body: EntryBody) -> Result<(), RecorderError> {
        self.write_pending()?;
        match &mut self.base.writer {
            Some(writer) => writer.append(&secrets::hide_entry(&self.veil, body)).map(drop),
            None => Ok(()),
        }
    }

    pub(crate) fn write_pending(&mut self) -> Result<(), RecorderError> {
        let Some(writer) = &mut self.base.writer else { return Ok(()) };
        for fact in std::mem::take(&mut self.base.pending) {
            writer.append(&fact)?;
            self.since_mark.retain(|earlier| earlier.kind() != fact.kind());
            self.since_mark.push(fact);
        }
        Ok(())
    }
}

/// A session's file. Reading it does not lock the recorder.
pub(crate) struct Source {
    pub file: PathBuf,
    pub blobs: BlobStore,
    pub leaf: Option<EntryId>,
}

impl Source {
    pub fn load(&self) -> Result<LoadedSession, OpenError> {
        LoadedSession::open(&self.file, self.blobs.clone())
    }

    /// `None` if the file does not exist yet; it is created with the first message.
    pub fn load_if_written(&self) -> Result<Option<LoadedSession>, OpenError> {
        match self.load() {
            Ok(loaded) => Ok(Some(loaded)),
            Err(OpenError::NotFound(_) | OpenError::NotASession(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn timestamp() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}
