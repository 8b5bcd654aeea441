//! A session that is being imported: assigns IDs, parents and times to entries, moves images to the blob store, and writes
//! the file under a temporary name before renaming it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_types::{AssistantMessage, Content, Message, ToolResultMessage};
use serde_json::{Value, json};

use super::Program;
use crate::blob::BlobStore;
use crate::entry::{Custom, EntryBody, EntryPosition, ModelChange};
use crate::header::{SessionHeader, VERSION};
use crate::ids::{Ids, hash};
use crate::platform;
use crate::problem::{Damage, Report};
use crate::stamp;
use crate::title::{TitleSlot, TitleSource};

/// Identity of the imported session.
pub(super) struct Name<'a> {
    pub program: Program,
    pub id: &'a str,
    pub source: &'a Path,
}

pub(super) struct ImportDraft<'a> {
    pub cwd: Option<String>,
    pub title: Option<String>,
    pub report: Report,
    pub messages: usize,
    blobs: &'a BlobStore,
    ids: Ids,
    lines: Vec<u8>,
    leaf: Option<String>,
    /// Time of the first entry that has one.
    started: Option<String>,
    /// The last time seen, used for entries without one.
    time: String,
    model: Option<String>,
    /// Names of calls by ID, for their results.
    calls: HashMap<String, String>,
}

impl<'a> ImportDraft<'a> {
    pub fn new(blobs: &'a BlobStore, report: Report) -> Self {
        Self {
            cwd: None,
            title: None,
            report,
            messages: 0,
            blobs,
            ids: Ids::default(),
            lines: Vec::new(),
            leaf: None,
            started: None,
            time: stamp::iso(std::time::UNIX_EPOCH),
            model: None,
            calls: HashMap::new(),
        }
    }

    /// Sets the time; an invalid one keeps the previous time.
    pub fn at(&mut self, time: &str) {
        if stamp::to_ms(time) > 0 {
            self.time = time.to_owned();
            self.started.get_or_insert_with(|| time.to_owned());
        }
    }

    pub fn now_ms(&self) -> u64 {
        stamp::to_ms(&self.time)
    }

    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Continues from an entry that was added before.
    pub fn go_to(&mut self, entry: String) {
        self.leaf = Some(entry);
    }

    pub fn new_id(&self) -> String {
        self.ids.unused()
    }

    /// Adds an entry after the newest one.
    pub fn add(&mut self, body: &EntryBody) -> String {
        let id = self.new_id();
        let parent = self.leaf.clone();
        self.add_as(&id, parent.as_deref(), body);
        id
    }

    pub fn add_as(&mut self, id: &str, parent: Option<&str>, body: &EntryBody) {
        let body = match self.blobs.externalize(body) {
            Ok(body) => body,
            // The image stays inline in the file.
            Err(_) => std::borrow::Cow::Borrowed(body),
        };
        let place = EntryPosition { id, parent_id: parent, timestamp: &self.time };
        let before = self.lines.len();
        if body.write_line(&mut self.lines, &place).is_err() {
            self.lines.truncate(before);
            return;
        }
        self.messages += usize::from(matches!(*body, EntryBody::Message(_)));
        self.ids.insert(hash(id), 0);
        self.leaf = Some(id.to_owned());
    }

    pub fn say(&mut self, message: Message) -> String {
        self.add(&EntryBody::Message(Arc::new(message)))
    }

    /// Adds an answer, preceded by a model change if the model differs.
    pub fn answer(&mut self, answer: AssistantMessage) -> String {
        self.uses(&format!("{}/{}", answer.provider, answer.model));
        for call in answer.tool_calls() {
            self.calls.insert(call.id.clone(), call.name.clone());
        }
        self.say(Message::Assistant(answer))
    }

    pub fn uses(&mut self, model: &str) {
        if self.model.as_deref() != Some(model) {
            self.model = Some(model.to_owned());
            let change = ModelChange { model: model.to_owned(), role: None, resolved_model_is_fallback: false };
            self.add(&EntryBody::ModelChange(change));
        }
    }

    /// Adds the result of a call. A result without a call cannot be sent to a model; it is kept as a custom entry and
    /// reported.
    pub fn result(&mut self, line: u32, call: &str, content: Vec<Content>, is_error: bool) -> String {
        let Some(tool_name) = self.calls.get(call).cloned() else {
            self.report
                .add(line, Damage::NotImported(format!("the result of a call {call} that is not in the session")));
            return self.keep("orphan-result", &json!({"call": call, "content": content}));
        };
        let timestamp = self.now_ms();
        self.say(Message::ToolResult(ToolResultMessage {
            tool_call_id: call.to_owned(),
            tool_name,
            content,
            details: None,
            is_error,
            useless: false,
            timestamp,
        }))
    }

    /// Keeps data that has no counterpart here.
    pub fn keep(&mut self, what: &str, line: &Value) -> String {
        self.add(&kept(what, line))
    }

    /// Writes the complete session under its name.
    pub fn save(self, folder: &Path, cwd: &str, name: &Name<'_>) -> io::Result<(PathBuf, Report)> {
        platform::create_private_folder(folder)?;
        let timestamp = self.started.unwrap_or_else(|| self.time.clone());
        let timestamp = stamp::iso(std::time::UNIX_EPOCH + std::time::Duration::from_millis(stamp::to_ms(&timestamp)));
        let path = folder.join(format!("{}_{}.jsonl", stamp::for_file_name(&timestamp), name.id));
        let source = self.title.as_ref().map(|_| TitleSource::User);
        let title = self.title.clone().unwrap_or_default();
        let slot = TitleSlot { title, source, updated_at: timestamp.clone() };
        let header = SessionHeader {
            version: VERSION,
            id: name.id.to_owned(),
            timestamp,
            cwd: cwd.to_owned(),
            title: self.title,
            title_source: source,
            parent_session: None,
        };
        let from = json!({"program": name.program.name(), "path": name.source.to_string_lossy()});
        let mut note = Vec::new();
        let id = self.ids.unused();
        let place = EntryPosition { id: &id, parent_id: self.leaf.as_deref(), timestamp: &self.time };
        kept("source", &from).write_line(&mut note, &place)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(slot.to_line().as_bytes())?;
        file.write_all(header.to_line()?.as_bytes())?;
        file.write_all(&self.lines)?;
        file.write_all(&note)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(&path)?;
        platform::sync_folder(folder)?;
        Ok((path, self.report))
    }
}

pub(super) fn kept(what: &str, line: &Value) -> EntryBody {
    EntryBody::Custom(Custom { custom_type: format!("import.{what}"), data: Some(line.clone()) })
}
