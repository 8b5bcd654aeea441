//! Test support for omp: a scripted model, a fake provider server with faults, temporary workspaces, a tmux server.
//!
//! One [`Script`] of [`Turn`]s drives both the [`Server`], which speaks the four wire APIs over loopback and can break them
//! at any byte, and the in-process [`ScriptedLlm`]. Nothing here ships with omp. See `docs/testkit.md`.

mod effort;
mod llm;
pub mod prefix;
mod provider;
mod script;
mod server;
mod strict;
mod tmux;
mod wire;
mod workspace;

pub use effort::Effort;
pub use llm::{Gate, Reply, ScriptedLlm};
pub use provider::{MOCK_MODEL, MOCK_PROVIDER, MockProvider, all_apis_yml, mock_model};
pub use script::{
    After, Call, Fault, FaultKind, FaultStatus, Framing, Generated, Moment, PastEnd, Script, ScriptError,
    ScriptedArguments, Select, Split, Stop, Text, Thinking, TokenCounts, Turn,
};
pub use server::{Counts, RecordedRequest, RequestHook, RequestLog, Server, ServerOptions};
pub use tmux::Tmux;
pub use wire::Wire;
pub use workspace::TempWorkspace;
