//! Where a session says that files may change, so that whoever keeps them can take it back.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_agent::{Approval, Tier};
use omp_store::Custom;
use omp_types::{Message, text_of};

use crate::control::Control;
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
