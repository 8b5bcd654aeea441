//! Puts the store of files behind a session: what blocks runs on threads that may.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_secrets::Veil;
use omp_session::{FilesKept, Session, UNDO_ENTRY};
use omp_store::Custom;
use omp_tools::Jobs;
use omp_undo::{Call, Options, Undo, UndoError, Wanted};
use serde_json::{Value, json};

use crate::commands::{reported, summed_up};
use crate::compose::Setup;

const MOST_ENTRIES: u64 = 200_000;
/// Of what the user said, for lists.
const LONGEST_LABEL: usize = 60;
const HOME: &str = "nothing can be undone in this session: its folder holds a home, which is too much to be copied\n\
    hint: start omp in the folder of a project; undo.enabled=false leaves this out";

/// Where it is on and can be: then the session keeps files from its next prompt on.
pub fn files(setup: &mut Setup, session: &Session, jobs: &Arc<Jobs>, veil: Arc<Veil>) -> Option<Arc<Undo>> {
    if !setup.settings.get("undo.enabled").unwrap_or(true) {
        return None;
    }
    // A home is too much to be copied before the first call, and most of it is no work of the session's.
    if setup.dirs.home.canonicalize().is_ok_and(|home| home.starts_with(&setup.cwd)) {
        setup.warnings.push(HOME.to_owned());
        return None;
    }
    let is_recorded = session.snapshot().file.is_some();
    let megabytes = |key: &str, usual: u64| setup.settings.get::<u64>(key).unwrap_or(usual).saturating_mul(1 << 20);
    let options = Options {
        store: if is_recorded { setup.dirs.agent.join("undo") } else { setup.dirs.agent.clone() },
        workspace: setup.cwd.clone(),
        session: session.snapshot().session_id.clone(),
        quota: megabytes("undo.quotaMb", 2048),
        max_file: megabytes("undo.maxFileMb", 16),
        max_entries: MOST_ENTRIES,
    };
    // What leaves no session behind leaves no copies of files either.
    match if is_recorded { Undo::open(options) } else { Undo::open_passing(options) } {
        Ok(undo) => {
            let undo = Arc::new(undo);
            session.keep_files(Arc::new(Kept { undo: undo.clone(), jobs: jobs.clone(), veil }));
            Some(undo)
        }
        Err(error) => {
            setup.warnings.push(format!("nothing can be undone in this session: {error}"));
            None
        }
    }
}

struct Kept {
    undo: Arc<Undo>,
    jobs: Arc<Jobs>,
    /// What the user said is written down.
    veil: Arc<Veil>,
}

/// On a thread that may block.
pub async fn aside<T: Send + 'static>(
    undo: &Arc<Undo>,
    work: impl FnOnce(&Undo) -> Result<T, UndoError> + Send + 'static,
) -> Result<T, String> {
    let undo = undo.clone();
    match tokio::task::spawn_blocking(move || work(&undo)).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn unkept(problem: String) -> String {
    format!("what this call changes cannot be undone: {problem}")
}

impl FilesKept for Kept {
    fn begin_turn<'a>(&'a self, said: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let label: String =
            self.veil.hide(said).lines().next().unwrap_or_default().chars().take(LONGEST_LABEL).collect();
        async move { aside(&self.undo, move |undo| undo.begin_turn(&label)).await }.boxed()
    }

    fn before_call<'a>(&'a self, call_id: &'a str, tool: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let call = Call { id: call_id.to_owned(), tool: tool.to_owned() };
        let in_background = self.jobs.any_running();
        async move { aside(&self.undo, move |undo| undo.before_call(call, in_background)).await.map_err(unkept) }
            .boxed()
    }

    fn after_call<'a>(&'a self, call_id: &'a str) -> BoxFuture<'a, Result<Option<Custom>, String>> {
        let id = call_id.to_owned();
        async move {
            let seen = aside(&self.undo, move |undo| {
                let turn = undo.current();
                let changes = undo.after_call(&id)?;
                Ok((turn, changes.len()))
            });
            let (turn, count) = seen.await.map_err(unkept)?;
            let data = turn.filter(|_| count > 0).map(|turn| json!({"turn": turn, "callId": call_id, "files": count}));
            Ok(data.map(|data| Custom { custom_type: UNDO_ENTRY.to_owned(), data: Some(data) }))
        }
        .boxed()
    }

    fn end_turn(&self) -> BoxFuture<'_, Result<(), String>> {
        async move {
            aside(&self.undo, |undo| {
                undo.end_turn()?;
                if undo.should_collect() {
                    undo.collect()?;
                }
                Ok(())
            })
            .await
        }
        .boxed()
    }

    fn changed_by<'a>(&'a self, entries: &'a [Value]) -> BoxFuture<'a, Option<String>> {
        let wanted = wanted(entries);
        async move {
            let report = aside(&self.undo, move |undo| undo.preview(&wanted)).await.ok()?;
            (!report.restored.is_empty() || !report.left.is_empty()).then(|| summed_up(&report))
        }
        .boxed()
    }

    fn rewind<'a>(&'a self, entries: &'a [Value]) -> BoxFuture<'a, String> {
        let wanted = wanted(entries);
        async move {
            match aside(&self.undo, move |undo| undo.undo(&wanted)).await {
                Ok(report) => reported("taken back", &report),
                Err(problem) => problem,
            }
        }
        .boxed()
    }
}

/// The turns that entries of the session file name.
fn wanted(entries: &[Value]) -> Wanted {
    let mut ids: Vec<String> =
        entries.iter().filter_map(|entry| Some(entry.get("turn")?.as_str()?.to_owned())).collect();
    ids.sort();
    ids.dedup();
    Wanted { ids, ..Wanted::default() }
}
