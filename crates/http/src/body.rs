//! A response body as a stream of byte chunks with an idle timeout.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Sleep};

use crate::client::Patience;
use crate::error::{HttpError, TimeoutPhase};
use crate::exchange::{Chunks, Exchange};

/// Ends after the first error. Dropping this cancels the request.
pub struct BodyStream {
    chunks: Option<Chunks>,
    watchdog: BodyWatchdog,
    /// Whether any byte counts as progress, or only what the reader reports.
    bytes_count: bool,
    exchange: Option<Box<dyn Exchange>>,
}

impl BodyStream {
    /// `since` is the start of the wait for the first byte.
    pub(crate) fn new(chunks: Chunks, target: String, since: Instant, patience: Patience) -> Self {
        Self {
            chunks: Some(chunks),
            watchdog: BodyWatchdog::new(target, since, patience),
            bytes_count: true,
            exchange: None,
        }
    }

    pub(crate) fn heard_by(mut self, exchange: Option<Box<dyn Exchange>>) -> Self {
        self.exchange = exchange;
        self
    }

    /// From now on bytes alone are no progress, because they may be keep-alives: the reader reports meaningful ones with
    /// [`BodyStream::progressed`].
    pub fn watch_progress(&mut self) {
        self.bytes_count = false;
    }

    /// Records progress: the last bytes were part of the answer, and the wait for more begins now.
    pub fn progressed(&mut self) {
        self.watchdog.progressed(Instant::now());
    }

    fn tell(&mut self, item: Option<&Result<Bytes, HttpError>>) {
        let Some(exchange) = &mut self.exchange else { return };
        match item {
            Some(Ok(chunk)) => return exchange.received(chunk),
            Some(Err(error)) => exchange.failed(error),
            None => exchange.ended(),
        }
        self.exchange = None;
    }
}

impl Stream for BodyStream {
    type Item = Result<Bytes, HttpError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(chunks) = &mut this.chunks else { return Poll::Ready(None) };
        this.watchdog.resume();
        let item = match chunks.as_mut().poll_next(cx) {
            Poll::Ready(item) => item,
            Poll::Pending => match this.watchdog.poll(cx) {
                Poll::Ready(error) => Some(Err(error)),
                Poll::Pending => return Poll::Pending,
            },
        };
        this.tell(item.as_ref());
        match &item {
            Some(Ok(chunk)) => this.watchdog.received(chunk.len(), this.bytes_count),
            _ => this.chunks = None,
        }
        Poll::Ready(item)
    }
}

/// Ends a wait that takes too long.
struct BodyWatchdog {
    target: String,
    timer: Pin<Box<Sleep>>,
    phase: TimeoutPhase,
    /// `None` waits forever.
    limit: Option<Duration>,
    idle: Option<Duration>,
    /// Start of the current wait. The timer itself is only moved when it fires: moving it for every chunk would cost more
    /// than reading the chunk.
    since: Instant,
    /// Bytes received since then without progress.
    received: u64,
    /// When the reader got its last chunk. Until it polls again, the wait for the server is paused.
    handed_over: Option<Instant>,
}

impl BodyWatchdog {
    fn new(target: String, since: Instant, patience: Patience) -> Self {
        let limit = patience.first_event;
        let timer = Box::pin(tokio::time::sleep_until(since + limit.unwrap_or_default()));
        Self {
            target,
            timer,
            phase: TimeoutPhase::FirstEvent,
            limit,
            idle: patience.idle,
            since,
            received: 0,
            handed_over: None,
        }
    }

    /// The reader polls again.
    fn resume(&mut self) {
        if let Some(left) = self.handed_over.take() {
            self.since += left.elapsed();
        }
    }

    fn received(&mut self, bytes: usize, progress: bool) {
        let now = Instant::now();
        self.received += bytes as u64;
        if progress {
            self.progressed(now);
        }
        self.handed_over = Some(now);
    }

    fn progressed(&mut self, now: Instant) {
        self.since = now;
        self.received = 0;
        self.handed_over = Some(now);
        if self.phase == TimeoutPhase::FirstEvent {
            self.phase = TimeoutPhase::Idle;
            self.limit = self.idle;
            self.timer.as_mut().reset(now + self.idle.unwrap_or_default());
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<HttpError> {
        let Some(limit) = self.limit else { return Poll::Pending };
        while self.timer.as_mut().poll(cx).is_ready() {
            let deadline = self.since + limit;
            if Instant::now() >= deadline {
                return Poll::Ready(HttpError::timeout(self.phase, &self.target, limit, self.received));
            }
            self.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}
