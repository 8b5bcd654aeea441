//! Refuses requests that the real services refuse, because of missing headers or invalid bodies.
//!
//! vLLM answers 400 without a content type, FastAPI programs 422, axum 415; all vendors refuse a whole request for one
//! invalid schema, id or image. A fake that accepts everything would let such requests pass every test. The rules follow the
//! vendors' documentation; `sdk/validate.py` checks the shape of the same requests against the vendors' own types.
//! `wire::unpaired` checks the pairing of calls and results.

mod bodies;
mod schemas;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::wire::Wire;

/// The reason why a service would refuse the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRefusal {
    pub status: u16,
    pub message: String,
}

impl ServiceRefusal {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    fn bad(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }
}

/// Checks the headers of a model request.
pub fn check_headers(wire: Wire, headers: &[(String, String)]) -> Result<(), ServiceRefusal> {
    let get = |name: &str| header(headers, name);
    for (name, value) in headers {
        if value.trim().is_empty() {
            return Err(ServiceRefusal::bad(format!("the header `{name}` is empty")));
        }
        let again = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).count();
        if again > 1 {
            return Err(ServiceRefusal::bad(format!("the header `{name}` was sent {again} times")));
        }
    }
    check_content_type(headers)?;
    let accept = get("accept").unwrap_or_default();
    if !["text/event-stream", "application/json", "*/*"].iter().any(|known| accept.contains(known)) {
        return Err(ServiceRefusal::new(406, format!("Not Acceptable: `accept: {accept}`")));
    }
    if get("content-length").is_none() && get("transfer-encoding").is_none() {
        return Err(ServiceRefusal::new(411, "Length Required"));
    }
    for name in ["host", "user-agent"] {
        if get(name).is_none() {
            return Err(ServiceRefusal::bad(format!("the header `{name}` is missing")));
        }
    }
    if wire == Wire::Anthropic && get("anthropic-version") != Some("2023-06-01") {
        return Err(ServiceRefusal::bad("anthropic-version: header is required"));
    }
    Ok(())
}

/// Checks the headers that every POST of JSON needs, for any service.
pub fn check_content_type(headers: &[(String, String)]) -> Result<(), ServiceRefusal> {
    let kind = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case("content-type"));
    let kind = kind.and_then(|(_, value)| value.split(';').next()).unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ServiceRefusal::new(415, "Unsupported Media Type: Only 'application/json' is allowed"))
}

/// Checks the key in the vendor's header.
pub fn check_key(wire: Wire, path: &str, headers: &[(String, String)]) -> Result<(), ServiceRefusal> {
    let get = |name: &str| header(headers, name);
    let bearer = get("authorization");
    if let Some(bearer) = bearer
        && bearer.strip_prefix("Bearer ").is_none_or(|token| token.trim().is_empty())
    {
        return Err(ServiceRefusal::new(401, "`authorization` is not `Bearer <key>`"));
    }
    let own = match wire {
        Wire::Anthropic => "x-api-key",
        Wire::Google => "x-goog-api-key",
        Wire::Completions | Wire::Responses => "authorization",
    };
    for foreign in ["x-api-key", "x-goog-api-key"] {
        if foreign != own && get(foreign).is_some() {
            return Err(ServiceRefusal::new(401, format!("a key in `{foreign}`, which is another vendor's header")));
        }
    }
    let in_path = wire == Wire::Google && path.contains("key=");
    if bearer.is_none() && get(own).is_none() && !in_path {
        return Err(ServiceRefusal::new(401, format!("no key: `{own}` is missing")));
    }
    Ok(())
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Checks the body of a model request.
pub fn check_body(wire: Wire, body: &Value) -> Result<(), ServiceRefusal> {
    let Some(body) = body.as_object() else { return Err(ServiceRefusal::new(422, "the body is not an object")) };
    match wire {
        Wire::Anthropic => bodies::anthropic(body),
        Wire::Completions => bodies::completions(body),
        Wire::Responses => bodies::responses(body),
        Wire::Google => bodies::google(body),
    }
}
