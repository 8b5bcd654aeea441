//! Switches to another session, and commands on the current one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_session::{BranchPoint, TitleSource, Wish};
use omp_wire::{
    BranchMessage, BranchMessagesReply, BranchReply, BranchRequest, CancelledReply, CompactRequest, ExportRequest,
    NewSessionRequest, PathReply, SessionNameRequest, SwitchSessionRequest,
};

use super::current::Current;
use super::frame::{DONE, Outcome, Refusal, data};
use super::input::Request;
use super::server::Server;
use crate::json::wire;

pub async fn new_session(server: &Arc<Server>, request: &Request) -> Outcome {
    let NewSessionRequest { parent_session } = request.fields()?;
    server.go_over(Wish::New { cwd: folder(server), parent: parent_session }).await?;
    data(&CancelledReply { cancelled: false })
}

pub async fn switch_session(server: &Arc<Server>, request: &Request) -> Outcome {
    let SwitchSessionRequest { session_path } = request.fields()?;
    let cwd = folder(server);
    let file = cwd.as_ref().map_or_else(|| session_path.clone(), |cwd| cwd.join(&session_path));
    let open = server.current().ok().and_then(|here| here.session.snapshot().file.clone());
    if !open.is_some_and(|open| same(&open, &file)) {
        server.go_over(Wish::Resume { file, cwd }).await?;
    }
    data(&CancelledReply { cancelled: false })
}

/// Returns the current working folder, which may differ from the host's: a session can be moved.
fn folder(server: &Server) -> Option<PathBuf> {
    server.current().ok().map(|here| PathBuf::from(&here.header.cwd)).filter(|cwd| cwd.is_dir())
}

fn same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Creates a session that ends before a message of the user, and returns the text of that message.
pub async fn branch(server: &Arc<Server>, request: &Request) -> Outcome {
    let BranchRequest { entry_id } = request.fields()?;
    let here = server.current()?;
    let file = here.session.snapshot().file.clone().ok_or("this session is not saved, so it has no branches")?;
    let points = here.session.branch_points()?;
    drop(here);
    let point = points.into_iter().find(|point| point.entry.as_str() == entry_id);
    let point = point.ok_or("Invalid entry ID for branching")?;
    server.go_over(Wish::Branch { file, leaf: point.parent }).await?;
    data(&BranchReply { text: point.text, cancelled: false })
}

pub async fn get_branch_messages(current: &Current) -> Outcome {
    let session = current.session.clone();
    let points = blocking(move || session.branch_points()).await?;
    let message = |point: BranchPoint| BranchMessage { entry_id: point.entry.as_str().to_owned(), text: point.text };
    data(&BranchMessagesReply { messages: points.into_iter().map(message).collect() })
}

pub fn set_session_name(current: &Current, request: &Request) -> Outcome {
    let SessionNameRequest { name } = request.fields()?;
    if name.trim().is_empty() {
        return Err("Session name cannot be empty".into());
    }
    current.session.rename(name.trim(), TitleSource::User).map_err(|error| error.to_string())?;
    DONE
}

pub async fn export_html(server: &Server, current: &Current, request: &Request) -> Outcome {
    let ExportRequest { output_path } = request.fields()?;
    let (host, session) = (server.host.clone(), current.session.clone());
    let path = blocking(move || host.export(&session, output_path)).await?;
    data(&PathReply { path: path.display().to_string() })
}

/// Runs file operations on a blocking thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    Ok(done?)
}

pub async fn compact(current: &Current, request: &Request) -> Outcome {
    let CompactRequest { custom_instructions } = request.fields()?;
    let compacted = current.session.compact(custom_instructions).await?;
    current.activity.reread(&current.session.messages());
    data(&wire::compaction(&compacted))
}

/// The handoff document is stored in the session, not in a file.
pub async fn handoff(current: &Current, request: &Request) -> Outcome {
    let CompactRequest { custom_instructions } = request.fields()?;
    if current.session.works().await {
        return Err("Cannot hand off while a response is in progress".into());
    }
    current.session.handoff(custom_instructions).await?;
    current.activity.reread(&current.session.messages());
    data(&serde_json::Value::Null)
}
