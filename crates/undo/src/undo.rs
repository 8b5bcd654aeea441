//! The main type of a session: scans before and after calls, undoes, redoes.

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
    /// Folder shared by all sessions of all workspaces.
    pub store: PathBuf,
    /// The workspace with links resolved.
    pub workspace: PathBuf,
    pub session: String,
    /// Size limit of the store in bytes.
    pub quota: u64,
    /// Larger files are not covered.
    pub max_file: u64,
    /// Maximum number of workspace entries that are covered.
    pub max_entries: u64,
    /// How long a call may be delayed. Files that are not covered by then are reported, and copied later if possible.
    pub patience: Duration,
    /// Git attribute files that apply to every repository.
    pub attributes: Vec<PathBuf>,
}

/// Maximum delay of a call.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Deadlines of the steps, in percent of the patience. The rest is for writing the result.
const READ_INDEX: u32 = 25;
const WALK: u32 = 60;
/// Used within a turn, when few files have to be checked in git and copied.
const WALK_AGAIN: u32 = 75;
const ASK_GIT: u32 = 80;
const COPY: u32 = 85;
/// Time slice of background copying while others wait.
const BATCH: Duration = Duration::from_millis(25);
/// Time limit for copying git contents that a call has changed.
const KEEPS_BLOBS: Duration = Duration::from_secs(2);
/// Maximum number of paths named per reason.
const EXAMPLES: usize = 3;

/// Paths that are not covered for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub why: Uncovered,
    pub count: usize,
    /// The first few paths.
    pub paths: Vec<RelPath>,
}

/// What to undo.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// Number of turns, starting from the newest that is not undone.
    pub turns: usize,
    /// Specific turns instead of a number.
    pub ids: Vec<String>,
    /// Only this path: the newest turn that changed something here is undone.
    pub path: Option<RelPath>,
    /// Also overwrite later changes, and content that a redo could not restore.
    pub force: bool,
    /// With `force`, overwrite later changes, but not content that a redo could not restore.
    pub spares_lost: bool,
}

impl Default for UndoRequest {
    fn default() -> Self {
        Self { turns: 1, ids: Vec::new(), path: None, force: false, spares_lost: false }
    }
}

/// Result of an undo or a redo.
#[derive(Clone, Debug, Default)]
pub struct UndoReport {
    /// Changes from the previous to the current state.
    pub restored: Vec<TreeChange>,
    /// Paths that were not changed, with the reason.
    pub left: Vec<(RelPath, LeftReason)>,
    pub turns: usize,
    /// Whether a redo restores everything that was overwritten.
    pub gives_back: bool,
    /// IDs of the turns that were undone, or of the undo that was reverted.
    pub ids: Vec<String>,
}

impl UndoReport {
    /// Returns whether nothing remains that could be done with `force` or with more disk space.
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
    /// Number of threads waiting for the state: background work yields to them.
    waiting: AtomicUsize,
    begun: Mutex<BegunTurns>,
    _passing: Option<Passing>,
}

/// Data that is available without locking the state, which a long scan holds.
#[derive(Clone, Default)]
struct BegunTurns {
    turns: u64,
    /// Label of a turn that has had no call yet.
    label: Option<String>,
}

struct KnownWorkspace {
    /// The state last seen, as stored in the index file.
    tree: Option<WorkspaceTree>,
    index: IndexFile,
    /// Whether this process has scanned the workspace.
    has_looked: bool,
    /// Files of the tree that still have to be copied.
    pending: Vec<PendingFile>,
    turn: Option<Turn>,
    label: String,
}

/// Deadline for scanning folders.
#[derive(Clone, Copy)]
enum Walks {
    /// In percent of the patience.
    Until(u32),
    /// No time limit, because changes of concurrent calls must be found.
    ToTheEnd,
}

/// Why the workspace is scanned.
#[derive(Clone)]
enum LookReason {
    /// A call is about to start, and waits.
    Before { coverage: Coverage, walks: Walks, stop: StopFlag },
    /// Calls have run: everything that they changed is read.
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
        // Resolves links, as for the workspace.
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
        // A turn that was interrupted during a call is continued: the changes found now are attributed to that call.
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

    /// The store is a temporary folder in the given one, removed when the last owner of this is dropped.
    pub fn open_passing(mut options: UndoOptions) -> Result<Self, UndoError> {
        let passing = Passing::new(&options.store).map_err(UndoError::Store)?;
        passing.folder().clone_into(&mut options.store);
        Ok(Self { _passing: Some(passing), ..Self::open(options)? })
    }

    /// Starts a new turn. Never blocks: the previous turn is closed by the next operation.
    pub fn begin_turn(&self, label: &str) {
        let mut begun = self.begun();
        begun.turns += 1;
        begun.label = Some(label.to_owned());
    }

    /// Returns the number of turns started.
    pub fn turns_begun(&self) -> u64 {
        self.begun().turns
    }

    /// Ends the turn, after the prompt was processed. Records changes of interrupted calls.
    pub fn end_turn(&self) -> Result<(), UndoError> {
        self.end_turn_of(self.turns_begun())
    }

    /// Ends the turn, unless another one has started since the given count.
    pub fn end_turn_of(&self, turns: u64) -> Result<(), UndoError> {
        let mut state = self.lock();
        if self.turns_begun() == turns { self.close(&mut state) } else { Ok(()) }
    }

    /// Closes the previous turn if another one has started.
    fn close_before(&self, state: &mut KnownWorkspace) -> Result<(), UndoError> {
        let BegunTurns { turns, label } = self.begun().clone();
        let Some(label) = label else { return Ok(()) };
        self.close(state)?;
        state.label = label;
        let mut begun = self.begun();
        // An abandoned turn may be ended late.
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
        // A turn without changes leaves no record.
        if let Some(turn) = state.turn.take().filter(|turn| turn.steps.is_empty()) {
            self.records.forget_turn(&turn);
        }
        Ok(())
    }

    /// Records the start of a call that may change files. Changes since the last scan are not attributed to this call.
    pub fn before_call(&self, call: Call, in_background: bool) -> Result<(), UndoError> {
        self.before_call_unless(call, in_background, &StopFlag::default())
    }

    /// Like [`Self::before_call`], but can be stopped if the call will not run. Then no call is recorded.
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

    /// Records the end of a call and returns its changes.
    pub fn after_call(&self, id: &str) -> Result<Vec<TreeChange>, UndoError> {
        let mut state = self.lock();
        if !state.turn.as_ref().is_some_and(|turn| turn.open.iter().any(|call| call.id == id)) {
            return Ok(Vec::new());
        }
        self.see_end(&mut state, |call| call.id == id)
    }

    /// Returns the session's turns with changes, oldest first.
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

    /// Returns the ID of the current turn.
    pub fn current(&self) -> Option<String> {
        self.lock().turn.as_ref().map(|turn| turn.id.clone())
    }

    /// Returns the nodes that were not covered in the last scan, by any session.
    pub fn uncovered(&self) -> Vec<(RelPath, Uncovered)> {
        match &self.lock().tree {
            Some(tree) => tree.uncovered().collect(),
            None => index_file::load(&self.index).map(|tree| tree.uncovered().collect()).unwrap_or_default(),
        }
    }

    /// Returns nodes that are not covered although a user might expect it: excludes those left out by design, such as build
    /// folders.
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

    /// Returns the number of known workspace entries.
    pub fn entries(&self) -> usize {
        self.lock().tree.as_ref().map_or(0, WorkspaceTree::entries)
    }

    /// Returns whether there are files for [`Undo::go_on`] to copy.
    pub fn is_unfinished(&self) -> bool {
        !self.lock().pending.is_empty()
    }

    pub fn content(&self, digest: &Digest) -> Result<Vec<u8>, UndoError> {
        self.scanner.content(digest)
    }

    pub fn workspace(&self) -> &std::path::Path {
        &self.options.workspace
    }

    /// Returns what [`Undo::undo`] would do and what prevents it, without changing anything.
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
        // Saved before any change: after an interruption, the other state can still be restored.
        self.records.save_taken(&taken).map_err(UndoError::Store)?;
        let (restored, left) = self.apply(&mut state, plan.changes)?;
        taken.changes.clone_from(&restored);
        let left = plan.left.into_iter().chain(left).collect();
        let report = UndoReport { restored, left, turns: ids.len(), gives_back: true, ids };
        taken.part = wanted.path.clone().filter(|_| report.is_final()).map(|path| (path, report.ids.clone()));
        // An undo without changes need not be redone.
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

    /// Reverts the last undo.
    pub fn redo(&self, force: bool) -> Result<UndoReport, UndoError> {
        self.redo_of(None, force)
    }

    /// Reverts the given undo, which must be the last one. Content that could not be restored afterwards is left alone even
    /// if forced.
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

    /// Brings the store within its quota by dropping the oldest turns.
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

    /// Returns whether enough was added to justify [`Undo::collect`].
    pub fn should_collect(&self) -> bool {
        self.scanner.objects.added() > self.options.quota / 8
    }

    fn lock(&self) -> MutexGuard<'_, KnownWorkspace> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Scans and stores the complete current state.
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
