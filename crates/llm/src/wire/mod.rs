//! The wire APIs, one folder each: how a request is encoded and how its stream is decoded.
//!
//! Both halves are pure functions of their input. Connecting, timeouts, splitting bytes into events and ending the stream
//! are shared and implemented in `stream.rs`.

use std::sync::Arc;

use omp_types::{Api, MessageBuilder, Model, ModelError, Request};

use crate::auth::Credential;

mod anthropic_messages;
mod effort;
mod endpoint;
mod google_generative_ai;
mod history;
mod json;
mod openai_completions;
mod openai_responses;
#[cfg(test)]
pub(crate) mod sample;
mod schema;
#[cfg(test)]
mod sdk_streams;

pub(crate) use anthropic_messages::{BETA_HEADER, INTERLEAVED_BETA};
pub use endpoint::takes_service_tier;
pub(crate) use endpoint::{host, is_local, is_local_host};
pub(crate) use openai_responses::compact;

/// An encoded request: always a POST that is answered with server-sent events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WireCall {
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub(crate) trait WireApi: Send + Sync {
    /// Encodes the request. Everything that is constant between turns precedes the messages, so that the bytes of one body
    /// are a prefix of the next.
    fn encode(&self, request: &Request, credential: &Credential) -> Result<WireCall, ModelError>;

    fn decoder(&self, model: Arc<Model>) -> Box<dyn Decoder>;
}

/// Decodes one answer, event by event.
pub(crate) trait Decoder: Send {
    /// Handles one event. When the answer is complete, the decoder calls `finish` on the builder; an error ends it too.
    fn event(&mut self, name: &str, data: &str, answer: &mut MessageBuilder) -> Result<(), ModelError>;

    /// Handles the end of the body without `finish`. Wire APIs with an explicit last event report an error here.
    fn end(&mut self, answer: &mut MessageBuilder) -> Result<(), ModelError>;

    /// Handles a whole non-streamed answer, which some gateways send although a stream was requested. The decoder calls
    /// `finish` or fails.
    fn whole(&mut self, body: &str, answer: &mut MessageBuilder) -> Result<(), ModelError>;
}

/// Returns the implementation of an API, if there is one.
pub(crate) fn wire_for(api: &Api) -> Option<&'static dyn WireApi> {
    match api {
        Api::AnthropicMessages => Some(&anthropic_messages::AnthropicMessages),
        Api::OpenaiCompletions => Some(&openai_completions::OpenaiCompletions),
        Api::OpenaiResponses => Some(&openai_responses::OpenaiResponses),
        Api::GoogleGenerativeAi => Some(&google_generative_ai::GoogleGenerativeAi),
        Api::Demo | Api::Other(_) => None,
    }
}
