//! The data of a model: its endpoint, capabilities and prices.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The wire protocol of a provider. Unsupported names are kept in [`Api::Other`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Api {
    AnthropicMessages,
    OpenaiCompletions,
    OpenaiResponses,
    GoogleGenerativeAi,
    /// The scripted model of `omp demo`.
    Demo,
    Other(String),
}

impl Api {
    pub fn as_str(&self) -> &str {
        match self {
            Api::AnthropicMessages => "anthropic-messages",
            Api::OpenaiCompletions => "openai-completions",
            Api::OpenaiResponses => "openai-responses",
            Api::GoogleGenerativeAi => "google-generative-ai",
            Api::Demo => "demo",
            Api::Other(name) => name,
        }
    }
}

impl From<&str> for Api {
    fn from(name: &str) -> Self {
        match name {
            "anthropic-messages" => Api::AnthropicMessages,
            "openai-completions" => Api::OpenaiCompletions,
            "openai-responses" => Api::OpenaiResponses,
            "google-generative-ai" => Api::GoogleGenerativeAi,
            "demo" => Api::Demo,
            other => Api::Other(other.to_owned()),
        }
    }
}

impl Serialize for Api {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Api {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Api::from(name.as_str()))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    pub id: String,
    pub name: String,
    pub api: Api,
    pub provider: String,
    pub base_url: String,
    pub reasoning: bool,
    pub input: Vec<InputKind>,
    pub cost: Prices,
    pub context_window: u64,
    pub max_tokens: u64,
    /// Sent with every request; may hold secrets, so it is never serialized.
    #[serde(skip)]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingSupport>,
    /// Quirks of the endpoint, interpreted by its wire implementation.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub compat: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_promotion_target: Option<String>,
}

impl Model {
    /// Returns `provider/id`, which always selects this model.
    pub fn selector(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    pub fn accepts(&self, kind: InputKind) -> bool {
        self.input.contains(&kind)
    }

    /// Returns the effort requested at a level: the nearest one that the model supports, the stronger of two equally near.
    /// `None` when off.
    pub fn effort(&self, level: ThinkingLevel) -> Option<&str> {
        if level == ThinkingLevel::Off {
            return None;
        }
        let wanted = strength(level.as_str());
        let listed = self.thinking.as_ref().map(|thinking| thinking.efforts.as_slice()).unwrap_or_default();
        let efforts: Vec<&str> =
            if listed.is_empty() { USUAL_EFFORTS.to_vec() } else { listed.iter().map(String::as_str).collect() };
        efforts.into_iter().min_by_key(|effort| {
            let found = strength(effort);
            (found.abs_diff(wanted), std::cmp::Reverse(found))
        })
    }

    /// Returns the effort that replaces a level the model does not support; `None` if the level is supported, or is only
    /// converted to a number of tokens.
    pub fn effort_instead_of(&self, level: ThinkingLevel) -> Option<&str> {
        let by_budget = self.thinking.as_ref().is_some_and(|thinking| thinking.mode == "budget");
        let effort = self.effort(level).filter(|_| self.reasoning && !by_budget);
        effort.filter(|effort| *effort != level.as_str())
    }
}

/// All effort names in catalogues, weakest first.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The default for a reasoning model without catalogue data.
const USUAL_EFFORTS: [&str; 3] = ["low", "medium", "high"];

/// An unknown name counts as medium.
fn strength(word: &str) -> usize {
    EFFORTS.iter().position(|known| *known == word).unwrap_or(3)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InputKind {
    Text,
    Image,
}

/// Price per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Prices {
    #[serde(serialize_with = "crate::number::serialize")]
    pub input: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub output: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub cache_read: f64,
    #[serde(serialize_with = "crate::number::serialize")]
    pub cache_write: f64,
}

/// How thinking is requested from a model, from the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThinkingSupport {
    /// `effort`, `budget`, `level`, …, as in the catalogue.
    pub mode: String,
    /// Supported levels, weakest first, in the provider's own words.
    pub efforts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_level: Option<String>,
    /// Maps our level names to the provider's, where they differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub effort_map: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_effort: bool,
    /// Thinking budget in tokens by level, where it differs from the default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub effort_budgets: BTreeMap<String, u64>,
    /// The model id to send instead, by level, if the provider offers each level as a separate model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub effort_routing: BTreeMap<String, String>,
    /// The endpoint can show or hide the model's thinking on request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub supports_display: bool,
    /// With thinking off the request must not mention thinking at all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suppress_when_off: bool,
}

/// How much a model should think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    #[default]
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
}

impl ThinkingLevel {
    pub const ALL: [ThinkingLevel; 6] = [
        ThinkingLevel::Off,
        ThinkingLevel::Minimal,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
        ThinkingLevel::Xhigh,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ThinkingLevel::Off => "off",
            ThinkingLevel::Minimal => "minimal",
            ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
            ThinkingLevel::Xhigh => "xhigh",
        }
    }
}

impl fmt::Display for ThinkingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ThinkingLevel {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == name)
            .ok_or_else(|| format!("unknown thinking level `{name}`; use off, minimal, low, medium, high or xhigh"))
    }
}
