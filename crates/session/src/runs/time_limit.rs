//! The time limit of a whole run, which every front end enforces and reports in the same way.

use std::time::Duration;

use tokio::time::Instant;

/// The time starts when this is created.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeLimit(Option<Instant>);

impl TimeLimit {
    /// The message for the user.
    pub const REACHED: &str = "stopped: the time limit of --max-time was reached";

    pub fn begin(time: Option<Duration>) -> Self {
        // A time that the clock cannot represent means no limit.
        Self(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// Waits until the time is up; forever if there is no limit.
    pub async fn reached(self) {
        match self.0 {
            Some(end) => tokio::time::sleep_until(end).await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_reached_once_the_time_is_up_and_stays_so() {
        let (start, time) = (Instant::now(), Duration::from_millis(20));
        let limit = TimeLimit::begin(Some(time));
        limit.reached().await;
        assert!(start.elapsed() >= time);
        limit.reached().await;
    }

    #[test]
    fn without_a_limit_it_never_is() {
        for limit in [TimeLimit::default(), TimeLimit::begin(None), TimeLimit::begin(Some(Duration::MAX))] {
            assert_eq!(limit.0, None);
        }
    }
}
