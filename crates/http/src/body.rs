//! A response body as a stream of byte chunks that gives up when nothing comes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Sleep};

use crate::error::{HttpError, Phase};

type Chunks = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// Ends after the first error. Dropping it cancels the request.
pub struct BodyStream {
    chunks: Option<Chunks>,
    target: String,
    timer: Pin<Box<Sleep>>,
    phase: Phase,
    limit: Duration,
    idle: Duration,
    /// When the current wait began. The timer itself is only moved when it fires: moving it for every chunk would cost
    /// more than reading the chunk.
    since: Instant,
}

impl BodyStream {
    /// `deadline` is until when the first byte must be here; after it every pause may last `idle`.
    pub(crate) fn new(response: reqwest::Response, target: String, first: FirstByte, idle: Duration) -> Self {
        Self {
            chunks: Some(Box::pin(response.bytes_stream())),
            target,
            timer: Box::pin(tokio::time::sleep_until(first.since + first.limit)),
            phase: Phase::FirstByte,
            limit: first.limit,
            idle,
            since: first.since,
        }
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<HttpError> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let deadline = self.since + self.limit;
            if Instant::now() >= deadline {
                return Poll::Ready(HttpError::timeout(self.phase, &self.target, self.limit));
            }
            self.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    fn progressed(&mut self) {
        self.since = Instant::now();
        if self.phase == Phase::FirstByte {
            self.phase = Phase::Idle;
            self.limit = self.idle;
            self.timer.as_mut().reset(self.since + self.idle);
        }
    }
}

/// When the wait for the first byte began and how long it may last.
#[derive(Clone, Copy)]
pub(crate) struct FirstByte {
    pub since: Instant,
    pub limit: Duration,
}

impl Stream for BodyStream {
    type Item = Result<Bytes, HttpError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(chunks) = &mut this.chunks else { return Poll::Ready(None) };
        let failure = match chunks.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                this.progressed();
                return Poll::Ready(Some(Ok(chunk)));
            }
            Poll::Ready(Some(Err(error))) => Some(HttpError::from_body(&error, &this.target)),
            Poll::Ready(None) => None,
            Poll::Pending => match this.poll_timer(cx) {
                Poll::Ready(error) => Some(error),
                Poll::Pending => return Poll::Pending,
            },
        };
        this.chunks = None;
        Poll::Ready(failure.map(Err))
    }
}
