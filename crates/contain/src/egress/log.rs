//! What went out and what did not: the newest in memory, each told to whoever writes it down.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::host::Host;
use super::refusal::Refusal;

/// The oldest gives way.
const MOST_KEPT: usize = 500;
/// More are not told, so that a command cannot fill the session's file.
const MOST_TOLD: u64 = 2000;

/// One connection that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Milliseconds since 1970, when it was asked for.
    pub at: u64,
    pub host: String,
    pub port: u16,
    /// `http`, `connect`, `socks5` or `socks4`
    pub by: &'static str,
    /// Bytes from the command to the host, and back.
    pub up: u64,
    pub down: u64,
    /// Why nothing, or nothing more, went through.
    pub refused: Option<String>,
    /// Whether a rule said no, not the network.
    pub by_rule: bool,
}

type Listener = Box<dyn Fn(&Passage) + Send + Sync>;

#[derive(Default)]
pub(super) struct Log {
    newest: Mutex<VecDeque<Passage>>,
    seen: AtomicU64,
    taken: AtomicU64,
    listener: OnceLock<Listener>,
}

impl Log {
    /// The first one stays.
    pub(super) fn tell(&self, listener: Listener) {
        let _ = self.listener.set(listener);
    }

    pub(super) fn newest(&self) -> Vec<Passage> {
        self.lock().iter().cloned().collect()
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    pub(super) fn take_new(&self) -> Vec<Passage> {
        let newest = self.lock();
        let (seen, taken) = (self.seen(), self.taken.swap(self.seen(), Ordering::AcqRel));
        let fresh = usize::try_from(seen.saturating_sub(taken)).unwrap_or(usize::MAX);
        newest.iter().skip(newest.len().saturating_sub(fresh)).cloned().collect()
    }

    fn add(&self, passage: Passage) {
        let mut newest = self.lock();
        if newest.len() >= MOST_KEPT {
            newest.pop_front();
        }
        newest.push_back(passage.clone());
        let before = self.seen.fetch_add(1, Ordering::AcqRel);
        drop(newest);
        if let Some(listener) = self.listener.get().filter(|_| before < MOST_TOLD) {
            listener(&passage);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Passage>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("seen", &self.seen).finish_non_exhaustive()
    }
}

/// A connection while it lasts. It is logged when it ends, in whatever way.
pub(super) struct Passing {
    log: Arc<Log>,
    at: u64,
    host: String,
    port: u16,
    by: &'static str,
    pub(super) up: AtomicU64,
    pub(super) down: AtomicU64,
    refused: OnceLock<(String, bool)>,
}

impl Passing {
    pub(super) fn new(log: &Arc<Log>, host: &Host, port: u16, by: &'static str) -> Self {
        let (up, down) = (AtomicU64::new(0), AtomicU64::new(0));
        let host = host.to_string();
        Self { log: log.clone(), at: omp_types::now_ms(), host, port, by, up, down, refused: OnceLock::new() }
    }

    pub(super) fn refuse(&self, refusal: &Refusal) {
        let _ = self.refused.set((refusal.in_short(), refusal.is_by_rule()));
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let (refused, by_rule) = self.refused.take().unzip();
        self.log.add(Passage {
            at: self.at,
            host: std::mem::take(&mut self.host),
            port: self.port,
            by: self.by,
            up: *self.up.get_mut(),
            down: *self.down.get_mut(),
            refused,
            by_rule: by_rule.unwrap_or_default(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_a_flood_is_not_written_down() {
        let log = Arc::new(Log::default());
        let told = Arc::new(AtomicU64::new(0));
        let counter = told.clone();
        log.tell(Box::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        }));
        let host = Host::parse("example.com").unwrap();
        for port in 1..=3000 {
            drop(Passing::new(&log, &host, port, "connect"));
        }
        let newest = log.newest();
        assert_eq!((newest.len(), newest[0].port, newest[499].port), (MOST_KEPT, 2501, 3000));
        assert_eq!(told.load(Ordering::Relaxed), MOST_TOLD);
        assert_eq!(log.take_new().len(), MOST_KEPT);
        for port in [1, 2] {
            drop(Passing::new(&log, &host, port, "connect"));
        }
        assert_eq!(log.take_new().iter().map(|passage| passage.port).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(log.take_new(), []);
    }
}
