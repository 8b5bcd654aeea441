//! One answer of the fake model.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fault::{Fault, FaultKind, Framing};
use super::text::Text;

/// Played in this order: thinking, text, calls.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    #[serde(default)]
    pub thinking: Option<Thinking>,
    #[serde(default)]
    pub text: Option<Text>,
    #[serde(default)]
    pub calls: Vec<Call>,
    #[serde(default)]
    pub usage: Option<TokenCounts>,
    /// Defaults to `tool_use` if there are calls and to `stop` otherwise.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// Pause after each event.
    #[serde(default)]
    pub delay_ms: u64,
    #[serde(default)]
    pub framing: Option<Framing>,
    #[serde(default)]
    pub fault: Option<Fault>,
    /// In a file: repeats this turn; `{i}` in its strings is replaced by the number of the turn in the script.
    #[serde(default)]
    pub repeat: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    pub text: Text,
    /// The provider's signature of the thinking; generated if absent.
    #[serde(default)]
    pub signature: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "CallKeys")]
pub struct Call {
    pub name: String,
    pub arguments: ScriptedArguments,
    /// Derived from the numbers of the turn and the call if absent. Two calls may share an id.
    pub id: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ScriptedArguments {
    Object(Map<String, Value>),
    /// Streamed piece by piece unchanged, valid or not.
    Raw(Vec<String>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenCounts {
    /// Prompt tokens outside any cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Part of `output` that went into thinking.
    pub reasoning: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Stop {
    Stop,
    Length,
    ToolUse,
    Refusal,
    /// The provider's own value, as in `raw:pause_turn`.
    Raw(String),
}

impl Turn {
    pub fn text(text: impl Into<Text>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.with_call(Call::new(name, arguments))
    }

    pub fn with_call(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }

    pub fn thinking(mut self, text: impl Into<Text>) -> Self {
        self.thinking = Some(Thinking { text: text.into(), signature: None });
        self
    }

    pub fn usage(mut self, usage: TokenCounts) -> Self {
        self.usage = Some(usage);
        self
    }

    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    pub fn delay_ms(mut self, delay: u64) -> Self {
        self.delay_ms = delay;
        self
    }

    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = Some(framing);
        self
    }

    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Returns the stop reason, given or implied.
    pub fn stop_word(&self) -> Stop {
        let implied = if self.calls.is_empty() { Stop::Stop } else { Stop::ToolUse };
        self.stop.clone().unwrap_or(implied)
    }

    /// Returns the fault of the given attempt (from 0) at this turn.
    pub fn fault_for(&self, attempt: u32) -> Option<&Fault> {
        self.fault.as_ref().filter(|fault| fault.times.is_none_or(|times| attempt < times))
    }

    /// Returns the content after applying a fault that affects content.
    pub(crate) fn under(&self, fault: Option<&FaultKind>) -> Turn {
        let mut turn = self.clone();
        if fault == Some(&FaultKind::TruncatedArguments)
            && let Some(call) = turn.calls.last_mut()
        {
            call.cut_in_half();
        }
        turn
    }
}

impl Call {
    pub fn new(name: &str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(map) => ScriptedArguments::Object(map),
            other => ScriptedArguments::Raw(vec![other.to_string()]),
        };
        Self { name: name.to_owned(), arguments, id: None }
    }

    pub fn raw<const N: usize>(name: &str, pieces: [&str; N]) -> Self {
        let pieces = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        Self { name: name.to_owned(), arguments: ScriptedArguments::Raw(pieces), id: None }
    }

    pub fn id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }

    /// Returns the argument text in its streamed pieces.
    pub fn pieces(&self) -> Vec<String> {
        match &self.arguments {
            ScriptedArguments::Raw(pieces) => pieces.clone(),
            ScriptedArguments::Object(map) => {
                let text: Vec<char> = Value::Object(map.clone()).to_string().chars().collect();
                text.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
            }
        }
    }

    fn cut_in_half(&mut self) {
        let text: Vec<char> = self.pieces().concat().chars().collect();
        self.arguments = ScriptedArguments::Raw(vec![text[..text.len() / 2].iter().collect()]);
    }

    pub(super) fn numbered(&mut self, number: usize) {
        let text = number.to_string();
        match &mut self.arguments {
            ScriptedArguments::Raw(pieces) => pieces.iter_mut().for_each(|piece| *piece = piece.replace("{i}", &text)),
            ScriptedArguments::Object(map) => map.values_mut().for_each(|value| number_strings(value, &text)),
        }
        self.id = self.id.as_ref().map(|id| id.replace("{i}", &text));
    }
}

/// Characters of argument text in one event.
const PIECE: usize = 32;

fn number_strings(value: &mut Value, number: &str) {
    match value {
        Value::String(text) => *text = text.replace("{i}", number),
        Value::Array(items) => items.iter_mut().for_each(|item| number_strings(item, number)),
        Value::Object(map) => map.values_mut().for_each(|item| number_strings(item, number)),
        _ => {}
    }
}

/// A call in the format of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallKeys {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    #[serde(default)]
    raw: Option<Vec<String>>,
    #[serde(default)]
    id: Option<String>,
}

impl TryFrom<CallKeys> for Call {
    type Error = String;

    fn try_from(keys: CallKeys) -> Result<Self, String> {
        let arguments = match (keys.arguments, keys.raw) {
            (Some(_), Some(_)) => {
                return Err(format!("call of `{}` has both `arguments` and `raw`; keep one", keys.name));
            }
            (None, Some(pieces)) => ScriptedArguments::Raw(pieces),
            (map, None) => ScriptedArguments::Object(map.unwrap_or_default()),
        };
        Ok(Call { name: keys.name, arguments, id: keys.id })
    }
}

impl TryFrom<String> for Stop {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Ok(match word.as_str() {
            "stop" => Stop::Stop,
            "length" => Stop::Length,
            "tool_use" => Stop::ToolUse,
            "refusal" => Stop::Refusal,
            other => match other.strip_prefix("raw:") {
                Some(raw) => Stop::Raw(raw.to_owned()),
                None => {
                    return Err(format!(
                        "unknown stop reason `{other}`; use stop, length, tool_use, refusal or raw:<the provider's word>"
                    ));
                }
            },
        })
    }
}
