//! Two hooks of the client: a listener for every exchange, and a player that answers instead of a server.
//!
//! A listener gets what really went over the wire: the request as sent, every chunk of the answer as its reader got it, and
//! every failure, including timeouts. Replaying these produces the same stream.

use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use serde_json::Value;

use crate::client::Headers;
use crate::error::HttpError;

/// The chunks of a body.
pub type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, HttpError>> + Send>>;

/// A request as it is sent. It contains secrets: the listener is responsible for what it stores.
pub struct OutgoingRequest<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
    /// Data that the caller attaches for the listener.
    pub about: Option<&'a Value>,
}

/// Listens to every exchange of a client.
pub trait ExchangeListener: Send + Sync {
    fn asked(&self, request: &OutgoingRequest<'_>) -> Box<dyn Exchange>;
}

/// A running request. If it is dropped without an end or a failure, the caller cancelled it.
pub trait Exchange: Send {
    fn answered(&mut self, status: u16, headers: &Headers);

    fn received(&mut self, bytes: &[u8]);

    fn failed(&mut self, error: &HttpError);

    fn ended(&mut self);
}

/// Answers requests instead of a server.
pub trait Player: Send + Sync {
    fn answer(&self) -> Result<Played, HttpError>;
}

/// An answer that does not come from a server.
pub struct Played {
    pub status: u16,
    pub headers: Headers,
    pub body: Chunks,
}
