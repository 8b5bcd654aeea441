//! `openai-responses`: `POST <base>/responses`, stateless: nothing is stored, the whole conversation is sent each time.

pub(crate) mod compact;
mod decode;
mod event;
mod ids;
mod input;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use omp_types::{Model, ModelError, Request};

use super::{Decoder, WireApi, WireCall, endpoint};
use crate::auth::Credential;

pub(crate) struct OpenaiResponses;

impl WireApi for OpenaiResponses {
    fn encode(&self, request: &Request, credential: &Credential) -> Result<WireCall, ModelError> {
        let model = &*request.model;
        Ok(WireCall {
            url: endpoint::join(&model.base_url, "responses"),
            headers: endpoint::headers(model, credential),
            body: request::body(request)?,
        })
    }

    fn decoder(&self, model: Arc<Model>) -> Box<dyn Decoder> {
        Box::new(decode::ResponsesDecoder::new(model))
    }
}
