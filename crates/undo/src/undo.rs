//! The one thing a session holds: looks before and after calls, takes back, does again.

mod look;
mod plan;
mod reveal;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::UndoError;
use crate::collect::{self, Collected};
use crate::digest::Digest;
use crate::index_file::{self, IndexFile};
use crate::limit::StopFlag;
use crate::node::Uncovered;
use crate::objects::{Objects, private_folder};
use crate::passing::Passing;
use crate::records::{Records, Taken, new_id};
use crate::rel_path::RelPath;
use crate::restore::{AppliedChanges, LeftReason, Restore};
use crate::scan::{Coverage, PendingFile, Scanner, SnapshotLimits};
use crate::tree::{TreeChange, WorkspaceTree, uncovered_path};
use crate::turn::{By, Call, Net, Turn, net};
use plan::Insists;

#[derive(Clone, Debug)]
pub struct UndoOptions {
    /// Shared by all sessions of all workspaces.
    pub store: PathBuf,
    /// With its links followed.
    pub workspace: PathBuf,
    pub session: String,
    /// Bytes that the store may take.
    pub quota: u64,
    /// Larger files are not covered.
    pub max_file: u64,
    /// Entries of a workspace that are covered.
    pub max_entries: u64,
    /// How long a call may be kept waiting. What is not covered then is told, and copied later where that is possible.
    pub patience: Duration,
    /// Attribute files of git that hold in every repository.
    pub attributes: Vec<PathBuf>,
}

/// What a call is kept waiting at most.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Until when what is done, in percent of the patience. The rest is for writing down what was seen.
const READ_INDEX: u32 = 25;
const WALK: u32 = 60;
/// Within a turn, where little has to be asked of git and copied.
const WALK_AGAIN: u32 = 75;
const ASK_GIT: u32 = 80;
const COPY: u32 = 85;
/// What the background copies while others wait.
const BATCH: Duration = Duration::from_millis(25);
/// How long the contents of git that a call has changed are copied.
const KEEPS_BLOBS: Duration = Duration::from_secs(2);
/// Paths of each kind that are named.
const EXAMPLES: usize = 3;

/// What is not covered for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub why: Uncovered,
    pub count: usize,
    /// The first few.
    pub paths: Vec<RelPath>,
}

/// What is to be taken back.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// So many turns, from the newest that stands.
    pub turns: usize,
    /// These turns instead.
    pub ids: Vec<String>,
    /// Only what lies here. Then the newest turn that changed something here is meant.
    pub path: Option<RelPath>,
    /// Also what somebody has changed since, and what a redo could not give back.
    pub force: bool,
    /// Of these two, only the first.
    pub spares_lost: bool,
}

impl Default for UndoRequest {
    fn default() -> Self {
        Self { turns: 1, ids: Vec::new(), path: None, force: false, spares_lost: false }
    }
}

/// What an undo or a redo came to.
#[derive(Clone, Debug, Default)]
pub struct UndoReport {
    /// From what was there to what is there now.
    pub restored: Vec<TreeChange>,
    /// Paths that are as they were before the undo, with the reason.
    pub left: Vec<(RelPath, LeftReason)>,
    pub turns: usize,
    /// Whether a redo gives back what this has overwritten.
    pub gives_back: bool,
    /// Of the turns that an undo meant, or of the undo that a redo meant.
    pub ids: Vec<String>,
}

impl UndoReport {
    /// Whether nothing is left that could still be done: by insisting, or once there is room again.
    fn is_final(&self) -> bool {
        self.left.iter().all(|(_, why)| matches!(why, LeftReason::NotKept(_) | LeftReason::Stays(_)))
    }
}

pub struct Undo {
    options: UndoOptions,
    scanner: Scanner,
    records: Records,
    index: PathBuf,
    state: Mutex<KnownWorkspace>,
    /// Who waits for the state: the background lets them pass.
    waiting: AtomicUsize,
    begun: Mutex<BegunTurns>,
    _passing: Option<Passing>,
}

/// What can be said without waiting for the state, which a long look holds.
#[derive(Clone, Default)]
struct BegunTurns {
    turns: u64,
    /// Of a turn that has not had a call yet.
    label: Option<String>,
}

struct KnownWorkspace {
    /// As it was last seen, and as the index file has it.
    tree: Option<WorkspaceTree>,
    index: IndexFile,
    /// Whether this process has looked.
    has_looked: bool,
    /// Files of the tree that are still to be copied.
    pending: Vec<PendingFile>,
    turn: Option<Turn>,
    label: String,
}

/// Until when folders are looked into.
#[derive(Clone, Copy)]
enum Walks {
    /// In percent of the patience.
    Until(u32),
    /// What other calls are doing must be found, so nothing is left out.
    ToTheEnd,
}

/// Why the workspace is looked at.
#[derive(Clone)]
enum LookReason {
    /// A call is about to begin, and waits.
    Before { coverage: Coverage, walks: Walks, stop: StopFlag },
    /// Calls have run: whatever they changed is read.
    After,
}

impl Undo {
    pub fn open(options: UndoOptions) -> Result<Self, UndoError> {
        private_folder(&options.store).map_err(UndoError::Store)?;
        let name = Digest::of(options.workspace.as_os_str().as_encoded_bytes()).to_string();
        let objects = Arc::new(Objects::open(&options.store, &name[..32]).map_err(UndoError::Store)?);
        let records = Records::open(&options.store).map_err(UndoError::Store)?;
        let limits = SnapshotLimits {
            max_file: options.max_file,
            max_bytes: options.quota / 2,
            max_entries: options.max_entries,
        };
        // Without links, as the workspace is.
        let store = options.store.canonicalize().map_err(UndoError::Store)?;
        let scanner = Scanner::new(options.workspace.clone(), store, objects, limits, options.attributes.clone());
        let indexes = options.store.join("workspaces");
        private_folder(&indexes).map_err(UndoError::Store)?;
        let index = indexes.join(&name[..32]);
        let mut state = KnownWorkspace {
            tree: None,
            index: IndexFile::new(index.clone()),
            has_looked: false,
            pending: Vec::new(),
            turn: None,
            label: String::new(),
        };
        // A turn that was cut off in the middle of a call goes on: what is found now is what that call did.
        if let Some(turn) = records.turns_of(&options.session).pop().filter(|turn| !turn.open.is_empty()) {
            state.tree = state.index.load();
            state.turn = state.tree.is_some().then_some(turn);
        }
        Ok(Self {
            options,
            scanner,
            records,
            index,
            state: Mutex::new(state),
            waiting: AtomicUsize::new(0),
            begun: Mutex::default(),
            _passing: None,
        })
    }

    /// The store is a folder of its own in the one that is named, and goes with the last who holds this.
    pub fn open_passing(mut options: UndoOptions) -> Result<Self, UndoError> {
        let passing = Passing::new(&options.store).map_err(UndoError::Store)?;
        passing.folder().clone_into(&mut options.store);
        Ok(Self { _passing: Some(passing), ..Self::open(options)? })
    }

    /// What follows belongs to a new turn. Never waits: the turn before is closed by whoever comes next.
    pub fn begin_turn(&self, label: &str) {
        let mut begun = self.begun();
        begun.turns += 1;
        begun.label = Some(label.to_owned());
    }

    /// So many turns have begun.
    pub fn turns_begun(&self) -> u64 {
        self.begun().turns
    }

    /// The prompt is worked off. What calls did that were cut off is seen now.
    pub fn end_turn(&self) -> Result<(), UndoError> {
        self.end_turn_of(self.turns_begun())
    }

    /// The same, unless another turn has begun since there were so many.
    pub fn end_turn_of(&self, turns: u64) -> Result<(), UndoError> {
        let mut state = self.lock();
        if self.turns_begun() == turns { self.close(&mut state) } else { Ok(()) }
    }

    /// Closes the turn before, where another has begun.
    fn close_before(&self, state: &mut KnownWorkspace) -> Result<(), UndoError> {
        let BegunTurns { turns, label } = self.begun().clone();
        let Some(label) = label else { return Ok(()) };
        self.close(state)?;
        state.label = label;
        let mut begun = self.begun();
        // Whoever was given up may come here late.
        if begun.turns == turns {
            begun.label = None;
        }
        Ok(())
    }

    fn begun(&self) -> MutexGuard<'_, BegunTurns> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, state: &mut KnownWorkspace) -> Result<(), UndoError> {
        if state.turn.as_ref().is_some_and(|turn| !turn.open.is_empty()) {
            self.see_end(state, |_| true)?;
        }
        // A turn that has changed nothing leaves no record.
        if let Some(turn) = state.turn.take().filter(|turn| turn.steps.is_empty()) {
            self.records.forget_turn(&turn);
        }
        Ok(())
    }

    /// A call begins that may change files. What changed since the last look was not this call.
    pub fn before_call(&self, call: Call, in_background: bool) -> Result<(), UndoError> {
        self.before_call_unless(call, in_background, &StopFlag::default())
    }

    /// The same, unless somebody says that the call will not run after all. Then nothing has begun.
    pub fn before_call_unless(&self, call: Call, in_background: bool, stop: &StopFlag) -> Result<(), UndoError> {
        let mut state = self.lock();
        if stop.is_stopped() {
            return Err(UndoError::Stopped);
        }
        self.close_before(&mut state)?;
        let before = |coverage, walks| LookReason::Before { coverage, walks, stop: stop.clone() };
        if state.turn.is_none() {
            self.look(&mut state, before(Coverage::Anew, Walks::Until(WALK)))?;
            state.turn = Some(Turn {
                id: new_id(),
                session: self.options.session.clone(),
                workspace: self.options.workspace.display().to_string(),
                label: state.label.clone(),
                steps: Vec::new(),
                open: Vec::new(),
                undone: false,
            });
        } else {
            let by = if in_background { By::Background } else { By::Others };
            let is_alone = !in_background && state.turn.as_ref().is_some_and(|turn| turn.open.is_empty());
            let walks = if is_alone { Walks::Until(WALK_AGAIN) } else { Walks::ToTheEnd };
            self.see(&mut state, by, before(Coverage::AsBefore, walks))?;
        }
        let Some(turn) = &mut state.turn else { return Ok(()) };
        turn.open.push(call);
        self.keep(turn)
    }

    /// The call has ended: what it has changed.
    pub fn after_call(&self, id: &str) -> Result<Vec<TreeChange>, UndoError> {
        let mut state = self.lock();
        if !state.turn.as_ref().is_some_and(|turn| turn.open.iter().any(|call| call.id == id)) {
            return Ok(Vec::new());
        }
        self.see_end(&mut state, |call| call.id == id)
    }

    /// The session's turns that have changed something, oldest first.
    pub fn turns(&self) -> Vec<Turn> {
        let state = self.lock();
        let mut turns = self.records.turns_of(&self.options.session);
        if let Some(turn) = &state.turn {
            turns.retain(|other| other.id != turn.id);
            turns.push(turn.clone());
        }
        turns.retain(|turn| !turn.changes().is_empty());
        turns
    }

    /// The turn that is going on.
    pub fn current(&self) -> Option<String> {
        self.lock().turn.as_ref().map(|turn| turn.id.clone())
    }

    /// What was there without being covered when the workspace was last looked at, by whichever session.
    pub fn uncovered(&self) -> Vec<(RelPath, Uncovered)> {
        match &self.lock().tree {
            Some(tree) => tree.uncovered().collect(),
            None => index_file::load(&self.index).map(|tree| tree.uncovered().collect()).unwrap_or_default(),
        }
    }

    /// What is not covered now and that somebody might count on: not what is left out by design, such as build folders.
    pub fn left_out(&self) -> Vec<LeftOut> {
        let state = self.lock();
        let mut all: Vec<LeftOut> = Vec::new();
        for (folder, name, why) in
            state.tree.iter().flat_map(WorkspaceTree::uncovered_names).filter(|(.., why)| why.is_news())
        {
            let at = all.iter().position(|one| one.why == why).unwrap_or_else(|| {
                all.push(LeftOut { why, count: 0, paths: Vec::new() });
                all.len() - 1
            });
            all[at].count += 1;
            if all[at].paths.len() < EXAMPLES {
                all[at].paths.push(uncovered_path(folder, name, why));
            }
        }
        all
    }

    /// Entries of the workspace that are known.
    pub fn entries(&self) -> usize {
        self.lock().tree.as_ref().map_or(0, WorkspaceTree::entries)
    }

    /// Whether there are files that [`Undo::go_on`] would copy.
    pub fn is_unfinished(&self) -> bool {
        !self.lock().pending.is_empty()
    }

    pub fn content(&self, digest: &Digest) -> Result<Vec<u8>, UndoError> {
        self.scanner.content(digest)
    }

    pub fn workspace(&self) -> &std::path::Path {
        &self.options.workspace
    }

    /// What would be in the way of an undo: as [`Undo::undo`], without changing anything.
    pub fn preview(&self, wanted: &UndoRequest) -> Result<UndoReport, UndoError> {
        let mut state = self.lock();
        self.settle(&mut state)?;
        let plan = self.plan(&mut state, wanted)?;
        let ids = plan.ids();
        Ok(UndoReport { restored: plan.changes, left: plan.left, turns: ids.len(), gives_back: true, ids })
    }

    pub fn undo(&self, wanted: &UndoRequest) -> Result<UndoReport, UndoError> {
        let mut state = self.lock();
        self.settle(&mut state)?;
        let plan = self.plan(&mut state, wanted)?;
        let ids = plan.ids();
        let whole = if plan.is_whole { ids.clone() } else { Vec::new() };
        let mut taken = Taken {
            id: new_id(),
            session: self.options.session.clone(),
            turns: whole,
            changes: plan.changes.clone(),
            redone: false,
            part: None,
        };
        // Before anything changes: should this be cut off, the other state can still be had.
        self.records.save_taken(&taken).map_err(UndoError::Store)?;
        let (restored, left) = self.apply(&mut state, plan.changes)?;
        taken.changes.clone_from(&restored);
        let left = plan.left.into_iter().chain(left).collect();
        let report = UndoReport { restored, left, turns: ids.len(), gives_back: true, ids };
        taken.part = wanted.path.clone().filter(|_| report.is_final()).map(|path| (path, report.ids.clone()));
        // What has changed nothing is nothing to be done again.
        if report.restored.is_empty() {
            self.records.forget_taken(&taken);
        } else {
            self.records.save_taken(&taken).map_err(UndoError::Store)?;
        }
        if report.is_final() {
            self.mark(&mut state, &taken.turns, true)?;
        }
        Ok(report)
    }

    /// Does again what was taken back last.
    pub fn redo(&self, force: bool) -> Result<UndoReport, UndoError> {
        self.redo_of(None, force)
    }

    /// The same for one undo, which must still be the last. What could not be given back is left even if forced.
    pub fn redo_of(&self, id: Option<&str>, force: bool) -> Result<UndoReport, UndoError> {
        let mut state = self.lock();
        self.settle(&mut state)?;
        let newest = self.newest_turn(&state);
        let mut taken = self.records.taken_of(&self.options.session);
        taken.retain(|taken| !taken.redone && newest.as_ref().is_none_or(|newest| taken.id > *newest));
        let taken = taken.pop().filter(|taken| id.is_none_or(|id| taken.id == id));
        let mut taken = taken.ok_or(UndoError::NothingToRedo)?;
        let nets = taken
            .changes
            .iter()
            .cloned()
            .map(TreeChange::reversed)
            .map(|change| (change.path, Net { before: change.after, after: change.before, is_mixed: false }));
        let insists = Insists { on_changed: force, on_lost: force && id.is_none() };
        let (changes, left) = self.possible(&mut state, nets.collect(), insists)?;
        let (restored, failed) = self.apply(&mut state, changes)?;
        let report = UndoReport {
            restored,
            left: left.into_iter().chain(failed).collect(),
            turns: taken.turns.len(),
            gives_back: false,
            ids: vec![taken.id.clone()],
        };
        taken.redone = report.is_final();
        self.records.save_taken(&taken).map_err(UndoError::Store)?;
        self.mark(&mut state, &taken.turns, false)?;
        Ok(report)
    }

    /// Brings the store within its quota: the oldest turns go first.
    pub fn collect(&self) -> Result<Collected, UndoError> {
        let current = self.current();
        let folder = self.options.store.join("workspaces");
        let keep = collect::KeptObjects { turn: current.as_deref(), index: &self.index, indexes: &folder };
        let collected = self.scanner.objects.seal().and_then(|()| {
            collect::collect(&self.scanner.objects, &self.records, &self.options.store, self.options.quota, &keep)
        });
        self.scanner.objects.counted();
        collected.map_err(UndoError::Store)
    }

    /// Whether enough was added for [`Undo::collect`] to be worth its time.
    pub fn should_collect(&self) -> bool {
        self.scanner.objects.added() > self.options.quota / 8
    }

    fn lock(&self) -> MutexGuard<'_, KnownWorkspace> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Everything that is there now is kept and known.
    fn settle(&self, state: &mut KnownWorkspace) -> Result<(), UndoError> {
        self.see(state, By::Others, LookReason::After)?;
        match &state.turn {
            Some(turn) => self.keep(turn),
            None => Ok(()),
        }
    }

    fn keep(&self, turn: &Turn) -> Result<(), UndoError> {
        self.records.save_turn(turn).map_err(UndoError::Store)
    }

    fn standing(&self, state: &KnownWorkspace) -> Vec<Turn> {
        let mut turns = self.records.turns_of(&self.options.session);
        if let Some(turn) = &state.turn {
            turns.retain(|other| other.id != turn.id);
            turns.push(turn.clone());
        }
        turns.retain(|turn| !turn.undone && turn.workspace == self.options.workspace.display().to_string());
        turns.retain(|turn| !net(&turn.steps).is_empty());
        turns
    }

    fn newest_turn(&self, state: &KnownWorkspace) -> Option<String> {
        self.standing(state).pop().map(|turn| turn.id)
    }

    fn apply(&self, state: &mut KnownWorkspace, changes: Vec<TreeChange>) -> Result<AppliedChanges, UndoError> {
        let done = {
            let empty = WorkspaceTree::default();
            let tree = state.tree.as_ref().unwrap_or(&empty);
            Restore::new(&self.scanner, tree).map_err(UndoError::Workspace)?.apply(changes)
        };
        self.look(state, LookReason::After)?;
        Ok(done)
    }

    fn mark(&self, state: &mut KnownWorkspace, turns: &[String], undone: bool) -> Result<(), UndoError> {
        let marked: BTreeSet<&String> = turns.iter().collect();
        if let Some(turn) = &mut state.turn
            && marked.contains(&turn.id)
        {
            turn.undone = undone;
        }
        for mut turn in self.records.turns_of(&self.options.session) {
            if marked.contains(&turn.id) {
                turn.undone = undone;
                self.keep(&turn)?;
            }
        }
        Ok(())
    }
}
