//! The outcome of a command, and the frames that only this protocol has.

use std::borrow::Cow;

use omp_session::SlashCommand;
use omp_wire::{AvailableCommand, CommandHint, NewsFrame, ResponseFrame, ResponseTag};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The outcome of a command.
pub type Outcome = Result<Option<Box<RawValue>>, Refusal>;

/// Why a command was refused.
#[derive(Debug)]
pub struct Refusal {
    pub error: String,
    /// A machine-readable reason, if the message is not enough.
    pub code: Option<&'static str>,
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(error: T) -> Self {
        Self { error: error.into(), code: None }
    }
}

/// Success without data.
pub const DONE: Outcome = Ok(None);

/// Success with data.
pub fn data(value: &impl Serialize) -> Outcome {
    match serde_json::value::to_raw_value(value) {
        Ok(raw) => Ok(Some(raw)),
        Err(error) => Err(error.to_string().into()),
    }
}

pub fn response<'a>(id: Option<&'a Value>, command: &'a str, outcome: &'a Outcome) -> ResponseFrame<'a> {
    let (data, refusal) = match outcome {
        Ok(data) => (data.as_deref(), None),
        Err(refusal) => (None, Some(refusal)),
    };
    ResponseFrame {
        id: id.map(Cow::Borrowed),
        r#type: ResponseTag::Response,
        command: command.into(),
        success: refusal.is_none(),
        data: data.map(Cow::Borrowed),
        error: refusal.map(|refusal| refusal.error.as_str().into()),
        code: refusal.and_then(|refusal| refusal.code).map(Cow::Borrowed),
    }
}

pub fn warning(message: &str) -> NewsFrame<'_> {
    NewsFrame::Notice { level: "warning".into(), message: message.into(), source: "session".into() }
}

/// A slash command that can be sent as a prompt.
pub fn available(command: &dyn SlashCommand) -> AvailableCommand {
    AvailableCommand {
        name: command.name().to_owned(),
        aliases: command.aliases().iter().map(|alias| (*alias).to_owned()).collect(),
        description: command.description().to_owned(),
        input: command.arguments().map(|hint| CommandHint { hint: hint.to_owned() }),
        source: command.source().as_str().into(),
    }
}
