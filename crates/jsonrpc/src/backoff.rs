//! Decides when a server that died may be restarted: a pure value that gets the time as input.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Limits and delays for restarting a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// Maximum number of restarts within `window`; after one more death the server is not restarted.
    pub most: usize,
    pub window: Duration,
    /// Delay before the first restart of a window; it doubles with each further one.
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
    /// Times of the restarts; at most `most` of them.
    restarts: VecDeque<Instant>,
}

impl Backoff {
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, restarts: VecDeque::new() }
    }

    /// Records a death at `now` and returns the delay before the restart. Returns `None` if the server died too often.
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

    /// Times of death in seconds, and the expected delays.
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
