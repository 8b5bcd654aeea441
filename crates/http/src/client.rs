//! The HTTP client: cheap to create and clone; the first request builds the underlying client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use omp_types::Env;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::body::BodyStream;
use crate::error::{HttpError, HttpErrorKind, TimeoutPhase};
use crate::exchange::{ExchangeListener, OutgoingRequest, Played, Player};
use crate::proxy::Proxies;
use crate::{tls, url};

/// Limits redirects within the same server.
const REDIRECT_LIMIT: usize = 5;

/// Longer timeouts have no practical effect, and could not be added to a clock.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// `None` uses the system's timeout.
    pub connect_timeout: Option<Duration>,
    pub patience: Patience,
    pub user_agent: String,
}

/// Limits the wait for a silent server; `None` waits forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From sending the request to the first data of the answer.
    pub first_event: Option<Duration>,
    /// Between two pieces of the answer.
    pub idle: Option<Duration>,
}

impl Patience {
    /// Limits that are too long to be added to a clock are shortened.
    pub fn new(first_event: Option<Duration>, idle: Option<Duration>) -> Self {
        let bounded = |limit: Option<Duration>| limit.map(|limit| limit.min(LONGEST_TIMEOUT));
        Self { first_event: bounded(first_event), idle: bounded(idle) }
    }
}

impl Default for Patience {
    /// Generous: a local model may process a long prompt for minutes before its first token.
    fn default() -> Self {
        Self { first_event: Some(Duration::from_secs(300)), idle: Some(Duration::from_secs(300)) }
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Some(Duration::from_secs(30)),
            patience: Patience::default(),
            user_agent: concat!("omp/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

#[derive(Clone)]
pub struct Client {
    inner: Arc<ClientInner>,
    patience: Patience,
    listener: Option<Arc<dyn ExchangeListener>>,
    player: Option<Arc<dyn Player>>,
    about: Option<Arc<Value>>,
}

struct ClientInner {
    env: Env,
    config: HttpConfig,
    proxies: Proxies,
    /// For `http://`: loads no certificates, so it costs almost nothing.
    plain: OnceCell<reqwest::Client>,
    secure: OnceCell<reqwest::Client>,
}

/// An answer whose body is still arriving.
pub struct StreamingResponse {
    pub status: u16,
    pub headers: Headers,
    pub body: BodyStream,
}

#[derive(Clone, Debug, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// Returns every header with a plain text value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// Returns the first value of that name, if it is plain text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Headers {
    /// Invalid headers are dropped.
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let valid = |(name, value): (&str, &str)| Some((name.parse::<HeaderName>().ok()?, value.parse().ok()?));
        Self(pairs.into_iter().filter_map(valid).collect())
    }
}

impl Client {
    /// Stores the settings; nothing is read or connected before the first request.
    pub fn new(env: &Env, config: HttpConfig) -> Self {
        let patience = Patience::new(config.patience.first_event, config.patience.idle);
        let inner = ClientInner {
            env: env.clone(),
            config,
            proxies: Proxies::from_env(env),
            plain: OnceCell::new(),
            secure: OnceCell::new(),
        };
        Self { inner: Arc::new(inner), patience, listener: None, player: None, about: None }
    }

    /// Returns the same client with other limits for streams.
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Returns the same client with a listener for every exchange.
    pub fn heard_by(self, listener: Option<Arc<dyn ExchangeListener>>) -> Self {
        Self { listener, ..self }
    }

    pub fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Sets the data that a listener gets with the requests of this handle.
    pub fn about(self, about: Value) -> Self {
        Self { about: Some(Arc::new(about)), ..self }
    }

    /// Returns a client whose requests reach no server: `player` answers them.
    pub fn answered_by(self, player: Arc<dyn Player>) -> Self {
        Self { player: Some(player), ..self }
    }

    /// Sends a body and returns the answer as a stream, whatever its status.
    pub async fn post_stream(
        &self,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<StreamingResponse, HttpError> {
        self.send(Method::POST, url, headers, body).await
    }

    /// Returns the whole body of a successful answer, at most `max_bytes`; `timeout` covers the whole exchange.
    pub async fn get_bytes(
        &self,
        url: &str,
        headers: &[(String, String)],
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<Bytes, HttpError> {
        self.whole(Method::GET, url, headers, Vec::new(), (timeout, max_bytes)).await
    }

    /// Sends JSON and parses the JSON of a successful answer, with the limits of [`Client::get_bytes`].
    pub async fn post_json<T: DeserializeOwned>(
        &self,
        url: &str,
        body: &Value,
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<T, HttpError> {
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let bytes =
            self.whole(Method::POST, url, &headers, body.to_string().into_bytes(), (timeout, max_bytes)).await?;
        read_json(url, &bytes)
    }

    async fn whole(
        &self,
        method: Method,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
        (timeout, max_bytes): (Duration, usize),
    ) -> Result<Bytes, HttpError> {
        let target = url::shown(&url::parse(url)?);
        let exchange = async {
            let response = self.send(method, url, headers, body).await?;
            if !(200..300).contains(&response.status) {
                let message = format!("{target} answered {}", response.status);
                return Err(HttpError::new(HttpErrorKind::Status(response.status), message));
            }
            read_whole(response.body, max_bytes, &target).await
        };
        match tokio::time::timeout(timeout, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(HttpError::timeout(TimeoutPhase::Total, &target, timeout, 0)),
        }
    }

    pub async fn get_json<T: DeserializeOwned>(
        &self,
        url: &str,
        headers: &[(String, String)],
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<T, HttpError> {
        let bytes = self.get_bytes(url, headers, timeout, max_bytes).await?;
        read_json(url, &bytes)
    }

    /// Sends a request. All requests of all callers go through here.
    async fn send(
        &self,
        method: Method,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<StreamingResponse, HttpError> {
        let (name, about) = (method.as_str(), self.about.as_deref());
        let outgoing = OutgoingRequest { method: name, url, headers, body: &body, about };
        let mut exchange = self.listener.as_ref().map(|listener| listener.asked(&outgoing));
        let outcome = match &self.player {
            Some(player) => player.answer().map(|played| self.played(played, url)),
            None => self.send_to_server(method, url, headers, body).await,
        };
        match (outcome, &mut exchange) {
            (Ok(response), None) => Ok(response),
            (Ok(response), Some(heard)) => {
                heard.answered(response.status, &response.headers);
                Ok(StreamingResponse { body: response.body.heard_by(exchange), ..response })
            }
            (Err(error), heard) => {
                if let Some(heard) = heard {
                    heard.failed(&error);
                }
                Err(error)
            }
        }
    }

    fn played(&self, played: Played, url: &str) -> StreamingResponse {
        let Played { status, headers, body } = played;
        StreamingResponse {
            status,
            headers,
            body: BodyStream::new(body, url.to_owned(), Instant::now(), self.patience),
        }
    }

    async fn send_to_server(
        &self,
        method: Method,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<StreamingResponse, HttpError> {
        let url = url::parse(url)?;
        let headers = header_map(headers)?;
        let client = self.client_for(&url).await?;
        let target = url::shown(&url);
        let proxied = self.inner.proxies.covers(&url);
        let since = Instant::now();
        let sending = client.request(method, url).headers(headers).body(body).send();
        let sent = match self.patience.first_event {
            None => sending.await,
            Some(limit) => match tokio::time::timeout_at(since + limit, sending).await {
                Ok(sent) => sent,
                Err(_) => return Err(HttpError::timeout(TimeoutPhase::FirstEvent, &target, limit, 0)),
            },
        };
        let response = sent.map_err(|error| match self.inner.config.connect_timeout {
            Some(limit) if error.is_timeout() && error.is_connect() => {
                HttpError::timeout(TimeoutPhase::Connect, &target, limit, 0)
            }
            _ => HttpError::from_send(&error, &target, proxied),
        })?;
        let status = response.status().as_u16();
        let headers = Headers(response.headers().clone());
        let broken = target.clone();
        let chunks = response.bytes_stream().map(move |chunk| chunk.map_err(|e| HttpError::from_body(&e, &broken)));
        let body = BodyStream::new(Box::pin(chunks), target, since, self.patience);
        Ok(StreamingResponse { status, headers, body })
    }

    async fn client_for(&self, url: &Url) -> Result<&reqwest::Client, HttpError> {
        if !self.inner.proxies.needs_tls(url.scheme()) {
            return self.inner.plain.get_or_try_init(|| async { self.build(tls::none()?) }).await;
        }
        let load = async || {
            let env = self.inner.env.clone();
            // Loading the system's certificates would block other tasks on this thread.
            let loaded = tokio::task::spawn_blocking(move || tls::secure(&env)).await;
            let gone = |_| HttpError::new(HttpErrorKind::Tls, "loading the certificates was interrupted");
            self.build(loaded.map_err(gone)??)
        };
        self.inner.secure.get_or_try_init(load).await
    }

    fn build(&self, tls: rustls::ClientConfig) -> Result<reqwest::Client, HttpError> {
        let config = &self.inner.config;
        let mut builder = reqwest::Client::builder();
        if let Some(limit) = config.connect_timeout {
            builder = builder.connect_timeout(limit);
        }
        let builder = builder
            .tls_backend_preconfigured(tls)
            .tcp_keepalive(Duration::from_secs(30))
            .user_agent(&config.user_agent)
            .redirect(same_server_only());
        let built = self.inner.proxies.apply(builder)?.build();
        built.map_err(|error| {
            HttpError::new(HttpErrorKind::InvalidRequest, format!("cannot create the HTTP client: {error}"))
        })
    }
}

/// Follows redirects only to the same server, because the request's key must not reach another one. Other redirects are
/// returned as the answer.
fn same_server_only() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| {
        let stays = attempt.previous().last().is_some_and(|from| url::same_origin(from, attempt.url()));
        if stays && attempt.previous().len() <= REDIRECT_LIMIT { attempt.follow() } else { attempt.stop() }
    })
}

/// Later pairs replace earlier ones of the same name.
fn header_map(pairs: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    let mut map = HeaderMap::with_capacity(pairs.len());
    for (name, value) in pairs {
        let invalid = || {
            let message = format!(
                "the header `{}` cannot be sent: it contains invalid characters\nhint: look for a line break or a quote in the key or in `headers`",
                name.escape_debug()
            );
            HttpError::new(HttpErrorKind::InvalidRequest, message)
        };
        let name: HeaderName = name.parse().map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| invalid())?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

fn read_json<T: DeserializeOwned>(url: &str, bytes: &[u8]) -> Result<T, HttpError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let target = url::parse(url).map(|url| url::shown(&url)).unwrap_or_default();
        HttpError::new(HttpErrorKind::Body, format!("the answer from {target} is not the expected JSON: {error}"))
    })
}

async fn read_whole(mut body: BodyStream, max_bytes: usize, target: &str) -> Result<Bytes, HttpError> {
    let mut whole = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk?;
        if whole.len() + chunk.len() > max_bytes {
            let message = format!("the answer from {target} is larger than {max_bytes} bytes");
            return Err(HttpError::new(HttpErrorKind::Body, message));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.into())
}
