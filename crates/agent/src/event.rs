//! The events of the loop: ten kinds, none specific to a tool.

use std::sync::Arc;

use omp_types::{Message, StreamEvent};
use serde_json::Value;

use crate::tool::ToolOutput;

#[derive(Clone, Debug)]
pub enum AgentEvent {
    AgentStart,
    AgentEnd { messages: Vec<Arc<Message>> },
    TurnStart,
    TurnEnd { message: Arc<Message>, tool_results: Vec<Arc<Message>> },
    MessageStart { message: Arc<Message> },
    MessageUpdate { event: StreamEvent },
    MessageEnd { message: Arc<Message> },
    ToolStart { call_id: String, name: String, arguments: Arc<Value> },
    ToolUpdate { call_id: String, name: String, arguments: Arc<Value>, partial: ToolOutput },
    ToolEnd(ToolOutcome),
}

/// A finished call.
#[derive(Clone, Debug)]
pub struct ToolOutcome {
    pub call_id: String,
    pub name: String,
    pub arguments: Arc<Value>,
    pub output: ToolOutput,
}
