//! Two openings in the one client: somebody may listen to every exchange, and somebody may answer in a server's place.
//!
//! A listener is told what really went over the wire: the request as it was sent, every piece of the answer as its
//! reader got it, and every failure, timeouts included. So whoever plays these back has the same stream again.

use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use serde_json::Value;

use crate::client::Headers;
use crate::error::HttpError;

/// Pieces of a body.
pub type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, HttpError>> + Send>>;

/// A request as it is sent. It holds secrets: what a listener keeps of it is its own responsibility.
pub struct OutgoingRequest<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
    /// What the caller wants to be known of it.
    pub about: Option<&'a Value>,
}

/// Listens to every exchange of a client.
pub trait ExchangeListener: Send + Sync {
    fn asked(&self, request: &OutgoingRequest<'_>) -> Box<dyn Exchange>;
}

/// One request on its way. Dropped without an end or a failure, it was given up by whoever asked.
pub trait Exchange: Send {
    fn answered(&mut self, status: u16, headers: &Headers);

    fn received(&mut self, bytes: &[u8]);

    fn failed(&mut self, error: &HttpError);

    fn ended(&mut self);
}

/// Answers requests in a server's place.
pub trait Player: Send + Sync {
    fn answer(&self) -> Result<Played, HttpError>;
}

/// An answer that comes from no server.
pub struct Played {
    pub status: u16,
    pub headers: Headers,
    pub body: Chunks,
}
