//! `openai-completions`: `POST <base>/chat/completions`, the API that most servers implement.

mod calls;
mod chunk;
mod compat;
mod decode;
mod messages;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use omp_types::{Model, ModelError, Request};

use super::{Decoder, WireApi, WireCall, endpoint};
use crate::auth::Credential;

pub(crate) struct OpenaiCompletions;

impl WireApi for OpenaiCompletions {
    fn encode(&self, request: &Request, credential: &Credential) -> Result<WireCall, ModelError> {
        let model = &*request.model;
        let compat = compat::Compat::of(model)?;
        Ok(WireCall {
            url: endpoint::join(&model.base_url, "chat/completions"),
            headers: endpoint::headers(model, credential),
            body: request::body(request, &compat)?,
        })
    }

    fn decoder(&self, model: Arc<Model>) -> Box<dyn Decoder> {
        Box::new(decode::ChatDecoder::new(model))
    }
}
