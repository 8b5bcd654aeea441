//! Anthropic's Messages API, and compatible servers.

mod decode;
mod encode;
mod thinking;

use std::sync::Arc;

use omp_types::{Model, ModelError, Request};

use super::{Decoder, WireApi, WireCall, endpoint};
use crate::auth::Credential;
pub(crate) use thinking::INTERLEAVED_BETA;
use thinking::ThinkingPlan;

const API_VERSION: &str = "2023-06-01";

pub(crate) const BETA_HEADER: &str = "anthropic-beta";

/// Beta feature required for subscription tokens instead of a key.
const OAUTH_BETA: &str = "oauth-2025-04-20";
const OAUTH_TOKEN_PREFIX: &str = "sk-ant-oat";

pub(crate) struct AnthropicMessages;

impl WireApi for AnthropicMessages {
    fn encode(&self, request: &Request, credential: &Credential) -> Result<WireCall, ModelError> {
        let plan = ThinkingPlan::new(request);
        let body = encode::body(request, &plan)?;
        Ok(WireCall { url: url(&request.model.base_url), headers: headers(&request.model, credential, &plan), body })
    }

    fn decoder(&self, model: Arc<Model>) -> Box<dyn Decoder> {
        Box::new(decode::AnthropicDecoder::new(model))
    }
}

/// The base URL may be given with or without the version.
fn url(base: &str) -> String {
    let base = base.trim_end_matches('/');
    let base = base.strip_suffix("/messages").unwrap_or(base);
    let base = base.strip_suffix("/v1").unwrap_or(base);
    endpoint::join(base, "v1/messages")
}

fn headers(model: &Model, credential: &Credential, plan: &ThinkingPlan) -> Vec<(String, String)> {
    let key = match credential {
        Credential::None => None,
        Credential::ApiKey(key) => Some(("x-api-key", key.clone())),
        Credential::Bearer(token) => Some(("authorization", format!("Bearer {token}"))),
    };
    let mut headers = vec![("anthropic-version".to_owned(), API_VERSION.to_owned())];
    headers.extend(endpoint::with_own_headers(model, endpoint::STREAM, key));
    let betas = betas(model, credential, plan);
    if !betas.is_empty() {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case(BETA_HEADER));
        headers.push((BETA_HEADER.to_owned(), betas));
    }
    headers
}

/// Returns the configured beta features, then those that this request needs.
fn betas(model: &Model, credential: &Credential, plan: &ThinkingPlan) -> String {
    let configured = model.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(BETA_HEADER));
    let mut betas: Vec<_> =
        configured.flat_map(|(_, value)| value.split(',')).map(|beta| beta.trim().to_owned()).collect();
    let is_oauth = matches!(credential, Credential::Bearer(token) if token.starts_with(OAUTH_TOKEN_PREFIX));
    betas.extend(is_oauth.then_some(OAUTH_BETA).into_iter().chain(plan.betas()).map(str::to_owned));
    betas.join(",")
}

#[cfg(test)]
mod tests;
