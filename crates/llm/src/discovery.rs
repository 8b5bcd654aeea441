//! Queries model servers for their models: Ollama, llama.cpp and LM Studio on this machine, and servers from `models.yml`.
//!
//! All are queried at once with short timeouts. A server that is not configured may fail silently; the failure of a
//! configured one is reported.

#[cfg(test)]
mod tests;

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream;
use omp_http::Client;
use omp_types::{Api, Env, InputKind, Model, ThinkingSupport, vars};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::auth::Credential;
use crate::catalog::{DEFAULT_CONTEXT, DEFAULT_MAX_TOKENS};
use crate::models_file::DiscoveryKind;
use crate::registry::Registry;

/// Timeout for servers on this machine that may not be running.
const GUESS_TIMEOUT: Duration = Duration::from_millis(1000);
/// Timeout for servers that the user configured.
const NAMED_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ANSWER: usize = 4 << 20;
const MAX_MODELS: usize = 500;
const DETAILS_AT_ONCE: usize = 8;

/// Result of the queries.
#[derive(Clone, Debug, Default)]
pub struct Discovered {
    pub models: Vec<Model>,
    /// Messages for the user about configured servers that could not be queried.
    pub problems: Vec<String>,
}

pub async fn discover(client: &Client, registry: &Registry) -> Discovered {
    let servers = servers(registry);
    let asked = join_all(servers.iter().map(|server| server.models(client))).await;
    let mut discovered = Discovered::default();
    for (server, outcome) in servers.iter().zip(asked) {
        match outcome {
            Ok(models) => discovered.models.extend(models.into_iter().take(MAX_MODELS)),
            Err(why) if server.configured => discovered.problems.push(format!(
                "cannot list the models of provider `{}`: {why}\nhint: is the server at {} running?",
                server.provider, server.root
            )),
            Err(_) => {}
        }
    }
    discovered
}

struct LocalServer {
    provider: String,
    kind: DiscoveryKind,
    api: Api,
    /// Without a trailing slash and without `/v1`.
    root: String,
    headers: Vec<(String, String)>,
    configured: bool,
    /// `OLLAMA_CONTEXT_LENGTH`.
    context: Option<u64>,
}

/// Returns all servers to query.
fn servers(registry: &Registry) -> Vec<LocalServer> {
    let named = registry.file_providers().filter_map(|(name, fields)| {
        let kind = fields.discovery.as_ref()?.kind;
        let api = Api::from(fields.api.as_deref().unwrap_or(default_api(kind)));
        let url = fields.base_url.clone().unwrap_or_else(|| default_url(kind, registry.env()));
        let mut server = LocalServer::new(name, kind, &url, registry);
        server.headers.extend(fields.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        Some(LocalServer { api, configured: true, ..server })
    });
    let guessed = [DiscoveryKind::Ollama, DiscoveryKind::LlamaCpp, DiscoveryKind::LmStudio].into_iter();
    let guessed = guessed.filter(|kind| registry.provider_fields(usual_name(*kind)).is_none());
    let guessed =
        guessed.map(|kind| LocalServer::new(usual_name(kind), kind, &default_url(kind, registry.env()), registry));
    let enabled = |server: &LocalServer| !registry.options.disabled_providers.contains(&server.provider);
    named.chain(guessed).filter(enabled).collect()
}

impl LocalServer {
    fn new(provider: &str, kind: DiscoveryKind, url: &str, registry: &Registry) -> Self {
        let root = url.trim().trim_end_matches('/');
        let root = root.strip_suffix("/v1").unwrap_or(root).trim_end_matches('/').to_owned();
        let headers = match registry.auth().key_for(provider) {
            Some(Credential::ApiKey(key) | Credential::Bearer(key)) => {
                vec![("authorization".to_owned(), format!("Bearer {key}"))]
            }
            _ => Vec::new(),
        };
        let context = registry.env().get(vars::OLLAMA_CONTEXT_LENGTH).and_then(|text| text.trim().parse().ok());
        Self {
            provider: provider.to_owned(),
            kind,
            api: Api::from(default_api(kind)),
            root,
            headers,
            configured: false,
            context: context.filter(|length| *length > 0 && kind == DiscoveryKind::Ollama),
        }
    }

    async fn models(&self, client: &Client) -> Result<Vec<Model>, String> {
        match self.kind {
            DiscoveryKind::Ollama => self.ollama(client).await,
            DiscoveryKind::LlamaCpp => self.llama_cpp(client).await,
            DiscoveryKind::LmStudio => self.lm_studio(client).await,
        }
    }

    async fn ollama(&self, client: &Client) -> Result<Vec<Model>, String> {
        let tags: OllamaTags = self.get(client, "/api/tags").await?;
        let tags = tags.models.into_iter().take(MAX_MODELS);
        let details = stream::iter(tags.map(|tag| async move {
            // Older servers, and models that are just being removed, have no details; the model is listed nevertheless.
            let details = self.ollama_details(client, &tag.name).await.unwrap_or_default();
            self.ollama_model(&tag.name, &details)
        }));
        Ok(details.buffered(DETAILS_AT_ONCE).filter_map(async |model| model).collect().await)
    }

    async fn ollama_details(&self, client: &Client, name: &str) -> Result<OllamaDetails, String> {
        let body = serde_json::json!({ "model": name }).to_string().into_bytes();
        let mut headers = self.headers.clone();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        let url = format!("{}/api/show", self.root);
        let exchange = async {
            let answer = client.post_stream(&url, &headers, body).await.map_err(|error| error.to_string())?;
            if answer.status != 200 {
                return Err(format!("{url} answered {}", answer.status));
            }
            let mut chunks = answer.body;
            let mut bytes = Vec::new();
            while let Some(chunk) = chunks.next().await {
                bytes.extend_from_slice(&chunk.map_err(|error| error.to_string())?);
                if bytes.len() > MAX_ANSWER {
                    return Err(format!("the answer from {url} is too large"));
                }
            }
            serde_json::from_slice(&bytes).map_err(|error| error.to_string())
        };
        tokio::time::timeout(self.timeout(), exchange).await.map_err(|_| format!("{url} did not answer"))?
    }

    /// Returns `None` for models that cannot chat.
    fn ollama_model(&self, name: &str, details: &OllamaDetails) -> Option<Model> {
        let can = |what: &str| details.capabilities.iter().any(|capability| capability == what);
        if !details.capabilities.is_empty() && !can("completion") {
            return None;
        }
        let own = details.model_info.iter().find(|(key, _)| key.ends_with(".context_length"));
        let context = self.context.or_else(|| own.and_then(|(_, length)| length.as_u64()));
        let mut model = self.model(name, context);
        if can("vision") {
            model.input.push(InputKind::Image);
        }
        if can("thinking") {
            model.reasoning = true;
            model.thinking = Some(ThinkingSupport {
                mode: "effort".to_owned(),
                efforts: ["low", "medium", "high"].map(str::to_owned).to_vec(),
                ..ThinkingSupport::default()
            });
        }
        Some(model)
    }

    async fn llama_cpp(&self, client: &Client) -> Result<Vec<Model>, String> {
        let (list, props) =
            tokio::join!(self.get::<ModelList>(client, "/v1/models"), self.get::<LlamaCppProps>(client, "/props"));
        // The server's start options take precedence; the training context of the model is only a fallback.
        let props = props.unwrap_or_default();
        let models = list?.data.into_iter().map(|listed| {
            let context = props.default_generation_settings.n_ctx.or(listed.meta.and_then(|meta| meta.n_ctx_train));
            let mut model = self.model(&listed.id, context);
            if props.modalities.vision {
                model.input.push(InputKind::Image);
            }
            model
        });
        Ok(models.collect())
    }

    /// LM Studio's own list has more details; the OpenAI list exists in every version.
    async fn lm_studio(&self, client: &Client) -> Result<Vec<Model>, String> {
        let listed = match self.get::<ModelList>(client, "/api/v0/models").await {
            Ok(list) => list,
            Err(_) => self.get::<ModelList>(client, "/v1/models").await?,
        };
        let chats = listed
            .data
            .into_iter()
            .filter(|listed| listed.kind.as_deref() != Some("embeddings") && !listed.id.starts_with("text-embedding"));
        let models = chats.map(|listed| {
            let mut model = self.model(&listed.id, listed.loaded_context_length.or(listed.max_context_length));
            if listed.kind.as_deref() == Some("vlm") {
                model.input.push(InputKind::Image);
            }
            model
        });
        Ok(models.collect())
    }

    async fn get<T: DeserializeOwned>(&self, client: &Client, path: &str) -> Result<T, String> {
        let url = format!("{}{path}", self.root);
        let answer = client.get_json(&url, &self.headers, self.timeout(), MAX_ANSWER).await;
        answer.map_err(|error| error.to_string())
    }

    fn timeout(&self) -> Duration {
        if self.configured { NAMED_TIMEOUT } else { GUESS_TIMEOUT }
    }

    fn model(&self, id: &str, context: Option<u64>) -> Model {
        let context_window = context.filter(|length| *length > 0).unwrap_or(DEFAULT_CONTEXT);
        let version = if self.api == Api::AnthropicMessages { "" } else { "/v1" };
        Model {
            id: id.to_owned(),
            name: id.to_owned(),
            api: self.api.clone(),
            provider: self.provider.clone(),
            base_url: format!("{}{version}", self.root),
            reasoning: false,
            input: vec![InputKind::Text],
            cost: Default::default(),
            context_window,
            max_tokens: DEFAULT_MAX_TOKENS.min(context_window),
            headers: Default::default(),
            thinking: None,
            compat: Value::Null,
            context_promotion_target: None,
        }
    }
}

fn usual_name(kind: DiscoveryKind) -> &'static str {
    match kind {
        DiscoveryKind::Ollama => "ollama",
        DiscoveryKind::LlamaCpp => "llama.cpp",
        DiscoveryKind::LmStudio => "lm-studio",
    }
}

fn default_api(kind: DiscoveryKind) -> &'static str {
    match kind {
        DiscoveryKind::LlamaCpp => "openai-responses",
        DiscoveryKind::Ollama | DiscoveryKind::LmStudio => "openai-completions",
    }
}

fn default_url(kind: DiscoveryKind, env: &Env) -> String {
    match kind {
        DiscoveryKind::Ollama => env
            .get(vars::OLLAMA_BASE_URL)
            .map(str::to_owned)
            .or_else(|| env.get(vars::OLLAMA_HOST).map(ollama_host_url))
            .unwrap_or_else(|| "http://127.0.0.1:11434".to_owned()),
        DiscoveryKind::LlamaCpp => env.get(vars::LLAMA_CPP_BASE_URL).unwrap_or("http://127.0.0.1:8080").to_owned(),
        DiscoveryKind::LmStudio => env.get(vars::LM_STUDIO_BASE_URL).unwrap_or("http://127.0.0.1:1234/v1").to_owned(),
    }
}

/// Converts `OLLAMA_HOST`, which is a listen address: scheme or port may be missing, and `0.0.0.0` means this machine.
fn ollama_host_url(host: &str) -> String {
    let (scheme, rest) = host.trim().split_once("://").unwrap_or(("http", host.trim()));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let after_bracket = authority.rsplit(']').next().unwrap_or_default();
    let (name, port) = match after_bracket.rsplit_once(':') {
        Some((_, port)) => (&authority[..authority.len() - port.len() - 1], port),
        None => (
            authority,
            match scheme {
                "https" => "443",
                _ => "11434",
            },
        ),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{scheme}://{name}:{port}{slash}{path}")
}

#[derive(Deserialize)]
struct OllamaTags {
    models: Vec<OllamaTag>,
}

#[derive(Deserialize)]
struct OllamaTag {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OllamaDetails {
    capabilities: Vec<String>,
    model_info: serde_json::Map<String, Value>,
}

/// The model list of OpenAI, llama.cpp and LM Studio, each with its own additional fields.
#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
    meta: Option<ListedMeta>,
    #[serde(rename = "type")]
    kind: Option<String>,
    max_context_length: Option<u64>,
    loaded_context_length: Option<u64>,
}

#[derive(Deserialize)]
struct ListedMeta {
    n_ctx_train: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LlamaCppProps {
    default_generation_settings: LlamaCppSettings,
    modalities: Modalities,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LlamaCppSettings {
    n_ctx: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Modalities {
    vision: bool,
}
