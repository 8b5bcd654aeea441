//! Going over to another session, and what can be done with this one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_session::{TitleSource, Wish};
use serde::Deserialize;
use serde_json::json;

use super::current::Current;
use super::frame::{DONE, Outcome, Refusal, data};
use super::input::Request;
use super::server::Server;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct New {
    #[serde(default)]
    parent_session: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Switch {
    session_path: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Branch {
    entry_id: String,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Export {
    #[serde(default)]
    output_path: Option<PathBuf>,
}

pub async fn new_session(server: &Arc<Server>, request: &Request) -> Outcome {
    let New { parent_session } = request.fields()?;
    server.go_over(Wish::New { cwd: folder(server), parent: parent_session }).await?;
    data(&json!({"cancelled": false}))
}

pub async fn switch_session(server: &Arc<Server>, request: &Request) -> Outcome {
    let Switch { session_path } = request.fields()?;
    let cwd = folder(server);
    let file = cwd.as_ref().map_or_else(|| session_path.clone(), |cwd| cwd.join(&session_path));
    let open = server.current().ok().and_then(|here| here.session.snapshot().file.clone());
    if !open.is_some_and(|open| same(&open, &file)) {
        server.go_over(Wish::Resume { file, cwd }).await?;
    }
    data(&json!({"cancelled": false}))
}

/// The folder that the work is in, which may not be the host's: a session can be moved.
fn folder(server: &Server) -> Option<PathBuf> {
    server.current().ok().map(|here| PathBuf::from(&here.header.cwd)).filter(|cwd| cwd.is_dir())
}

fn same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// A new session up to before a message of the user, whose text is given back.
pub async fn branch(server: &Arc<Server>, request: &Request) -> Outcome {
    let Branch { entry_id } = request.fields()?;
    let here = server.current()?;
    let file = here.session.snapshot().file.clone().ok_or("this session is not recorded, so it has no branches")?;
    let points = here.session.branch_points()?;
    drop(here);
    let point = points.into_iter().find(|point| point.entry.as_str() == entry_id);
    let point = point.ok_or("Invalid entry ID for branching")?;
    server.go_over(Wish::Branch { file, leaf: point.parent }).await?;
    data(&json!({"text": point.text, "cancelled": false}))
}

pub async fn get_branch_messages(current: &Current) -> Outcome {
    let session = current.session.clone();
    let points = blocking(move || session.branch_points()).await?;
    let messages: Vec<_> =
        points.into_iter().map(|point| json!({"entryId": point.entry.as_str(), "text": point.text})).collect();
    data(&json!({"messages": messages}))
}

pub fn set_session_name(current: &Current, request: &Request) -> Outcome {
    let Name { name } = request.fields()?;
    if name.trim().is_empty() {
        return Err("Session name cannot be empty".into());
    }
    current.session.rename(name.trim(), TitleSource::User).map_err(|error| error.to_string())?;
    DONE
}

pub async fn export_html(server: &Server, current: &Current, request: &Request) -> Outcome {
    let Export { output_path } = request.fields()?;
    let (host, session) = (server.host.clone(), current.session.clone());
    let path = blocking(move || host.export(&session, output_path)).await?;
    data(&json!({"path": path.display().to_string()}))
}

/// Work with files, off the thread that does the waiting.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    Ok(done?)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compact {
    #[serde(default)]
    custom_instructions: Option<String>,
}

pub async fn compact(current: &Current, request: &Request) -> Outcome {
    let Compact { custom_instructions } = request.fields()?;
    let compacted = current.session.compact(custom_instructions).await?;
    current.activity.reread(&current.session.messages());
    data(&compacted)
}

/// The document stands in the session; no file is written for it.
pub async fn handoff(current: &Current, request: &Request) -> Outcome {
    let Compact { custom_instructions } = request.fields()?;
    if current.session.works().await {
        return Err("Cannot hand off while a response is in progress".into());
    }
    current.session.handoff(custom_instructions).await?;
    current.activity.reread(&current.session.messages());
    data(&serde_json::Value::Null)
}
