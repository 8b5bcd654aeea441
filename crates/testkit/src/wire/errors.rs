//! Error bodies in the format of each provider.

use serde_json::{Value, json};

use super::Wire;

/// Returns the provider's body for an error status.
pub fn error_body(wire: Wire, code: u16) -> Value {
    match wire {
        Wire::Anthropic => {
            let (kind, message) = anthropic_kind(code);
            anthropic(kind, message)
        }
        Wire::Completions | Wire::Responses => {
            let (word, message) = openai_code(code);
            openai(openai_type(code), word, message)
        }
        Wire::Google => {
            let (status, message) = google_status(code);
            google(code, status, message)
        }
    }
}

/// Returns the provider's body, with status 400, for an invalid request.
pub fn bad_request_body(wire: Wire, message: &str) -> Value {
    match wire {
        Wire::Anthropic => anthropic("invalid_request_error", message),
        Wire::Completions | Wire::Responses => openai("invalid_request_error", "invalid_value", message),
        Wire::Google => google(400, "INVALID_ARGUMENT", message),
    }
}

/// Returns the provider's body, with status 400, for a prompt that is too long.
pub fn overflow_body(wire: Wire) -> Value {
    match wire {
        Wire::Anthropic => anthropic("invalid_request_error", "prompt is too long: 210431 tokens > 200000 maximum"),
        Wire::Completions => openai(
            "invalid_request_error",
            "context_length_exceeded",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 140211 tokens. \
             Please reduce the length of the messages.",
        ),
        Wire::Responses => openai(
            "invalid_request_error",
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        Wire::Google => google(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).",
        ),
    }
}

/// Returns OpenAI's error code and message for a status.
pub fn openai_code(code: u16) -> (&'static str, &'static str) {
    match code {
        401 => ("invalid_api_key", "Incorrect API key provided: mock."),
        403 => ("unsupported_country_region_territory", "You are not allowed to use this model."),
        404 => ("model_not_found", "The model does not exist or you do not have access to it."),
        429 => ("rate_limit_exceeded", "Rate limit reached for this model. Please try again later."),
        500.. => ("server_error", "The server had an error while processing your request. Sorry about that!"),
        _ => ("invalid_value", "The request is not valid."),
    }
}

fn openai_type(code: u16) -> &'static str {
    match code {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_kind(code: u16) -> (&'static str, &'static str) {
    match code {
        401 => ("authentication_error", "invalid x-api-key"),
        403 => ("permission_error", "Your API key does not have permission to use the specified resource."),
        404 => ("not_found_error", "model: mock"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
        529 => ("overloaded_error", "Overloaded"),
        500.. => ("api_error", "Internal server error"),
        _ => ("invalid_request_error", "The request is not valid."),
    }
}

fn google_status(code: u16) -> (&'static str, &'static str) {
    match code {
        401 => ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
        403 => ("PERMISSION_DENIED", "The caller does not have permission"),
        404 => ("NOT_FOUND", "models/mock is not found for API version v1beta."),
        429 => ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
        503 | 529 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => ("DEADLINE_EXCEEDED", "The request did not finish in time."),
        500.. => ("INTERNAL", "An internal error has occurred. Please retry."),
        _ => ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    }
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_testkit"})
}

fn openai(kind: &str, code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn google(code: u16, status: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": status}})
}
