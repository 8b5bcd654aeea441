//! Tests of connections over in-memory pipes, servers as child processes, and real servers of each protocol.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what tests have in common is not recognised as tests"
)]

#[cfg(unix)]
mod child;
mod incoming;
mod outgoing;
#[cfg(unix)]
mod real;
mod wire;

use std::future::Future;
use std::time::Duration;

/// Longer than any step takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes too long")
}

async fn eventually(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
