//! Answers requests over HTTP: finds the wire and the credential of a model and starts the stream.

use omp_http::Client;
use omp_types::{ErrorKind, Llm, Model, ModelError, ModelStream, Request, Shortening};

use crate::auth::{Auth, Credential};
use crate::recording;
use crate::shorten::shorten;
use crate::stream::WireStream;
use crate::watchdog::{WatchdogSettings, Watchdogs};
use crate::wire::{Wire, compact, wire_for};

/// Every provider that speaks one of the wire APIs.
#[derive(Clone)]
pub struct Providers {
    client: Client,
    auth: Auth,
    watchdogs: Watchdogs,
}

impl Providers {
    pub fn new(client: Client, auth: Auth) -> Self {
        let watchdogs = Watchdogs::new(auth.env().clone(), WatchdogSettings::default());
        Self { client, auth, watchdogs }
    }

    /// The same with limits that the settings have a say in.
    pub fn with_watchdogs(self, watchdogs: Watchdogs) -> Self {
        Self { watchdogs, ..self }
    }

    fn open(&self, request: &Request) -> Result<WireStream, ModelError> {
        let model = &request.model;
        let wire = wire_for(&model.api).ok_or_else(|| unsupported(model))?;
        let credential = self.auth.credential(model)?;
        self.start(wire, request, &credential)
    }

    fn start(&self, wire: &dyn Wire, request: &Request, credential: &Credential) -> Result<WireStream, ModelError> {
        let call = wire.encode(request, credential)?;
        let decoder = wire.decoder(request.model.clone());
        let mut client = self.client.clone().with_patience(self.watchdogs.patience(&request.model));
        if client.is_heard() {
            client = client.about(recording::about(request));
        }
        Ok(WireStream::new(client, call, decoder, request.model.clone()))
    }
}

impl Llm for Providers {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let stream = self.open(&request);
        Box::new(stream.unwrap_or_else(|error| WireStream::failed(&request.model, error)))
    }

    fn written(&self, request: &Request) -> Option<serde_json::Value> {
        let credential = self.auth.credential(&request.model).ok()?;
        let call = wire_for(&request.model.api)?.encode(request, &credential).ok()?;
        serde_json::from_slice(&call.body).ok()
    }

    fn shorten(&self, request: &Request) -> Option<Shortening> {
        let model = request.model.clone();
        if !compact::is_offered(&model) {
            return None;
        }
        let client = self.client.clone().with_patience(self.watchdogs.patience(&model));
        let call = self.auth.credential(&model).and_then(|credential| compact::encode(request, &credential));
        Some(Box::pin(async move { shorten(client, call?, model).await }))
    }
}

pub(crate) fn unsupported(model: &Model) -> ModelError {
    let message = format!(
        "{} speaks `{}`, which omp does not\nhint: choose another model; `--list-models` shows what there is",
        model.selector(),
        model.api.as_str()
    );
    ModelError::new(ErrorKind::BadRequest, message)
}
