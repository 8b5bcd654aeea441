//! How long a run may take as a whole: every front end stops it in the same way and says the same.

use std::time::Duration;

use tokio::time::Instant;

/// Begins when it is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeLimit(Option<Instant>);

impl TimeLimit {
    /// What the user is told.
    pub const REACHED: &str = "the time limit of --max-time is reached";

    pub fn begin(time: Option<Duration>) -> Self {
        // A time beyond what the clock can say never comes.
        Self(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// Waits until the time is up; for ever when there is no limit.
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
