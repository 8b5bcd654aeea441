//! Where a session says that files may change, so that whoever keeps them can take it back.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_agent::{Approval, Choice, ChoiceOption, Tier};
use omp_store::{Custom, EntryId};
use omp_types::{Message, text_of};
use serde_json::Value;

use crate::control::Control;
use crate::desk::{Answer, QuestionKind};
use crate::event::SessionEvent;

/// The custom entry of a call that changed files.
pub const UNDO_ENTRY: &str = "undo";

/// Keeps what files were before calls changed them. What goes wrong is a sentence for the user; the call runs all the same.
pub trait FilesKept: Send + Sync {
    fn begin_turn<'a>(&'a self, said: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// A call begins that may change files.
    fn before_call<'a>(&'a self, call_id: &'a str, tool: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// It has ended: what the session file is told of it, where it has changed something.
    fn after_call<'a>(&'a self, call_id: &'a str) -> BoxFuture<'a, Result<Option<Custom>, String>>;

    fn end_turn(&self) -> BoxFuture<'_, Result<(), String>>;

    /// What calls changed whose entries these are and what still stands, one path a line. `None` when there is nothing.
    fn changed_by<'a>(&'a self, entries: &'a [Value]) -> BoxFuture<'a, Option<String>>;

    /// Takes back what those calls' turns changed. The answer is for the user.
    fn rewind<'a>(&'a self, entries: &'a [Value]) -> BoxFuture<'a, String>;
}

const REWIND: &str = "Rewind the files too";
const LEAVE: &str = "Leave the files as they are";

/// The session went back in its tree: offers to take the files with it. `from` is where it was.
pub(crate) async fn offer_rewind(control: Arc<Control>, from: Option<EntryId>) {
    let Some(files) = control.files() else { return };
    let entries = left_behind(&control, from);
    if entries.is_empty() {
        return;
    }
    let Some(changed) = files.changed_by(&entries).await else { return };
    let option = |label: &str| ChoiceOption { label: label.to_owned(), description: None };
    let choice = Choice {
        question: format!("Files were changed since then:\n{changed}"),
        options: vec![option(REWIND), option(LEAVE)],
        ..Choice::default()
    };
    let answer = control.desk.put(QuestionKind::Choose(choice)).await;
    let wanted = match answer {
        Some(Answer::Yes) => true,
        Some(Answer::Text(text)) => text == REWIND,
        Some(Answer::Choices(choices)) => choices.iter().any(|choice| choice == REWIND),
        Some(Answer::No | Answer::Always { .. }) | None => false,
    };
    if wanted {
        let text = files.rewind(&entries).await;
        control.outlet.send(SessionEvent::Notice { source: "undo", text }).await;
    }
}

/// The entries of calls that changed files, on the way to `from` and not on the way to where the session is now.
fn left_behind(control: &Control, from: Option<EntryId>) -> Vec<Value> {
    let Some(source) = control.recorder().source() else { return Vec::new() };
    let Ok(Some(session)) = source.load_if_written() else { return Vec::new() };
    let way = |leaf: Option<EntryId>| {
        let mut way: Vec<(EntryId, Value)> = Vec::new();
        let mut at = leaf;
        while let Some(id) = at {
            let Some(entry) = session.entry(&id) else { break };
            let entry = serde_json::to_value(entry).unwrap_or_default();
            at = entry.get("parentId").and_then(Value::as_str).map(EntryId::from);
            way.push((id, entry));
        }
        way
    };
    let stays: HashSet<EntryId> = way(source.leaf.clone()).into_iter().map(|(id, _)| id).collect();
    let left = way(from).into_iter().filter(|(id, _)| !stays.contains(id));
    let is_undo = |entry: &Value| entry.get("customType").and_then(Value::as_str) == Some(UNDO_ENTRY);
    left.filter(|(_, entry)| is_undo(entry)).filter_map(|(_, mut entry)| Some(entry.get_mut("data")?.take())).collect()
}

impl Control {
    fn files(&self) -> Option<Arc<dyn FilesKept>> {
        self.standing().files.clone()
    }

    pub(crate) async fn files_begin_turn(&self, said: &[Arc<Message>]) {
        let Some(files) = self.files() else { return };
        let user = said.iter().find_map(|message| match &**message {
            Message::User(user) => Some(text_of(&user.content)),
            _ => None,
        });
        self.tell_of_files(files.begin_turn(&user.unwrap_or_default()).await).await;
    }

    pub(crate) async fn files_before_call(&self, call_id: &str, tool: &str, approval: &Approval) {
        let Some(files) = self.files().filter(|_| approval.tier != Tier::Read) else { return };
        self.tell_of_files(files.before_call(call_id, tool).await).await;
    }

    pub(crate) async fn files_after_call(&self, call_id: &str) {
        let Some(files) = self.files() else { return };
        match files.after_call(call_id).await {
            // What cannot be written now cannot be written with the result either, which then ends the run.
            Ok(Some(entry)) => drop(self.recorder().note(entry)),
            Ok(None) => {}
            Err(problem) => self.tell_of_files(Err(problem)).await,
        }
    }

    pub(crate) async fn files_end_turn(&self) {
        let Some(files) = self.files() else { return };
        self.tell_of_files(files.end_turn().await).await;
    }

    async fn tell_of_files(&self, kept: Result<(), String>) {
        if let Err(text) = kept {
            self.outlet.send(SessionEvent::Notice { source: "undo", text }).await;
        }
    }
}
