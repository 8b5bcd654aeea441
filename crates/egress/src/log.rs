//! The log of allowed and refused connections: the newest in memory, each sent to a listener that stores it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::host::EgressHost;
use super::refusal::EgressRefusal;

/// Limits the log; the oldest entry is dropped.
const MOST_KEPT: usize = 500;
/// Limits the reported connections, so that a command cannot fill the session's file.
const MOST_TOLD: u64 = 2000;

/// One requested connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Time of the request in milliseconds since 1970.
    pub at: u64,
    pub host: String,
    pub port: u16,
    /// `http`, `connect`, `socks5` or `socks4`
    pub by: &'static str,
    /// Bytes from the command to the host, and back.
    pub up: u64,
    pub down: u64,
    /// Why the connection was refused or ended.
    pub refused: Option<String>,
    /// Whether a rule refused it, and not the network.
    pub by_rule: bool,
}

type PassageListener = Box<dyn Fn(&Passage) + Send + Sync>;

#[derive(Default)]
pub(super) struct PassageLog {
    book: Mutex<PassageBook>,
    seen: AtomicU64,
    listener: OnceLock<PassageListener>,
}

#[derive(Default)]
struct PassageBook {
    /// Ended connections, and whether they were taken.
    ended: VecDeque<(Passage, bool)>,
    ongoing: Vec<Arc<LiveConnection>>,
}

impl PassageLog {
    /// The first listener stays.
    pub(super) fn tell(&self, listener: PassageListener) {
        let _ = self.listener.set(listener);
    }

    pub(super) fn newest(&self) -> Vec<Passage> {
        self.lock().ended.iter().map(|(passage, _)| passage.clone()).collect()
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    /// Ongoing connections are returned in their current state.
    pub(super) fn take_new(&self) -> Vec<Passage> {
        let mut book = self.lock();
        let ended = book.ended.iter_mut().filter_map(|(passage, taken)| {
            let is_new = !std::mem::replace(taken, true);
            is_new.then(|| passage.clone())
        });
        let mut new: Vec<Passage> = ended.collect();
        let ongoing = book.ongoing.iter().filter(|live| !live.taken.swap(true, Ordering::AcqRel));
        new.extend(ongoing.map(|live| live.as_it_is()));
        new
    }

    fn end(&self, live: &Arc<LiveConnection>) {
        let passage = live.as_it_is();
        let mut book = self.lock();
        book.ongoing.retain(|other| !Arc::ptr_eq(other, live));
        if book.ended.len() >= MOST_KEPT {
            book.ended.pop_front();
        }
        book.ended.push_back((passage.clone(), live.taken.load(Ordering::Acquire)));
        let before = self.seen.fetch_add(1, Ordering::AcqRel);
        drop(book);
        if let Some(listener) = self.listener.get().filter(|_| before < MOST_TOLD) {
            listener(&passage);
        }
    }

    fn lock(&self) -> MutexGuard<'_, PassageBook> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for PassageLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("seen", &self.seen).finish_non_exhaustive()
    }
}

/// An ongoing connection. It is logged when it is dropped.
pub(super) struct OngoingPassage {
    log: Arc<PassageLog>,
    live: Arc<LiveConnection>,
}

struct LiveConnection {
    at: u64,
    host: String,
    port: u16,
    by: &'static str,
    up: AtomicU64,
    down: AtomicU64,
    refused: OnceLock<(String, bool)>,
    taken: AtomicBool,
}

impl OngoingPassage {
    pub(super) fn new(log: &Arc<PassageLog>, host: &EgressHost, port: u16, by: &'static str) -> Self {
        let (up, down) = (AtomicU64::new(0), AtomicU64::new(0));
        let (refused, taken) = (OnceLock::new(), AtomicBool::new(false));
        let live =
            LiveConnection { at: omp_types::now_ms(), host: host.to_string(), port, by, up, down, refused, taken };
        let live = Arc::new(live);
        log.lock().ongoing.push(live.clone());
        Self { log: log.clone(), live }
    }

    /// Returns the counter of bytes from the command to the host.
    pub(super) fn up(&self) -> &AtomicU64 {
        &self.live.up
    }

    /// Returns the counter of bytes back.
    pub(super) fn down(&self) -> &AtomicU64 {
        &self.live.down
    }

    pub(super) fn refuse(&self, refusal: &EgressRefusal) {
        let _ = self.live.refused.set((refusal.in_short(), refusal.is_by_rule()));
    }
}

impl LiveConnection {
    fn as_it_is(&self) -> Passage {
        let (refused, by_rule) = self.refused.get().cloned().unzip();
        Passage {
            at: self.at,
            host: self.host.clone(),
            port: self.port,
            by: self.by,
            up: self.up.load(Ordering::Relaxed),
            down: self.down.load(Ordering::Relaxed),
            refused,
            by_rule: by_rule.unwrap_or_default(),
        }
    }
}

impl Drop for OngoingPassage {
    fn drop(&mut self) {
        self.log.end(&self.live);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_a_flood_is_not_written_down() {
        let log = Arc::new(PassageLog::default());
        let told = Arc::new(AtomicU64::new(0));
        let counter = told.clone();
        log.tell(Box::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        }));
        let host = EgressHost::parse("example.com").unwrap();
        for port in 1..=3000 {
            drop(OngoingPassage::new(&log, &host, port, "connect"));
        }
        let newest = log.newest();
        assert_eq!((newest.len(), newest[0].port, newest[499].port), (MOST_KEPT, 2501, 3000));
        assert_eq!(told.load(Ordering::Relaxed), MOST_TOLD);
        assert_eq!(log.take_new().len(), MOST_KEPT);
        for port in [1, 2] {
            drop(OngoingPassage::new(&log, &host, port, "connect"));
        }
        assert_eq!(log.take_new().iter().map(|passage| passage.port).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(log.take_new(), []);
        let lasting = OngoingPassage::new(&log, &host, 3, "connect");
        lasting.up().fetch_add(7, Ordering::Relaxed);
        assert_eq!(log.take_new().iter().map(|passage| (passage.port, passage.up)).collect::<Vec<_>>(), [(3, 7)]);
        drop(lasting);
        assert_eq!((log.take_new(), log.newest()[499].port), (Vec::new(), 3));
    }
}
