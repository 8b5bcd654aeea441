//! The data types of a conversation: messages, content, usage, models, and the [`Llm`] trait with its event stream.
//!
//! These types are serialized in session files, JSON mode and RPC, so field names and their order are stable (see
//! `docs/session-format.md`). This crate uses no HTTP, files or tasks.

mod access;
mod call_facts;
mod content;
mod editor;
mod env;
mod error;
mod message;
mod model;
mod number;
mod partial_json;
mod past;
mod screens;
mod secrets;
mod setting;
mod shortened;
mod stream;
mod stripped;
mod tally;
mod task_list;
mod terms;
mod tokens;
mod tool_schema;
mod transcript;
mod usage;

pub use access::{
    Access, AccessMap, ContainMode, Denied, Loan, NetworkMode, SERVICES, Service, Touch, UnusedCache, WorkspaceScope,
    folded_path,
};
pub use call_facts::{CallFactSource, CallFactSources, CallFacts, ShownContent, TouchedFiles};
pub use content::{Content, ImageContent, RedactedThinking, TextContent, ThinkingContent, ToolCall, text_of};
pub use editor::{
    Editor, EditorAddresses, EditorCommand, EditorExit, EditorFiles, EditorFuture, EditorOutput, EditorTerminal,
    EditorTerminals, EditorText, OWN_SCHEMES,
};
pub use env::{ALL as ENV_VARS, Env, EnvVar, PROJECT_VARS, PROVIDER_KEYS, is_served, vars};
pub use error::{ErrorKind, ModelError};
pub use message::{
    AssistantMessage, Attribution, CustomMessage, Message, OtherMessage, StopReason, ToolResultMessage, UserMessage,
    now_ms,
};
pub use model::{Api, InputKind, Model, Prices, ThinkingLevel, ThinkingSupport};
pub use partial_json::PartialJson;
pub use past::{OpenPast, Past, PastVersion};
pub use screens::{CommandScreen, CommandScreens, ScreenEvent, ScreenFuture, ScreenSize};
pub use secrets::{Redact, Secrets, is_secret_variable};
pub use setting::{ListItem, Reach, Setting, SettingKind};
pub use shortened::{SHORTENED_BY_PROVIDER, Shortened, Shortening, shortened_items};
pub use stream::{CacheRetention, Llm, MessageBuilder, ModelStream, Request, StreamEvent, ToolSpec};
pub use stripped::Stripped;
pub use tally::{ModelTally, Tally};
pub use task_list::{TaskItem, TaskPhase, TaskStatus};
pub use terms::{ServiceTier, Terms};
pub use tokens::{estimate_message_tokens, estimate_tokens};
pub use tool_schema::{ToolSchemaProblem, portable_parameters};
pub use transcript::Transcript;
pub use usage::{Cost, Usage};
