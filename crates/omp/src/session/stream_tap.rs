//! Keeps the newest raw bytes of providers in memory, for `/debug stream`, and writes the next request to a file on demand.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_http::{Exchange, ExchangeListener, Headers, HttpError, OutgoingRequest};
use omp_types::Secrets;
use serde_json::Value;

use crate::private_file;

/// Caps the bytes kept; the oldest are dropped.
const MOST_KEPT: usize = 512 << 10;

#[derive(Default)]
pub struct StreamTap {
    state: Mutex<TapState>,
}

#[derive(Default)]
struct TapState {
    kept: VecDeque<String>,
    bytes: usize,
    /// The file for the next request, and what is redacted in it.
    dump: Option<(PathBuf, Secrets)>,
}

impl StreamTap {
    /// Writes the next request to a file.
    pub fn dump_next(&self, file: PathBuf, secrets: Secrets) {
        self.state().dump = Some((file, secrets));
    }

    /// Returns what was kept, with secrets removed.
    pub fn text(&self, secrets: &Secrets) -> String {
        let text: String = self.state().kept.iter().map(String::as_str).collect();
        secrets.redact(&text).into_owned()
    }

    /// Returns a listener that also tells another one.
    pub fn listener(self: &Arc<Self>, other: Option<Arc<dyn ExchangeListener>>) -> Arc<dyn ExchangeListener> {
        Arc::new(TapListener { tap: self.clone(), other })
    }

    fn keep(&self, text: String) {
        let mut state = self.state();
        state.bytes += text.len();
        state.kept.push_back(text);
        while state.bytes > MOST_KEPT
            && let Some(oldest) = state.kept.pop_front()
        {
            state.bytes -= oldest.len();
        }
    }

    fn dump(&self, body: &[u8]) {
        let Some((file, secrets)) = self.state().dump.take() else { return };
        let text = match serde_json::from_slice::<Value>(body) {
            Ok(json) => format!("{json:#}\n"),
            Err(_) => String::from_utf8_lossy(body).into_owned(),
        };
        let written = private_file::replace(&file, secrets.redact(&text).as_bytes());
        if let Err(error) = written {
            self.keep(format!("cannot write {}: {error}\n", file.display()));
        }
    }

    fn state(&self) -> MutexGuard<'_, TapState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TapListener {
    tap: Arc<StreamTap>,
    other: Option<Arc<dyn ExchangeListener>>,
}

impl ExchangeListener for TapListener {
    fn asked(&self, request: &OutgoingRequest<'_>) -> Box<dyn Exchange> {
        let OutgoingRequest { method, url, body, .. } = request;
        self.tap.keep(format!("\n> {method} {url} ({} bytes)\n", body.len()));
        if !body.is_empty() {
            self.tap.dump(body);
        }
        let other = self.other.as_ref().map(|other| other.asked(request));
        Box::new(TappedExchange { tap: self.tap.clone(), other })
    }
}

struct TappedExchange {
    tap: Arc<StreamTap>,
    other: Option<Box<dyn Exchange>>,
}

impl Exchange for TappedExchange {
    fn answered(&mut self, status: u16, headers: &Headers) {
        self.tap.keep(format!("< {status}\n"));
        if let Some(other) = &mut self.other {
            other.answered(status, headers);
        }
    }

    fn received(&mut self, bytes: &[u8]) {
        self.tap.keep(String::from_utf8_lossy(bytes).into_owned());
        if let Some(other) = &mut self.other {
            other.received(bytes);
        }
    }

    fn failed(&mut self, error: &HttpError) {
        self.tap.keep(format!("< failed: {error}\n"));
        if let Some(other) = &mut self.other {
            other.failed(error);
        }
    }

    fn ended(&mut self) {
        self.tap.keep("< end\n".to_owned());
        if let Some(other) = &mut self.other {
            other.ended();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_bytes_are_kept() {
        let tap = StreamTap::default();
        for number in 0..2000 {
            tap.keep(format!("{number:04}{}\n", "x".repeat(1000)));
        }
        let text = tap.text(&Secrets::default());
        assert!(text.len() <= MOST_KEPT && text.contains("1999x") && !text.contains("0000x"));
    }

    #[test]
    fn one_request_is_dumped() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("request.json");
        let tap = Arc::new(StreamTap::default());
        tap.dump_next(file.clone(), Secrets::default());
        let listener = tap.listener(None);
        for body in [r#"{"model":"m"}"#, r#"{"model":"other"}"#] {
            let request =
                OutgoingRequest { method: "POST", url: "http://x/y", headers: &[], body: body.as_bytes(), about: None };
            listener.asked(&request).received(b"data: hi\n");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\n  \"model\": \"m\"\n}\n");
        assert!(tap.text(&Secrets::default()).contains("> POST http://x/y (13 bytes)\ndata: hi\n"));
    }
}
