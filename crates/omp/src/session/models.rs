//! The models of a session: the registry, the chosen model, and the network client.

use std::collections::BTreeMap;
use std::sync::Arc;

use omp_http::{Client, ExchangeListener, HttpConfig};
use omp_llm::{InitialChoice, LoadOptions, Registry, WatchdogSettings, Watchdogs};
use omp_types::{Model, ServiceTier, ThinkingLevel};

use crate::cli::ModelArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::startup;

/// The model and thinking level that a resumed session has recorded.
#[derive(Default)]
pub struct RecordedChoice {
    pub model: Option<String>,
    pub thinking: Option<ThinkingLevel>,
}

/// The model of a session.
pub struct ChosenModel {
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    /// A note for the user about the choice.
    pub note: Option<String>,
}

impl FolderSetup {
    /// `listener` is notified of every exchange.
    pub fn client(&self, listener: Option<Arc<dyn ExchangeListener>>) -> Client {
        let config = HttpConfig { connect_timeout: self.watchdogs().connect(), ..HttpConfig::default() };
        Client::new(&self.env, config).heard_by(listener)
    }

    /// Returns the timeouts for a silent provider.
    pub fn watchdogs(&self) -> Watchdogs {
        let settings = WatchdogSettings {
            connect: self.settings.get("providers.connectTimeoutSeconds"),
            first_event: self.settings.get("providers.streamFirstEventTimeoutSeconds"),
            idle: self.settings.get("providers.streamIdleTimeoutSeconds"),
        };
        Watchdogs::new(self.env.clone(), settings)
    }

    pub fn registry(&self, args: &ModelArgs) -> Registry {
        let _part = startup::part("models");
        let settings = self.settings.of(omp_llm::SETTINGS);
        Registry::load(LoadOptions {
            env: self.env.clone(),
            models_file: Some(self.dirs.models_file()),
            api_key: args.api_key.clone(),
            provider_order: settings.get("modelProviderOrder"),
            disabled_providers: settings.get("disabledProviders"),
            thinking_budgets: self.thinking_budgets(),
            roles: settings.user("modelRoles"),
            role_flags: args.roles.flags(),
        })
    }

    /// Returns the thinking budgets in tokens by level, where the user has set them.
    fn thinking_budgets(&self) -> BTreeMap<String, u64> {
        let keys = [
            "thinkingBudgets.minimal",
            "thinkingBudgets.low",
            "thinkingBudgets.medium",
            "thinkingBudgets.high",
            "thinkingBudgets.xhigh",
        ];
        let set = |key: &str| Some((key.rsplit_once('.')?.1.to_owned(), self.settings.user(key)?));
        keys.into_iter().filter_map(set).collect()
    }

    /// Chooses the model and its thinking level, in this order: a `:level` with the name, `--thinking`, the session, the
    /// setting. The registry reports problems in the files.
    pub async fn model(
        &self,
        registry: &mut Registry,
        args: &ModelArgs,
        recorded: RecordedChoice,
        client: &Client,
    ) -> Result<ChosenModel, FolderProblem> {
        let _part = startup::part("model");
        let choice = InitialChoice {
            model: args.model.clone(),
            provider: args.provider.clone(),
            scope: self.model_scope(args),
            recorded: recorded.model,
        };
        let resolved = registry.choose(&choice, || client.clone()).await.map_err(|error| error.to_string())?;
        let level = args.thinking.or(resolved.thinking).or(recorded.thinking);
        let thinking = level.unwrap_or_else(|| self.settings.of(omp_llm::SETTINGS).get("defaultThinkingLevel"));
        Ok(ChosenModel { model: resolved.model, thinking, note: resolved.note })
    }

    /// Returns the patterns of `--models`, else of the setting.
    pub fn model_scope(&self, args: &ModelArgs) -> Vec<String> {
        if args.models.is_empty() {
            self.settings.of(omp_llm::SETTINGS).get("enabledModels")
        } else {
            args.models.clone()
        }
    }

    /// Returns the service tier from the flag, else from the setting.
    pub fn service_tier(&self, args: &ModelArgs) -> Result<Option<ServiceTier>, FolderProblem> {
        let word = args.service_tier.clone().or_else(|| self.settings.get("serviceTier"));
        let word = word.or_else(|| self.settings.get("tier.openai"));
        word.filter(|word| word != "none").map(|word| word.parse()).transpose()
    }
}
