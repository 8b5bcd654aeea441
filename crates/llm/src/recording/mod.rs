//! `--record`: writes every exchange with a provider to a file, without secrets.
//!
//! Each line is written immediately, so that a crash keeps everything before it. Only the few bytes that may be the start of
//! a secret are buffered.

mod file;
pub(crate) mod line;
pub(crate) mod secrets;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use omp_http::{Exchange, ExchangeListener, Headers, HttpError, OutgoingRequest};
use omp_types::{Env, Model, Redact, Request};
use serde_json::Value;

use file::Tape;
use line::{About, Head, Line, Payload, RequestLine, VERSION, kind_name};
use secrets::{
    REMOVED, SecretNeedles, StreamRedactor, clean_events, is_private_answer_header, is_secret_header, secret_in,
};

use crate::registry::Registry;

/// A recording in progress.
pub struct Recording {
    shared: Arc<SharedTape>,
}

struct SharedTape {
    tape: Mutex<Tape>,
    secrets: Mutex<SecretNeedles>,
    others: OnceLock<Arc<dyn Redact>>,
    began: Instant,
    exchanges: AtomicU64,
}

/// Why a recording cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingError(String);

impl std::fmt::Display for RecordingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecordingError {}

impl Recording {
    /// Creates the file, which must not exist: a recording is never overwritten. `cwd` is the working folder of the run.
    /// Secrets that `others` finds are removed from the texts of answers as well.
    pub fn create(
        path: &Path,
        cwd: &Path,
        env: &Env,
        registry: &Registry,
        others: Arc<dyn Redact>,
    ) -> Result<Self, RecordingError> {
        let keys = registry.secrets();
        let recording = Self::with_secrets(path, cwd, SecretNeedles::collect(env, keys.iter().map(String::as_str)))?;
        recording.shared.others.get_or_init(|| others);
        Ok(recording)
    }

    fn with_secrets(path: &Path, cwd: &Path, secrets: SecretNeedles) -> Result<Self, RecordingError> {
        let mut tape = Tape::create(path).map_err(RecordingError)?;
        let head = Head {
            version: VERSION,
            program: concat!("omp ", env!("CARGO_PKG_VERSION")).to_owned(),
            created: jiff::Timestamp::now().to_string(),
            cwd: cwd.display().to_string(),
        };
        tape.write(&Line::Recording(head));
        if let Some(problem) = tape.problem() {
            return Err(RecordingError(problem.to_owned()));
        }
        let shared = SharedTape {
            tape: Mutex::new(tape),
            secrets: Mutex::new(secrets),
            others: OnceLock::new(),
            began: Instant::now(),
            exchanges: AtomicU64::new(0),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub fn path(&self) -> PathBuf {
        self.shared.tape().path().to_owned()
    }

    /// Returns why the recording is incomplete, if it is.
    pub fn problem(&self) -> Option<String> {
        self.shared.tape().problem().map(str::to_owned)
    }
}

/// Returns the data about a request that is needed to interpret its answer without the configuration.
pub(crate) fn about(request: &Request) -> Value {
    let base_url = SecretNeedles::default().clean_url(&request.model.base_url);
    let model = Model { base_url, ..(*request.model).clone() };
    serde_json::to_value(About { model, thinking: request.thinking }).unwrap_or_default()
}

impl ExchangeListener for Recording {
    fn asked(&self, request: &OutgoingRequest<'_>) -> Box<dyn Exchange> {
        let mut secrets = self.shared.secrets();
        let told = request.headers.iter().filter(|(name, _)| is_secret_header(name));
        told.filter_map(|(_, value)| secret_in(value)).for_each(|value| secrets.learn(value));
        let secrets = secrets.clone();
        let exchange = self.shared.exchanges.fetch_add(1, Ordering::Relaxed) + 1;
        let about = request.about.and_then(|about| serde_json::from_str(&secrets.clean_text(&about.to_string())).ok());
        let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        self.shared.tape().write(&Line::Request(RequestLine {
            exchange,
            at: self.shared.at(),
            method: request.method.to_owned(),
            url: secrets.clean_url(request.url),
            headers: clean_headers(headers, is_secret_header, &secrets),
            body: Payload::new(secrets.clean(request.body)),
            about,
        }));
        Box::new(Recorded {
            shared: self.shared.clone(),
            secrets,
            exchange,
            sieve: StreamRedactor::default(),
            over: false,
        })
    }
}

impl SharedTape {
    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn secrets(&self) -> MutexGuard<'_, SecretNeedles> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the milliseconds since the start, rounded to a tenth.
    fn at(&self) -> f64 {
        (self.began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
    }
}

/// One exchange that is being recorded.
struct Recorded {
    shared: Arc<SharedTape>,
    secrets: SecretNeedles,
    exchange: u64,
    sieve: StreamRedactor,
    over: bool,
}

impl Recorded {
    fn chunk(&self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            let line = Line::Chunk { exchange: self.exchange, at: self.shared.at(), bytes: Payload::new(bytes) };
            self.shared.tape().write(&line);
        }
    }

    fn finish(&mut self, line: impl FnOnce(u64, f64) -> Line) {
        if !std::mem::replace(&mut self.over, true) {
            let rest = self.sieve.finish();
            self.chunk(rest);
            self.shared.tape().write(&line(self.exchange, self.shared.at()));
        }
    }
}

impl Exchange for Recorded {
    fn answered(&mut self, status: u16, headers: &Headers) {
        let headers = clean_headers(headers.iter(), is_private_answer_header, &self.secrets);
        let line = Line::Response { exchange: self.exchange, at: self.shared.at(), status, headers };
        self.shared.tape().write(&line);
    }

    fn received(&mut self, bytes: &[u8]) {
        let clean = self.sieve.push(&self.secrets, bytes);
        self.chunk(match self.shared.others.get() {
            Some(others) => clean_events(&**others, clean),
            None => clean,
        });
    }

    fn failed(&mut self, error: &HttpError) {
        let message = self.secrets.clean_text(&error.to_string());
        let kind = kind_name(error.kind).to_owned();
        self.finish(|exchange, at| Line::Error { exchange, at, kind, message });
    }

    fn ended(&mut self) {
        self.finish(|exchange, at| Line::End { exchange, at });
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.finish(|exchange, at| Line::Dropped { exchange, at });
    }
}

fn clean_headers<'a>(
    headers: impl Iterator<Item = (&'a str, &'a str)>,
    is_secret: fn(&str) -> bool,
    secrets: &SecretNeedles,
) -> Vec<(String, String)> {
    let clean = |(name, value): (&str, &str)| {
        let value = if is_secret(name) { REMOVED.to_owned() } else { secrets.clean_text(value) };
        (name.to_owned(), value)
    };
    headers.map(clean).collect()
}
