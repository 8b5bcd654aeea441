//! The HTTP client of omp: proxies, certificates, timeouts, and a decoder for server-sent events.
//!
//! Nothing is loaded before a request needs it: [`Client::new`] only stores its settings, and a plain `http://` request
//! never reads a certificate. The crate knows no endpoint; callers interpret the status.

mod body;
mod client;
mod error;
mod exchange;
mod proxy;
mod sse;
mod tls;
mod url;

pub use body::BodyStream;
pub use client::{Client, Headers, HttpConfig, Patience, StreamingResponse};
pub use error::{HttpError, HttpErrorKind, TimeoutPhase};
pub use exchange::{Chunks, Exchange, ExchangeListener, OutgoingRequest, Played, Player};
pub use sse::{FRAME_LIMIT, SseDecoder, SseError};
