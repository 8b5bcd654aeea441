//! The lines of a recording, as `docs/record-replay.md` describes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use omp_http::{HttpError, HttpErrorKind, TimeoutPhase};
use omp_types::{Model, ThinkingLevel};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The format version that is written, and the only one that is read.
pub(crate) const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Line {
    /// The first line.
    Recording(Head),
    Request(RequestLine),
    Response {
        exchange: u64,
        at: f64,
        status: u16,
        headers: Vec<(String, String)>,
    },
    Chunk {
        exchange: u64,
        at: f64,
        #[serde(flatten)]
        bytes: Payload,
    },
    /// The body has ended normally.
    End {
        exchange: u64,
        at: f64,
    },
    Error {
        exchange: u64,
        at: f64,
        kind: String,
        message: String,
    },
    /// The client dropped the response before its end.
    Dropped {
        exchange: u64,
        at: f64,
    },
    /// Line kinds that a later omp may add within the same version.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub version: u32,
    pub program: String,
    pub created: String,
    /// Working folder of the run: paths below it are compared relative to it.
    pub cwd: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RequestLine {
    pub exchange: u64,
    /// Milliseconds since the recording began.
    pub at: f64,
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    #[serde(flatten)]
    pub body: Payload,
    /// Missing for requests that do not go to a model, such as those for a list of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Value>,
}

/// Data about a request to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct About {
    pub model: Model,
    #[serde(default)]
    pub thinking: ThinkingLevel,
}

/// Bytes, stored as text if they are valid text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Payload {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Payload {
    pub fn new(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { text: Some(text), base64: None },
            Err(error) => Self { text: None, base64: Some(STANDARD.encode(error.as_bytes())) },
        }
    }

    pub fn into_bytes(self) -> Result<Vec<u8>, String> {
        match (self.text, self.base64) {
            (Some(text), _) => Ok(text.into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).map_err(|error| format!("its base64 is broken: {error}")),
            (None, None) => Ok(Vec::new()),
        }
    }
}

const KINDS: &[(&str, HttpErrorKind)] = &[
    ("connect", HttpErrorKind::Connect),
    ("tls", HttpErrorKind::Tls),
    ("proxy", HttpErrorKind::Proxy),
    ("timeout-connect", HttpErrorKind::Timeout(TimeoutPhase::Connect)),
    ("timeout-first-event", HttpErrorKind::Timeout(TimeoutPhase::FirstEvent)),
    ("timeout-idle", HttpErrorKind::Timeout(TimeoutPhase::Idle)),
    ("timeout-total", HttpErrorKind::Timeout(TimeoutPhase::Total)),
    ("reset", HttpErrorKind::Reset),
    ("body", HttpErrorKind::Body),
    ("invalid-request", HttpErrorKind::InvalidRequest),
    ("replay", HttpErrorKind::Replay),
];

pub(crate) fn kind_name(kind: HttpErrorKind) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == kind).map_or("body", |(name, _)| name)
}

/// Restores a recorded failure; an unknown kind becomes a body error.
pub(crate) fn recorded_error(kind: &str, message: String) -> HttpError {
    let kind = KINDS.iter().find(|(name, _)| *name == kind).map_or(HttpErrorKind::Body, |(_, kind)| *kind);
    HttpError::new(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive() {
        for bytes in [&b""[..], b"data: a\n\n", "h\u{e9}".as_bytes(), b"\xe2\x82", b"\x00\xff"] {
            let line =
                serde_json::to_string(&Line::Chunk { exchange: 1, at: 0.5, bytes: Payload::new(bytes.to_vec()) });
            let Line::Chunk { bytes: read, .. } = serde_json::from_str(&line.unwrap()).unwrap() else { panic!() };
            assert_eq!(read.into_bytes().unwrap(), bytes);
        }
        let broken = Payload { text: None, base64: Some("?".into()) };
        assert!(broken.into_bytes().unwrap_err().contains("base64"));
    }

    #[test]
    fn kinds_survive() {
        for (name, kind) in KINDS {
            assert_eq!(recorded_error(kind_name(*kind), "m".into()).kind, *kind);
            assert_eq!(kind_name(*kind), *name);
        }
    }

    #[test]
    fn lines_of_tomorrow_are_no_mistake() {
        assert_eq!(serde_json::from_str::<Line>(r#"{"type":"weather","sun":1}"#).unwrap(), Line::Unknown);
    }
}
