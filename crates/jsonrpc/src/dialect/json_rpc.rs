//! JSON-RPC 2.0, plain or with the additions of LSP or MCP.

use serde_json::{Map, Value, json};

use super::Dialect;
use crate::framing::shown;
use crate::message::{Id, Incoming, InvalidMessage, Outgoing, RpcError};

/// JSON-RPC 2.0. Batches are accepted, and answered one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonRpc {
    /// Without cancellation and progress, which the standard does not define.
    Plain,
    Lsp,
    Mcp,
}

impl Dialect for JsonRpc {
    fn read(&self, wire: Value) -> Vec<Result<Incoming, InvalidMessage>> {
        let read = |wire| message(wire).map_err(InvalidMessage::from);
        match wire {
            Value::Array(batch) => batch.into_iter().map(read).collect(),
            one => vec![read(one)],
        }
    }

    fn write(&self, number: i64, message: Outgoing) -> Value {
        let mut wire = Map::from_iter([("jsonrpc".to_owned(), json!("2.0"))]);
        let mut add = |name: &str, value: Value| drop(wire.insert(name.to_owned(), value));
        match message {
            Outgoing::Request { method, params } => {
                add("id", number.into());
                add("method", method.into());
                add_params(&mut wire, params);
            }
            Outgoing::Notification { method, params } => {
                add("method", method.into());
                add_params(&mut wire, params);
            }
            Outgoing::Response { id, result, .. } => {
                add("id", id.into());
                match result {
                    Ok(result) => add("result", result),
                    Err(error) => add("error", wire_error(error)),
                }
            }
        }
        Value::Object(wire)
    }

    fn cancel(&self, number: i64, method: &str, reason: &str) -> Option<Outgoing> {
        let (method, params) = match self {
            Self::Plain => return None,
            // MCP does not allow the client to cancel this request.
            Self::Mcp if method == "initialize" => return None,
            Self::Lsp => ("$/cancelRequest", json!({"id": number})),
            Self::Mcp => ("notifications/cancelled", json!({"requestId": number, "reason": reason})),
        };
        Some(Outgoing::Notification { method: method.to_owned(), params })
    }

    fn cancelled(&self, message: &Incoming) -> Option<Id> {
        let Incoming::Notification { method, params } = message else { return None };
        match (self, method.as_str()) {
            (Self::Lsp, "$/cancelRequest") => params.get("id").and_then(Id::of),
            (Self::Mcp, "notifications/cancelled") => params.get("requestId").and_then(Id::of),
            _ => None,
        }
    }

    fn answer_to_cancelled(&self) -> Option<RpcError> {
        match self {
            Self::Lsp => Some(RpcError::new(RpcError::REQUEST_CANCELLED, "the request was cancelled")),
            Self::Plain | Self::Mcp => None,
        }
    }

    fn ask_for_progress(&self, number: i64, params: &mut Value) {
        if params.is_null() {
            *params = json!({});
        }
        let Value::Object(params) = params else { return };
        match self {
            Self::Plain => {}
            Self::Lsp => drop(params.insert("workDoneToken".to_owned(), number.into())),
            Self::Mcp => {
                let meta = params.entry("_meta").or_insert_with(|| json!({}));
                if let Value::Object(meta) = meta {
                    meta.insert("progressToken".to_owned(), number.into());
                }
            }
        }
    }

    fn progress<'a>(&self, method: &str, params: &'a Value) -> Option<(i64, &'a Value)> {
        match (self, method) {
            (Self::Lsp, "$/progress") => Some((params.get("token")?.as_i64()?, params.get("value")?)),
            (Self::Mcp, "notifications/progress") => Some((params.get("progressToken")?.as_i64()?, params)),
            _ => None,
        }
    }
}

fn add_params(wire: &mut Map<String, Value>, params: Value) {
    if !params.is_null() {
        wire.insert("params".to_owned(), params);
    }
}

fn wire_error(error: RpcError) -> Value {
    let mut wire = json!({"code": error.code, "message": error.message});
    if let Some(data) = error.data {
        wire["data"] = data;
    }
    wire
}

fn message(wire: Value) -> Result<Incoming, String> {
    let Value::Object(mut fields) = wire else { return Err(complaint("that is not an object", &wire)) };
    let id = match fields.get("id").map(Id::of) {
        Some(None) => return Err(complaint("with an invalid id", &fields.into())),
        id => id.flatten(),
    };
    let params = fields.remove("params").unwrap_or_default();
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(method), _) => Err(complaint("whose method is not a string", &method)),
        (None, Some(id)) => Ok(Incoming::Response { id, result: result(fields) }),
        (None, None) => Err(complaint("with neither method nor id", &fields.into())),
    }
}

fn complaint(what: &str, wire: &Value) -> String {
    format!("a message {what}: {}", shown(wire.to_string().as_bytes()))
}

/// A missing result counts as `null`: servers omit undefined values.
fn result(mut fields: Map<String, Value>) -> Result<Value, RpcError> {
    match fields.get("error").filter(|error| !error.is_null()) {
        Some(error) => Err(rpc_error(error)),
        None => Ok(fields.remove("result").unwrap_or_default()),
    }
}

fn rpc_error(wire: &Value) -> RpcError {
    let message = wire.get("message").and_then(Value::as_str);
    RpcError {
        code: wire.get("code").and_then(Value::as_i64).unwrap_or_default(),
        message: message.map_or_else(|| wire.to_string(), str::to_owned),
        data: wire.get("data").cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parsed message, or the error.
    fn read(wire: Value) -> Vec<String> {
        let shown =
            |read: Result<Incoming, InvalidMessage>| read.map_or_else(|no| no.complaint, |one| format!("{one:?}"));
        JsonRpc::Mcp.read(wire).into_iter().map(shown).collect()
    }

    #[test]
    fn messages_are_told_apart() {
        for (wire, want) in [
            (
                json!({"id": 1, "method": "m", "params": [2]}),
                "Request { id: Number(Number(1)), method: \"m\", params: Array [Number(2)] }",
            ),
            (json!({"id": "a", "method": "m"}), "Request { id: Text(\"a\"), method: \"m\", params: Null }"),
            (json!({"id": null, "method": "m"}), "Request { id: Null, method: \"m\", params: Null }"),
            (json!({"method": "m"}), "Notification { method: \"m\", params: Null }"),
            (json!({"id": 1, "result": 3, "error": null}), "Response { id: Number(Number(1)), result: Ok(Number(3)) }"),
            (json!({"id": 1}), "Response { id: Number(Number(1)), result: Ok(Null) }"),
            (
                json!({"id": 1, "error": {"code": -1, "message": "no", "data": 5}}),
                "Response { id: Number(Number(1)), result: Err(RpcError { code: -1, message: \"no\", data: Some(Number(5)) }) }",
            ),
            (
                json!({"id": 1, "error": "bad"}),
                "Response { id: Number(Number(1)), result: Err(RpcError { code: 0, message: \"\\\"bad\\\"\", data: None }) }",
            ),
            (json!({"id": [], "method": "m"}), "a message with an invalid id: {\"id\":[],\"method\":\"m\"}"),
            (json!({"method": 1}), "a message whose method is not a string: 1"),
            (json!({}), "a message with neither method nor id: {}"),
            (json!("hello"), "a message that is not an object: \"hello\""),
        ] {
            assert_eq!(read(wire), [want]);
        }
    }

    #[test]
    fn a_batch_is_several_messages() {
        let read = read(json!([{"method": "a"}, 7, {"id": 2, "result": true}]));
        let starts: Vec<&str> = read.iter().map(|one| one.split([' ', '{']).next().unwrap()).collect();
        assert_eq!(starts, ["Notification", "a", "Response"]);
        assert!(JsonRpc::Plain.read(json!([])).is_empty());
    }

    #[test]
    fn what_is_written_is_what_the_standard_says() {
        let write = |message| JsonRpc::Plain.write(7, message);
        let (method, id) = ("m".to_owned(), Id::Text("x".into()));
        let request = Outgoing::Request { method: method.clone(), params: json!({"a": 1}) };
        assert_eq!(write(request), json!({"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"a": 1}}));
        let notification = Outgoing::Notification { method: method.clone(), params: Value::Null };
        assert_eq!(write(notification), json!({"jsonrpc": "2.0", "method": "m"}));
        let response = Outgoing::Response { id: id.clone(), method: method.clone(), result: Ok(Value::Null) };
        assert_eq!(write(response), json!({"jsonrpc": "2.0", "id": "x", "result": null}));
        let error = RpcError { data: Some(json!(1)), ..RpcError::method_not_found("m") };
        let response = Outgoing::Response { id, method, result: Err(error) };
        let error = json!({"code": -32601, "message": "there is no method `m`", "data": 1});
        assert_eq!(write(response), json!({"jsonrpc": "2.0", "id": "x", "error": error}));
    }

    #[test]
    fn each_protocol_cancels_in_its_own_way() {
        let cancel = |dialect: JsonRpc| dialect.cancel(3, "m", "enough").map(|message| dialect.write(9, message));
        assert_eq!(cancel(JsonRpc::Plain), None);
        assert_eq!(
            cancel(JsonRpc::Lsp),
            Some(json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 3}}))
        );
        let params = json!({"requestId": 3, "reason": "enough"});
        let mcp = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        assert_eq!(cancel(JsonRpc::Mcp), Some(mcp));
        assert_eq!(JsonRpc::Mcp.cancel(1, "initialize", ""), None);
        for dialect in [JsonRpc::Lsp, JsonRpc::Mcp] {
            let wire = dialect.write(9, dialect.cancel(3, "m", "").unwrap());
            let read = dialect.read(wire).remove(0).unwrap();
            assert_eq!(dialect.cancelled(&read), Some(Id::from(3)));
            assert_eq!(JsonRpc::Plain.cancelled(&read), None);
        }
    }

    #[test]
    fn progress_is_asked_for_where_each_protocol_looks() {
        let asked = |dialect: JsonRpc, mut params: Value| {
            dialect.ask_for_progress(5, &mut params);
            params
        };
        assert_eq!(asked(JsonRpc::Lsp, Value::Null), json!({"workDoneToken": 5}));
        let meta = json!({"a": 1, "_meta": {"x": 2}});
        assert_eq!(asked(JsonRpc::Mcp, meta), json!({"a": 1, "_meta": {"x": 2, "progressToken": 5}}));
        let lsp = json!({"token": 5, "value": {"kind": "end"}});
        assert_eq!(JsonRpc::Lsp.progress("$/progress", &lsp), Some((5, &json!({"kind": "end"}))));
        let mcp = json!({"progressToken": 5, "progress": 1});
        assert_eq!(JsonRpc::Mcp.progress("notifications/progress", &mcp), Some((5, &mcp)));
        assert_eq!(JsonRpc::Mcp.progress("notifications/progress", &json!({"progressToken": "theirs"})), None);
    }
}
