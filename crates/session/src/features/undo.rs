//! Reports possible file changes of a session, so that they can be undone.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{Choice, ChoiceOption};
use omp_compaction::TreeMove;
use omp_store::{Context, Custom, EntryId};
use omp_types::{Message, text_of};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{SessionCx, SessionFeature};
use crate::control::Control;
use crate::desk::{Answer, QuestionKind};
use crate::event::SessionEvent;

/// The custom entry of a call that changed files.
pub const UNDO_ENTRY: &str = "undo";

/// Keeps the contents of files before calls change them. An error is a sentence for the user; the call runs regardless.
pub trait FilesKept: Send + Sync {
    fn begin_turn<'a>(&'a self, said: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Called before a call that may change files.
    fn before_call<'a>(&'a self, call_id: &'a str, tool: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Called after the call. An abort stops the search for its changes.
    fn after_call<'a>(&'a self, call_id: &'a str, abort: &'a CancellationToken) -> BoxFuture<'a, CallSeen>;

    fn end_turn<'a>(&'a self, abort: &'a CancellationToken) -> BoxFuture<'a, Result<(), String>>;

    /// The changes of the calls with these entries that are still in place, one path per line. `None` if there are none.
    fn changed_by<'a>(&'a self, entries: &'a [Value]) -> BoxFuture<'a, Option<String>>;

    /// Undoes the changes made in the turns of these calls. The answer is for the user.
    fn rewind<'a>(&'a self, entries: &'a [Value]) -> BoxFuture<'a, String>;
}

/// The result of checking a finished call for changes.
#[derive(Debug, Default)]
pub struct CallSeen {
    /// Entry for the session file, if the call has changed files or may have.
    pub entry: Option<Custom>,
    /// For the user.
    pub problem: Option<String>,
}

/// Files that were changed since and would be overwritten by a command of the user.
pub struct FilesInTheWay {
    /// One path per line.
    pub paths: String,
    /// Runs if the user agrees.
    pub overwrite: BoxFuture<'static, Overwritten>,
}

pub struct Overwritten {
    /// Message for the user.
    pub said: String,
    /// Message for the model, sent with the next prompt.
    pub told: Option<Arc<Message>>,
}

const REWIND: &str = "Rewind the files too";
const LEAVE: &str = "Keep the files";
const LEFT: &str = "files kept";
const OVERWRITE: &str = "Overwrite them";
const WORKS: &str = "nothing was overwritten: a turn is running\nhint: run the command again with `force`";

/// Asks whether the files may be overwritten. The first option is the harmless one.
pub(crate) async fn ask_to_overwrite(control: Arc<Control>, files: FilesInTheWay) {
    let question = format!("These files were changed later, so they were skipped:\n{}", files.paths);
    let text = match is_wanted(&control, question, [LEAVE, OVERWRITE], OVERWRITE).await {
        false => LEFT.to_owned(),
        true if control.snapshot().running => WORKS.to_owned(),
        true => {
            let done = files.overwrite.await;
            done.told.into_iter().for_each(|message| control.wait_for_next_turn(message));
            done.said
        }
    };
    control.outlet.send(SessionEvent::Notice { source: "undo", text }).await;
}

async fn is_wanted(control: &Control, question: String, labels: [&str; 2], wanted: &str) -> bool {
    let option = |label: &str| ChoiceOption { label: label.to_owned(), description: None };
    let choice = Choice { question, options: labels.map(option).to_vec(), is_closed: true, ..Choice::default() };
    match control.desk.put(QuestionKind::Choose(choice)).await {
        Some(Answer::Text(text)) => text == wanted,
        Some(Answer::Choices(choices)) => choices.iter().any(|choice| choice == wanted),
        // A plain yes selects the first option.
        Some(Answer::Yes) => labels[0] == wanted,
        Some(Answer::No | Answer::Always { .. }) | None => false,
    }
}

/// Offers to restore the files after the session moved back in its tree. `from` is the entry before the move. The first
/// option is the harmless one, so that neither Esc nor a stray Enter rewinds.
async fn offer_rewind(control: Arc<Control>, files: Arc<dyn FilesKept>, from: Option<EntryId>) {
    let entries = left_behind(&control, from);
    if entries.is_empty() {
        return;
    }
    let Some(changed) = files.changed_by(&entries).await else { return };
    let question = format!("Files changed since then:\n{changed}");
    let text = match is_wanted(&control, question, [LEAVE, REWIND], REWIND).await {
        true => files.rewind(&entries).await,
        false => LEFT.to_owned(),
    };
    control.outlet.send(SessionEvent::Notice { source: "undo", text }).await;
}

/// The entries of calls that changed files, on the path to `from` but not on the path to the current entry.
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

/// Makes the file changes of a session undoable.
pub(super) struct ChangesKept(pub Arc<dyn FilesKept>);

impl SessionFeature for ChangesKept {
    fn begin_prompt<'a>(&'a self, cx: &'a SessionCx, said: &'a [Arc<Message>]) -> BoxFuture<'a, ()> {
        let user = said.iter().find_map(|message| match &**message {
            Message::User(user) => Some(text_of(&user.content)),
            _ => None,
        });
        async move { tell(cx, self.0.begin_turn(&user.unwrap_or_default()).await).await }.boxed()
    }

    fn before_change<'a>(&'a self, cx: &'a SessionCx, id: &'a str, what: &'a str) -> BoxFuture<'a, ()> {
        async move { tell(cx, self.0.before_call(id, what).await).await }.boxed()
    }

    fn after_change<'a>(&'a self, cx: &'a SessionCx, id: &'a str) -> BoxFuture<'a, ()> {
        async move {
            let seen = self.0.after_call(id, &cx.control.prompt_token()).await;
            if let Some(entry) = seen.entry {
                // If this cannot be written, the result cannot be written either, and that ends the run.
                drop(cx.note(entry));
            }
            tell(cx, seen.problem.map_or(Ok(()), Err)).await;
        }
        .boxed()
    }

    fn end_prompt<'a>(&'a self, cx: &'a SessionCx) -> BoxFuture<'a, ()> {
        async move { tell(cx, self.0.end_turn(&cx.control.prompt_token()).await).await }.boxed()
    }

    /// The move does not wait for the answer to the question.
    fn moved(&self, cx: &SessionCx, moved: &TreeMove, _context: &Context) {
        cx.spawn_asking(offer_rewind(cx.control.clone(), self.0.clone(), moved.from.clone()));
    }
}

async fn tell(cx: &SessionCx, kept: Result<(), String>) {
    if let Err(text) = kept {
        cx.notice("undo", text).await;
    }
}
