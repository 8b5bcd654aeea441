//! Connects the undo store to a session; blocking work runs on blocking threads.

mod background;
mod left_out;
mod looks;

use std::collections::HashMap;
use std::future::ready;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_commands::{aside, reported, summed_up};
use omp_secrets::Veil;
use omp_session::{CallSeen, FilesKept, Recorder, UNDO_ENTRY};
use omp_store::Custom;
use omp_tools::Jobs;
use omp_undo::{Call, StopFlag, Undo, UndoOptions, UndoRequest};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::folder::FolderSetup;
use background::UndoThread;
use left_out::UncoveredNotices;
use looks::{UndoLooks, Waited};

/// Caps the entries of a workspace; each takes about 150 bytes of memory.
const MOST_ENTRIES: u64 = 600_000;
/// Caps the length of a prompt in lists of turns.
const LONGEST_LABEL: usize = 60;
const HOME: &str = "undo is off in this session: its folder contains a home folder, which is too large to copy\n\
    hint: start omp in a project folder; undo.enabled=false hides this warning";

/// Opens the undo store if it is enabled and possible; otherwise returns the reason.
pub fn open(setup: &FolderSetup, recorder: &Recorder) -> (Option<Arc<Undo>>, Option<String>) {
    if !setup.settings.of(omp_undo::SETTINGS).get::<bool>("undo.enabled") {
        return (None, None);
    }
    // A home folder is too large to copy before the first call, and most of it is not part of the session's work.
    if setup.dirs.home.canonicalize().is_ok_and(|home| home.starts_with(&setup.workspace)) {
        return (None, Some(HOME.to_owned()));
    }
    let is_recorded = recorder.path().is_some();
    let megabytes = |key: &str| setup.settings.of(omp_undo::SETTINGS).get::<u64>(key).saturating_mul(1 << 20);
    let options = UndoOptions {
        store: if is_recorded { setup.dirs.agent.join("undo") } else { setup.dirs.agent.clone() },
        workspace: setup.workspace.clone(),
        session: recorder.session_id().to_owned(),
        quota: megabytes("undo.quotaMb"),
        max_file: megabytes("undo.maxFileMb"),
        max_entries: MOST_ENTRIES,
        patience: patience(setup),
        attributes: attributes(setup),
    };
    // An unrecorded session leaves no copies of files either.
    match if is_recorded { Undo::open(options) } else { Undo::open_passing(options) } {
        Ok(undo) => (Some(Arc::new(undo)), None),
        Err(error) => (None, Some(format!("undo is off in this session: {error}"))),
    }
}

fn patience(setup: &FolderSetup) -> Duration {
    Duration::from_millis(setup.settings.of(omp_undo::SETTINGS).get("undo.patienceMs"))
}

/// The undo store as the session feature uses it.
pub fn kept(setup: &FolderSetup, undo: Arc<Undo>, jobs: &Arc<Jobs>, veil: Arc<Veil>) -> Arc<dyn FilesKept> {
    Arc::new(SessionUndo {
        undo,
        jobs: jobs.clone(),
        veil,
        told: UncoveredNotices::default(),
        background: UndoThread::default(),
        hanging: Mutex::default(),
        looks: UndoLooks::default(),
        begun: Mutex::default(),
        patience: patience(setup),
    })
}

/// Returns the default paths of git attributes that apply to every repository.
fn attributes(setup: &FolderSetup) -> Vec<PathBuf> {
    vec![setup.dirs.home.join(".config/git/attributes"), PathBuf::from("/etc/gitattributes")]
}

struct SessionUndo {
    undo: Arc<Undo>,
    jobs: Arc<Jobs>,
    /// Hides secrets in the prompts that are stored as labels.
    veil: Arc<Veil>,
    told: UncoveredNotices,
    /// Copies the files that there was no time for before the call.
    background: UndoThread,
    /// Set if a scan before a call timed out; the flag tells whether it has finished since.
    hanging: Mutex<Option<Arc<AtomicBool>>>,
    /// Scans after calls.
    looks: UndoLooks,
    /// Running calls, with their turns.
    begun: Mutex<HashMap<String, String>>,
    patience: Duration,
}

impl SessionUndo {
    fn hangs(&self) -> bool {
        let hanging = self.hanging.lock().unwrap_or_else(PoisonError::into_inner);
        hanging.as_ref().is_some_and(|is_back| !is_back.load(Ordering::Relaxed))
    }

    /// Scans the workspace before a call runs. The error is a notice for the user.
    async fn look_before(&self, call: Call, in_background: bool) -> Result<(), String> {
        // If this future is dropped, the call is cancelled and the scan stops.
        let stop = StopUndoOnDrop(StopFlag::default());
        let is_back = Arc::new(AtomicBool::new(false));
        let (wanted, mark, id, end) = (stop.0.clone(), is_back.clone(), call.id.clone(), self.looks.begin());
        let look = aside(&self.undo, move |undo| {
            let looked = undo.before_call_unless(call, in_background, &wanted);
            let known = looked.map(|()| (undo.current(), undo.left_out(), undo.entries(), undo.is_unfinished()));
            mark.store(true, Ordering::Relaxed);
            drop(end);
            known
        });
        let Ok(known) = tokio::time::timeout(self.patience + SLACK, look).await else {
            *self.hanging.lock().unwrap_or_else(PoisonError::into_inner) = Some(is_back);
            return Err(unkept(HANGS.to_owned()));
        };
        let (turn, left_out, entries, is_unfinished) = known.map_err(unkept)?;
        self.begun().extend(turn.map(|turn| (id, turn)));
        if is_unfinished {
            self.background.go_on(&self.undo);
        }
        self.told.tell(&left_out, entries, self.patience)
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a scan may exceed its timeout before it counts as hanging.
const SLACK: Duration = Duration::from_secs(1);
const HANGS: &str = "scanning the workspace takes too long\n\
    hint: changes are not recorded until it is done; undo.patienceMs sets how long commands wait";

struct StopUndoOnDrop(StopFlag);

impl Drop for StopUndoOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn unkept(problem: String) -> String {
    format!("the changes of this call cannot be undone: {problem}")
}

impl FilesKept for SessionUndo {
    fn begin_turn<'a>(&'a self, said: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let label: String =
            self.veil.hide(said).lines().next().unwrap_or_default().chars().take(LONGEST_LABEL).collect();
        self.begun().clear();
        self.undo.begin_turn(&label);
        ready(Ok(())).boxed()
    }

    fn before_call<'a>(&'a self, call_id: &'a str, tool: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let call = Call { id: call_id.to_owned(), tool: tool.to_owned() };
        let in_background = self.jobs.any_running();
        async move {
            if self.hangs() {
                return Ok(());
            }
            let told = self.look_before(call, in_background).await.err();
            let all: Vec<String> = self.looks.problem().into_iter().chain(told).collect();
            if all.is_empty() { Ok(()) } else { Err(all.join("\n")) }
        }
        .boxed()
    }

    fn after_call<'a>(&'a self, call_id: &'a str, abort: &'a CancellationToken) -> BoxFuture<'a, CallSeen> {
        async move {
            let Some(turn) = self.begun().remove(call_id) else { return CallSeen::default() };
            let id = call_id.to_owned();
            // If an abandoned scan still runs, do not wait for this one, because it runs after that scan.
            let most = if self.looks.any_given_up() { Duration::ZERO } else { self.patience };
            let look = move |undo: &Undo| undo.after_call(&id).map(|changes| changes.len());
            let seen = self.looks.wait(&self.undo, look, Some(most), abort).await;
            let mut data = json!({"turn": turn, "callId": call_id});
            let (is_changed, problem) = match seen {
                Waited::Done(Ok(count)) => {
                    data["files"] = json!(count);
                    (count > 0, None)
                }
                Waited::Done(Err(problem)) => (false, Some(unkept(problem))),
                Waited::TooLong => (true, self.told.tell_of_late_look(self.patience)),
                Waited::Aborted => (true, None),
            };
            let entry = is_changed.then(|| Custom { custom_type: UNDO_ENTRY.to_owned(), data: Some(data) });
            CallSeen { entry, problem: problem.or_else(|| self.looks.problem()) }
        }
        .boxed()
    }

    fn end_turn<'a>(&'a self, abort: &'a CancellationToken) -> BoxFuture<'a, Result<(), String>> {
        let turns = self.undo.turns_begun();
        async move {
            // If an abandoned scan still runs, do not wait: the next call closes the turn.
            if !self.looks.any_given_up() {
                let end = move |undo: &Undo| {
                    undo.end_turn_of(turns)?;
                    if undo.should_collect() { undo.collect().map(drop) } else { Ok(()) }
                };
                if let Waited::Done(ended) = self.looks.wait(&self.undo, end, None, abort).await {
                    ended?;
                }
            }
            self.looks.problem().map_or(Ok(()), Err)
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
                Ok(report) => reported("undone", &report),
                Err(problem) => problem,
            }
        }
        .boxed()
    }
}

/// Returns the turns that entries of the session file name.
fn wanted(entries: &[Value]) -> UndoRequest {
    let mut ids: Vec<String> =
        entries.iter().filter_map(|entry| Some(entry.get("turn")?.as_str()?.to_owned())).collect();
    ids.sort();
    ids.dedup();
    UndoRequest { ids, ..UndoRequest::default() }
}
