//! Sends requests over HTTP: finds the wire API and the credential of a model and starts the stream.

use omp_http::Client;
use omp_types::{ErrorKind, Llm, Model, ModelError, ModelStream, Request, Shortening, vars};

use crate::auth::Auth;
use crate::errors;
use crate::prepared::Preparation;
use crate::recording;
use crate::shorten::shorten;
use crate::stream::{ReadyCall, WireStream};
use crate::watchdog::{WatchdogSettings, Watchdogs};
use crate::wire::{BETA_HEADER, INTERLEAVED_BETA, WireApi, WireCall, compact, wire_for};

/// All providers that use one of the supported wire APIs.
#[derive(Clone)]
pub struct Providers {
    client: Client,
    auth: Auth,
    watchdogs: Watchdogs,
    preparation: Preparation,
}

impl Providers {
    pub fn new(client: Client, auth: Auth) -> Self {
        let watchdogs = Watchdogs::new(auth.env().clone(), WatchdogSettings::default());
        Self { client, auth, watchdogs, preparation: Preparation::default() }
    }

    /// Sets the timeouts from the settings.
    pub fn with_watchdogs(self, watchdogs: Watchdogs) -> Self {
        Self { watchdogs, ..self }
    }

    /// Encodes the request with a currently valid credential.
    async fn call(self, wire: &'static dyn WireApi, request: Request) -> Result<ReadyCall, ModelError> {
        let credential = self.auth.credential(&request.model).await?;
        let request = self.preparation.of(&request);
        let mut call = wire.encode(&request, &credential)?;
        if self.auth.env().flag(vars::PI_NO_INTERLEAVED_THINKING) {
            drop_beta(&mut call, INTERLEAVED_BETA);
        }
        let key_source = self.key_source(&request.model);
        let mut client = self.client.with_patience(self.watchdogs.patience(&request.model));
        if client.is_heard() {
            client = client.about(recording::about(&request));
        }
        Ok(ReadyCall { client, call, key_source })
    }

    /// Describes where the credential comes from; a header set by the user replaces the key.
    fn key_source(&self, model: &Model) -> Option<String> {
        const KEY_HEADERS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
        let is_key = |name: &&String| KEY_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known));
        match model.headers.keys().find(is_key) {
            Some(name) => Some(format!("the header `{name}` that was set for {}", model.provider)),
            None => self.auth.source(&model.provider),
        }
    }
}

impl Llm for Providers {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let model = request.model.clone();
        let Some(wire) = wire_for(&model.api) else {
            return Box::new(WireStream::failed(&model, unsupported(&model)));
        };
        Box::new(WireStream::new(self.clone().call(wire, request), wire.decoder(model.clone()), model))
    }

    fn written(&self, request: &Request) -> Option<serde_json::Value> {
        let credential = self.auth.known_credential(&request.model).ok()?;
        let call = wire_for(&request.model.api)?.encode(&self.preparation.of(request), &credential).ok()?;
        serde_json::from_slice(&call.body).ok()
    }

    fn shorten(&self, request: &Request) -> Option<Shortening> {
        let model = request.model.clone();
        if !compact::is_offered(&model) {
            return None;
        }
        let client = self.client.clone().with_patience(self.watchdogs.patience(&model));
        let request = self.preparation.of(request).into_owned();
        let providers = self.clone();
        Some(Box::pin(async move {
            let credential = providers.auth.credential(&model).await?;
            let source = providers.key_source(&model);
            shorten(client, compact::encode(&request, &credential)?, model).await.map_err(|mut error| {
                errors::name_key(&mut error, source.as_deref());
                error
            })
        }))
    }
}

/// Removes one value from the beta features header.
fn drop_beta(call: &mut WireCall, beta: &str) {
    for (_, value) in call.headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case(BETA_HEADER)) {
        *value = value.split(',').map(str::trim).filter(|word| *word != beta).collect::<Vec<_>>().join(",");
    }
    call.headers.retain(|(name, value)| !(name.eq_ignore_ascii_case(BETA_HEADER) && value.is_empty()));
}

pub(crate) fn unsupported(model: &Model) -> ModelError {
    let message = format!(
        "{} uses the API `{}`, which omp does not support\nhint: choose another model; `--list-models` lists them",
        model.selector(),
        model.api.as_str()
    );
    ModelError::new(ErrorKind::BadRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_beta_is_dropped_and_an_empty_header_with_it() {
        for (before, after) in [
            ("interleaved-thinking-2025-05-14", None),
            ("a,interleaved-thinking-2025-05-14, b", Some("a,b")),
            ("a", Some("a")),
        ] {
            let headers = vec![("x".to_owned(), "y".to_owned()), ("Anthropic-Beta".to_owned(), before.to_owned())];
            let mut call = WireCall { url: String::new(), headers, body: Vec::new() };
            drop_beta(&mut call, INTERLEAVED_BETA);
            let left = call.headers.iter().find(|(name, _)| name == "Anthropic-Beta").map(|(_, value)| value.as_str());
            assert_eq!((left, call.headers[0].1.as_str()), (after, "y"));
        }
    }
}
