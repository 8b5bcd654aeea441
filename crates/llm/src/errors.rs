//! Classifies provider failures by the possible reaction and formats them as a sentence.
//!
//! Providers have little in common except the status codes, so the status is checked first and the server's message second.
//! Quoted text is limited in length and freed of anything that looks like a key.

mod retry_after;
mod words;

use omp_http::{Headers, HttpError, HttpErrorKind};
use omp_types::{ErrorKind, Model, ModelError};

use words::Words;
pub(crate) use words::quote;

/// Maximum number of bytes read from an error body.
pub(crate) const BODY_LIMIT: usize = 64 << 10;

/// Error for a response that is not the expected stream.
pub(crate) fn protocol(model: &Model, what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ErrorKind::Protocol, format!("the answer from {} is not usable: {what}", model.selector()))
}

/// Error for an answer that the provider ended for safety or policy reasons.
pub(crate) fn refused(model: &Model, why: &str) -> ModelError {
    let message = format!("{} ended the answer from {} for policy reasons: {}", model.provider, model.id, quote(why));
    ModelError::new(ErrorKind::Refused, message)
}

/// Error for a missing or interrupted response.
pub(crate) fn transport(model: &Model, error: &HttpError) -> ModelError {
    let kind = match error.kind {
        // A bad address or certificate does not improve on a retry, and a replay gives the same result.
        HttpErrorKind::InvalidRequest | HttpErrorKind::Tls | HttpErrorKind::Replay => ErrorKind::BadRequest,
        HttpErrorKind::Body => ErrorKind::Protocol,
        _ => ErrorKind::Network,
    };
    ModelError::new(kind, format!("{}: {error}", model.selector()))
}

/// Error for a response with a status other than success.
pub(crate) fn status(model: &Model, status: u16, headers: &Headers, body: &[u8]) -> ModelError {
    let words = Words::of_body(body);
    let wait = retry_after::from_headers(headers).or_else(|| retry_after::from_words(&words));
    let mut error = explain(model, Some(status), &words);
    error.retry_after = wait.filter(|_| error.kind.retryable());
    error
}

/// Error for a success status whose body is a JSON error. Returns `None` if the body contains no error.
pub(crate) fn disguised(model: &Model, body: &[u8]) -> Option<ModelError> {
    let words = Words::of_body(body);
    words.is_error.then(|| from_words(model, &words))
}

/// Error that was sent as a stream event: the provider's code and message.
pub(crate) fn reported(model: &Model, code: &str, message: &str) -> ModelError {
    from_words(model, &Words::new(code, message))
}

/// Adds the model's name to an error, because decoders know only the server's message.
pub(crate) fn name_model(model: &Model, error: &mut ModelError) {
    if !error.message.contains(&model.provider) {
        error.message = format!("{}: {}", model.selector(), error.message);
    }
}

/// Adds the source of the rejected key to the error. The key itself is never shown.
pub(crate) fn name_key(error: &mut ModelError, source: Option<&str>) {
    let Some(source) = source.filter(|_| error.kind == ErrorKind::Auth) else { return };
    let told = match error.message.contains("\nhint: ") {
        true => format!("; the key in use: {source}"),
        false => format!("\nhint: check the key in use: {source}"),
    };
    error.message.push_str(&told);
}

fn from_words(model: &Model, words: &Words) -> ModelError {
    let mut error = explain(model, words.status(), words);
    error.retry_after = retry_after::from_words(words).filter(|_| error.kind.retryable());
    error
}

fn explain(model: &Model, status: Option<u16>, words: &Words) -> ModelError {
    let kind = classify(status, words);
    let (provider, id) = (&model.provider, &model.id);
    let what = match kind {
        ErrorKind::Auth => format!("{provider} does not allow this key to use {id}"),
        ErrorKind::RateLimit => format!("{provider} is rate limiting requests to {id}"),
        ErrorKind::ContextOverflow => format!("the conversation is too long for {provider}/{id}"),
        ErrorKind::BadRequest => format!("{provider} refused the request to {id}"),
        ErrorKind::Refused => format!("{provider} refused to answer with {id} for policy reasons"),
        _ => format!("{provider} cannot serve {id} right now"),
    };
    let number = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let quoted = if words.message.is_empty() { String::new() } else { format!(": {}", quote(&words.message)) };
    let hint = hint(model, kind, status, words).map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    let mut error = ModelError::new(kind, format!("{what}{number}{quoted}{hint}"));
    error.status = status;
    error
}

fn classify(status: Option<u16>, words: &Words) -> ErrorKind {
    match status {
        _ if words.speak_of_money() => ErrorKind::Auth,
        Some(429) => ErrorKind::RateLimit,
        Some(401..=403 | 407) => ErrorKind::Auth,
        Some(413) => ErrorKind::ContextOverflow,
        _ if words.speak_of_length() => ErrorKind::ContextOverflow,
        Some(408 | 425 | 500..) => ErrorKind::Overloaded,
        Some(_) if words.speak_of_key() => ErrorKind::Auth,
        Some(_) => ErrorKind::BadRequest,
        None => words.kind(),
    }
}

fn hint(model: &Model, kind: ErrorKind, status: Option<u16>, words: &Words) -> Option<String> {
    match (kind, status) {
        (ErrorKind::Auth, status) if status == Some(402) || words.speak_of_money() => {
            Some(format!("the account with {} has no credit or quota left", model.provider))
        }
        (ErrorKind::ContextOverflow, _) => {
            Some("start a new session, or choose a model with a larger context window".to_owned())
        }
        (ErrorKind::BadRequest, Some(404 | 405)) => Some(format!(
            "check the model `{}` and the base URL `{}`; `--list-models` lists the known models",
            model.id,
            without_secrets(&model.base_url)
        )),
        (ErrorKind::BadRequest, Some(300..=399)) => {
            Some("the server redirects requests; set `baseUrl` to the new address".to_owned())
        }
        _ => None,
    }
}

/// Removes user name, password and query from a URL.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests;
