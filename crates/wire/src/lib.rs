//! The protocol of JSON mode and RPC as data, for servers and clients: the wire format, separate from the internal types so
//! that those may change. Every struct can be serialized and deserialized, and the crate can be built for a browser.
//!
//! [`EventFrame`] is an event of a session in both modes; the frames of `frame` are for RPC only. A request is an object
//! with a `type`, an optional `id` and the fields of one of the structs of `request`; its [`ResponseFrame`] contains one of
//! `reply`.

mod event;
mod frame;
mod reply;
mod request;

pub use event::{CompactionBody, EstimateBody, EventFrame, PrefixBreakBody, SessionHeaderFrame, ToolResultBody};
pub use frame::{
    AvailableCommand, ChunkFrame, CommandHint, DialogFrame, DialogMethod, FrameErrorFrame, HostToolFrame, HostUriFrame,
    MAX_FRAME, MAX_REASSEMBLED, MessageUpdateFrame, NewsFrame, ReadyFrame, ResponseFrame, ResponseTag,
};
pub use reply::{
    BashReply, BranchMessage, BranchMessagesReply, BranchReply, CancelledReply, CommandsReply, ContainmentBody,
    ContextUsageBody, CycledModelReply, FastModeReply, LevelReply, MessagesPageReply, MessagesReply, ModelsReply,
    PathReply, PromptReply, ProtocolReply, StateReply, TextReply, TodosReply, ToolNamesReply, UndoBody,
    UriSchemesReply,
};
pub use request::{
    BashRequest, BranchRequest, CompactRequest, DialogResponse, EnabledRequest, ExportRequest, HostToolBody,
    HostToolDefinition, HostToolResult, HostUriResult, HostUriScheme, InterruptModeRequest, InterruptWhen,
    LoginRequest, MessagesPageRequest, NegotiateRequest, NewSessionRequest, PromptRequest, QueueModeRequest,
    QueueTaking, SessionNameRequest, SetHostToolsRequest, SetHostUrisRequest, SetModelRequest, SetTodosRequest,
    StreamingBehavior, SubagentMessagesRequest, SubagentSubscriptionRequest, SwitchSessionRequest, ThinkingRequest,
};
