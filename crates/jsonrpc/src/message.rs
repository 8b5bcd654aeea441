//! Messages, independent of the dialect: requests, notifications, responses.

use std::fmt;

use serde_json::{Number, Value};

/// The ID of a request. The requesting side chooses it, so it is returned unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    Number(Number),
    Text(String),
    Null,
}

/// A message that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    Request { id: Id, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Id, result: Result<Value, RpcError> },
}

/// Valid JSON that is no valid message.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidMessage {
    /// What is wrong, for display.
    pub complaint: String,
    /// The error that is sent back without an ID, if the protocol wants one.
    pub answer: Option<Box<RpcError>>,
}

/// Input that holds no JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadableInput<'a> {
    /// The text, shortened.
    NotJson(&'a str),
    TooLong {
        bytes: usize,
        limit: usize,
    },
}

/// A message to write. `null` parameters are omitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    Request {
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The response to a request with this ID and method.
    Response {
        id: Id,
        method: String,
        result: Result<Value, RpcError>,
    },
}

/// An error as it is sent between the two sides.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Outgoing {
    /// Returns its approximate size in bytes.
    pub(crate) fn weight(&self) -> usize {
        const ENVELOPE: usize = 64;
        ENVELOPE
            + match self {
                Self::Request { method, params } | Self::Notification { method, params } => {
                    method.len() + weight(params)
                }
                Self::Response { result: Ok(value), .. } => weight(value),
                Self::Response { result: Err(error), .. } => {
                    error.message.len() + error.data.as_ref().map_or(0, weight)
                }
            }
    }
}

fn weight(value: &Value) -> usize {
    const SCALAR: usize = 8;
    match value {
        Value::String(text) => SCALAR + text.len(),
        Value::Array(items) => SCALAR + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => SCALAR + fields.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>(),
        _ => SCALAR,
    }
}

impl From<String> for InvalidMessage {
    fn from(complaint: String) -> Self {
        Self { complaint, answer: None }
    }
}

impl RpcError {
    pub const PARSE_ERROR: i64 = -32_700;
    pub const INVALID_REQUEST: i64 = -32_600;
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    pub const INVALID_PARAMS: i64 = -32_602;
    pub const INTERNAL_ERROR: i64 = -32_603;
    /// A server that cannot accept more requests; the code is in the range reserved for implementations.
    pub const BUSY: i64 = -32_000;
    /// LSP's response to a cancelled request.
    pub const REQUEST_CANCELLED: i64 = -32_800;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn with_data(self, data: impl Into<Value>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    pub fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("there is no method `{method}`"))
    }

    pub fn internal(error: impl fmt::Display) -> Self {
        Self::new(Self::INTERNAL_ERROR, error.to_string())
    }
}

impl Id {
    /// Returns `None` for a value that cannot be an ID.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Null => Some(Self::Null),
            _ => None,
        }
    }

    /// Returns the number of one of our own requests, if it is one.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64(),
            _ => None,
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Id> for Value {
    fn from(id: Id) -> Self {
        match id {
            Id::Number(number) => Self::Number(number),
            Id::Text(text) => Self::String(text),
            Id::Null => Self::Null,
        }
    }
}
