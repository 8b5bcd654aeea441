//! How a protocol encodes requests, notifications and responses, cancellation and progress.

mod dap;
mod json_rpc;

use serde_json::Value;

use crate::message::{Id, Incoming, InvalidMessage, Outgoing, RpcError, UnreadableInput};

pub use dap::Dap;
pub use json_rpc::JsonRpc;

/// Converts between JSON values on the wire and messages. It is stateless.
pub trait Dialect: Send + Sync + 'static {
    /// Parses the messages of one value: a batch holds several.
    fn read(&self, wire: Value) -> Vec<Result<Incoming, InvalidMessage>>;

    /// Returns the answer to input that is not JSON or too long; `None` if it is only recorded as noise.
    fn answer_to_unreadable(&self, _input: UnreadableInput<'_>) -> Option<RpcError> {
        None
    }

    /// Returns the answer to a request that exceeds a limit of the connection.
    fn answer_to_overload(&self) -> RpcError {
        RpcError::new(RpcError::BUSY, "too many requests at once; ask again later")
    }

    /// `number` increases with each written message and identifies a request.
    fn write(&self, number: i64, message: Outgoing) -> Value;

    /// Returns the message that cancels request `number`. `None` if the protocol has none.
    fn cancel(&self, number: i64, method: &str, reason: &str) -> Option<Outgoing>;

    /// Whether every server supports cancellation; otherwise [`crate::Peer::allow_cancel`] enables it.
    fn cancels_by_default(&self) -> bool {
        true
    }

    /// Returns the request that the other side cancels with this message.
    fn cancelled(&self, message: &Incoming) -> Option<Id>;

    /// Returns the response to a cancelled request; `None` if no response is expected.
    fn answer_to_cancelled(&self) -> Option<RpcError>;

    /// Requests progress of request `number`, which is also its token. Does nothing if the protocol does not support this.
    fn ask_for_progress(&self, number: i64, params: &mut Value);

    /// Returns the token and the content of a progress notification.
    fn progress<'a>(&self, method: &str, params: &'a Value) -> Option<(i64, &'a Value)>;
}
