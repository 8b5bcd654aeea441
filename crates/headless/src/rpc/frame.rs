//! The frames that only this protocol knows, as they stand on the wire. Those of the session are JSON mode's.

use omp_session::SlashCommand;
use omp_types::StreamEvent;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::limit::{MAX_FRAME, MAX_REASSEMBLED};

/// The first line: clients wait for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    r#type: &'static str,
    protocol_version: u32,
    supported_protocol_versions: [u32; 2],
    max_frame_bytes: usize,
    max_reassembled_frame_bytes: usize,
}

impl Ready {
    pub fn new() -> Self {
        Self {
            r#type: "ready",
            protocol_version: 1,
            supported_protocol_versions: [1, 2],
            max_frame_bytes: MAX_FRAME,
            max_reassembled_frame_bytes: MAX_REASSEMBLED,
        }
    }
}

/// What came of a command.
pub type Outcome = Result<Option<Box<RawValue>>, Refusal>;

/// Why a command was not obeyed.
#[derive(Debug)]
pub struct Refusal {
    pub error: String,
    /// For programs, where the sentence is not enough.
    pub code: Option<&'static str>,
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(error: T) -> Self {
        Self { error: error.into(), code: None }
    }
}

/// A command that succeeded and has nothing to say.
pub const DONE: Outcome = Ok(None);

/// A command that succeeded, with what it found.
pub fn data(value: &impl Serialize) -> Outcome {
    match serde_json::value::to_raw_value(value) {
        Ok(raw) => Ok(Some(raw)),
        Err(error) => Err(error.to_string().into()),
    }
}

#[derive(Serialize)]
pub struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    r#type: &'static str,
    command: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

impl<'a> Response<'a> {
    pub fn new(id: Option<&'a Value>, command: &'a str, outcome: &'a Outcome) -> Self {
        let (data, refusal) = match outcome {
            Ok(data) => (data.as_deref(), None),
            Err(refusal) => (None, Some(refusal)),
        };
        Self {
            id,
            r#type: "response",
            command,
            success: refusal.is_none(),
            data,
            error: refusal.map(|refusal| refusal.error.as_str()),
            code: refusal.and_then(|refusal| refusal.code),
        }
    }
}

/// A piece of an answer, as JSON mode's `message_update`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Update<'a> {
    r#type: &'static str,
    assistant_message_event: &'a StreamEvent,
}

impl<'a> Update<'a> {
    pub fn new(event: &'a StreamEvent) -> Self {
        Self { r#type: "message_update", assistant_message_event: event }
    }
}

/// Frames were lost on the way.
#[derive(Serialize)]
pub struct Dropped<'a> {
    r#type: &'static str,
    error: &'a str,
}

impl<'a> Dropped<'a> {
    pub fn new(error: &'a str) -> Self {
        Self { r#type: "rpc_frame_error", error }
    }
}

/// Frames that nobody asked for.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum News<'a> {
    AvailableCommandsUpdate {
        commands: &'a [Available],
    },
    /// What a slash command has answered.
    CommandOutput {
        text: &'a str,
    },
    /// The title has changed.
    SessionInfoUpdate {
        title: &'a str,
        session_id: &'a str,
    },
    ThinkingLevelChanged {
        thinking_level: &'a str,
    },
    ModelChanged,
    Notice {
        level: &'a str,
        message: &'a str,
        source: &'a str,
    },
    /// The end of a run whose first messages were told already.
    AgentEnd {
        messages: &'a [std::sync::Arc<omp_types::Message>],
        is_terminal: bool,
        message_count: usize,
    },
}

/// A slash command that can be sent as a prompt.
#[derive(Serialize)]
pub struct Available {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Hint>,
    source: &'static str,
}

#[derive(Serialize)]
struct Hint {
    hint: String,
}

impl From<&dyn SlashCommand> for Available {
    fn from(command: &dyn SlashCommand) -> Self {
        Self {
            name: command.name().to_owned(),
            aliases: command.aliases().iter().map(|alias| (*alias).to_owned()).collect(),
            description: command.description().to_owned(),
            input: command.arguments().map(|hint| Hint { hint: hint.to_owned() }),
            source: command.source().as_str(),
        }
    }
}
