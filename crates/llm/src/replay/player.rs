//! Replays one recorded exchange from its file, line by line.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use omp_http::{HttpError, HttpErrorKind, Played, Player};
use tokio::time::Instant;

use super::ReplayTiming;
use super::index::{Reading, RecordingLines};
use crate::recording::line::{Line, recorded_error};

/// Longer pauses are not replayed.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

pub(super) struct ExchangePlayer {
    pub path: PathBuf,
    pub offset: u64,
    pub id: u64,
    pub timing: ReplayTiming,
}

impl Player for ExchangePlayer {
    fn answer(&self) -> Result<Played, HttpError> {
        let failed = |error: std::io::Error| replay_error(format!("cannot read {}: {error}", self.path.display()));
        let lines = RecordingLines::open(&self.path, self.offset).map_err(failed)?;
        let mut rest = Rest { lines, id: self.id, began: Instant::now(), asked: 0.0, timing: self.timing, over: false };
        loop {
            match rest.line().map_err(failed)? {
                Some(Line::Request(request)) => rest.asked = request.at,
                Some(Line::Response { status, headers, .. }) => {
                    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                    return Ok(Played { status, headers, body: Box::pin(stream::unfold(rest, Rest::chunk)) });
                }
                Some(Line::Error { kind, message, .. }) => return Err(recorded_error(&kind, message)),
                Some(Line::Dropped { .. }) => return Err(given_up()),
                Some(_) => {}
                None => return Err(cut_off()),
            }
        }
    }
}

/// The part of the exchange that has not been replayed yet.
struct Rest {
    lines: RecordingLines,
    id: u64,
    began: Instant,
    /// Time of the request, in recording time.
    asked: f64,
    timing: ReplayTiming,
    over: bool,
}

impl Rest {
    async fn chunk(mut self) -> Option<(Result<Bytes, HttpError>, Self)> {
        // Each chunk is delivered separately, as recorded: the result must not depend on this machine's speed.
        tokio::task::yield_now().await;
        while !self.over {
            let (at, item) = match self.line() {
                Ok(Some(Line::Chunk { at, bytes, .. })) => {
                    (at, bytes.into_bytes().map(Bytes::from).map_err(replay_error))
                }
                Ok(Some(Line::Error { at, kind, message, .. })) => (at, Err(recorded_error(&kind, message))),
                Ok(Some(Line::Dropped { at, .. })) => (at, Err(given_up())),
                Ok(Some(Line::End { .. })) => return None,
                Ok(Some(_)) => continue,
                Ok(None) => (0.0, Err(cut_off())),
                Err(error) => (0.0, Err(replay_error(format!("the recording cannot be read: {error}")))),
            };
            self.over = item.is_err();
            self.wait(at).await;
            return Some((item, self));
        }
        None
    }

    async fn wait(&self, at: f64) {
        let pause = Duration::try_from_secs_f64((at - self.asked) / 1000.0).unwrap_or_default();
        if self.timing == ReplayTiming::Real {
            tokio::time::sleep_until(self.began + pause.min(LONGEST_PAUSE)).await;
        }
    }

    /// Returns the next line of this exchange; lines of others may come in between.
    fn line(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let line = match self.lines.next()? {
                Some(Reading::Line(line)) => line,
                _ => return Ok(None),
            };
            let of = match &line {
                Line::Request(request) => request.exchange,
                Line::Response { exchange, .. }
                | Line::Chunk { exchange, .. }
                | Line::End { exchange, .. }
                | Line::Error { exchange, .. }
                | Line::Dropped { exchange, .. } => *exchange,
                Line::Recording(_) | Line::Unknown => continue,
            };
            if of == self.id {
                return Ok(Some(line));
            }
        }
    }
}

fn replay_error(message: String) -> HttpError {
    HttpError::new(HttpErrorKind::Replay, message)
}

fn given_up() -> HttpError {
    replay_error("the recorded answer ends here: it was aborted".to_owned())
}

fn cut_off() -> HttpError {
    replay_error("the recorded answer ends here: the recording was cut off".to_owned())
}
