//! When a failed answer is asked for again, and how long to wait before.

use std::time::Duration;

use omp_config::Settings;
use omp_types::ModelError;

use crate::settings::SETTINGS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Whether a session starts with retries; they can be switched while it runs.
    pub enabled: bool,
    /// Retries after the first try.
    pub max_retries: u32,
    pub base_delay: Duration,
    /// A server that asks for more patience than this is not waited for.
    pub max_delay: Duration,
    /// Whether the wait takes place. Where no server answers there is nothing to wait for; it is only told.
    pub waits: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::from_settings(&Settings::default())
    }
}

impl RetryPolicy {
    pub fn from_settings(settings: &Settings) -> Self {
        let own = settings.of(SETTINGS);
        let millis = |key: &str| Duration::from_millis(own.get(key));
        Self {
            enabled: own.get("retry.enabled"),
            max_retries: own.get("retry.maxRetries"),
            base_delay: millis("retry.baseDelayMs"),
            max_delay: millis("retry.maxDelayMs"),
            waits: true,
        }
    }

    /// How long to wait before retry number `attempt` (from 1), or `None` when the failure stands.
    pub fn delay(&self, error: &ModelError, attempt: u32) -> Option<Duration> {
        if attempt > self.max_retries || !error.kind.retryable() {
            return None;
        }
        if let Some(asked) = error.retry_after {
            return (asked <= self.max_delay).then_some(asked);
        }
        let doubled = self.base_delay.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
        Some(with_jitter(doubled.min(self.max_delay)))
    }
}

/// Up to a quarter less, so that many clients do not come back at the same moment.
fn with_jitter(delay: Duration) -> Duration {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    delay.mul_f64(1.0 - f64::from(nanos % 1000) / 4000.0)
}

/// What was told of the retries of a run. A server that is gone gives the same reason every time: it is told once in short,
/// and in full when the run has failed.
#[derive(Clone, Debug, Default)]
pub struct ToldRetries {
    last: Option<String>,
}

impl ToldRetries {
    /// A reason in one line, without its hint.
    pub fn short(reason: &str) -> &str {
        reason.lines().next().unwrap_or_default().trim_end_matches(['.', ' '])
    }

    /// The reason in short, unless it is that of the retry before.
    pub fn news<'a>(&mut self, reason: &'a str) -> Option<&'a str> {
        let short = Self::short(reason);
        let is_new = self.last.replace(short.to_owned()).as_deref() != Some(short);
        is_new.then_some(short)
    }

    /// The retries are over; the next one is told anew.
    pub fn over(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use omp_types::ErrorKind;

    use super::*;

    #[test]
    fn delays_double_and_stay_within_bounds() {
        let policy = RetryPolicy::default();
        let error = ModelError::new(ErrorKind::Overloaded, "busy");
        for (attempt, full) in [(1, 2), (2, 4), (3, 8)] {
            let delay = policy.delay(&error, attempt).unwrap();
            assert!(delay <= Duration::from_secs(full) && delay >= Duration::from_secs(full).mul_f64(0.75));
        }
        assert_eq!(policy.delay(&error, 4), None);
    }

    #[test]
    fn the_servers_wish_is_kept_unless_it_asks_too_much() {
        let policy = RetryPolicy::default();
        let mut error = ModelError::new(ErrorKind::RateLimit, "slow down");
        error.retry_after = Some(Duration::from_secs(7));
        assert_eq!(policy.delay(&error, 1), Some(Duration::from_secs(7)));
        error.retry_after = Some(Duration::from_secs(3600));
        assert_eq!(policy.delay(&error, 1), None);
    }

    #[test]
    fn what_cannot_help_is_not_repeated() {
        let policy = RetryPolicy::default();
        for kind in [ErrorKind::Auth, ErrorKind::BadRequest, ErrorKind::ContextOverflow, ErrorKind::Refused] {
            assert_eq!(policy.delay(&ModelError::new(kind, "no"), 1), None);
        }
    }

    #[test]
    fn a_reason_is_told_in_short_and_once() {
        let mut told = ToldRetries::default();
        assert_eq!(told.news("no connection.\nhint: is it running?"), Some("no connection"));
        assert_eq!(told.news("no connection.\nhint: is it running?"), None);
        assert_eq!(told.news("busy"), Some("busy"));
        told.over();
        assert_eq!(told.news("busy"), Some("busy"));
    }
}
