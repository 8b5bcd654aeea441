//! Progress reports of one request: a short queue that drops the oldest instead of blocking the connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Notify;

use crate::lock;

/// Reads the progress of a request, see [`crate::OutgoingCall::with_progress`].
#[derive(Debug)]
pub struct RequestProgress {
    reports: Arc<Reports>,
}

impl RequestProgress {
    /// Returns the next report; `None` if the request has ended. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            {
                let mut state = lock(&self.reports.state);
                if let Some(report) = state.waiting.pop_front() {
                    return Some(report);
                }
                if state.ended {
                    return None;
                }
            }
            self.reports.changed.notified().await;
        }
    }

    /// Returns the number of reports dropped because they were not read in time.
    pub fn dropped(&self) -> u64 {
        lock(&self.reports.state).dropped
    }
}

/// The writing side; dropping it marks the end of the request.
#[derive(Debug)]
pub(crate) struct ProgressSender {
    reports: Arc<Reports>,
}

#[derive(Debug, Default)]
struct Reports {
    state: Mutex<WaitingReports>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct WaitingReports {
    waiting: VecDeque<Value>,
    dropped: u64,
    ended: bool,
}

pub(crate) fn channel() -> (ProgressSender, RequestProgress) {
    let reports = Arc::new(Reports::default());
    (ProgressSender { reports: reports.clone() }, RequestProgress { reports })
}

impl ProgressSender {
    pub(crate) fn send(&self, report: Value, most: usize) {
        let mut state = lock(&self.reports.state);
        if state.waiting.len() >= most.max(1) {
            state.waiting.pop_front();
            state.dropped += 1;
        }
        state.waiting.push_back(report);
        // There is one reader: the permit is kept if it does not wait yet.
        self.reports.changed.notify_one();
    }
}

impl Drop for ProgressSender {
    fn drop(&mut self) {
        lock(&self.reports.state).ended = true;
        self.reports.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn the_newest_reports_are_kept() {
        let (sender, mut progress) = channel();
        (1..=5).for_each(|number| sender.send(json!(number), 3));
        drop(sender);
        let mut heard = Vec::new();
        while let Some(report) = progress.next().await {
            heard.push(report);
        }
        assert_eq!((heard, progress.dropped()), (vec![json!(3), json!(4), json!(5)], 2));
    }

    #[tokio::test]
    async fn a_waiting_reader_hears_reports_and_the_end() {
        let (sender, mut progress) = channel();
        let reader = tokio::spawn(async move { (progress.next().await, progress.next().await) });
        tokio::task::yield_now().await;
        sender.send(json!(1), 3);
        tokio::task::yield_now().await;
        drop(sender);
        assert_eq!(reader.await.unwrap(), (Some(json!(1)), None));
    }
}
