//! The fields of providers and models in `models.yml`, their validation, and their effect on a model.

use std::collections::BTreeMap;

use omp_types::{Api, InputKind, Model, ThinkingSupport};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::catalog::{DEFAULT_CONTEXT, DEFAULT_MAX_TOKENS};

pub(super) const PROVIDER_KEYS: &[&str] =
    &["baseUrl", "apiKey", "api", "headers", "authHeader", "auth", "discovery", "modelOverrides", "models"];
pub(super) const MODEL_KEYS: &[&str] = &[
    "id",
    "name",
    "api",
    "reasoning",
    "input",
    "cost",
    "contextWindow",
    "maxTokens",
    "headers",
    "compat",
    "contextPromotionTarget",
    "thinking",
];
pub(super) const COST_KEYS: &[&str] = &["input", "output", "cacheRead", "cacheWrite"];

const APIS: &[&str] = &[
    "openai-completions",
    "openai-responses",
    "openai-codex-responses",
    "azure-openai-responses",
    "anthropic-messages",
    "google-generative-ai",
    "google-vertex",
];

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a mapping")]
pub(crate) struct ProviderFields {
    pub base_url: Option<String>,
    /// Name of an environment variable, or the key itself.
    #[serde(deserialize_with = "optional_text")]
    pub api_key: Option<String>,
    pub api: Option<String>,
    #[serde(deserialize_with = "text_map")]
    pub headers: BTreeMap<String, String>,
    pub auth_header: bool,
    pub auth: AuthMode,
    pub discovery: Option<Discovery>,
    pub model_overrides: BTreeMap<String, ModelFields>,
    pub models: Vec<ModelFields>,
}

/// Prints only the fields that hold no secret.
impl std::fmt::Debug for ProviderFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderFields")
            .field("base_url", &self.base_url)
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum AuthMode {
    #[default]
    #[serde(rename = "apiKey")]
    ApiKey,
    #[serde(rename = "none")]
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a mapping with `type`")]
pub(crate) struct Discovery {
    #[serde(rename = "type")]
    pub kind: DiscoveryKind,
}

/// The kinds of server whose models can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum DiscoveryKind {
    #[serde(rename = "ollama")]
    Ollama,
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    #[serde(rename = "lm-studio")]
    LmStudio,
}

/// A custom model, or overrides of a known one; `id` and `api` are used only in the former.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a mapping")]
pub(crate) struct ModelFields {
    #[serde(deserialize_with = "optional_text")]
    pub id: Option<String>,
    pub name: Option<String>,
    pub api: Option<String>,
    pub reasoning: Option<bool>,
    pub input: Option<Vec<InputKind>>,
    pub cost: CostFields,
    pub context_window: Option<f64>,
    pub max_tokens: Option<f64>,
    #[serde(deserialize_with = "text_map")]
    pub headers: BTreeMap<String, String>,
    pub compat: Option<Value>,
    pub context_promotion_target: Option<String>,
    pub thinking: Option<ThinkingSupport>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a mapping")]
pub(crate) struct CostFields {
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

impl ProviderFields {
    /// Returns the headers of the provider and of all its models.
    pub(crate) fn all_headers(&self) -> impl Iterator<Item = (&String, &String)> {
        let models = self.models.iter().chain(self.model_overrides.values());
        self.headers.iter().chain(models.flat_map(|model| &model.headers))
    }

    /// The error starts with the path below the provider.
    pub(super) fn validate(&self) -> Result<(), String> {
        if let Some(api) = &self.api {
            check_api(".api", api)?;
        }
        if let Some(url) = &self.base_url {
            check_url(url)?;
        }
        if self.discovery.is_some() && self.api.is_none() {
            return Err(
                ": `discovery` needs `api`\nhint: `api: openai-completions` suits most local servers".to_owned()
            );
        }
        for (id, model) in &self.model_overrides {
            model.validate(&format!(".modelOverrides.{id}"))?;
        }
        if self.models.is_empty() { self.validate_override() } else { self.validate_custom() }
    }

    fn validate_override(&self) -> Result<(), String> {
        let changes_models = self.base_url.is_some() || !self.model_overrides.is_empty() || self.discovery.is_some();
        if changes_models || self.api_key.is_some() || !self.headers.is_empty() {
            return Ok(());
        }
        Err(": without `models` it must have at least one of `baseUrl`, `modelOverrides`, `discovery`, `apiKey`, `headers`"
            .to_owned())
    }

    fn validate_custom(&self) -> Result<(), String> {
        if self.base_url.is_none() {
            return Err(": `baseUrl` is required with `models`".to_owned());
        }
        if self.api_key.is_none() && self.auth != AuthMode::None {
            return Err(
                ": `apiKey` is required with `models`\nhint: write `auth: none` for a server without keys".to_owned()
            );
        }
        for (index, model) in self.models.iter().enumerate() {
            let place = format!(".models[{index}]");
            if model.id.as_deref().is_none_or(|id| id.trim().is_empty()) {
                return Err(format!("{place}: `id` is required"));
            }
            match (&model.api, &self.api) {
                (Some(api), _) => check_api(&format!("{place}.api"), api)?,
                (None, None) => return Err(format!("{place}: `api` is required, here or at the provider")),
                (None, Some(_)) => {}
            }
            model.validate(&place)?;
        }
        Ok(())
    }

    /// Returns the provider's custom models.
    pub(crate) fn custom_models(&self, provider: &str) -> impl Iterator<Item = Model> {
        self.models.iter().map(move |fields| {
            let id = fields.id.clone().unwrap_or_default();
            let api = fields.api.as_deref().or(self.api.as_deref()).unwrap_or_default();
            let mut model = Model {
                name: id.clone(),
                id,
                api: Api::from(api),
                provider: provider.to_owned(),
                base_url: self.base_url.clone().unwrap_or_default(),
                reasoning: false,
                input: vec![InputKind::Text],
                cost: Default::default(),
                context_window: DEFAULT_CONTEXT,
                max_tokens: DEFAULT_MAX_TOKENS,
                headers: self.headers.clone(),
                thinking: None,
                compat: Value::Null,
                context_promotion_target: None,
            };
            fields.apply(&mut model);
            model
        })
    }
}

impl ModelFields {
    fn validate(&self, place: &str) -> Result<(), String> {
        let sizes = [("contextWindow", self.context_window), ("maxTokens", self.max_tokens)];
        for (name, size) in sizes {
            if size.is_some_and(|size| size < 1.0 || !size.is_finite()) {
                return Err(format!("{place}.{name}: must be a positive number"));
            }
        }
        if self.compat.as_ref().is_some_and(|compat| !compat.is_object()) {
            return Err(format!("{place}.compat: must be a mapping"));
        }
        Ok(())
    }

    pub(crate) fn apply(&self, model: &mut Model) {
        replace(&mut model.name, &self.name);
        replace(&mut model.reasoning, &self.reasoning);
        if let Some(input) = &self.input {
            model.input.clone_from(input);
        }
        replace(&mut model.cost.input, &self.cost.input);
        replace(&mut model.cost.output, &self.cost.output);
        replace(&mut model.cost.cache_read, &self.cost.cache_read);
        replace(&mut model.cost.cache_write, &self.cost.cache_write);
        replace(&mut model.context_window, &self.context_window.map(|size| size as u64));
        replace(&mut model.max_tokens, &self.max_tokens.map(|size| size as u64));
        for (name, value) in &self.headers {
            set_header(&mut model.headers, name, value);
        }
        if let Some(compat) = &self.compat {
            merge_compat(&mut model.compat, compat);
        }
        if self.context_promotion_target.is_some() {
            model.context_promotion_target.clone_from(&self.context_promotion_target);
        }
        if self.thinking.is_some() {
            model.thinking.clone_from(&self.thinking);
        }
    }
}

fn replace<T: Clone>(slot: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        slot.clone_from(value);
    }
}

/// Header names are case-insensitive; the later one wins.
pub(crate) fn set_header(headers: &mut BTreeMap<String, String>, name: &str, value: &str) {
    headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
    headers.insert(name.to_owned(), value.to_owned());
}

/// Merges nested objects key by key and replaces other values.
fn merge_compat(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge_compat(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => into.clone_from(from),
    }
}

fn check_api(place: &str, api: &str) -> Result<(), String> {
    if APIS.contains(&api) {
        return Ok(());
    }
    Err(format!("{place}: unknown API `{api}`\nhint: use one of {}", APIS.join(", ")))
}

fn check_url(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !url.contains(char::is_whitespace)) {
        return Ok(());
    }
    Err(format!(".baseUrl: `{url}` is not a URL\nhint: it starts with http:// or https://"))
}

/// Accepts a number or boolean in place of text, as written: `X-Team: 5`.
fn text<E: serde::de::Error>(value: Value) -> Result<String, E> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(switch) => Ok(switch.to_string()),
        _ => Err(E::custom("expected text")),
    }
}

fn optional_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    text(Value::deserialize(deserializer)?).map(Some)
}

fn text_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let map = BTreeMap::<String, Value>::deserialize(deserializer)?;
    map.into_iter().map(|(name, value)| Ok((name, text(value)?))).collect()
}
