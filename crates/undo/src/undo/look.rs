//! Scans the workspace for a call, within its time limit.

use std::sync::TryLockError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{ASK_GIT, BATCH, COPY, KEEPS_BLOBS, KnownWorkspace, LookReason, READ_INDEX, Undo, Walks};
use crate::UndoError;
use crate::limit::{StopFlag, UndoLimit};
use crate::scan::{Coverage, Filling, ScanRequest, Seen};
use crate::tree::{TreeChange, WorkspaceTree};
use crate::turn::{By, Call, Step};

impl Undo {
    /// Copies some of the postponed files, one batch at a time, unless another operation is running. Returns `false` if
    /// nothing is left to do. A file that has changed since the scan is skipped, so this is safe at any time, even while a
    /// call runs.
    pub fn go_on(&self, stop: &StopFlag) -> Result<bool, UndoError> {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return Ok(true);
        }
        // A running scan may take long, and this must be able to stop meanwhile.
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(true),
        };
        let KnownWorkspace { tree: Some(tree), pending, index, .. } = &mut *state else { return Ok(false) };
        if pending.is_empty() {
            return Ok(false);
        }
        let limit = UndoLimit { until: Some(Instant::now() + BATCH), stop: stop.clone() };
        let copied = self.scanner.fill(tree, pending, Filling::Rest, &limit)?;
        self.scanner.objects.flush().and_then(|()| index.note(&copied, tree)).map_err(UndoError::Store)?;
        Ok(!pending.is_empty())
    }

    /// Records the changes of a call that was interrupted together with an earlier process, as an undo would.
    pub fn catch_up(&self) -> Result<(), UndoError> {
        let mut state = self.lock();
        match state.has_looked {
            true => Ok(()),
            false => self.close(&mut state),
        }
    }

    /// Scans and returns the changes since the last scan.
    pub(super) fn look(&self, state: &mut KnownWorkspace, look: LookReason) -> Result<Vec<TreeChange>, UndoError> {
        let looked = self.looked(state, look)?;
        self.accept(state, looked)
    }

    /// Scans without recording the result.
    fn looked(&self, state: &mut KnownWorkspace, look: LookReason) -> Result<Looked, UndoError> {
        let begun = Instant::now();
        let is_loaded = state.tree.is_none();
        let known = match state.tree.take() {
            Some(tree) => tree,
            None => state.index.load().unwrap_or_default(),
        };
        match self.seen(&known, !state.has_looked, &look, begun) {
            Ok(seen) => Ok(Looked { changes: known.changes_to(&seen.tree), known, seen }),
            Err(error) => {
                // A state that was only loaded from disk is loaded again.
                state.tree = Some(known).filter(|_| !is_loaded || state.turn.is_some());
                Err(error)
            }
        }
    }

    fn accept(&self, state: &mut KnownWorkspace, looked: Looked) -> Result<Vec<TreeChange>, UndoError> {
        if let Err(error) = state.index.save(&looked.known, &looked.seen.tree) {
            // The next scan finds the same changes again.
            state.tree = Some(looked.known);
            return Err(UndoError::Store(error));
        }
        Ok(state.know(looked))
    }

    fn seen(
        &self,
        known: &WorkspaceTree,
        is_first: bool,
        look: &LookReason,
        begun: Instant,
    ) -> Result<Seen, UndoError> {
        let until = |percent: u32| Some(begun + self.options.patience * percent / 100);
        let (ask, copy) = match look {
            LookReason::Before { coverage, walks, stop } => {
                let limit = |percent| UndoLimit { until: until(percent), stop: stop.clone() };
                let walk = match walks {
                    Walks::Until(percent) => limit(*percent),
                    Walks::ToTheEnd => UndoLimit { until: None, stop: stop.clone() },
                };
                let coverage = *coverage;
                let asks_git = is_first || (coverage == Coverage::Anew && known.is_cut());
                let (index, in_git) = (limit(READ_INDEX), limit(ASK_GIT));
                (ScanRequest { coverage, is_first, asks_git, puts_off: true, limit: walk, index, in_git }, limit(COPY))
            }
            LookReason::After => {
                let limit = UndoLimit::default();
                let (walk, index, in_git) = (limit.clone(), limit.clone(), limit.clone());
                let (coverage, asks_git) = (Coverage::AsBefore, is_first);
                (ScanRequest { coverage, is_first, asks_git, puts_off: false, limit: walk, index, in_git }, limit)
            }
        };
        let mut seen = self.scanner.scan(known, &ask)?;
        if ask.puts_off {
            // Files seen before were postponed already; the background continues with them.
            self.scanner.fill(&mut seen.tree, &mut seen.pending, Filling::New, &copy)?;
        }
        if copy.stop.is_stopped() {
            return Err(UndoError::Stopped);
        }
        self.scanner.objects.flush().map_err(UndoError::Store)?;
        Ok(seen)
    }

    /// Records the changes as a step of the turn, attributed to the running calls.
    pub(super) fn see(
        &self,
        state: &mut KnownWorkspace,
        otherwise: By,
        look: LookReason,
    ) -> Result<Vec<TreeChange>, UndoError> {
        let (looked, step) = self.looked_with_step(state, otherwise, look)?;
        let changes = self.accept(state, looked)?;
        if let Some(turn) = &mut state.turn {
            turn.steps.extend(step);
        }
        Ok(changes)
    }

    /// Records the changes of calls that have ended. The turn is saved together with the end of the calls, and the index
    /// only after that: if the process is killed in between, the changes are either saved or found again.
    pub(super) fn see_end(
        &self,
        state: &mut KnownWorkspace,
        has_ended: impl Fn(&Call) -> bool,
    ) -> Result<Vec<TreeChange>, UndoError> {
        let looked = self.looked_with_step(state, By::Calls, LookReason::After);
        let Some(turn) = &mut state.turn else { return Ok(Vec::new()) };
        turn.open.retain(|call| !has_ended(call));
        let (looked, step) = match looked {
            Ok(looked) => looked,
            Err(error) => return self.keep(turn).and(Err(error)),
        };
        turn.steps.extend(step);
        let kept = self.keep(turn);
        // If one of them cannot be written, the next scan writes it.
        if kept.is_err() || state.index.save(&looked.known, &looked.seen.tree).is_err() {
            state.index.fall_behind();
        }
        let changes = state.know(looked);
        kept.map(|()| changes)
    }

    fn looked_with_step(
        &self,
        state: &mut KnownWorkspace,
        otherwise: By,
        look: LookReason,
    ) -> Result<(Looked, Option<Step>), UndoError> {
        let mut looked = self.looked(state, look)?;
        let Some(turn) = state.turn.as_ref().filter(|_| !looked.changes.is_empty()) else { return Ok((looked, None)) };
        let by = if turn.open.is_empty() { otherwise } else { By::Calls };
        if by != By::Others
            && let Err(error) = self.keep_blobs(&mut looked.changes)
        {
            state.tree = Some(looked.known);
            return Err(error);
        }
        let step = Step { by, calls: turn.open.clone(), changes: looked.changes.clone() };
        Ok((looked, Some(step)))
    }

    /// Copies contents from git, because a record must not depend on git's storage.
    fn keep_blobs(&self, changes: &mut [TreeChange]) -> Result<(), UndoError> {
        let limit = UndoLimit { until: Some(Instant::now() + KEEPS_BLOBS), ..UndoLimit::default() };
        let nodes = changes.iter_mut().flat_map(|change| [&mut change.before, &mut change.after]).flatten();
        self.scanner.keep_blobs(nodes, &limit)?;
        self.scanner.objects.flush().map_err(UndoError::Store)
    }
}

/// Result of a scan.
struct Looked {
    known: WorkspaceTree,
    seen: Seen,
    changes: Vec<TreeChange>,
}

impl KnownWorkspace {
    fn know(&mut self, looked: Looked) -> Vec<TreeChange> {
        (self.tree, self.pending, self.has_looked) = (Some(looked.seen.tree), looked.seen.pending, true);
        looked.changes
    }
}
