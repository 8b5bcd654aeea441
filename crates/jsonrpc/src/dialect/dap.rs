//! The Debug Adapter Protocol, whose events are notifications and whose commands are methods.

use serde_json::{Map, Value, json};

use super::Dialect;
use crate::framing::shown;
use crate::message::{Id, Incoming, InvalidMessage, Outgoing, RpcError};

/// DAP. Its progress events have IDs chosen by the adapter, so they are delivered as notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dap;

/// The message of an adapter for a cancelled request.
const CANCELLED: &str = "cancelled";

impl Dialect for Dap {
    fn read(&self, wire: Value) -> Vec<Result<Incoming, InvalidMessage>> {
        let complaint = || format!("not a DAP message: {}", shown(wire.to_string().as_bytes()));
        vec![message(&wire).ok_or_else(|| complaint().into())]
    }

    fn write(&self, number: i64, message: Outgoing) -> Value {
        let (mut wire, content) = match message {
            Outgoing::Request { method, params } => {
                (json!({"seq": number, "type": "request", "command": method}), ("arguments", params))
            }
            Outgoing::Notification { method, params } => {
                (json!({"seq": number, "type": "event", "event": method}), ("body", params))
            }
            Outgoing::Response { id, method, result } => {
                let mut wire = json!({"seq": number, "type": "response", "request_seq": Value::from(id)});
                wire["success"] = result.is_ok().into();
                wire["command"] = method.into();
                if let Err(error) = &result {
                    wire["message"] = error.message.as_str().into();
                }
                (wire, ("body", result.unwrap_or_else(error_body)))
            }
        };
        if !content.1.is_null() {
            wire[content.0] = content.1;
        }
        wire
    }

    fn cancel(&self, number: i64, _method: &str, _reason: &str) -> Option<Outgoing> {
        Some(Outgoing::Request { method: "cancel".to_owned(), params: json!({"requestId": number}) })
    }

    /// Only for adapters with the capability `supportsCancelRequest`.
    fn cancels_by_default(&self) -> bool {
        false
    }

    fn cancelled(&self, message: &Incoming) -> Option<Id> {
        match message {
            Incoming::Request { method, params, .. } if method == "cancel" => params.get("requestId").and_then(Id::of),
            _ => None,
        }
    }

    fn answer_to_cancelled(&self) -> Option<RpcError> {
        Some(RpcError::new(0, CANCELLED))
    }

    fn ask_for_progress(&self, _number: i64, _params: &mut Value) {}

    fn progress<'a>(&self, _method: &str, _params: &'a Value) -> Option<(i64, &'a Value)> {
        None
    }
}

fn message(wire: &Value) -> Option<Incoming> {
    let text = |name: &str| wire.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| wire.get(name).filter(|id| id.is_number()).and_then(Id::of);
    let content = |name: &str| wire.get(name).cloned().unwrap_or_default();
    match wire.get("type")?.as_str()? {
        "request" => {
            Some(Incoming::Request { id: number("seq")?, method: text("command")?, params: content("arguments") })
        }
        "event" => Some(Incoming::Notification { method: text("event")?, params: content("body") }),
        "response" => {
            let succeeded = wire.get("success")?.as_bool()?;
            let result = if succeeded { Ok(content("body")) } else { Err(rpc_error(wire)) };
            Some(Incoming::Response { id: number("request_seq")?, result })
        }
        _ => None,
    }
}

fn error_body(error: RpcError) -> Value {
    if error.message == CANCELLED {
        return Value::Null;
    }
    // Braces mark variables in the format.
    let format = error.message.replace(['{', '}'], "");
    let mut body = Map::from_iter([("error".to_owned(), json!({"id": error.code, "format": format}))]);
    if let Some(data) = error.data {
        body.insert("data".to_owned(), data);
    }
    body.into()
}

/// Returns the message for users if there is one, else the short code.
fn rpc_error(wire: &Value) -> RpcError {
    let body = wire.get("body");
    let detail = body.and_then(|body| body.get("error"));
    let sentence = detail.and_then(sentence);
    let word = wire.get("message").and_then(Value::as_str).map(str::to_owned);
    RpcError {
        code: detail.and_then(|detail| detail.get("id")).and_then(Value::as_i64).unwrap_or_default(),
        message: sentence.or(word).unwrap_or_else(|| "the adapter gave no reason".to_owned()),
        data: body.filter(|body| !body.is_null()).cloned(),
    }
}

/// Inserts the variables into the format.
fn sentence(detail: &Value) -> Option<String> {
    let mut text = detail.get("format")?.as_str()?.to_owned();
    for (name, value) in detail.get("variables").and_then(Value::as_object).into_iter().flatten() {
        text = text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(wire: Value) -> Result<Incoming, String> {
        Dap.read(wire).remove(0).map_err(|invalid| invalid.complaint)
    }

    #[test]
    fn messages_are_told_apart() {
        let request = json!({"seq": 4, "type": "request", "command": "runInTerminal", "arguments": {"args": []}});
        let (id, params) = (Id::from(4), json!({"args": []}));
        assert_eq!(read(request), Ok(Incoming::Request { id, method: "runInTerminal".into(), params }));
        let event = json!({"seq": 5, "type": "event", "event": "stopped", "body": {"reason": "entry"}});
        let params = json!({"reason": "entry"});
        assert_eq!(read(event), Ok(Incoming::Notification { method: "stopped".into(), params }));
        let response = json!({"seq": 6, "type": "response", "request_seq": 2, "success": true, "command": "x"});
        assert_eq!(read(response), Ok(Incoming::Response { id: Id::from(2), result: Ok(Value::Null) }));
        for wrong in [json!({}), json!([]), json!({"type": "event"}), json!({"type": "request", "command": "x"})] {
            assert!(read(wrong).unwrap_err().starts_with("not a DAP message: "));
        }
    }

    #[test]
    fn errors_tell_the_sentence_for_people() {
        let error = |rest: Value| {
            let mut wire = json!({"seq": 6, "type": "response", "request_seq": 2, "success": false, "command": "x"});
            wire.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            match read(wire).unwrap() {
                Incoming::Response { result: Err(error), .. } => (error.code, error.message),
                other => panic!("{other:?}"),
            }
        };
        let detail = json!({"id": 9, "format": "no file {name}", "variables": {"name": "a.py"}});
        assert_eq!(error(json!({"message": "failed", "body": {"error": detail}})), (9, "no file a.py".to_owned()));
        assert_eq!(error(json!({"message": "notStopped"})), (0, "notStopped".to_owned()));
        assert_eq!(error(json!({})), (0, "the adapter gave no reason".to_owned()));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let method = || "m".to_owned();
        let request = Outgoing::Request { method: method(), params: json!({"a": 1}) };
        let wire = json!({"seq": 3, "type": "request", "command": "m", "arguments": {"a": 1}});
        assert_eq!(Dap.write(3, request), wire);
        let event = Outgoing::Notification { method: method(), params: Value::Null };
        assert_eq!(Dap.write(4, event), json!({"seq": 4, "type": "event", "event": "m"}));
        let result = Err(RpcError { data: Some(json!(7)), ..RpcError::new(-1, "no {such} thing") });
        let wire = Dap.write(5, Outgoing::Response { id: Id::from(2), method: method(), result });
        assert_eq!((&wire["success"], &wire["command"], &wire["seq"]), (&json!(false), &json!("m"), &json!(5)));
        let Ok(Incoming::Response { id, result: Err(error) }) = read(wire) else { panic!() };
        assert_eq!((id, error.code, error.message.as_str()), (Id::from(2), -1, "no such thing"));
    }

    #[test]
    fn cancelling_is_a_request() {
        let wire = Dap.write(8, Dap.cancel(3, "m", "").unwrap());
        assert_eq!(wire, json!({"seq": 8, "type": "request", "command": "cancel", "arguments": {"requestId": 3}}));
        assert_eq!(Dap.cancelled(&read(wire).unwrap()), Some(Id::from(3)));
        let result = Err(Dap.answer_to_cancelled().unwrap());
        let wire = Dap.write(9, Outgoing::Response { id: Id::from(3), method: "m".into(), result });
        assert_eq!((&wire["message"], wire.get("body")), (&json!("cancelled"), None));
    }
}
