//! Watches the repository of the session in the background, for the status line: the branch, which any program may change,
//! and the number of changed files.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout};

use super::News;
use crate::chrome::GitFacts;
use crate::surroundings::{GitChanges, Surroundings};

/// How often the branch is read: one small file.
const BRANCH_EVERY: Duration = Duration::from_secs(1);
/// How often the changed files are counted at most, if nothing hints at a change.
const COUNT_EVERY: Duration = Duration::from_secs(3);
/// How often they are counted at most after tool calls.
const COUNT_SOONEST: Duration = Duration::from_millis(250);
/// The pause after counting, as a multiple of the time it took.
const REST: u32 = 20;

/// Ends when it is dropped.
pub struct GitWatch {
    nudge: Arc<Notify>,
    counts: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl GitWatch {
    /// `counts`: whether changed files are counted too.
    pub fn begin(surroundings: Arc<dyn Surroundings>, folder: PathBuf, counts: bool, news: mpsc::Sender<News>) -> Self {
        let (nudge, counts) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(counts)));
        let watched = Watched {
            surroundings,
            folder,
            counts: counts.clone(),
            last: None,
            counted: None,
            rest: COUNT_EVERY,
            changes: GitChanges::default(),
        };
        Self { task: tokio::spawn(watched.run(nudge.clone(), news)), nudge, counts }
    }

    /// Looks again now, because something may have changed.
    pub fn look(&self) {
        self.nudge.notify_one();
    }

    pub fn set_counts(&self, counts: bool) {
        self.counts.store(counts, Ordering::Relaxed);
        self.look();
    }
}

impl Drop for GitWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Watched {
    surroundings: Arc<dyn Surroundings>,
    folder: PathBuf,
    counts: Arc<AtomicBool>,
    last: Option<GitFacts>,
    counted: Option<Instant>,
    rest: Duration,
    changes: GitChanges,
}

impl Watched {
    async fn run(mut self, nudge: Arc<Notify>, news: mpsc::Sender<News>) {
        let mut nudged = true;
        loop {
            let branch = self.branch().await;
            if !self.tell(branch.clone(), &news).await {
                return;
            }
            if branch.is_some() && self.is_due(nudged) {
                self.count().await;
                nudged = false;
                if !self.tell(branch, &news).await {
                    return;
                }
            }
            nudged |= timeout(self.pause(nudged), nudge.notified()).await.is_ok();
        }
    }

    fn pause(&self, nudged: bool) -> Duration {
        if nudged && self.counts.load(Ordering::Relaxed) { COUNT_SOONEST } else { BRANCH_EVERY }
    }

    fn is_due(&self, nudged: bool) -> bool {
        let since = self.counted.map(|counted| counted.elapsed());
        let rest = if nudged { COUNT_SOONEST.max(self.rest.saturating_sub(COUNT_EVERY)) } else { self.rest };
        self.counts.load(Ordering::Relaxed) && since.is_none_or(|since| since >= rest)
    }

    async fn branch(&self) -> Option<String> {
        let (surroundings, folder) = (self.surroundings.clone(), self.folder.clone());
        spawn_blocking(move || surroundings.branch(&folder)).await.ok().flatten()
    }

    async fn count(&mut self) {
        let (surroundings, folder) = (self.surroundings.clone(), self.folder.clone());
        let began = Instant::now();
        self.changes = spawn_blocking(move || surroundings.git_changes(&folder)).await.unwrap_or_default();
        self.rest = COUNT_EVERY.max(began.elapsed() * REST);
        self.counted = Some(Instant::now());
    }

    /// Sends the state if it is new. Returns false if nobody listens any more.
    async fn tell(&mut self, branch: Option<String>, news: &mpsc::Sender<News>) -> bool {
        let GitChanges { unstaged, staged, untracked } = self.changes;
        let facts = branch.map(|branch| GitFacts { branch, unstaged, staged, untracked });
        if facts == self.last {
            return true;
        }
        self.last.clone_from(&facts);
        news.send(News::Git { folder: self.folder.clone(), facts }).await.is_ok()
    }
}
