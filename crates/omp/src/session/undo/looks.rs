//! Scans of the workspace with a timeout: an abandoned scan continues in the background, and its error is reported later.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use omp_undo::{Undo, UndoError};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How long to wait after an abort. Most scans finish within this time.
const GRACE: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct UndoLooks {
    shared: Arc<LooksUnderWay>,
}

#[derive(Default)]
struct LooksUnderWay {
    /// The number of scans that have not ended.
    under_way: AtomicUsize,
    /// The first error of an abandoned scan.
    problem: Mutex<Option<String>>,
}

pub enum Waited<T> {
    Done(Result<T, String>),
    TooLong,
    Aborted,
}

impl UndoLooks {
    /// Starts the scan at once on a blocking thread and waits for it. `most` = `None` means no timeout.
    pub async fn wait<T: Send + 'static>(
        &self,
        undo: &Arc<Undo>,
        look: impl FnOnce(&Undo) -> Result<T, UndoError> + Send + 'static,
        most: Option<Duration>,
        abort: &CancellationToken,
    ) -> Waited<T> {
        let (done, mut waits) = oneshot::channel();
        let (undo, end) = (undo.clone(), self.begin());
        let thread = tokio::task::spawn_blocking(move || {
            let seen = look(&undo).map_err(|error| error.to_string());
            let shared = end.0.clone();
            drop(end);
            if let Err(Err(problem)) = done.send(seen) {
                shared.problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
            }
        });
        // The thread continues without its handle.
        drop(thread);
        let too_long = async {
            match most {
                Some(most) => sleep(most).await,
                None => std::future::pending().await,
            }
        };
        let aborted = async {
            abort.cancelled().await;
            sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            seen = &mut waits => Waited::Done(seen.unwrap_or_else(|_| Err(FAILED.to_owned()))),
            () = aborted => Waited::Aborted,
            () = too_long => Waited::TooLong,
        }
    }

    /// Counts a scan as running until the returned guard is dropped.
    pub fn begin(&self) -> LookEnd {
        self.shared.under_way.fetch_add(1, Ordering::SeqCst);
        LookEnd(self.shared.clone())
    }

    /// Whether a scan still runs. Callers treat it as an abandoned one.
    pub fn any_given_up(&self) -> bool {
        self.shared.under_way.load(Ordering::SeqCst) > 0
    }

    /// Takes the error that was not reported yet.
    pub fn problem(&self) -> Option<String> {
        self.shared.problem.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

const FAILED: &str = "the workspace scan failed";

/// Decrements the count of running scans when dropped, also on a panic.
pub struct LookEnd(Arc<LooksUnderWay>);

impl Drop for LookEnd {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use omp_undo::{PATIENCE, UndoOptions};

    use super::*;

    fn undo(root: &std::path::Path) -> Arc<Undo> {
        let options = UndoOptions {
            store: root.join("store"),
            workspace: root.to_owned(),
            session: "s".to_owned(),
            quota: 1 << 20,
            max_file: 1 << 20,
            max_entries: 100,
            patience: PATIENCE,
            attributes: Vec::new(),
        };
        Arc::new(Undo::open(options).unwrap())
    }

    #[tokio::test]
    async fn what_is_given_up_goes_on_and_what_goes_wrong_with_it_is_told_later() {
        let root = tempfile::tempdir().unwrap();
        let undo = undo(root.path());
        let (looks, abort) = (UndoLooks::default(), CancellationToken::new());
        let done = looks.wait(&undo, |_| Ok(7), Some(Duration::MAX), &abort).await;
        assert!(matches!(done, Waited::Done(Ok(7))) && !looks.any_given_up());
        let wrong = looks.wait(&undo, |_| Err::<(), _>(UndoError::Evicted), None, &abort).await;
        assert!(matches!(wrong, Waited::Done(Err(_))));
        assert_eq!(looks.problem(), None, "it was told");
        for aborts in [false, true] {
            let (let_go, held) = mpsc::channel::<()>();
            let look = move |_: &Undo| {
                assert!(held.recv().is_err());
                Err::<(), _>(UndoError::Damaged)
            };
            let most = if aborts {
                abort.cancel();
                None
            } else {
                Some(Duration::ZERO)
            };
            match looks.wait(&undo, look, most, &abort).await {
                Waited::TooLong => assert!(!aborts),
                Waited::Aborted => assert!(aborts),
                Waited::Done(_) => panic!("it is held"),
            }
            assert!(looks.any_given_up());
            assert_eq!(looks.problem(), None);
            drop(let_go);
            let problem = loop {
                match looks.problem() {
                    Some(problem) => break problem,
                    None => tokio::task::yield_now().await,
                }
            };
            assert_eq!(problem, UndoError::Damaged.to_string());
            assert!(!looks.any_given_up());
        }
    }
}
