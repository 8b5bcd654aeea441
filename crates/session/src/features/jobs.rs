//! Jobs that run beside the conversation: front ends hear of their end at once, and where the user wants it an idle
//! session goes on by itself.

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

/// How often ends of jobs start a run before the user has to say something.
pub(crate) const MOST_WAKES: u32 = 10;

/// What runs in the background of a session.
pub trait BackgroundJobs: Send + Sync {
    /// Waits for the next end. Each is given once.
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

/// Whether the end of a job may start a run.
#[derive(Default)]
pub(crate) struct Waking {
    /// Set by a front end that can show a run nobody asked for.
    allowed: AtomicBool,
    /// One [`Command::Wake`] waits at most.
    pending: AtomicBool,
}

impl Waking {
    pub fn allow(&self) {
        self.allowed.store(true, Ordering::Relaxed);
    }

    fn is_wanted(&self) -> bool {
        self.allowed.load(Ordering::Relaxed) && !self.pending.swap(true, Ordering::Relaxed)
    }

    fn taken(&self) {
        self.pending.store(false, Ordering::Relaxed);
    }
}

/// What the actor remembers about runs that jobs have started.
pub(crate) struct Woken {
    times: u32,
    /// A run that failed or was aborted is taken up by the user alone.
    last_finished: bool,
}

impl Default for Woken {
    fn default() -> Self {
        Self { times: 0, last_finished: true }
    }
}

impl Woken {
    /// The user has said something.
    pub fn told(&mut self) {
        self.times = 0;
    }

    pub fn ended(&mut self, end: &RunEnd) {
        self.last_finished = *end == RunEnd::Finished;
    }
}

/// Jobs whose ends are told.
pub(super) struct WatchedJobs {
    pub jobs: Arc<dyn BackgroundJobs>,
    /// An idle session is started.
    pub wakes: bool,
}

impl SessionFeature for WatchedJobs {
    fn start<'a>(&'a self, cx: &'a SessionCx, _source: StartSource) -> BoxFuture<'a, ()> {
        async { cx.spawn(watch(cx.control.clone(), self.jobs.clone(), self.wakes)) }.boxed()
    }
}

/// Tells the ends of jobs until the session is over.
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
    /// What the session goes on with by itself; nothing when the model knows it all or the user has to speak first.
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
