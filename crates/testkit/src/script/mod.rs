//! The script of the fake model: a list of turns, written in Rust or in a YAML file.

mod fault;
#[cfg(test)]
mod tests;
mod text;
mod turn;
mod validate;

use std::fmt;
use std::path::Path;

use serde::Deserialize;

pub use fault::{After, Fault, FaultKind, FaultStatus, Framing, Moment, Split};
pub use text::{Generated, Text};
pub use turn::{Call, ScriptedArguments, Stop, Thinking, TokenCounts, Turn};

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub turns: Vec<Turn>,
    #[serde(default)]
    pub select: Select,
    #[serde(default)]
    pub past_end: PastEnd,
    /// Answers requests that offer no tools (titles, summaries) without using up a turn.
    #[serde(default)]
    pub aux: Option<String>,
    /// The JSON answer to `POST /responses/compact`; without it the endpoint does not exist.
    #[serde(default)]
    pub compact: Option<serde_json::Value>,
    /// Model ids in the listings.
    #[serde(default = "default_models")]
    pub models: Vec<String>,
    /// Acts as a local server that requires no key.
    #[serde(default)]
    pub keyless: bool,
    /// The byte layout for turns without their own.
    #[serde(default)]
    pub framing: Framing,
}

/// How the turn for a request is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The next unused turn, for any client.
    #[default]
    Sequence,
    /// The turn after as many assistant messages as the request contains, so that any number of sessions can share a server.
    AssistantCount,
}

/// The answer once the script is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PastEnd {
    /// Status 400, which no client retries, so that a test with too many requests fails.
    #[default]
    Error,
    RepeatLast,
}

impl Script {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), models: default_models(), ..Self::default() }
    }

    /// Creates one turn for each number from 0.
    pub fn generate(count: usize, turn: impl FnMut(usize) -> Turn) -> Self {
        Self::new((0..count).map(turn))
    }

    pub fn select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    pub fn past_end(mut self, past_end: PastEnd) -> Self {
        self.past_end = past_end;
        self
    }

    pub fn aux(mut self, text: impl Into<String>) -> Self {
        self.aux = Some(text.into());
        self
    }

    pub fn compact(mut self, answer: serde_json::Value) -> Self {
        self.compact = Some(answer);
        self
    }

    pub fn keyless(mut self) -> Self {
        self.keyless = true;
        self
    }

    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    pub fn models(mut self, ids: &[&str]) -> Self {
        self.models = ids.iter().map(|id| (*id).to_owned()).collect();
        self
    }

    /// Parses a script, expands its repeats and checks it. `name` names the text in errors.
    pub fn parse(name: &str, yaml: &str) -> Result<Self, ScriptError> {
        let script: Script = serde_saphyr::from_str(yaml).map_err(|error| ScriptError {
            name: name.to_owned(),
            problem: error.to_string(),
            hint: "docs/testkit.md lists every key of a script",
        })?;
        if script.turns.is_empty() {
            return Err(ScriptError {
                name: name.to_owned(),
                problem: "`turns` is empty".to_owned(),
                hint: "add at least one turn, such as `- text: hello`",
            });
        }
        script.checked(name)
    }

    /// Expands repeats and rejects values that cannot be played. A script built in Rust may have no turns.
    pub(crate) fn checked(self, name: &str) -> Result<Self, ScriptError> {
        validate::expand(name, self)
    }

    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let yaml = std::fs::read_to_string(path).map_err(|error| ScriptError {
            name: name.clone(),
            problem: error.to_string(),
            hint: "give the path of a script; examples are in crates/testkit/scripts",
        })?;
        Self::parse(&name, &yaml)
    }
}

impl<const N: usize> From<[Turn; N]> for Script {
    fn from(turns: [Turn; N]) -> Self {
        Script::new(turns)
    }
}

impl From<Turn> for Script {
    fn from(turn: Turn) -> Self {
        Script::new([turn])
    }
}

/// An invalid script: its name, the problem with its position, and the solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    pub name: String,
    pub problem: String,
    pub hint: &'static str,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use script `{}`: {}\nhint: {}", self.name, self.problem.trim_end(), self.hint)
    }
}

impl std::error::Error for ScriptError {}

fn default_models() -> Vec<String> {
    vec![crate::provider::MOCK_MODEL.to_owned()]
}
