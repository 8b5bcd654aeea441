//! Errors of a request, classified by where they occurred.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

const RAISE_FIRST_EVENT: &str = "\nhint: if it is only slow, raise `providers.streamFirstEventTimeoutSeconds` or \
                                 PI_STREAM_FIRST_EVENT_TIMEOUT_MS";
const RAISE_IDLE: &str =
    "\nhint: if it is only slow, raise `providers.streamIdleTimeoutSeconds` or PI_STREAM_IDLE_TIMEOUT_MS";

/// A failed request. The message contains no query string, header or body, so it can be shown and stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpError {
    pub kind: HttpErrorKind,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// No connection: name unknown, refused, unreachable.
    Connect,
    /// A certificate or TLS handshake error.
    Tls,
    Proxy,
    Timeout(TimeoutPhase),
    /// The connection broke after it was established.
    Reset,
    /// The body could not be read: invalid compression, too large, or unexpected content.
    Body,
    /// The URL, a header or the proxy setting is invalid.
    InvalidRequest,
    /// A status other than 2xx, where only success is useful.
    Status(u16),
    /// A replayed recording has no answer to this request.
    Replay,
}

/// The part of an exchange that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutPhase {
    Connect,
    /// From sending the request to the first data of the answer.
    FirstEvent,
    /// Between two pieces of the answer.
    Idle,
    /// The whole exchange, for short requests.
    Total,
}

impl HttpError {
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// `received` counts bytes that were no part of an answer.
    pub(crate) fn timeout(phase: TimeoutPhase, target: &str, waited: Duration, received: u64) -> Self {
        let seconds = waited.as_secs_f64();
        let message = match (phase, received) {
            (TimeoutPhase::Connect, _) => format!(
                "connecting: no connection to {target} within {seconds} s\nhint: check the network and the proxy; if it \
                 is only slow, raise `providers.connectTimeoutSeconds` or PI_CONNECT_TIMEOUT_MS"
            ),
            (TimeoutPhase::FirstEvent, 0) => {
                format!("waiting for the first token: {target} sent nothing within {seconds} s{RAISE_FIRST_EVENT}")
            }
            (TimeoutPhase::FirstEvent, _) => format!(
                "waiting for the first token: {target} sent only keep-alives ({received} bytes) within {seconds} s{RAISE_FIRST_EVENT}"
            ),
            (TimeoutPhase::Idle, 0) => {
                format!("between tokens: {target} sent nothing for {seconds} s in the middle of its answer{RAISE_IDLE}")
            }
            (TimeoutPhase::Idle, _) => format!(
                "between tokens: {target} sent only keep-alives ({received} bytes) for {seconds} s in the middle of its answer{RAISE_IDLE}"
            ),
            (TimeoutPhase::Total, _) => format!("{target} did not answer within {seconds} s"),
        };
        Self::new(HttpErrorKind::Timeout(phase), message)
    }

    /// Classifies a send error. `proxied` means that the request uses a proxy.
    pub(crate) fn from_send(error: &reqwest::Error, target: &str, proxied: bool) -> Self {
        if error.is_builder() {
            return Self::new(
                HttpErrorKind::InvalidRequest,
                format!("cannot send a request to {target}: {}", root_cause(error)),
            );
        }
        if let Some(reason) = tls_failure(error) {
            return Self::new(HttpErrorKind::Tls, format!("cannot connect securely to {target}: {reason}"));
        }
        if error.is_connect() {
            return connect_failure(error, target, proxied);
        }
        let cause = root_cause(error);
        let broke = io_errors(error).next().is_some() || ["closed", "canceled"].iter().any(|word| cause.contains(word));
        if broke {
            let message = format!("{target} closed the connection before it answered: {cause}");
            return Self::new(HttpErrorKind::Reset, message);
        }
        Self::new(HttpErrorKind::Body, format!("{target} gave no usable answer: {cause}\nhint: is it an HTTP server?"))
    }

    /// Classifies an error while reading a body.
    pub(crate) fn from_body(error: &reqwest::Error, target: &str) -> Self {
        let cause = root_cause(error);
        let undecodable =
            io_errors(error).any(|io| matches!(io.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
        if undecodable {
            return Self::new(
                HttpErrorKind::Body,
                format!("the answer from {target} could not be decompressed: {cause}"),
            );
        }
        Self::new(
            HttpErrorKind::Reset,
            format!("the connection to {target} broke in the middle of its answer: {cause}"),
        )
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for HttpError {}

fn connect_failure(error: &reqwest::Error, target: &str, proxied: bool) -> HttpError {
    let cause = root_cause(error);
    let words = causes(error).map(|cause| cause.to_string().to_ascii_lowercase());
    let by_proxy = words.into_iter().any(|text| ["tunnel", "socks", "proxy"].iter().any(|word| text.contains(word)));
    if by_proxy || proxied {
        let message = format!(
            "cannot connect to {target} through the proxy: {cause}\nhint: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, or \
             name the host in NO_PROXY"
        );
        return HttpError::new(HttpErrorKind::Proxy, message);
    }
    let refused = io_errors(error).any(|io| io.kind() == io::ErrorKind::ConnectionRefused);
    let hint = match (refused, error.is_dns()) {
        (true, _) => "\nhint: is the server running, and is the port right?",
        (_, true) => "\nhint: check the host name and the network",
        _ => "\nhint: check the network, or set HTTPS_PROXY if it needs a proxy",
    };
    HttpError::new(HttpErrorKind::Connect, format!("cannot connect to {target}: {cause}{hint}"))
}

fn tls_failure(error: &reqwest::Error) -> Option<String> {
    let tls = causes(error).find_map(as_rustls)?;
    let hint = match &tls {
        rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer) => {
            "\nhint: if a company proxy signs the certificates, set NODE_EXTRA_CA_CERTS to its CA file"
        }
        rustls::Error::InvalidCertificate(rustls::CertificateError::Expired) => "\nhint: check this machine's clock",
        rustls::Error::InvalidCertificate(_) => "\nhint: set NODE_EXTRA_CA_CERTS if the server uses a private CA",
        rustls::Error::AlertReceived(_) => {
            "\nhint: if it asks for a client certificate, set CLAUDE_CODE_CLIENT_CERT and CLAUDE_CODE_CLIENT_KEY"
        }
        _ => "\nhint: is this an https server?",
    };
    Some(format!("{tls}{hint}"))
}

fn as_rustls(cause: &(dyn Error + 'static)) -> Option<rustls::Error> {
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(tls.clone());
    }
    // An `io::Error` hides its inner error from `source()`, and sometimes wraps itself.
    let mut io = cause.downcast_ref::<io::Error>()?;
    loop {
        let inner = io.get_ref()?;
        match inner.downcast_ref::<rustls::Error>() {
            Some(tls) => return Some(tls.clone()),
            None => io = inner.downcast_ref::<io::Error>()?,
        }
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| Error::source(*cause))
}

fn io_errors(error: &reqwest::Error) -> impl Iterator<Item = &io::Error> {
    causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>())
}

/// Returns the innermost cause: the outer ones repeat the URL or only say that a request failed.
fn root_cause(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| "the request failed".to_owned(), ToString::to_string)
}
