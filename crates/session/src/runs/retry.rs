//! Decides whether a failed request is retried, and after what delay.

use std::time::Duration;

use omp_config::Settings;
use omp_types::ModelError;

use crate::settings::SETTINGS;

/// Delays are not doubled beyond this.
const LONGEST_STEP: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The initial state of automatic retries; it can be changed while the session runs.
    pub enabled: bool,
    /// Retries after the first try.
    pub max_retries: u32,
    pub base_delay: Duration,
    /// If a server asks for a longer delay than this, the failure is final. Zero is no limit.
    pub max_delay: Duration,
    /// Whether to actually wait. Without a real server the delay is only reported.
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

    /// The delay before retry number `attempt` (from 1), or `None` if the failure is final.
    pub fn delay(&self, error: &ModelError, attempt: u32) -> Option<Duration> {
        if attempt > self.max_retries || !error.kind.retryable() {
            return None;
        }
        if let Some(asked) = error.retry_after {
            return (asked <= self.max_delay || self.max_delay.is_zero()).then_some(asked);
        }
        let doubled = self.base_delay.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
        Some(with_jitter(doubled.min(LONGEST_STEP.max(self.base_delay))))
    }
}

/// Reduces the delay by up to a quarter, so that many clients do not retry at the same moment.
fn with_jitter(delay: Duration) -> Duration {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    delay.mul_f64(1.0 - f64::from(nanos % 1000) / 4000.0)
}

/// Returns the error that ended a run with `/retry` in its hint.
pub fn with_retry_hint(error: &str) -> String {
    let separator = if error.contains("\nhint:") { "; " } else { "\nhint: " };
    format!("{}{separator}/retry asks again", error.trim_end())
}

/// The retry reasons already shown in a run. An unreachable server gives the same reason every time: it is shown once in
/// short, and in full when the run has failed.
#[derive(Clone, Debug, Default)]
pub struct ToldRetries {
    last: Option<String>,
}

impl ToldRetries {
    /// The reason in one line, without its hint.
    pub fn short(reason: &str) -> &str {
        reason.lines().next().unwrap_or_default().trim_end_matches(['.', ' '])
    }

    /// The short reason, unless it is the same as for the previous retry.
    pub fn news<'a>(&mut self, reason: &'a str) -> Option<&'a str> {
        let short = Self::short(reason);
        let is_new = self.last.replace(short.to_owned()).as_deref() != Some(short);
        is_new.then_some(short)
    }

    /// The retries are over; the next one shows its reason again.
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
        for (attempt, full) in [(1, 500), (2, 1000), (4, 4000), (5, 8000), (6, 8000), (10, 8000)] {
            let (delay, full) = (policy.delay(&error, attempt).unwrap(), Duration::from_millis(full));
            assert!(delay <= full && delay >= full.mul_f64(0.75), "{attempt}: {delay:?}");
        }
        assert_eq!(policy.delay(&error, 11), None);
        let slow = RetryPolicy { base_delay: Duration::from_secs(30), ..policy };
        assert!(slow.delay(&error, 3).unwrap() > Duration::from_secs(22));
    }

    #[test]
    fn the_servers_wish_is_kept_unless_it_asks_too_much() {
        let policy = RetryPolicy::default();
        let mut error = ModelError::new(ErrorKind::RateLimit, "slow down");
        error.retry_after = Some(Duration::from_secs(7));
        assert_eq!(policy.delay(&error, 1), Some(Duration::from_secs(7)));
        error.retry_after = Some(Duration::from_secs(3600));
        assert_eq!(policy.delay(&error, 1), None);
        let patient = RetryPolicy { max_delay: Duration::ZERO, ..policy };
        assert_eq!(patient.delay(&error, 1), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn what_cannot_help_is_not_repeated() {
        let policy = RetryPolicy::default();
        for kind in [ErrorKind::Auth, ErrorKind::BadRequest, ErrorKind::ContextOverflow, ErrorKind::Refused] {
            assert_eq!(policy.delay(&ModelError::new(kind, "no"), 1), None);
        }
    }

    #[test]
    fn the_last_error_names_the_command() {
        assert_eq!(with_retry_hint("busy"), "busy\nhint: /retry asks again");
        assert_eq!(with_retry_hint("no key\nhint: /login"), "no key\nhint: /login; /retry asks again");
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
