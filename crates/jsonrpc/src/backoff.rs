//! When a server that died may be started again: a pure value, told the time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often a server may be started again, and how long to wait before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// Restarts within `window`; one more death is the last.
    pub most: usize,
    pub window: Duration,
    /// Before the first restart of a window; each further one waits twice as long.
    pub first_delay: Duration,
    pub longest_delay: Duration,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        let (window, longest_delay) = (Duration::from_secs(5 * 60), Duration::from_secs(60));
        Self { most: 3, window, first_delay: Duration::from_secs(1), longest_delay }
    }
}

/// Counts the deaths of one server.
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    policy: RestartPolicy,
    /// When it was allowed to start again; at most as many as the policy has restarts.
    restarts: VecDeque<Instant>,
}

impl Backoff {
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, restarts: VecDeque::new() }
    }

    /// The server died at `now`: how long to wait before it is started again. `None` says that it died too often.
    pub fn after_death(&mut self, now: Instant) -> Option<Duration> {
        let window = self.policy.window;
        self.restarts.retain(|restart| now.saturating_duration_since(*restart) < window);
        if self.restarts.len() >= self.policy.most {
            return None;
        }
        let doublings = u32::try_from(self.restarts.len()).unwrap_or(u32::MAX);
        self.restarts.push_back(now);
        let delay = self.policy.first_delay.saturating_mul(2u32.saturating_pow(doublings));
        Some(delay.min(self.policy.longest_delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deaths at these seconds, and the seconds to wait.
    #[track_caller]
    fn check(policy: RestartPolicy, rows: &[(u64, Option<u64>)]) {
        let start = Instant::now();
        let mut backoff = Backoff::new(policy);
        for (at, wait) in rows {
            let waits = backoff.after_death(start + Duration::from_secs(*at));
            assert_eq!(waits, wait.map(Duration::from_secs), "at {at}");
        }
    }

    #[test]
    fn it_doubles_and_gives_up() {
        check(RestartPolicy::default(), &[(0, Some(1)), (2, Some(2)), (5, Some(4)), (10, None), (11, None)]);
    }

    #[test]
    fn old_deaths_are_forgotten() {
        check(RestartPolicy::default(), &[(0, Some(1)), (10, Some(2)), (299, Some(4)), (301, Some(4)), (302, None)]);
        check(RestartPolicy::default(), &[(0, Some(1)), (300, Some(1)), (600, Some(1)), (900, Some(1))]);
    }

    #[test]
    fn waits_have_a_longest() {
        let policy = RestartPolicy { most: 100, ..RestartPolicy::default() };
        let mut backoff = Backoff::new(policy);
        let now = Instant::now();
        let waits: Vec<_> = (0..100).filter_map(|_| backoff.after_death(now)).collect();
        assert_eq!(
            (waits.len(), waits[5], waits[6], waits[99]),
            (100, Duration::from_secs(32), Duration::from_secs(60), Duration::from_secs(60))
        );
        check(RestartPolicy { most: 0, ..RestartPolicy::default() }, &[(0, None)]);
    }
}
