//! The agent loop, independent of tools, providers and sessions.
//!
//! [`run()`] drives turns: ask the model, run its tool calls, feed the results back, until the model has nothing more to do.
//! Tools implement [`AnyTool`]; the code that observes and decides implements [`Port`].

mod calls;
mod event;
mod plan;
mod progress;
mod queue;
mod run;
mod schema;
mod tool;

pub use calls::was_aborted;
pub use event::{AgentEvent, ToolOutcome};
pub use plan::{AnyPlan, CheckedCall, InvalidArguments, Planned, PlannedCall, plan_of};
pub use progress::Progress;
pub use queue::{InterruptMode, MAX_QUEUED, QueueMode, QueueModes, Queues};
pub use run::{LoopConfig, Port, RunEnd, Stop, run};
pub use schema::{SchemaProblem, check_arguments};
pub use tool::{
    AnyTool, Approval, ArrivingCall, Choice, ChoiceOption, Concurrency, Effect, Outcome, Output, Questions, Tier, Tool,
    ToolCx, ToolError, ToolOutput, ToolRole, ToolSet,
};
