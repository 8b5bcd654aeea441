//! Keeps background processes of finished commands running, and kills them with its owner.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;

use crate::child::{Leftover, look, next_look};
use crate::guard::ResourceGuard;
use crate::platform::{Leader, OutputPipe, Tree};

/// Maximum groups kept; the oldest is killed when another is added.
const MAX_KEPT: usize = 64;
/// The interval for checking whether a group still has processes; the resources of containment are released with the last
/// one.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Background processes of one session. Dropping it kills them.
#[derive(Debug, Default)]
pub struct Reaper {
    kept: Mutex<Vec<ReapedGroup>>,
}

/// One process group. Its output is read and discarded, so that it neither blocks nor dies of a closed pipe.
#[derive(Debug)]
struct ReapedGroup {
    tree: Tree,
    contained: Arc<Mutex<omp_contain::TreeGuard>>,
    _drain: AbortOnDropHandle<((), ())>,
}

impl Reaper {
    /// Keeps `leftover` running until the reaper is dropped.
    pub fn adopt(&self, leftover: Leftover) {
        let (tree, output, guard, contained) = leftover.into_parts();
        let contained = Arc::new(Mutex::new(contained));
        let until_end = release_at_end(tree.clone(), contained.clone());
        let drain = discard(output, tree.clone(), guard);
        let drain = AbortOnDropHandle::new(tokio::spawn(async { tokio::join!(drain, until_end) }));
        let mut kept = lock(&self.kept);
        kept.retain(|kept| kept.tree.has_members());
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push(ReapedGroup { tree, contained, _drain: drain });
    }

    /// The process groups that still run.
    pub fn groups(&self) -> Vec<u32> {
        lock(&self.kept).iter().filter(|kept| kept.tree.has_members()).map(|kept| kept.tree.id()).collect()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for ReapedGroup {
    fn drop(&mut self) {
        self.tree.kill(Leader::Reaped);
        release(&self.contained);
    }
}

fn release(contained: &Mutex<omp_contain::TreeGuard>) {
    let contained = std::mem::take(&mut *lock(contained));
    drop(contained);
}

async fn release_at_end(tree: Tree, contained: Arc<Mutex<omp_contain::TreeGuard>>) {
    while tree.has_members() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    release(&contained);
}

impl Leftover {
    fn into_parts(mut self) -> (Tree, OutputPipe, Option<ResourceGuard>, omp_contain::TreeGuard) {
        let kept = std::mem::take(&mut self.kept);
        (std::mem::take(&mut self.tree), std::mem::take(&mut self.output), self.guard.take(), kept)
    }
}

async fn discard(mut output: OutputPipe, tree: Tree, mut guard: Option<ResourceGuard>) {
    let mut buffer = vec![0; 4096];
    let mut open = true;
    while open || guard.is_some() {
        tokio::select! {
            biased;
            () = next_look(&mut guard) => {
                look(&mut guard, &tree, Leader::Reaped);
                guard = guard.filter(|guard| guard.overran.is_none());
            }
            read = output.read(&mut buffer), if open => open = matches!(read, Ok(1..)),
        }
    }
}
