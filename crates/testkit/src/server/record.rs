//! What the server received: the requests, and counts of events that tests wait for.

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use crate::wire::Wire;

#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub method: String,
    /// Includes the query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// When the whole request had arrived.
    pub at: Instant,
    /// Number of the connection, from 0; requests on the same connection share it.
    pub connection: usize,
    /// The turn of its answer, from 0.
    pub turn: Option<usize>,
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.body)
    }

    /// Returns the wire API of a model request.
    pub fn wire(&self) -> Option<Wire> {
        (self.method == "POST").then(|| Wire::of_path(&self.path)).flatten()
    }
}

/// Counts of events since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub connections: usize,
    pub requests: usize,
    /// Answers sent completely, faulty or not.
    pub answers: usize,
    /// Stalls that have begun.
    pub stalls: usize,
    /// Answers that the client did not wait for.
    pub hangups: usize,
}

/// One request, for the log of the server.
#[derive(Clone, Debug)]
pub struct RequestLog {
    pub method: String,
    pub path: String,
    pub body_bytes: usize,
    pub answer: String,
}

impl fmt::Display for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({} bytes) -> {}", self.method, self.path, self.body_bytes, self.answer)
    }
}

/// The requests; the oldest are dropped if there are too many.
#[derive(Default)]
pub struct Journal {
    requests: VecDeque<RecordedRequest>,
    bytes: usize,
}

const MAX_REQUESTS: usize = 20_000;
const MAX_BYTES: usize = 1 << 30;

impl Journal {
    pub fn all(&self) -> Vec<RecordedRequest> {
        self.requests.iter().cloned().collect()
    }

    pub fn push(&mut self, request: RecordedRequest) {
        self.bytes += request.body.len();
        self.requests.push_back(request);
        while self.requests.len() > MAX_REQUESTS || (self.bytes > MAX_BYTES && self.requests.len() > 1) {
            if let Some(oldest) = self.requests.pop_front() {
                self.bytes -= oldest.body.len();
            }
        }
    }
}
