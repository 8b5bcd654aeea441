//! `google-generative-ai`: `POST <base>/models/<id>:streamGenerateContent?alt=sse`, the Gemini API.

mod contents;
mod decode;
mod request;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use omp_types::{Model, ModelError, Request};

use super::{Decoder, WireApi, WireCall, endpoint};
use crate::auth::Credential;

pub(crate) struct GoogleGenerativeAi;

impl WireApi for GoogleGenerativeAi {
    fn encode(&self, request: &Request, credential: &Credential) -> Result<WireCall, ModelError> {
        let model = &*request.model;
        let path = format!("models/{}:streamGenerateContent?alt=sse", model.id);
        Ok(WireCall {
            url: endpoint::join(&model.base_url, &path),
            headers: headers(model, credential),
            body: request::body(request)?,
        })
    }

    fn decoder(&self, model: Arc<Model>) -> Box<dyn Decoder> {
        Box::new(decode::GoogleDecoder::new(model))
    }
}

fn headers(model: &Model, credential: &Credential) -> Vec<(String, String)> {
    match credential {
        Credential::ApiKey(key) => {
            endpoint::with_own_headers(model, endpoint::STREAM, Some(("x-goog-api-key", key.clone())))
        }
        other => endpoint::headers(model, other),
    }
}

/// Gemini 3 and later: thinking by level, mandatory signatures, images within results.
fn is_gemini_3(model: &Model) -> bool {
    let id = model.id.rsplit('/').next().unwrap_or_default();
    let version = id.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next());
    version.and_then(|version| version.parse::<u32>().ok()).is_some_and(|version| version >= 3)
}
