//! JSON-RPC as the protocol uses it: one message per line, no batches, and an answer to everything that is no message.

use std::time::Duration;

use omp_jsonrpc::{
    ConnectionLimits, Dialect, Framing, Id, Incoming, InvalidMessage, JsonRpc, Outgoing, Protocol, RpcError,
    UnreadableInput,
};
use serde_json::{Value, json};

/// The prefix of the ids of omp's requests.
const ID: &str = "omp-";
const CANCEL: &str = "$/cancel_request";

/// Returns the protocol with its limits.
///
/// A client that does not read makes the sessions wait, however long, once `outgoing` messages are queued. Requests take room
/// until they are answered: prompts with images, each up to 64 MiB.
pub fn protocol() -> Protocol {
    let limits = ConnectionLimits {
        request: Duration::MAX,
        write: Duration::MAX,
        outgoing: 512,
        incoming_waiting: 2_048,
        incoming_bytes: 512 << 20,
        ..ConnectionLimits::default()
    };
    Protocol::new(Acp, Framing::LenientLines).with_limits(limits).half_open()
}

struct Acp;

impl Dialect for Acp {
    fn read(&self, wire: Value) -> Vec<Result<Incoming, InvalidMessage>> {
        if wire.is_array() {
            let why = "JSON-RPC batches are not supported; send each message individually";
            let answer = Some(Box::new(invalid().with_data(why)));
            return vec![Err(InvalidMessage { complaint: why.to_owned(), answer })];
        }
        let has = |name: &str| wire.get(name).is_some();
        // A response must never be answered.
        let is_response = !has("method") && (has("result") || has("error"));
        let answer = (!is_response).then(|| Box::new(invalid()));
        let mut read = JsonRpc::Plain.read(wire);
        for message in &mut read {
            match message {
                Ok(Incoming::Response { id, .. }) => *id = number_of(id).map_or(Id::Null, Id::from),
                Ok(_) => {}
                Err(invalid) => invalid.answer.clone_from(&answer),
            }
        }
        read
    }

    fn answer_to_unreadable(&self, input: UnreadableInput<'_>) -> Option<RpcError> {
        Some(match input {
            UnreadableInput::NotJson(line) => {
                RpcError::new(RpcError::PARSE_ERROR, "Parse error").with_data(json!({"line": format!("{line}\n")}))
            }
            UnreadableInput::TooLong { bytes, limit } => {
                invalid().with_data(format!("a message has at most {limit} bytes, this one has {bytes}"))
            }
        })
    }

    /// The usual code means in this protocol that the client has to authenticate.
    fn answer_to_overload(&self) -> RpcError {
        RpcError::internal("too many requests at once; ask again later")
    }

    fn write(&self, number: i64, message: Outgoing) -> Value {
        let is_request = matches!(message, Outgoing::Request { .. });
        let mut wire = JsonRpc::Plain.write(number, message);
        if is_request {
            wire["id"] = id(number);
        }
        wire
    }

    fn cancel(&self, number: i64, _method: &str, _reason: &str) -> Option<Outgoing> {
        Some(Outgoing::Notification { method: CANCEL.to_owned(), params: json!({"requestId": id(number)}) })
    }

    fn cancelled(&self, message: &Incoming) -> Option<Id> {
        match message {
            Incoming::Notification { method, params } if method == CANCEL => Id::of(params.get("requestId")?),
            _ => None,
        }
    }

    /// Handlers end cancelled requests themselves.
    fn answer_to_cancelled(&self) -> Option<RpcError> {
        Some(RpcError::new(RpcError::REQUEST_CANCELLED, "Request cancelled"))
    }

    fn ask_for_progress(&self, _number: i64, _params: &mut Value) {}

    fn progress<'a>(&self, _method: &str, _params: &'a Value) -> Option<(i64, &'a Value)> {
        None
    }
}

fn id(number: i64) -> Value {
    format!("{ID}{number}").into()
}

fn number_of(id: &Id) -> Option<i64> {
    match id {
        Id::Text(text) => text.strip_prefix(ID)?.parse().ok(),
        _ => None,
    }
}

fn invalid() -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, "Invalid request")
}
