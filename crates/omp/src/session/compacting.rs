//! Configures compaction for a session: the settings, the models, and an endpoint that summarizes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_compaction::{CompactionOptions, CompactionSettings, RemoteSummary};
use omp_http::Client;
use omp_session::OfferedModel;
use omp_tools::KnownTools;
use omp_types::CallFactSources;
use serde_json::{Value, json};

use crate::folder::FolderSetup;

/// Caps the response of the endpoint; summaries are shorter.
const LONGEST_ANSWER: usize = 4 << 20;
/// Timeout for a summary of a long conversation.
const PATIENCE: Duration = Duration::from_secs(300);

pub fn options(
    setup: &FolderSetup,
    client: Client,
    models: Arc<Mutex<Vec<OfferedModel>>>,
    known: KnownTools,
) -> CompactionOptions {
    // A project must not choose where conversations are sent.
    let endpoint = setup.settings.user::<String>("compaction.remoteEndpoint").filter(|url| !url.trim().is_empty());
    let remote = endpoint.map(|url| Arc::new(Endpoint { url, client }) as Arc<dyn RemoteSummary>);
    CompactionOptions {
        settings: CompactionSettings::from_settings(&setup.settings),
        remote,
        models: Some(Arc::new(move || {
            let offered = models.lock().unwrap_or_else(PoisonError::into_inner);
            offered.iter().map(|offered| offered.model.clone()).collect()
        })),
        facts: CallFactSources(vec![Arc::new(known)]),
    }
}

/// Accepts `{systemPrompt, prompt}`, answers `{summary}`.
struct Endpoint {
    url: String,
    client: Client,
}

impl RemoteSummary for Endpoint {
    fn summarize<'a>(&'a self, system_prompt: &'a str, prompt: &'a str) -> BoxFuture<'a, Result<String, String>> {
        async move {
            let body = json!({"systemPrompt": system_prompt, "prompt": prompt});
            let asked = self.client.post_json::<Value>(&self.url, &body, PATIENCE, LONGEST_ANSWER).await;
            let answer = asked.map_err(|error| error.to_string())?;
            let summary = answer.get("summary").and_then(Value::as_str);
            summary.map(str::to_owned).ok_or_else(|| "its answer has no `summary`".to_owned())
        }
        .boxed()
    }
}
