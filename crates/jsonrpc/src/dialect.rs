//! How one protocol spells requests, notifications and responses, how it cancels, and how it tells of progress.

mod dap;
mod json_rpc;

use serde_json::Value;

use crate::message::{Id, Incoming, Outgoing, RpcError};

pub use dap::Dap;
pub use json_rpc::JsonRpc;

/// A protocol, between values on the wire and messages. It keeps no state.
pub trait Dialect: Send + Sync + 'static {
    /// The messages of one value: a batch holds several. `Err` says what is wrong with one.
    fn read(&self, wire: Value) -> Vec<Result<Incoming, String>>;

    /// `number` is one more for each message that is written; a request is known by it.
    fn write(&self, number: i64, message: Outgoing) -> Value;

    /// What tells the other side that request `number` is of no more use. `None` where there is no way to say it.
    fn cancel(&self, number: i64, method: &str, reason: &str) -> Option<Outgoing>;

    /// Whether cancelling works with every server; where it does not, [`crate::Peer::allow_cancel`] switches it on.
    fn cancels_by_default(&self) -> bool {
        true
    }

    /// The request that the other side takes back with this message.
    fn cancelled(&self, message: &Incoming) -> Option<Id>;

    /// What a request that was taken back is answered with; `None` where no answer is wanted.
    fn answer_to_cancelled(&self) -> Option<RpcError>;

    /// Asks for progress of request `number`, which is its token. Nothing happens where requests cannot ask.
    fn ask_for_progress(&self, number: i64, params: &mut Value);

    /// The token and the content of a progress notification.
    fn progress<'a>(&self, method: &str, params: &'a Value) -> Option<(i64, &'a Value)>;
}
