//! Background jobs: front ends are notified at once when one ends and, if the user wants it, an idle session continues by
//! itself.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::RunEnd;
use omp_stdx::format;
use omp_types::Message;

use super::{SessionCx, SessionFeature, StartSource};
use crate::Command;
use crate::actor::Actor;
use crate::control::Control;
use crate::event::SessionEvent;

/// How often job ends may start a run before the user has to send a prompt.
pub(crate) const MOST_WAKES: u32 = 10;

/// The background jobs of a session.
pub trait BackgroundJobs: Send + Sync {
    /// Waits for the next job to end. Each end is returned once.
    fn next_end(&self) -> BoxFuture<'_, JobEnded>;
}

/// A job that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnded {
    pub id: String,
    /// `completed`, `failed` or `cancelled`.
    pub status: &'static str,
    pub command: String,
    pub duration: Duration,
}

impl fmt::Display for JobEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command.lines().next().unwrap_or_default();
        write!(f, "background job {} {} after {}: {command}", self.id, self.status, format::duration(self.duration))
    }
}

/// Keeps several job ends from starting several runs.
#[derive(Default)]
pub(crate) struct Waking {
    /// Set while a [`Command::Wake`] is queued; at most one is.
    pending: AtomicBool,
}

impl Waking {
    fn is_wanted(&self) -> bool {
        !self.pending.swap(true, Ordering::Relaxed)
    }

    fn taken(&self) {
        self.pending.store(false, Ordering::Relaxed);
    }
}

/// The actor's record of runs that job ends have started.
pub(crate) struct Woken {
    times: u32,
    /// After a run that failed or was aborted, only the user can start the next one.
    last_finished: bool,
}

impl Default for Woken {
    fn default() -> Self {
        Self { times: 0, last_finished: true }
    }
}

impl Woken {
    /// The user has sent a prompt.
    pub fn told(&mut self) {
        self.times = 0;
    }

    pub fn ended(&mut self, end: &RunEnd) {
        self.last_finished = *end == RunEnd::Finished;
    }
}

/// The jobs whose ends are reported.
pub(super) struct WatchedJobs {
    pub jobs: Arc<dyn BackgroundJobs>,
    /// Whether a job end starts a run of an idle session.
    pub wakes: bool,
}

impl SessionFeature for WatchedJobs {
    fn start<'a>(&'a self, cx: &'a SessionCx, _source: StartSource) -> BoxFuture<'a, ()> {
        async { cx.spawn(watch(cx.control.clone(), self.jobs.clone(), self.wakes)) }.boxed()
    }
}

/// Reports the ends of jobs until the session ends.
async fn watch(control: Arc<Control>, jobs: Arc<dyn BackgroundJobs>, wakes: bool) {
    loop {
        let ended = jobs.next_end().await;
        control.outlet.send(SessionEvent::JobEnded(ended)).await;
        if wakes && control.waking.is_wanted() {
            match control.commands.upgrade() {
                // Fails when the session has ended.
                Some(commands) => drop(commands.send(Command::Wake).await),
                None => return,
            }
        }
    }
}

impl Actor {
    /// Messages with which an idle session continues by itself; empty if the model already knows all job ends or the user
    /// has to send a prompt first.
    pub(crate) fn woken_by(&mut self) -> Vec<Arc<Message>> {
        self.control.waking.taken();
        if !self.woken.last_finished || self.woken.times >= MOST_WAKES {
            return Vec::new();
        }
        let news = self.control.news();
        self.woken.times += u32::from(!news.is_empty());
        news
    }
}
